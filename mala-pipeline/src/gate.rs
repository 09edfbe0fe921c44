//! The panel, in its order: a session is planned and started (`spawn`), its lanes are asked side by side,
//! what they claim is admitted and checked, and the votes become one decision (`supervise`); whoever
//! wants to know waits (`wait`).

mod canary;
mod check;
mod conclude;
mod hear;
mod material;
mod spawn;
mod supervise;
mod wait;

pub use canary::{LaneFindings, lane_findings};
pub use spawn::{Choice, PanelProblem, choose};
pub use supervise::{Panel, supervise};
pub use wait::{Look, Waiting, wait};
