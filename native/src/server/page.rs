//! The page's files: inside of the binary in a release build, read from `dist/` in a debug build.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../dist"]
#[allow_missing = true]
struct Files;

/// What is said where the page is missing.
pub(crate) const NOT_BUILT: &str = "page not built: cargo xtask run";

/// Whether there is a page to serve.
pub(crate) fn is_built() -> bool {
    Files::get("index.html").is_some()
}

/// Answers with the file of that path.
pub(crate) async fn file(uri: Uri) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    match Files::get(path) {
        Some(file) => {
            let kind = file.metadata.mimetype().to_owned();
            ([(header::CONTENT_TYPE, kind)], file.data).into_response()
        }
        None if path == "index.html" => {
            (StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT).into_response()
        }
        None => (StatusCode::NOT_FOUND, "no such file").into_response(),
    }
}
