//! The page of vramscope, as one wasm in two roles.
//!
//! On the page it runs the Yew components of `ui` and draws; in a worker it reads a recording and
//! answers view queries about it. Which of the two is told by the kind of global scope.

mod draw;
mod feature;
mod keys;
mod platform;
mod session;
mod text;
mod theme;
mod ui;
mod view;
mod worker;

use wasm_bindgen::prelude::*;

/// Runs once, on the page as in each worker.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        web_sys::console::error_1(&panic.to_string().into());
    }));
    match js_sys::global().dyn_into::<web_sys::DedicatedWorkerGlobalScope>() {
        Ok(scope) => worker::serve::start(&scope),
        Err(_) => {
            let root = web_sys::window()
                .and_then(|window| window.document()?.get_element_by_id("app"))
                .expect("index.html has the element");
            yew::Renderer::<ui::App>::with_root(root).render();
        }
    }
}
