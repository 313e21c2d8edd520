//! The view in the `#` of the page's address, as `key=value` joined by `&`. Keys that this version
//! does not know are kept, so that a link survives a visit to an older page.

use std::fmt::Write as _;

use shared::ids::LifeId;

use crate::text::Language;
use crate::theme::Theme;

/// What is selected in all pictures at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Selection {
    /// One life of a block, whether or not it is live at the moment shown.
    Life(LifeId),
    /// Whatever lies at this address at the moment shown.
    Address(u64),
}

/// What a link says; nothing is said about what is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// Name of a built-in recording, or the name of a file that was dropped.
    pub(crate) recording: Option<String>,
    /// Address to load a recording from.
    pub(crate) url: Option<String>,
    /// The device as PyTorch numbers it.
    pub(crate) device: Option<u32>,
    /// Index of the event whose outcome is shown, from 0.
    pub(crate) at_event: Option<u32>,
    pub(crate) selection: Option<Selection>,
    /// First and last position on the axis of the curves.
    pub(crate) zoom: Option<(i64, i64)>,
    /// The curves run over time instead of events.
    pub(crate) is_over_time: bool,
    pub(crate) language: Option<Language>,
    pub(crate) theme: Option<Theme>,
    rest: Vec<(String, String)>,
}

impl Link {
    /// Reads the part of an address from its `#` on. What is malformed counts as not said.
    pub(crate) fn parse(hash: &str) -> Link {
        let mut link = Link::default();
        for part in hash
            .trim_start_matches('#')
            .split('&')
            .filter(|part| !part.is_empty())
        {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = decode(value);
            match key {
                "rec" => link.recording = Some(value),
                "url" => link.url = Some(value),
                "dev" => link.device = value.parse().ok(),
                "at" => link.at_event = value.parse().ok(),
                "sel" => link.selection = parse_selection(&value),
                "zoom" => link.zoom = parse_range(&value),
                "x" => link.is_over_time = value == "time",
                "lang" => link.language = Language::from_code(&value),
                "theme" => link.theme = Theme::from_code(&value),
                _ => link.rest.push((key.to_owned(), value)),
            }
        }
        link
    }

    /// The link with its `#`.
    pub(crate) fn to_hash(&self) -> String {
        let mut parts: Vec<(&str, String)> = Vec::new();
        let mut say = |key, value: Option<String>| {
            if let Some(value) = value {
                parts.push((key, encode(&value)));
            }
        };
        say("rec", self.recording.clone());
        say("url", self.url.clone());
        say("dev", self.device.map(|device| device.to_string()));
        say("at", self.at_event.map(|event| event.to_string()));
        say("sel", self.selection.map(selection_code));
        say(
            "zoom",
            self.zoom.map(|(first, last)| format!("{first}~{last}")),
        );
        say("x", self.is_over_time.then(|| "time".to_owned()));
        say(
            "lang",
            self.language.map(|language| language.code().to_owned()),
        );
        say("theme", self.theme.map(|theme| theme.code().to_owned()));
        for (key, value) in &self.rest {
            parts.push((key, encode(value)));
        }
        let mut hash = String::new();
        for (place, (key, value)) in parts.iter().enumerate() {
            let joint = if place == 0 { '#' } else { '&' };
            let _ = write!(hash, "{joint}{key}={value}");
        }
        hash
    }
}

fn selection_code(selection: Selection) -> String {
    match selection {
        Selection::Life(life) => format!("life:{}", life.0),
        Selection::Address(address) => format!("address:{address:x}"),
    }
}

fn parse_selection(text: &str) -> Option<Selection> {
    let (kind, value) = text.split_once(':')?;
    match kind {
        "life" => value.parse().ok().map(|life| Selection::Life(LifeId(life))),
        "address" => u64::from_str_radix(value, 16).ok().map(Selection::Address),
        _ => None,
    }
}

fn parse_range(text: &str) -> Option<(i64, i64)> {
    let (first, last) = text.split_once('~')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first < last).then_some((first, last))
}

fn encode(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.:/~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn decode(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = value.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_comes_back_as_it_was() {
        let link = Link {
            recording: Some("a run & 显存.pickle".to_owned()),
            url: Some("https://example.org/a.vtrace?x=1".to_owned()),
            device: Some(1),
            at_event: Some(5_172),
            selection: Some(Selection::Address(0x7f12_f6bf_4000)),
            zoom: Some((100, 22_035)),
            is_over_time: true,
            language: Some(Language::Chinese),
            theme: Some(Theme::Dark),
            rest: vec![("lesson".to_owned(), "3".to_owned())],
        };
        assert_eq!(Link::parse(&link.to_hash()), link);
        assert_eq!(Link::parse("").to_hash(), "");
    }

    #[test]
    fn what_is_malformed_counts_as_not_said() {
        let link = Link::parse("#dev=x&at=-3&sel=life:zz&zoom=9~2&lang=tlh&theme=pink&rec=%zz%");
        let expected = Link {
            recording: Some("%zz%".to_owned()),
            ..Link::default()
        };
        assert_eq!(link, expected);
    }
}
