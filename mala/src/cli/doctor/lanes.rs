//! Which lanes of the panel can be used, and why the others cannot.

use crate::settings;
use crate::surroundings::Surroundings;
use crate::wiring::gate;
use crate::wiring::probe::Probe;
use mala_domain::gate::lane::Table;

/// A lane and how it is on this machine.
#[derive(Debug)]
pub(super) struct LaneState {
    pub(super) name: String,
    pub(super) is_usable: bool,
    /// Where its program is, or why it cannot be used.
    pub(super) detail: String,
}

/// The lanes that mala knows and those of the configuration, as far as that can be read.
pub(super) fn look(here: &Surroundings, probe: &Probe) -> Vec<LaneState> {
    let own = settings::of_working_tree(here, probe).map(|settings| settings.gate.lanes);
    let table = Table::with(&own.unwrap_or_default()).or_else(|_| Table::known());
    let Ok(table) = table else { return Vec::new() };
    let state = |lane| {
        let presence = gate::presence(lane, here);
        let why_not = presence.why_not(lane);
        let place = presence.program.map(|path| path.display().to_string());
        LaneState {
            name: lane.name.clone(),
            is_usable: why_not.is_none(),
            detail: why_not.or(place).unwrap_or_default(),
        }
    };
    table.lanes().map(state).collect()
}
