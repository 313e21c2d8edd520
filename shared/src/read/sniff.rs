//! Which format a file has, from its first bytes.

use crate::read::Foreign;
use crate::vtrace;

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    Pickle,
    Page,
    Vtrace,
    Gzip,
    Zstd,
    /// None of ours.
    Foreign(Foreign),
    /// More bytes are needed to say.
    Unclear,
}

/// Bytes that are looked at, at most.
pub(super) const ENOUGH: usize = 64 << 10;

/// Says what a file is that begins with `start`, of which `whole` says whether it is all.
pub(super) fn sniff(start: &[u8], whole: bool) -> Sniffed {
    let is_whole = whole || start.len() >= ENOUGH;
    if start.len() < 8 && !is_whole {
        return Sniffed::Unclear;
    }
    match start {
        [0x80, ..] => return Sniffed::Pickle,
        [0x1f, 0x8b, ..] => return Sniffed::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => return Sniffed::Zstd,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => return Sniffed::Foreign(Foreign::Zip),
        _ if start.starts_with(&vtrace::MAGIC) || vtrace::MAGIC.starts_with(start) => {
            return Sniffed::Vtrace;
        }
        // What protocols 0 and 1 begin a list or dictionary with.
        [b'(', b'd' | b'l', ..] | [b'}' | b']', b'q' | b'p' | b'.', ..] => {
            return Sniffed::Foreign(Foreign::TextPickle);
        }
        _ => {}
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let text = text.trim_ascii_start();
    match text.first() {
        Some(b'<') => Sniffed::Page,
        _ if !is_whole => Sniffed::Unclear,
        Some(b'{')
            if contains(text, b"\"traceEvents\"") || contains(text, b"\"schemaVersion\"") =>
        {
            Sniffed::Foreign(Foreign::ChromeTrace)
        }
        Some(b'[') => Sniffed::Foreign(timeline(text)),
        Some(b'{') => Sniffed::Foreign(Foreign::Json),
        _ => Sniffed::Foreign(text_or_binary(text)),
    }
}

/// The forms of `export_memory_timeline`: `[[time, …], [[size, …], …]]`, and the raw one,
/// `[[time, action, bytes, category], …]`.
fn timeline(text: &[u8]) -> Foreign {
    let is_number = |byte: &u8| byte.is_ascii_digit() || b" -,.".contains(byte);
    let Some(first) = text
        .strip_prefix(b"[[")
        .and_then(|inner| inner.split(|&byte| byte == b']').next())
    else {
        return match text.get(1..).map(<[u8]>::trim_ascii_start) {
            Some([b'{', ..]) if contains(text, b"\"ph\"") => Foreign::ChromeTrace,
            _ => Foreign::Json,
        };
    };
    if !first.iter().all(is_number) {
        return Foreign::Json;
    }
    match first.iter().filter(|&&byte| byte == b',').count() {
        3 if !contains(text, b"]]]") => Foreign::RawMemoryTimeline,
        _ => Foreign::MemoryTimeline,
    }
}

fn text_or_binary(text: &[u8]) -> Foreign {
    let is_text = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace();
    if !text.iter().all(is_text) {
        Foreign::Binary
    } else if text.starts_with(b"Summary of segments")
        || (text.starts_with(b"Device ") && contains(text, b"entries\n"))
    {
        Foreign::MemoryVizText
    } else {
        Foreign::Text
    }
}

/// Whether `needle` occurs in `text`.
pub(super) fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_the_format() {
        let foreign = Sniffed::Foreign;
        for (start, expected) in [
            (&b"\x80\x04\x95aaaaaaaa"[..], Sniffed::Pickle),
            (b"\x80", Sniffed::Pickle),
            (b"\x1f\x8b\x08aaaaa", Sniffed::Gzip),
            (b"\x28\xb5\x2f\xfdaaaaa", Sniffed::Zstd),
            (b"PK\x03\x04aaaaaa", foreign(Foreign::Zip)),
            (b"(dp0\nVsegments", foreign(Foreign::TextPickle)),
            (b"}q\x00(X", foreign(Foreign::TextPickle)),
            (b"\n <!DOCTYPE html>", Sniffed::Page),
            (b"{\"schemaVersion\": 1", foreign(Foreign::ChromeTrace)),
            (b"{\"a\": 1}", foreign(Foreign::Json)),
            (
                b"[[17, 17, 18, 19, 20], [[0, 1]]]",
                foreign(Foreign::MemoryTimeline),
            ),
            (
                b"[[-1, 1, 262144, 0], [-1, 1, 1024, 0]]",
                foreign(Foreign::RawMemoryTimeline),
            ),
            (
                b"Device 0 ---\n2 entries\n",
                foreign(Foreign::MemoryVizText),
            ),
            (
                b"Summary of segments >= 20.0MiB",
                foreign(Foreign::MemoryVizText),
            ),
            (b"hello, world", foreign(Foreign::Text)),
            (b"\x00\x01\x02", foreign(Foreign::Binary)),
        ] {
            assert_eq!(sniff(start, true), expected, "{}", start.escape_ascii());
        }
        assert_eq!(sniff(b"{\"trace", false), Sniffed::Unclear);
        assert_eq!(sniff(b"\x80", false), Sniffed::Unclear);
    }
}
