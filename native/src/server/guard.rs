//! Who may ask, and what a browser may do with the answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What the page may load and run. The page's own `<meta>` says the same, for static hosts; only
/// a header can keep it out of other pages' frames. Other origins may be asked for a recording
/// that a link names (`#url=`), and for nothing else.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
    script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
    connect-src 'self' https: http://127.0.0.1:* http://localhost:*; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    // Other sites must not read recordings, not even as images or scripts.
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    // A page that was rebuilt has the same address.
    (header::CACHE_CONTROL, "no-cache"),
];

/// The names under which this server is asked.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: [String; 2],
    log: RequestLog,
}

/// Whether requests are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestLog {
    Off,
    /// To standard output, as `GET /path`.
    On,
}

impl Guard {
    pub(crate) fn new(port: u16, log: RequestLog) -> Self {
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Self { hosts, log }
    }

    /// Any other name means that some site's name was made to point here (DNS rebinding), whose
    /// scripts a browser would take for ours.
    fn knows(&self, request: &Request) -> bool {
        let host = request.headers().get(header::HOST);
        host.is_some_and(|host| self.hosts.iter().any(|known| host == known.as_str()))
    }
}

/// Lets reading requests to this very host through, and dresses the answer.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    if guard.log == RequestLog::On {
        println!("{} {}", request.method(), request.uri().path());
    }
    let mut response = if !guard.knows(&request) {
        (
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers to 127.0.0.1 and localhost only",
        )
            .into_response()
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        StatusCode::METHOD_NOT_ALLOWED.into_response()
    } else {
        next.run(request).await
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}
