//! Whole features, each with its own view model and components.

pub(crate) mod diagnosis;
pub(crate) mod whatif;
