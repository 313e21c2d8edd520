//! Fixtures and helpers for the tests that cross crates.
