//! The two sides of the worker that holds a recording: [`host`] on the page, [`serve`] in the
//! worker. They exchange [`message`]s as postcard, moved and not copied.

mod failure;
pub(crate) mod host;
pub(crate) mod message;
mod open;
pub(crate) mod serve;
