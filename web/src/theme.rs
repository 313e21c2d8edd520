//! Light, dark, or as the system says.

use crate::platform;

/// The theme that somebody chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system says.
    #[default]
    Auto,
    Light,
    Dark,
}

impl Theme {
    /// As in storage and in the link.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    pub(crate) fn from_code(code: &str) -> Option<Theme> {
        [Theme::Auto, Theme::Light, Theme::Dark]
            .into_iter()
            .find(|theme| theme.code() == code)
    }

    /// The one that the switch leads to.
    pub(crate) fn next(self) -> Theme {
        match self {
            Theme::Auto => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::Auto,
        }
    }

    /// Shows the page in this theme.
    pub(crate) fn apply(self) {
        let is_dark = match self {
            Theme::Auto => platform::prefers_dark(),
            Theme::Light => false,
            Theme::Dark => true,
        };
        let theme = if is_dark { Theme::Dark } else { Theme::Light };
        platform::set_root_attribute("data-theme", theme.code());
    }
}
