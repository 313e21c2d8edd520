//! Fixtures and helpers for the tests that cross crates.

pub mod fixture;
pub mod pickle;
pub mod python;
pub mod snapshot;
