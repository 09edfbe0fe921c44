//! Defects that are planted into real changes: which kinds there are, which of the possible ones are
//! taken, and the case that comes of one. The same seed gives the same choice.

mod choice;
mod kind;
mod twin;

pub use choice::{Candidate, choose};
pub use kind::DefectKind;
pub use twin::{CLEAN_TWIN, PLANTED, Soil, Sprout};
