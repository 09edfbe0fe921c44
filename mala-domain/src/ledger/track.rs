//! What the ledger says about the findings of a review, and what the review says about the ledger's findings.

use super::delta::Delta;
use super::matching::{KnownFindings, match_all};
use super::states::{FindingEvent, next_state};
use super::waiver::SharedWaivers;
use super::{FindingId, LedgerFinding, Standing, TrackedFinding};
use crate::change::FilePath;
use crate::finding::{Finding, FindingState};
use crate::review::FileTexts;
use std::collections::{BTreeMap, BTreeSet};

/// What tracking needs to know.
pub struct TrackingFacts<'t> {
    /// The ledger's findings in the files of this change.
    pub known: &'t [LedgerFinding],
    /// Paths that the change renames, old to new.
    pub renames: &'t BTreeMap<FilePath, FilePath>,
    /// What is new since the last complete review; `None` in a review of the whole change.
    pub delta: Option<&'t Delta>,
    /// The files at head.
    pub texts: &'t FileTexts,
    /// The waivers that the repository shares.
    pub shared_waivers: &'t SharedWaivers,
    /// Today, as `YYYY-MM-DD`.
    pub today: &'t str,
}

/// Findings with their standing, and the changes of state that follow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrackingResult {
    /// The findings of the review, in their order.
    pub tracked: Vec<TrackedFinding>,
    /// What happens to findings that the ledger has.
    pub events: Vec<TrackingEvent>,
}

/// Something that happens to a known finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackingEvent {
    /// Which finding.
    pub id: FindingId,
    /// What happens.
    pub event: FindingEvent,
    /// Why.
    pub reason: String,
}

/// Matches the findings of a review with the ledger.
pub fn track(findings: Vec<Finding>, facts: &TrackingFacts<'_>) -> TrackingResult {
    let known = KnownFindings {
        findings: facts.known,
        renames: facts.renames,
        delta: facts.delta,
        texts: facts.texts,
    };
    let decisions = match_all(&findings, &known);
    let by_id: BTreeMap<&FindingId, &LedgerFinding> =
        facts.known.iter().map(|it| (&it.id, it)).collect();
    let mut result = TrackingResult::default();
    for (finding, decision) in findings.into_iter().zip(decisions) {
        let old = decision.id.as_ref().and_then(|id| by_id.get(id)).copied();
        let (standing, event) = match old {
            Some(old) => standing_of_known(&finding, old, facts),
            None => (standing_of_new(&finding, facts), None),
        };
        if let (Some(old), Some((event, reason))) = (old, event) {
            let id = old.id.clone();
            result.events.push(TrackingEvent { id, event, reason: reason.to_owned() });
        }
        result.tracked.push(TrackedFinding {
            finding,
            id: decision.id,
            standing,
            matched: decision.why,
        });
    }
    result
}

type Event = Option<(FindingEvent, &'static str)>;

fn standing_of_known(
    finding: &Finding,
    old: &LedgerFinding,
    facts: &TrackingFacts<'_>,
) -> (Standing, Event) {
    if is_waived_by_file(finding, facts) {
        return (Standing::Waived, None);
    }
    match old.state {
        FindingState::Open | FindingState::Duplicate => (Standing::StillOpen, None),
        FindingState::Regressed => (Standing::Regressed, None),
        FindingState::Fixed => {
            (Standing::Regressed, Some((FindingEvent::Reported, "reported again after a fix")))
        }
        FindingState::Waived => {
            let end = old
                .waiver
                .as_ref()
                .and_then(|waiver| waiver.ended(&finding.evidence_snippet, facts.today));
            match end {
                Some(end) => {
                    (Standing::StillOpen, Some((FindingEvent::WaiverExpired, end.reason())))
                }
                None => (Standing::Waived, None),
            }
        }
        FindingState::Disputed if has_new_evidence(finding, old, facts) => {
            let reason = "reported with new evidence on changed lines";
            (Standing::StillOpen, Some((FindingEvent::ReportedWithNewEvidence, reason)))
        }
        FindingState::Disputed => (Standing::Disputed, None),
    }
}

fn standing_of_new(finding: &Finding, facts: &TrackingFacts<'_>) -> Standing {
    if is_waived_by_file(finding, facts) {
        return Standing::Waived;
    }
    // A rule reports what is there: a problem that it did not report before is caused by the new lines.
    let is_late = finding.rule.is_none()
        && facts.delta.is_some_and(|delta| !delta.touches(&finding.file, finding.span()));
    if is_late { Standing::Late } else { Standing::New }
}

fn is_waived_by_file(finding: &Finding, facts: &TrackingFacts<'_>) -> bool {
    let waiver = facts.shared_waivers.get(&finding.dedupe_key);
    waiver.is_some_and(|waiver| waiver.ended(&finding.evidence_snippet, facts.today).is_none())
}

fn has_new_evidence(finding: &Finding, old: &LedgerFinding, facts: &TrackingFacts<'_>) -> bool {
    let is_other_evidence = super::waiver::code_hash(&finding.evidence_snippet)
        != super::waiver::code_hash(&old.finding.evidence_snippet);
    let is_on_new_lines = facts
        .delta
        .map_or(finding.on_changed_lines, |delta| delta.touches(&finding.file, finding.span()));
    is_other_evidence && is_on_new_lines
}

/// What an open finding that this review did not report looks like at head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenFindingCheck {
    /// Its evidence and its symbol are as before: it is still open.
    Unchanged,
    /// Its evidence is gone, or its symbol changed: the reviewer is asked whether it is fixed.
    AskReviewer,
    /// A rule reported it, and reports it no more.
    RuleIsSilent,
}

/// Compares an open finding with the file at head. `text` is `None` when the file is gone; `is_symbol_changed`
/// says whether its enclosing symbol has lines that are new since the last review.
pub fn check_open_finding(
    open: &LedgerFinding,
    text: Option<&str>,
    is_symbol_changed: bool,
) -> OpenFindingCheck {
    if open.finding.rule.is_some() {
        return OpenFindingCheck::RuleIsSilent;
    }
    let is_there = text.is_some_and(|text| contains_evidence(text, &open.finding.evidence_snippet));
    if is_there && !is_symbol_changed {
        OpenFindingCheck::Unchanged
    } else {
        OpenFindingCheck::AskReviewer
    }
}

/// Whether a text contains the lines of a quote in order, white space aside.
fn contains_evidence(text: &str, evidence: &str) -> bool {
    let squeeze = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    squeeze(text).contains(&squeeze(evidence))
}

/// The unresolved findings of a change that a review did not report.
pub fn unreported<'k>(
    known: &'k [LedgerFinding],
    tracked: &[TrackedFinding],
    subject: &str,
) -> Vec<&'k LedgerFinding> {
    let reported: BTreeSet<&FindingId> = tracked.iter().filter_map(|it| it.id.as_ref()).collect();
    known
        .iter()
        .filter(|it| it.is_unresolved() && it.subject == subject && !reported.contains(&it.id))
        .collect()
}

/// The state of a finding after an event; unchanged when the event does not apply.
pub fn state_after(state: FindingState, event: FindingEvent) -> FindingState {
    next_state(state, event).unwrap_or(state)
}
