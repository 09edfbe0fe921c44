//! The members of a panel as reviewers: a lane is a program in a copy of the repository, `agent` and
//! `builtin` run in this process. Sessions and `mala review` use the same ones.

use crate::environment::Environment;
use crate::settings::UserModels;
use crate::wiring::reviewers::{self, AbsentReviewer};
use crate::wiring::rules::ProjectRules;
use mala_domain::gate::session::{Checker, PanelMember, Progress};
use mala_domain::ports::{Reviewer, Verifier};
use mala_pipeline::gate::{LaneProgress, LaneReviewer, NotedReviewer, PanelContext};
use std::sync::Arc;

/// What the reviewers of mala itself need.
pub struct InProcessSettings<'s> {
    /// The model and the budget of the agent.
    pub agent: &'s Checker,
    /// How models are reached.
    pub models: &'s UserModels,
    /// The project's rules.
    pub rules: ProjectRules,
}

/// The reviewers of a panel.
#[derive(Default)]
pub struct PanelReviewers {
    /// All members.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// The lanes, which check findings of each other.
    pub lanes: Vec<Arc<dyn Verifier>>,
}

/// The reviewers of a panel. A member that cannot be used is a reviewer that says why.
pub async fn panel_reviewers<F: Fn(&Progress) + Send + Sync + 'static>(
    seats: &[PanelMember],
    panel: &Arc<PanelContext>,
    progress: &Arc<LaneProgress<F>>,
    own: &InProcessSettings<'_>,
    here: &Environment,
) -> PanelReviewers {
    let mut all = PanelReviewers::default();
    for seat in seats {
        let is_in_process = seat.lane.is_in_process();
        let member: Arc<dyn Reviewer> = match is_in_process {
            true => in_process(seat, own, here).await,
            false => {
                let lane = Arc::new(LaneReviewer::new(panel.clone(), seat.clone()));
                all.lanes.push(lane.clone());
                lane
            }
        };
        let starts = is_in_process && seat.absent.is_none();
        let name = seat.lane.name.clone();
        all.reviewers.push(Arc::new(NotedReviewer::new(name, member, progress.clone(), starts)));
    }
    all
}

async fn in_process(
    seat: &PanelMember,
    own: &InProcessSettings<'_>,
    here: &Environment,
) -> Arc<dyn Reviewer> {
    let name = &seat.lane.name;
    let why = match &seat.absent {
        Some(why) => why.clone(),
        None => match reviewers::member(name, own, here).await {
            Ok(member) => return member,
            Err(error) => format!("{error:#}"),
        },
    };
    Arc::new(AbsentReviewer { name: name.clone(), why })
}
