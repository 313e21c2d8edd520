//! Meaning → colour and texture. The colours are the tokens of `styles/tokens.css`; this is the
//! table that says which token a meaning takes.

use super::scene::Meaning;

/// What lies over the colour of a shape, so that state is never told by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Texture {
    Plain,
    /// Diagonal lines in this token's colour.
    Hatched(&'static str),
    /// Dots in this token's colour.
    Dotted(&'static str),
    /// The left edge fades in.
    SoftLeft,
}

/// How a meaning is painted: tokens without their leading `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Fill, text or glyph; none where only an edge is drawn.
    pub(crate) fill: Option<&'static str>,
    /// Lines and edges.
    pub(crate) edge: &'static str,
    pub(crate) texture: Texture,
    /// The edge is dashed.
    pub(crate) is_dashed: bool,
}

/// The paint of a meaning, the same in every theme: themes differ in their tokens.
pub(crate) fn paint(meaning: Meaning) -> Paint {
    let plain = |fill, edge| Paint {
        fill: Some(fill),
        edge,
        texture: Texture::Plain,
        is_dashed: false,
    };
    let textured = |fill, edge, texture| Paint {
        texture,
        ..plain(fill, edge)
    };
    match meaning {
        Meaning::Allocated => plain("allocated", "allocated-edge"),
        Meaning::BeforeRecording => textured("before", "allocated-edge", Texture::SoftLeft),
        Meaning::Pending => textured("pending", "pending-dot", Texture::Dotted("pending-dot")),
        Meaning::CachedReturnable | Meaning::Cached => plain("cached", "cached-edge"),
        Meaning::CachedPinned => textured("pinned", "cached-edge", Texture::Hatched("pinned-line")),
        Meaning::Waste => plain("waste", "waste"),
        Meaning::Unmapped => Paint {
            fill: None,
            is_dashed: true,
            ..plain("panel", "cached-edge")
        },
        Meaning::Reserved => plain("ink", "ink"),
        Meaning::Card => Paint {
            is_dashed: true,
            ..plain("ink-second", "ink-second")
        },
        Meaning::DriverCall => plain("ink-third", "ink-third"),
        Meaning::Annotation => plain("annotation", "annotation"),
        Meaning::Mark => plain("agrees-edge", "agrees-edge"),
        Meaning::Oom => plain("oom", "oom"),
        Meaning::Cursor => plain("accent", "accent"),
        Meaning::Selected => plain("ink", "ink"),
        Meaning::Hovered => plain("accent", "accent"),
        Meaning::Grid => plain("grid", "grid"),
        Meaning::Faint => plain("faint", "faint"),
        Meaning::Panel => plain("panel", "panel"),
        Meaning::Ink => plain("ink", "ink"),
        Meaning::InkSecond => plain("ink-second", "ink-second"),
        Meaning::InkOnPending => plain("on-pending", "on-pending"),
        Meaning::CachedEdge => plain("cached-edge", "cached-edge"),
        Meaning::InkOnAllocated => plain("on-allocated", "on-allocated"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    const TOKENS: &str = include_str!("../../styles/tokens.css");

    fn tokens(theme: &str) -> BTreeMap<&'static str, [f64; 3]> {
        let start = TOKENS
            .find(&format!("[data-theme=\"{theme}\"]"))
            .expect("the theme");
        let body = &TOKENS[start..];
        let body = &body[..body.find('}').expect("an end")];
        let mut found = BTreeMap::new();
        for line in body.lines() {
            if let Some((name, value)) = line.trim().trim_end_matches(';').split_once(": #") {
                let channel = |at: usize| {
                    let byte = u8::from_str_radix(&value[at..at + 2], 16).expect("hex");
                    f64::from(byte) / 255.0
                };
                found.insert(&name[2..], [channel(0), channel(2), channel(4)]);
            }
        }
        found
    }

    /// Contrast as WCAG 2 defines it.
    fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
        let luminance = |colour: [f64; 3]| {
            let [r, g, b] = colour.map(|value| {
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn what_must_be_read_can_be_read_in_both_themes() {
        for theme in ["light", "dark"] {
            let tokens = tokens(theme);
            for (ink, ground, least) in [
                ("ink", "ground", 7.0),
                ("ink", "panel", 7.0),
                ("ink-second", "panel", 4.5),
                ("ink-second", "ground", 4.5),
                ("ink", "cached", 7.0),
                ("ink", "pinned", 7.0),
                ("accent", "panel", 4.5),
                ("accent", "accent-ground", 4.5),
                ("on-accent", "accent", 4.5),
                ("oom", "panel", 4.5),
                ("oom", "oom-ground", 4.5),
                ("agrees", "panel", 4.5),
                ("on-allocated", "allocated", 3.5),
                ("on-pending", "pending", 4.5),
            ] {
                let got = contrast(tokens[ink], tokens[ground]);
                assert!(
                    got >= least,
                    "{theme}: {ink} on {ground} has {got:.2}, wants {least}"
                );
            }
        }
    }

    #[test]
    fn both_themes_have_the_same_tokens() {
        let names = |theme| tokens(theme).into_keys().collect::<Vec<_>>();
        assert_eq!(names("light"), names("dark"));
    }
}
