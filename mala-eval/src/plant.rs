//! Planted defects: the kinds, the choice among the possible ones, and the resulting cases. The
//! same seed gives the same choice.

mod choice;
mod kind;
mod planter;
mod survey;
mod twin;

pub use choice::{PlantCandidate, choose};
pub use kind::DefectKind;
pub use planter::{DefectPlanter, PlantError, PlantRequest, PlantTargets, PlantedDefects};
pub use survey::{MutatedChange, SurveyedChange, survey};
pub use twin::{CLEAN_TWIN, PLANTED, PlantSite, PlantedDefect};
