//! Yew components: what changes when people act. What changes in every frame is drawn by
//! [`crate::draw`] instead.

mod app;
mod canvas_view;
mod curves_panel;
mod details;
mod free_lists;
mod help;
mod map_panel;
mod opening;
mod stack;
mod start;
mod strong;
mod toolbar;
mod transport_bar;
mod warnings;
mod workbench;

pub(crate) use app::App;
pub(crate) use transport_bar::{AT_ID, SLIDER_ID, at_text};
