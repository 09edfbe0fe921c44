//! Gives the lanes of a panel one planted defect, and says which of them found it. Nothing is checked by
//! others and nothing is decided: what one lane says on its own is what is measured.

use super::hear::{Roll, hear};
use super::material::gather_for;
use super::supervise::{Desk, Panel, admitted};
use mala_domain::eval::Truth;
use mala_domain::gate::canary::Found;
use mala_domain::ports::{ScopeError, Scoped};
use mala_domain::review::Texts;
use mala_domain::review::merge::merged;

/// What a lane made of a planted defect.
#[derive(Debug, Clone, PartialEq)]
pub struct CanaryTry {
    /// The lane.
    pub lane: String,
    /// Whether it found it; why it did not review, when it did not.
    pub found: Result<Found, String>,
    /// What it cost, when it says so.
    pub cost_usd: Option<f64>,
}

/// Has every lane of the panel review a change with a planted defect.
pub async fn measure(
    panel: &Panel<'_>,
    scoped: &Scoped,
    truth: &Truth,
) -> Result<Vec<CanaryTry>, ScopeError> {
    let roll = Roll::new(panel);
    let told = gather_for(panel.session, scoped).await?;
    let desk = Desk { panel, scoped, change: &scoped.change, told: &told };
    let mut tries = Vec::new();
    for heard in hear(&desk, &scoped.scope, &roll).await {
        let found = match heard.answer {
            Ok(answer) => {
                let mut texts = Texts::clone(&told.texts);
                let findings = admitted(answer.claims, scoped, &mut texts).await?.findings;
                Ok(Found::among(&merged(findings), truth))
            }
            Err(failure) => Err(failure.why),
        };
        let cost_usd = heard.run.usage.cost_usd;
        tries.push(CanaryTry { lane: heard.lane.name, found, cost_usd });
    }
    Ok(tries)
}
