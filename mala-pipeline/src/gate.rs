//! A panel of external reviewers: its members are chosen (`panel`), each lane is a reviewer like any
//! other (`lane`), and a session runs the review in a detached supervisor (`session`).

mod canary;
mod lane;
mod panel;
mod session;

pub use canary::{LaneFindings, lane_findings};
pub use lane::{LaneReviewer, PanelContext, PanelSettings};
pub use panel::{PanelChoice, PanelProblem, choose};
pub use session::{LaneProgress, NotedReviewer, WatchedSession, wait, wait_showing};
