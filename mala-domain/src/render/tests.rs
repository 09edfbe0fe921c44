//! Tests that apply to every format.

mod every_format;
mod hostile;
pub(super) mod sample;
mod schemas;
