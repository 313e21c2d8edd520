//! Fixtures and helpers for the tests that cross crates.

pub mod browser;
pub mod engine;
pub mod fixture;
pub mod forms;
pub mod lists;
pub mod made_up;
pub mod naive;
pub mod pickle;
pub mod python;
pub mod server;
pub mod snapshot;
