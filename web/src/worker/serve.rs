//! The worker's side: reads one recording and answers queries about it.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::message::{FromWorker, Number, ToWorker, decode, encode};
use super::open;
use shared::query::{Engine, Query};

/// What the worker holds.
#[derive(Debug, Default)]
struct Server {
    engine: Option<Engine>,
    /// Questions asked before the recording is there.
    waiting: Vec<(Number, Query)>,
}

/// Takes the page's messages from now on.
pub(crate) fn start(scope: &DedicatedWorkerGlobalScope) {
    let server = Rc::new(RefCell::new(Server::default()));
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        receive(&server, &event);
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // Lives as long as the worker.
    on_message.forget();
}

fn receive(server: &Rc<RefCell<Server>>, event: &MessageEvent) {
    let parts = Array::from(&event.data());
    let Some(message) = decode::<ToWorker>(&Uint8Array::new(&parts.get(0)).to_vec()) else {
        return;
    };
    match message {
        ToWorker::Open { source } => {
            let server = Rc::clone(server);
            let attachment = parts.get(1);
            wasm_bindgen_futures::spawn_local(async move {
                match open::open(source, attachment).await {
                    Ok(engine) => {
                        server.borrow_mut().engine = Some(engine);
                        send(&FromWorker::Opened);
                        answer_waiting(&server);
                    }
                    Err(failure) => send(&FromWorker::Failed(failure)),
                }
            });
        }
        ToWorker::Ask { number, query } => {
            server.borrow_mut().waiting.push((number, query));
            answer_waiting(server);
        }
    }
}

fn answer_waiting(server: &Rc<RefCell<Server>>) {
    let mut server = server.borrow_mut();
    let Server {
        engine: Some(engine),
        waiting,
    } = &mut *server
    else {
        return;
    };
    for (number, query) in waiting.drain(..) {
        send(&FromWorker::Answered {
            number,
            reply: engine.answer(&query),
        });
    }
}

/// Sends a message to the page; its bytes are moved.
pub(super) fn send(message: &FromWorker) {
    let bytes = Uint8Array::from(encode(message).as_slice());
    let moved = Array::of1(&bytes.buffer());
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    // Fails only for what cannot be cloned, and bytes can.
    let _ = scope.post_message_with_transfer(&bytes, &moved);
}
