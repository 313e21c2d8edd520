//! Which key does what, as in Perfetto where it has one.

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KeyAction {
    /// So many events forward; back when negative.
    Step(i64),
    First,
    Last,
    TogglePlay,
    Faster,
    Slower,
    JumpNext,
    JumpPrevious,
    /// Scales what the curves show.
    Zoom(f64),
    /// Moves the curves by a share of what they show.
    Pan(f64),
    Fit,
    Escape,
    Help,
}

/// The action of a key (`KeyboardEvent.key`); keys with Ctrl, Alt or Meta belong to the browser.
pub(crate) fn action(key: &str, is_shifted: bool) -> Option<KeyAction> {
    let far = if is_shifted { 10 } else { 1 };
    Some(match key {
        "ArrowRight" | "." | ">" => KeyAction::Step(far),
        "ArrowLeft" | "," | "<" => KeyAction::Step(-far),
        "Home" => KeyAction::First,
        "End" => KeyAction::Last,
        " " => KeyAction::TogglePlay,
        "+" | "=" => KeyAction::Faster,
        "-" => KeyAction::Slower,
        "n" | "]" => KeyAction::JumpNext,
        "p" | "[" => KeyAction::JumpPrevious,
        "w" | "W" => KeyAction::Zoom(0.7),
        "s" | "S" => KeyAction::Zoom(1.0 / 0.7),
        "a" | "A" => KeyAction::Pan(-0.2),
        "d" | "D" => KeyAction::Pan(0.2),
        "f" | "F" => KeyAction::Fit,
        "Escape" => KeyAction::Escape,
        "?" => KeyAction::Help,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_perfetto() {
        for (key, is_shifted, expected) in [
            (".", false, Some(KeyAction::Step(1))),
            ("ArrowLeft", true, Some(KeyAction::Step(-10))),
            (" ", false, Some(KeyAction::TogglePlay)),
            ("w", false, Some(KeyAction::Zoom(0.7))),
            ("f", false, Some(KeyAction::Fit)),
            ("?", true, Some(KeyAction::Help)),
            ("q", false, None),
            ("Tab", false, None),
        ] {
            assert_eq!(action(key, is_shifted), expected, "{key}");
        }
    }
}
