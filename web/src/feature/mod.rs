//! Whole features, each with its own view model and components.

pub(crate) mod whatif;
