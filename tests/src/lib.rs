//! Fixtures and helpers for the tests that cross crates.

pub mod engine;
pub mod fixture;
pub mod lists;
pub mod naive;
pub mod pickle;
pub mod python;
pub mod snapshot;
