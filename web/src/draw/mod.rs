//! Scenes and how they reach the screen. A view model makes a [`scene::Scene`] of shapes that have
//! a meaning; [`palette`] gives meanings their colour and texture; [`canvas2d`] paints.

pub(crate) mod canvas2d;
pub(crate) mod chart;
pub(crate) mod frame;
pub(crate) mod palette;
pub(crate) mod pictures;
pub(crate) mod scene;
