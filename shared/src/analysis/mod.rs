//! What recordings and messages mean: answers as plain values, worded elsewhere.

pub mod oom;
