//! Reads a recording chunk by chunk as it arrives, from a file or over the network.

use js_sys::{Reflect, Uint8Array};
use shared::limits::Limits;
use shared::query::Engine;
use shared::read::Reader;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, DedicatedWorkerGlobalScope, ReadableStream, ReadableStreamDefaultReader, Response,
};

use super::failure::read_failure;
use super::message::{Failure, FromWorker, Source};
use super::serve::send;

/// Bytes between two reports of progress.
const REPORT_BYTES: u64 = 1 << 20;

/// Bytes on their way.
struct Incoming {
    stream: ReadableStream,
    total_bytes: Option<u64>,
}

/// Reads all of it and builds the index.
pub(super) async fn open(source: Source, attachment: JsValue) -> Result<Engine, Failure> {
    let incoming = match source {
        Source::Attached => from_file(&attachment)?,
        Source::Url(url) => fetch(&url).await?,
    };
    let recording = read(incoming).await?;
    Ok(Engine::new(recording))
}

fn from_file(attachment: &JsValue) -> Result<Incoming, Failure> {
    let file: &Blob = attachment.dyn_ref().ok_or_else(|| Failure::File {
        message: "no file came with the message".to_owned(),
    })?;
    let total_bytes = Some(file.size() as u64);
    Ok(Incoming {
        stream: file.stream(),
        total_bytes,
    })
}

async fn fetch(url: &str) -> Result<Incoming, Failure> {
    let fail = |message: String| Failure::Fetch {
        url: url.to_owned(),
        message,
    };
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let response = JsFuture::from(scope.fetch_with_str(url))
        .await
        .map_err(|error| fail(error_text(&error)))?;
    let response: Response = response.unchecked_into();
    if !response.ok() {
        return Err(fail(format!(
            "{} {}",
            response.status(),
            response.status_text()
        )));
    }
    // A compressed transfer has a length of its own, so this only shows how far it is.
    let length = response.headers().get("content-length").ok().flatten();
    let total_bytes = length.and_then(|length| length.parse().ok());
    let stream = response
        .body()
        .ok_or_else(|| fail("the answer is empty".to_owned()))?;
    Ok(Incoming {
        stream,
        total_bytes,
    })
}

async fn read(incoming: Incoming) -> Result<shared::store::Recording, Failure> {
    let file_failure = |error: JsValue| Failure::File {
        message: error_text(&error),
    };
    let chunks = ReadableStreamDefaultReader::new(&incoming.stream).map_err(file_failure)?;
    let mut reader = Reader::new(Limits::default());
    let mut done_bytes = 0;
    let mut reported_bytes = 0;
    while let Some(chunk) = next(&chunks).await.map_err(file_failure)? {
        done_bytes += chunk.len() as u64;
        if let Err(error) = reader.feed(&chunk) {
            // Nobody waits for what is left.
            let _ = chunks.cancel();
            return Err(read_failure(&error));
        }
        if done_bytes - reported_bytes >= REPORT_BYTES {
            reported_bytes = done_bytes;
            send(&FromWorker::Progress {
                done_bytes,
                total_bytes: incoming.total_bytes,
            });
        }
    }
    send(&FromWorker::Progress {
        done_bytes,
        total_bytes: Some(done_bytes),
    });
    reader.finish().map_err(|error| read_failure(&error))
}

/// The next chunk; `None` at the end.
async fn next(chunks: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>, JsValue> {
    let result = JsFuture::from(chunks.read()).await?;
    if Reflect::get(&result, &"done".into())?.is_truthy() {
        return Ok(None);
    }
    let chunk = Reflect::get(&result, &"value".into())?;
    Ok(Some(chunk.unchecked_into::<Uint8Array>().to_vec()))
}

fn error_text(error: &JsValue) -> String {
    error
        .dyn_ref::<js_sys::Error>()
        .map(|error| String::from(error.message()))
        .or_else(|| error.as_string())
        .unwrap_or_else(|| "unknown".to_owned())
}
