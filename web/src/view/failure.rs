//! Why a recording could not be opened, in words.

use crate::text;
use crate::worker::message::{Failure, ReadFailure, ReadFailureKind};

/// The sentence about a failure: what, where, what to do.
pub(crate) fn failure_sentence(failure: &Failure) -> String {
    match failure {
        Failure::Read(failure) => read_sentence(failure),
        Failure::Fetch { url, message } => text::failed_fetch(message.clone(), url.clone()),
        Failure::File { message } => text::failed_file(message.clone()),
        Failure::Worker { message } => text::failed_worker(message.clone()),
    }
}

fn read_sentence(failure: &ReadFailure) -> String {
    let sentence = match &failure.kind {
        // What the whole file is has no place in it.
        ReadFailureKind::Empty => return text::read_empty(),
        ReadFailureKind::ChromeTrace => return text::read_chrome_trace(),
        ReadFailureKind::MemoryTimeline => return text::read_memory_timeline(),
        ReadFailureKind::ProcessedPage => return text::read_processed_page(),
        ReadFailureKind::OtherPage => return text::read_other_page(),
        ReadFailureKind::PrintedText => return text::read_printed_text(),
        ReadFailureKind::Zip => return text::read_zip(),
        ReadFailureKind::RefusedOpcode {
            opcode,
            object: Some(object),
        } => text::read_refused_object(object.clone(), opcode.clone()),
        ReadFailureKind::RefusedOpcode {
            opcode,
            object: None,
        } => text::read_refused(opcode.clone()),
        ReadFailureKind::UnusedOpcode { opcode } => text::read_unused(opcode.clone()),
        ReadFailureKind::UnknownOpcode(byte) => text::read_unknown_opcode(format!("{byte:#04x}")),
        ReadFailureKind::Protocol(number) => text::read_protocol(*number),
        ReadFailureKind::Limit { what, limit } => text::read_limit(*limit, what.clone()),
        ReadFailureKind::NotASnapshot(what) => text::read_not_a_snapshot(what.clone()),
        ReadFailureKind::Truncated => text::read_truncated(),
        ReadFailureKind::Compressed { codec } => text::read_compressed(codec.clone()),
        ReadFailureKind::NewerVersion { major, minor } => {
            return text::read_newer_version(format!("{major}.{minor}"));
        }
        ReadFailureKind::Other(words) => words.clone(),
    };
    let place = text::place_byte(failure.offset);
    if failure.path.is_empty() {
        text::read_at(place, sentence)
    } else {
        text::read_at_path(failure.path.clone(), place, sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Language, set_language};

    #[test]
    fn a_failure_says_place_what_and_what_to_do_in_both_languages() {
        let failure = Failure::Read(ReadFailure {
            kind: ReadFailureKind::RefusedOpcode {
                opcode: "GLOBAL".to_owned(),
                object: Some("os.system".to_owned()),
            },
            offset: 18_234,
            path: "device_traces[0][17]".to_owned(),
        });
        set_language(Language::English);
        assert_eq!(
            failure_sentence(&failure),
            "byte 18,234 (device_traces[0][17]): GLOBAL names a Python object “os.system”; \
             recordings hold data only, so this file was not read."
        );
        set_language(Language::Chinese);
        assert_eq!(
            failure_sentence(&failure),
            "第 18,234 字节（device_traces[0][17]）：GLOBAL 指向 Python 对象“os.system”；\
             记录文件只应包含数据，因此没有读取该文件。"
        );
    }
}
