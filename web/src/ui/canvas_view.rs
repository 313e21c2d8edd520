//! A canvas that shows one picture of the stage.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{HtmlCanvasElement, ResizeObserver};
use yew::prelude::*;

use crate::draw::canvas2d::Painter;
use crate::draw::pictures::Picture;
use crate::session::SessionContext;
use crate::session::stage::Stage;

#[derive(Properties)]
pub(crate) struct CanvasViewProps {
    pub(crate) stage: Rc<Stage>,
    pub(crate) picture: Picture,
    pub(crate) label: String,
    pub(crate) canvas: NodeRef,
    #[prop_or_default]
    pub(crate) onpointerdown: Callback<PointerEvent>,
    #[prop_or_default]
    pub(crate) onpointermove: Callback<PointerEvent>,
    #[prop_or_default]
    pub(crate) onpointerup: Callback<PointerEvent>,
    #[prop_or_default]
    pub(crate) onpointerleave: Callback<PointerEvent>,
    #[prop_or_default]
    pub(crate) onwheel: Callback<WheelEvent>,
}

impl PartialEq for CanvasViewProps {
    fn eq(&self, other: &CanvasViewProps) -> bool {
        // Callbacks are made anew in each rendering and do the same.
        Rc::ptr_eq(&self.stage, &other.stage) && self.label == other.label
    }
}

#[component]
pub(crate) fn CanvasView(props: &CanvasViewProps) -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let canvas = props.canvas.clone();
    let stage = props.stage.clone();
    let picture = props.picture;
    use_effect_with(StageId(stage.clone()), move |_| {
        let element = canvas.cast::<HtmlCanvasElement>();
        let attached = element.clone().and_then(Painter::new).map(|painter| {
            let number = session.pictures.attach(picture, painter);
            (session.clone(), number)
        });
        let resized = stage.clone();
        let on_resize = Closure::<dyn FnMut()>::new(move || resized.redraw());
        let observer = ResizeObserver::new(on_resize.as_ref().unchecked_ref()).ok();
        if let (Some(observer), Some(element)) = (&observer, &element) {
            observer.observe(element);
        }
        stage.redraw();
        move || {
            if let Some(observer) = observer {
                observer.disconnect();
            }
            drop(on_resize);
            if let Some((session, number)) = attached {
                session.pictures.detach(number);
            }
        }
    });
    html! {
        <canvas ref={props.canvas.clone()} role="img" aria-label={props.label.clone()}
            onpointerdown={props.onpointerdown.clone()} onpointermove={props.onpointermove.clone()}
            onpointerup={props.onpointerup.clone()} onpointerleave={props.onpointerleave.clone()}
            onwheel={props.onwheel.clone()} />
    }
}

/// A stage, compared by identity.
#[derive(Clone)]
struct StageId(Rc<Stage>);

impl PartialEq for StageId {
    fn eq(&self, other: &StageId) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// Where a pointer is on the canvas, and the size of the canvas, in CSS pixels.
pub(crate) fn point_on(canvas: &NodeRef, event: &MouseEvent) -> Option<((f32, f32), (f32, f32))> {
    let element = canvas.cast::<HtmlCanvasElement>()?;
    let bounds = element.get_bounding_client_rect();
    let x = f64::from(event.client_x()) - bounds.left();
    let y = f64::from(event.client_y()) - bounds.top();
    Some((
        (x as f32, y as f32),
        (bounds.width() as f32, bounds.height() as f32),
    ))
}

/// Lets the canvas have all moves of a pointer until it is released.
pub(crate) fn capture(event: &PointerEvent) {
    let target = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    if let Some(target) = target {
        let _ = target.set_pointer_capture(event.pointer_id());
    }
}
