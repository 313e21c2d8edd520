//! Small things that only the browser can do. Each gives up quietly where the browser refuses:
//! the page works without storage and without a rewritten address.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement, Window};

fn window() -> Option<Window> {
    web_sys::window()
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
    if let Some(element) = element(id)
        && element.text_content().as_deref() != Some(text)
    {
        element.set_text_content(Some(text));
    }
}

/// The value of an input, found by its id.
pub(crate) fn set_value(id: &str, value: &str) {
    if let Some(input) = element(id).and_then(|element| element.dyn_into::<HtmlInputElement>().ok())
    {
        input.set_value(value);
    }
}

/// Moves an element beside a point of the window, on the side where there is room.
pub(crate) fn place_beside(id: &str, x: i32, y: i32) {
    let element = element(id).and_then(|element| element.dyn_into::<HtmlElement>().ok());
    let Some(element) = element else { return };
    let width = window()
        .and_then(|window| window.inner_width().ok()?.as_f64())
        .unwrap_or(0.0);
    let is_left = f64::from(x) > width / 2.0;
    let (left, right) = if is_left {
        (
            "auto".to_owned(),
            format!("{}px", width - f64::from(x) + 14.0),
        )
    } else {
        (format!("{}px", x + 14), "auto".to_owned())
    };
    let style = element.style();
    for (property, value) in [
        ("left", left),
        ("right", right),
        ("top", format!("{}px", y + 14)),
    ] {
        let _ = style.set_property(property, &value);
    }
}

fn element(id: &str) -> Option<Element> {
    window()?.document()?.get_element_by_id(id)
}
