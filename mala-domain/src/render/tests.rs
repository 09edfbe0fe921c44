//! What holds for every format.

mod every_format;
mod hostile;
pub(super) mod sample;
mod schemas;
