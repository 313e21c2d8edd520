//! Writers: a recording becomes the bytes of a file.

mod vtrace;

pub use vtrace::{VtraceWriter, fastest, stored, to_vtrace};
