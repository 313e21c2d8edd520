//! Recordings that `vramscope serve` was started with.

use serde::Deserialize;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

/// One of them, as `recordings.json` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) size_bytes: u64,
    /// Relative to the page.
    pub(crate) url: String,
}

/// The list; empty where the page comes from a plain host or from a file.
pub(crate) async fn list() -> Vec<Served> {
    fetch().await.unwrap_or_default()
}

async fn fetch() -> Option<Vec<Served>> {
    let window = web_sys::window()?;
    let response = JsFuture::from(window.fetch_with_str("recordings.json"))
        .await
        .ok()?;
    let response: Response = response.dyn_into().ok()?;
    let text = JsFuture::from(response.text().ok()?).await.ok()?;
    serde_json::from_str(&text.as_string()?).ok()
}
