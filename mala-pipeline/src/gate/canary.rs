//! The findings of each lane of a panel on its own: not verified by others, and nothing is decided.

use super::hear::{Roll, hear};
use super::material::gather_for;
use super::supervise::{Desk, Panel, admitted};
use mala_domain::finding::Finding;
use mala_domain::ports::{ScopeError, Scoped};
use mala_domain::review::Texts;
use mala_domain::review::merge::merged;

/// What one lane found.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneFindings {
    /// The lane.
    pub lane: String,
    /// Its findings, or why it did not review.
    pub findings: Result<Vec<Finding>, String>,
    /// The cost, when the lane reports one.
    pub cost_usd: Option<f64>,
}

/// Has every lane of the panel review a change.
pub async fn lane_findings(
    panel: &Panel<'_>,
    scoped: &Scoped,
) -> Result<Vec<LaneFindings>, ScopeError> {
    let roll = Roll::new(panel);
    let told = gather_for(panel.session, scoped).await?;
    let desk = Desk { panel, scoped, change: &scoped.change, told: &told };
    let mut lanes = Vec::new();
    for heard in hear(&desk, &scoped.scope, &roll).await {
        let findings = match heard.answer {
            Ok(answer) => {
                let mut texts = Texts::clone(&told.texts);
                Ok(merged(admitted(answer.claims, scoped, &mut texts).await?.findings))
            }
            Err(failure) => Err(failure.why),
        };
        let cost_usd = heard.run.usage.cost_usd;
        lanes.push(LaneFindings { lane: heard.lane.name, findings, cost_usd });
    }
    Ok(lanes)
}
