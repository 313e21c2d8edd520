//! The door that page and server use: one question a view, one answer bounded by the pixels or
//! rows that it fills.
//!
//! Read [`Query`] and [`Reply`] first: plain values in screen terms, the same for a worker and for
//! a socket. Nothing behind them is visible here, so it can be rebuilt without touching the page.

mod curves;
mod details;
mod engine;
mod map;
mod reply;
mod request;
mod rows;
mod step;
mod whatif;

pub use engine::Engine;

pub use crate::replay::{FlushKind, Sums};
pub use reply::{
    AnnotationSpan, Annotations, BlockDetails, BlockView, CurveSeries, Curves, DeviceOverview,
    Effect, EventRow, FrameView, FreeBlock, FreeList, LifeView, MapSummary, MarkView, MemoryMap,
    Overview, Reply, Rows, SegmentView, Step, StreamView,
};
pub use request::{Axis, JumpKind, Query, Series};
pub use whatif::{WhatIfAnswer, WhatIfCurves, WhatIfQuestion, WhatIfView};
