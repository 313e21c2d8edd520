//! The only `requestAnimationFrame` of the page.

use std::cell::{Cell, RefCell};

use wasm_bindgen::prelude::*;

/// What runs in a frame. Gets the time in milliseconds and says whether it wants another frame.
type Task = Box<dyn Fn(f64) -> bool>;

thread_local! {
    static IS_SCHEDULED: Cell<bool> = const { Cell::new(false) };
    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
    static ON_FRAME: Closure<dyn FnMut(f64)> = Closure::new(run);
}

/// Sets what runs in each frame.
pub(crate) fn set_task(task: impl Fn(f64) -> bool + 'static) {
    TASK.set(Some(Box::new(task)));
    request();
}

/// Wants a frame: something changed that is drawn.
pub(crate) fn request() {
    if IS_SCHEDULED.replace(true) {
        return;
    }
    ON_FRAME.with(|on_frame| {
        let window = web_sys::window().expect("only the page draws");
        // Fails only for what is no function.
        let _ = window.request_animation_frame(on_frame.as_ref().unchecked_ref());
    });
}

fn run(now_ms: f64) {
    IS_SCHEDULED.set(false);
    let wants_more = TASK.with_borrow(|task| task.as_ref().is_some_and(|task| task(now_ms)));
    if wants_more {
        request();
    }
}
