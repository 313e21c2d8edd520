//! The built-in recordings, as `assets/recordings/index.json` lists them.

use serde::Deserialize;

use crate::text::{self, Language};

/// A text in both languages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct BothLanguages {
    en: String,
    #[serde(rename = "zh-CN")]
    zh_cn: String,
}

impl BothLanguages {
    /// In the language of the page.
    pub(crate) fn text(&self) -> &str {
        match text::language() {
            Language::English => &self.en,
            Language::Chinese => &self.zh_cn,
        }
    }
}

/// A built-in recording.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct BuiltIn {
    /// As in the link: workload and settings, `varlen.default`.
    pub(crate) name: String,
    pub(crate) title: BothLanguages,
    /// One sentence: what there is to see.
    pub(crate) line: BothLanguages,
}

impl BuiltIn {
    /// Where it lies, relative to the page.
    pub(crate) fn url(&self) -> String {
        format!("recordings/{}.vtrace", self.name)
    }
}

/// All of them, in the order in which they are offered.
pub(crate) fn built_ins() -> Vec<BuiltIn> {
    let list = include_str!("../../assets/recordings/index.json");
    serde_json::from_str(list).expect("a test reads the list")
}

/// The one of that name.
pub(crate) fn built_in(name: &str) -> Option<BuiltIn> {
    built_ins()
        .into_iter()
        .find(|built_in| built_in.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_built_in_has_its_own_name_and_a_line_in_both_languages() {
        let list = built_ins();
        assert!(list.len() >= 17, "{} built-in recordings", list.len());
        for (place, one) in list.iter().enumerate() {
            assert!(
                list[..place].iter().all(|other| other.name != one.name),
                "{}",
                one.name
            );
            assert!(
                !one.line.en.is_empty() && !one.line.zh_cn.is_empty(),
                "{}",
                one.name
            );
        }
    }
}
