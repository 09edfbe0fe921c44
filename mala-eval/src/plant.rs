//! Planted defects: the kinds, the choice among the possible ones, and the cases made of them. The same
//! seed gives the same choice.

mod choice;
mod kind;
mod planter;
mod survey;
mod twin;

pub use choice::{Candidate, choose};
pub use kind::DefectKind;
pub use planter::{Fields, Harvest, Nursery, Order, PlantError};
pub use survey::{Ground, Grown, survey};
pub use twin::{CLEAN_TWIN, PLANTED, Soil, Sprout};
