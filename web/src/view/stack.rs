//! A stack for reading: the user's own frames one by one, runs of framework frames folded.

use shared::query::FrameView;

/// A line of a stack, or a fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StackPart {
    Own(FrameView),
    Folded(Vec<FrameView>),
}

/// Innermost first, as recorded. A stack without any frame of the user's own stays unfolded.
pub(crate) fn fold(frames: &[FrameView]) -> Vec<StackPart> {
    let mut parts: Vec<StackPart> = Vec::new();
    for frame in frames {
        match parts.last_mut() {
            Some(StackPart::Folded(folded)) if !frame.own => folded.push(frame.clone()),
            _ if frame.own => parts.push(StackPart::Own(frame.clone())),
            _ => parts.push(StackPart::Folded(vec![frame.clone()])),
        }
    }
    parts
}

/// Where a frame is, short: the last part of the path, and the line.
pub(crate) fn place(frame: &FrameView) -> String {
    let file = frame.file.rsplit(['/', '\\']).next().unwrap_or(&frame.file);
    if frame.line == 0 {
        file.to_owned()
    } else {
        format!("{file}:{}", frame.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, own: bool) -> FrameView {
        FrameView {
            name: name.to_owned(),
            file: "/a/b/train.py".to_owned(),
            line: 27,
            own,
        }
    }

    #[test]
    fn runs_of_framework_frames_fold() {
        let frames = [
            frame("empty", false),
            frame("linear", false),
            frame("forward", true),
            frame("_call_impl", false),
            frame("main", true),
        ];
        let shape: Vec<String> = fold(&frames)
            .into_iter()
            .map(|part| match part {
                StackPart::Own(frame) => frame.name,
                StackPart::Folded(frames) => frames.len().to_string(),
            })
            .collect();
        assert_eq!(shape, ["2", "forward", "1", "main"]);
    }

    #[test]
    fn a_place_is_short() {
        assert_eq!(place(&frame("f", true)), "train.py:27");
        let unknown = FrameView {
            line: 0,
            file: "??".to_owned(),
            ..frame("f", false)
        };
        assert_eq!(place(&unknown), "??");
    }
}
