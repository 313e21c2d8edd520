//! The engine against the naive model, and the worked examples of the specification.

mod naive;
mod properties;
