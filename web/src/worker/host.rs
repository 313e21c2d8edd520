//! The page's side: starts the worker of a recording, asks, hands replies out.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use rustc_hash::FxHashMap;
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker};

use shared::query::{Query, Reply};

use super::message::{Failure, FromWorker, Number, Source, ToWorker, decode, encode};

#[wasm_bindgen]
extern "C" {
    /// Defined by `boot.js`: a worker of the same script, its first message sent.
    #[wasm_bindgen(js_name = startVramscopeWorker)]
    fn start_worker() -> Worker;
}

/// What opening a recording says on its way.
#[derive(Debug)]
pub(crate) enum Opening {
    Progress {
        done_bytes: u64,
        total_bytes: Option<u64>,
    },
    Opened,
    Failed(Failure),
}

type Handler = Box<dyn FnOnce(Reply)>;

/// The worker of one recording. Ends with its last handle: that gives the memory back.
#[derive(Clone)]
pub(crate) struct Host {
    inner: Rc<Inner>,
}

struct Inner {
    worker: Worker,
    asked: RefCell<Asked>,
    // Dropped with the host; the worker calls them while it lives.
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

#[derive(Default)]
struct Asked {
    last: Number,
    handlers: FxHashMap<Number, Handler>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

impl PartialEq for Host {
    fn eq(&self, other: &Host) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

impl Host {
    /// Starts a worker and lets it open `source`; `attachment` is the file where there is one.
    pub(crate) fn open(
        source: &Source,
        attachment: &JsValue,
        on_opening: impl Fn(Opening) + 'static,
    ) -> Host {
        let worker = start_worker();
        let on_opening = Rc::new(on_opening);
        let inner = Rc::new_cyclic(|inner: &std::rc::Weak<Inner>| {
            let inner = inner.clone();
            let hear = Rc::clone(&on_opening);
            let on_message = Closure::new(move |event: MessageEvent| {
                let bytes = Uint8Array::new(&event.data()).to_vec();
                match decode(&bytes) {
                    Some(FromWorker::Progress {
                        done_bytes,
                        total_bytes,
                    }) => {
                        hear(Opening::Progress {
                            done_bytes,
                            total_bytes,
                        });
                    }
                    Some(FromWorker::Opened) => hear(Opening::Opened),
                    Some(FromWorker::Failed(failure)) => hear(Opening::Failed(failure)),
                    Some(FromWorker::Answered { number, reply }) => {
                        let handler = inner
                            .upgrade()
                            .and_then(|inner| inner.asked.borrow_mut().handlers.remove(&number));
                        if let Some(handler) = handler {
                            handler(reply);
                        }
                    }
                    None => {}
                }
            });
            let on_error = Closure::new(move |event: ErrorEvent| {
                on_opening(Opening::Failed(Failure::Worker {
                    message: event.message(),
                }));
            });
            worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
            worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
            Inner {
                worker,
                asked: RefCell::default(),
                _on_message: on_message,
                _on_error: on_error,
            }
        });
        let host = Host { inner };
        host.send(
            &ToWorker::Open {
                source: source.clone(),
            },
            attachment,
        );
        host
    }

    /// Asks; `handler` gets the reply.
    pub(crate) fn ask(&self, query: Query, handler: impl FnOnce(Reply) + 'static) {
        let number = {
            let mut asked = self.inner.asked.borrow_mut();
            asked.last += 1;
            let number = asked.last;
            asked.handlers.insert(number, Box::new(handler));
            number
        };
        self.send(&ToWorker::Ask { number, query }, &JsValue::UNDEFINED);
    }

    fn send(&self, message: &ToWorker, attachment: &JsValue) {
        let bytes = Uint8Array::from(encode(message).as_slice());
        let moved = Array::of1(&bytes.buffer());
        let parts = Array::of2(&bytes, attachment);
        // Fails only for what cannot be cloned; bytes and files can.
        let _ = self.inner.worker.post_message_with_transfer(&parts, &moved);
    }
}
