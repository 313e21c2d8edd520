//! The words of the page, in two languages. `build.rs` makes one function per message of
//! `locales/`; numbers, sizes and times reach them through [`format`].

pub(crate) mod format;
mod messages {
    //! Generated from `locales/` by `build.rs`.
    use fluent_bundle::FluentValue;
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

use std::cell::RefCell;

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};

pub(crate) use messages::*;

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    /// As in `lang` attributes and in the link.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh-CN",
        }
    }

    /// The language that a code such as `zh`, `zh-Hans-CN` or `en-GB` asks for.
    pub(crate) fn from_code(code: &str) -> Option<Language> {
        let main = code.split(['-', '_']).next().unwrap_or_default();
        match main.to_ascii_lowercase().as_str() {
            "en" => Some(Language::English),
            "zh" => Some(Language::Chinese),
            _ => None,
        }
    }

    /// The one that the switch leads to.
    pub(crate) fn other(self) -> Language {
        match self {
            Language::English => Language::Chinese,
            Language::Chinese => Language::English,
        }
    }

    fn bundle(self) -> Bundle {
        let text = match self {
            Language::English => messages::EN,
            Language::Chinese => messages::ZH_CN,
        };
        let id = self
            .code()
            .parse()
            .expect("the codes above are well formed");
        let mut bundle = FluentBundle::new(vec![id]);
        // Isolation marks would end up in titles and copied text.
        bundle.set_use_isolating(false);
        bundle.set_formatter(Some(|value, _| match value {
            FluentValue::Number(number) => Some(format::count(number.value as u64)),
            _ => None,
        }));
        let resource = FluentResource::try_new(text.to_owned()).expect("build.rs parsed it");
        bundle
            .add_resource(resource)
            .expect("build.rs saw no key twice");
        bundle
    }
}

type Bundle = FluentBundle<FluentResource>;

thread_local! {
    static CURRENT: RefCell<(Language, Bundle)> =
        RefCell::new((Language::English, Language::English.bundle()));
}

/// The language that messages come in.
pub(crate) fn language() -> Language {
    CURRENT.with_borrow(|(language, _)| *language)
}

/// Makes all messages come in `language` from now on.
pub(crate) fn set_language(language: Language) {
    if self::language() != language {
        CURRENT.set((language, language.bundle()));
    }
}

fn message<const N: usize>(key: &str, arguments: [(&str, FluentValue<'_>); N]) -> String {
    CURRENT.with_borrow(|(_, bundle)| {
        let pattern = bundle.get_message(key).and_then(|message| message.value());
        let pattern = pattern.expect("build.rs saw the key in every language");
        let arguments: FluentArgs<'_> = arguments.into_iter().collect();
        let mut errors = Vec::new();
        bundle
            .format_pattern(pattern, Some(&arguments), &mut errors)
            .into_owned()
    })
}
