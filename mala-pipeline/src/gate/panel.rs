//! Chooses the members of a panel: the named ones, or all that can be used.

use mala_domain::config::GatePolicy;
use mala_domain::gate::lane::{Lane, LaneProblem, LaneTable};
use mala_domain::gate::session::PanelMember;
use thiserror::Error;

/// The requested lanes, and what is available on this machine.
pub struct PanelChoice<'c> {
    /// The lanes that the command line names.
    pub named: &'c [String],
    /// The configuration.
    pub policy: &'c GatePolicy,
    /// Why a lane cannot be run; `None` if it can.
    pub missing: &'c dyn Fn(&Lane) -> Option<String>,
    /// Why running a lane would fail, for example because the user is not signed in.
    pub useless: &'c dyn Fn(&Lane) -> Option<String>,
}

/// Why there is no panel.
#[derive(Debug, Error)]
pub enum PanelProblem {
    /// A lane is unknown or invalid.
    #[error(transparent)]
    Lane(#[from] LaneProblem),
    /// A lane is named twice.
    #[error("the lane `{0}` is named twice")]
    Twice(String),
}

/// Chooses the panel, and returns notes about it. A named lane that is missing stays in the panel
/// as absent: it is shown, and the change does not pass without it.
pub fn choose(choice: &PanelChoice<'_>) -> Result<(Vec<PanelMember>, Vec<String>), PanelProblem> {
    let table = LaneTable::with(&choice.policy.lanes)?;
    let by_config = choice.policy.panel.value.as_deref().unwrap_or_default();
    let named = if choice.named.is_empty() { by_config } else { choice.named };
    let member = |lane: &Lane| PanelMember { lane: lane.clone(), absent: (choice.missing)(lane) };
    let mut members: Vec<PanelMember> = Vec::new();
    for name in named {
        let lane = table.get(name)?;
        if members.iter().any(|member| member.lane.name == *name) {
            return Err(PanelProblem::Twice(name.clone()));
        }
        members.push(member(lane));
    }
    let mut notes = Vec::new();
    if named.is_empty() {
        for lane in table.lanes() {
            let why_not = (choice.missing)(lane).or_else(|| (choice.useless)(lane));
            match why_not {
                Some(why) if !table.is_own(&lane.name) => {
                    notes.push(format!("{} is not in the panel: {why}", lane.name));
                }
                _ => members.push(member(lane)),
            }
        }
    }
    Ok((members, notes))
}
