//! Small things that only the browser can do. Each gives up quietly where the browser refuses:
//! the page works without storage and without a rewritten address.

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, Window};

fn window() -> Option<Window> {
    web_sys::window()
}

/// Milliseconds since the page was opened.
pub(crate) fn now_ms() -> f64 {
    window()
        .and_then(|window| window.performance())
        .map_or(0.0, |clock| clock.now())
}

/// The system asks for dark pages.
pub(crate) fn prefers_dark() -> bool {
    let query = window().and_then(|window| {
        window
            .match_media("(prefers-color-scheme: dark)")
            .ok()
            .flatten()
    });
    query.is_some_and(|query| query.matches())
}

/// The languages that the reader prefers, best first.
pub(crate) fn preferred_languages() -> Vec<String> {
    let languages = window().map(|window| window.navigator().languages());
    languages
        .into_iter()
        .flat_map(|list| list.iter().collect::<Vec<_>>())
        .filter_map(|language| language.as_string())
        .collect()
}

/// Sets an attribute of the root element.
pub(crate) fn set_root_attribute(name: &str, value: &str) {
    let root = window().and_then(|window| window.document()?.document_element());
    if let Some(root) = root {
        let _ = root.set_attribute(name, value);
    }
}

/// Sets the title of the page.
pub(crate) fn set_title(title: &str) {
    if let Some(document) = window().and_then(|window| window.document()) {
        document.set_title(title);
    }
}

/// What the page kept under a name.
pub(crate) fn stored(name: &str) -> Option<String> {
    window()?.local_storage().ok()??.get_item(name).ok()?
}

/// Keeps a value for the next visit.
pub(crate) fn store(name: &str, value: &str) {
    if let Some(Ok(Some(storage))) = window().map(|window| window.local_storage()) {
        let _ = storage.set_item(name, value);
    }
}

/// The part of the address from its `#` on.
pub(crate) fn address_hash() -> String {
    window()
        .and_then(|window| window.location().hash().ok())
        .unwrap_or_default()
}

/// An address relative to the page, in full: a worker resolves against its own script.
pub(crate) fn absolute_url(url: &str) -> String {
    let base = window()
        .and_then(|window| window.location().href().ok())
        .unwrap_or_default();
    web_sys::Url::new_with_base(url, &base).map_or_else(|_| url.to_owned(), |url| url.href())
}

/// Replaces the part of the address from its `#` on, without a new entry in the history.
pub(crate) fn replace_address_hash(hash: &str) {
    let replace = || {
        let window = window()?;
        let location = window.location();
        let path = format!(
            "{}{}{hash}",
            location.pathname().ok()?,
            location.search().ok()?
        );
        let history = window.history().ok()?;
        history
            .replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&path))
            .ok()
    };
    let _ = replace();
}

/// The text of an element, found by its id, where it changes too often for a component.
pub(crate) fn set_text(id: &str, text: &str) {
    let element = window().and_then(|window| window.document()?.get_element_by_id(id));
    if let Some(element) = element
        && element.text_content().as_deref() != Some(text)
    {
        element.set_text_content(Some(text));
    }
}

/// A style property of an element, found by its id.
pub(crate) fn set_style(id: &str, property: &str, value: &str) {
    let element = window().and_then(|window| window.document()?.get_element_by_id(id));
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = element.style().set_property(property, value);
    }
}
