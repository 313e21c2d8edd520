//! View models: from replies to scenes and texts. Pure, so they are tested natively.

pub(crate) mod curves;
pub(crate) mod failure;
pub(crate) mod map_scale;
pub(crate) mod memory_map;
pub(crate) mod scale;
pub(crate) mod sentence;
pub(crate) mod stack;
pub(crate) mod streams;
pub(crate) mod tip;
pub(crate) mod why;
