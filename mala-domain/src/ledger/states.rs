//! The states of a finding, and the events that change them.

use crate::finding::FindingState;

/// An event that changes the state of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingEvent {
    /// A review reports it.
    Reported,
    /// A review reports it with new evidence on lines that changed since it was disputed.
    ReportedWithNewEvidence,
    /// Its evidence is gone or its symbol changed, and the reviewer agrees that it is fixed.
    ConfirmedFixed,
    /// The code changed for which it was waived, or the waiver's date has passed.
    WaiverExpired,
    /// A person accepts it.
    Waived,
    /// A person disputes it.
    Disputed,
    /// A person opens it again.
    Reopened,
    /// A review merges it with another known finding.
    MarkedDuplicate,
}

/// The state after an event. `None` means that the event does not apply in this state.
pub fn next_state(state: FindingState, event: FindingEvent) -> Option<FindingState> {
    use FindingEvent as Event;
    use FindingState as State;
    match (event, state) {
        (Event::Reported, State::Fixed) => Some(State::Regressed),
        (Event::Reported, State::Duplicate) => Some(State::Open),
        (Event::Reported, state) => Some(state),
        (Event::ReportedWithNewEvidence, State::Disputed) => Some(State::Open),
        (Event::ReportedWithNewEvidence, state) => next_state(state, Event::Reported),
        (Event::ConfirmedFixed, State::Open | State::Regressed | State::Waived) => {
            Some(State::Fixed)
        }
        (Event::ConfirmedFixed, state) => Some(state),
        (Event::WaiverExpired, State::Waived) => Some(State::Open),
        (Event::WaiverExpired, _) => None,
        // A finding that is fixed in one change may be open in another.
        (Event::Waived | Event::Disputed, State::Duplicate) => None,
        (Event::Waived, _) => Some(State::Waived),
        (Event::Disputed, _) => Some(State::Disputed),
        (Event::Reopened, State::Open) => None,
        (Event::Reopened, _) => Some(State::Open),
        (Event::MarkedDuplicate, State::Duplicate) => None,
        (Event::MarkedDuplicate, _) => Some(State::Duplicate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FindingEvent as Event;
    use FindingState::{Disputed, Duplicate, Fixed, Open, Regressed, Waived};

    #[test]
    fn every_event_in_every_state() {
        // Open, fixed, regressed, waived, disputed, duplicate.
        let states = [Open, Fixed, Regressed, Waived, Disputed, Duplicate];
        let some = |states: [FindingState; 6]| states.map(Some);
        let but_duplicate = |state| states.map(|now| (now != Duplicate).then_some(state));
        let rows: [(Event, [Option<FindingState>; 6]); 8] = [
            (Event::Reported, some([Open, Regressed, Regressed, Waived, Disputed, Open])),
            (
                Event::ReportedWithNewEvidence,
                some([Open, Regressed, Regressed, Waived, Open, Open]),
            ),
            (Event::ConfirmedFixed, some([Fixed, Fixed, Fixed, Fixed, Disputed, Duplicate])),
            (Event::WaiverExpired, [None, None, None, Some(Open), None, None]),
            (Event::Waived, but_duplicate(Waived)),
            (Event::Disputed, but_duplicate(Disputed)),
            (Event::Reopened, [None, Some(Open), Some(Open), Some(Open), Some(Open), Some(Open)]),
            (
                Event::MarkedDuplicate,
                [
                    Some(Duplicate),
                    Some(Duplicate),
                    Some(Duplicate),
                    Some(Duplicate),
                    Some(Duplicate),
                    None,
                ],
            ),
        ];
        for (event, expected) in rows {
            for (state, expected) in states.into_iter().zip(expected) {
                assert_eq!(next_state(state, event), expected, "{event:?} in {state:?}");
            }
        }
    }
}
