//! The members of a panel as reviewers: a lane is a program in a copy of the repository, `agent` and
//! `builtin` run in this process. Sessions and `mala review` use the same ones.

use crate::environment::Environment;
use crate::settings::UserModels;
use crate::wiring::reviewers::{self, AbsentReviewer};
use crate::wiring::rules::ProjectRules;
use mala_domain::gate::session::{CheckerSettings, PanelMember, SessionProgress};
use mala_domain::ports::{Reviewer, Verifier};
use mala_pipeline::gate::{LaneProgress, LaneReviewer, NotedReviewer, PanelContext};
use std::sync::Arc;
use std::time::Duration;

/// The settings of mala's own reviewers.
pub struct InProcessSettings<'s> {
    /// The model and the budget of the agent.
    pub agent: &'s CheckerSettings,
    /// The settings of models.
    pub models: &'s UserModels,
    /// The project's rules.
    pub rules: ProjectRules,
    /// The time limit of each.
    pub timeout: Duration,
}

/// The reviewers of a panel.
#[derive(Default)]
pub struct PanelReviewers {
    /// All members.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// The lanes, which check findings of each other.
    pub lanes: Vec<Arc<dyn Verifier>>,
}

/// The reviewers of a panel. A member that cannot be used becomes a reviewer that fails with the
/// reason.
pub async fn panel_reviewers<F: Fn(&SessionProgress) + Send + Sync + 'static>(
    members: &[PanelMember],
    panel: &Arc<PanelContext>,
    progress: &Arc<LaneProgress<F>>,
    own: &InProcessSettings<'_>,
    here: &Environment,
) -> PanelReviewers {
    let mut all = PanelReviewers::default();
    for member in members {
        let is_in_process = member.lane.is_in_process();
        let reviewer: Arc<dyn Reviewer> = match is_in_process {
            true => in_process(member, own, here).await,
            false => {
                let lane = Arc::new(LaneReviewer::new(panel.clone(), member.clone()));
                all.lanes.push(lane.clone());
                lane
            }
        };
        let time = Some(own.timeout).filter(|_| is_in_process && member.absent.is_none());
        let name = member.lane.name.clone();
        all.reviewers.push(Arc::new(NotedReviewer::new(name, reviewer, progress.clone(), time)));
    }
    all
}

async fn in_process(
    member: &PanelMember,
    own: &InProcessSettings<'_>,
    here: &Environment,
) -> Arc<dyn Reviewer> {
    let name = &member.lane.name;
    let why = match &member.absent {
        Some(why) => why.clone(),
        None => match reviewers::member(name, own, here).await {
            Ok(reviewer) => return reviewer,
            Err(error) => format!("{error:#}"),
        },
    };
    Arc::new(AbsentReviewer { name: name.clone(), why })
}
