//! Tests that apply to every format.

mod every_format;
mod hostile;
pub(crate) mod sample;
mod schemas;
