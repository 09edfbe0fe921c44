//! What the ledger says about the findings of a review, and what the review says about the ledger's findings.

use super::delta::{Delta, line_hash};
use super::matching::{KnownFindings, match_all};
use super::states::FindingEvent;
use super::waiver::{SharedWaivers, code_hash};
use super::{FindingId, LedgerFinding, Standing, TrackedFinding};
use crate::change::{FilePath, LineSpan};
use crate::finding::{Finding, FindingState, Priority};
use crate::review::FileTexts;
use crate::verdict::{Threshold, counts, is_refuted};
use std::collections::{BTreeMap, BTreeSet};

/// What tracking needs to know.
pub struct TrackingFacts<'t> {
    /// The change under review.
    pub subject: &'t str,
    /// The ledger's findings in the files of this change.
    pub known: &'t [LedgerFinding],
    /// Those of them that earlier reviews of this change reported.
    pub reported_before: &'t BTreeSet<FindingId>,
    /// Paths that the change renames, old to new.
    pub renames: &'t BTreeMap<FilePath, FilePath>,
    /// Where lines of the last complete review are at head.
    pub moved: Option<&'t Delta>,
    /// What is new since the last complete review; `None` in a review of the whole change.
    pub delta: Option<&'t Delta>,
    /// The files at head.
    pub texts: &'t FileTexts,
    /// The least urgent priority that counts among new findings.
    pub bar: Threshold,
    /// The waivers that the repository shares.
    pub shared_waivers: &'t SharedWaivers,
    /// Today, as `YYYY-MM-DD`.
    pub today: &'t str,
}

impl<'t> TrackingFacts<'t> {
    fn known_findings(&self) -> KnownFindings<'t> {
        KnownFindings {
            findings: self.known,
            renames: self.renames,
            delta: self.moved,
            texts: self.texts,
        }
    }
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
    let decisions = match_all(&findings, &facts.known_findings());
    let by_id: BTreeMap<&FindingId, &LedgerFinding> =
        facts.known.iter().map(|it| (&it.id, it)).collect();
    let mut result = TrackingResult::default();
    for (mut finding, decision) in findings.into_iter().zip(decisions) {
        let old = decision.id.as_ref().and_then(|id| by_id.get(id)).copied();
        let (standing, event) = match old {
            Some(old) => standing_of_known(&finding, old, facts),
            None => (standing_of_new(&finding, facts), None),
        };
        if let (Some(old), Some((event, reason))) = (old, event) {
            let id = old.id.clone();
            result.events.push(TrackingEvent { id, event, reason });
        }
        finding.state = state_in_report(standing);
        finding.first_seen = old.map(|old| old.first_seen.clone());
        result.tracked.push(TrackedFinding {
            finding,
            id: decision.id,
            standing,
            matched: decision.why,
        });
    }
    result
}

type Event = Option<(FindingEvent, String)>;

fn standing_of_known(
    finding: &Finding,
    old: &LedgerFinding,
    facts: &TrackingFacts<'_>,
) -> (Standing, Event) {
    if finding.is_note {
        return (Standing::StillOpen, None);
    }
    if is_refuted(finding) {
        let how = finding.verification.how.as_deref().unwrap_or("a check refuted it");
        return (Standing::StillOpen, Some((FindingEvent::ConfirmedFixed, how.to_owned())));
    }
    if is_waived_by_file(finding, facts) {
        return (Standing::Waived, None);
    }
    let is_new_here = !facts.reported_before.contains(&old.id);
    let was_set_aside = matches!(old.standing, Standing::Late | Standing::BelowBar);
    match old.state {
        FindingState::Open | FindingState::Duplicate if is_new_here || was_set_aside => {
            match standing_of_new(finding, facts) {
                Standing::New if was_set_aside && !is_new_here && facts.delta.is_some() => {
                    (Standing::New, None)
                }
                Standing::New => (Standing::StillOpen, None),
                other => (other, None),
            }
        }
        FindingState::Open | FindingState::Duplicate => (Standing::StillOpen, None),
        FindingState::Regressed => (Standing::Regressed, None),
        FindingState::Fixed if !is_new_here && old.subject != facts.subject => {
            let reason = "fixed in another change and still present in this one";
            (Standing::StillOpen, event(FindingEvent::Reopened, reason))
        }
        FindingState::Fixed => {
            (Standing::Regressed, event(FindingEvent::Reported, "reported again after a fix"))
        }
        FindingState::Waived => {
            let evidence = &finding.evidence_snippet;
            let end = old.waiver.as_ref().and_then(|waiver| waiver.ended(evidence, facts.today));
            match end {
                Some(end) => {
                    (Standing::StillOpen, event(FindingEvent::WaiverExpired, end.reason()))
                }
                None => (Standing::Waived, None),
            }
        }
        FindingState::Disputed if has_new_evidence(finding, old, facts) => {
            let reason = "reported with new evidence on changed lines";
            (Standing::StillOpen, event(FindingEvent::ReportedWithNewEvidence, reason))
        }
        FindingState::Disputed => (Standing::Disputed, None),
    }
}

fn event(event: FindingEvent, reason: &str) -> Event {
    Some((event, reason.to_owned()))
}

fn standing_of_new(finding: &Finding, facts: &TrackingFacts<'_>) -> Standing {
    if is_waived_by_file(finding, facts) {
        return Standing::Waived;
    }
    // A rule reports what is there: a problem that it did not report before is caused by the new lines.
    let is_claim = finding.rule.is_none() && counts(finding);
    let is_on_old_lines =
        facts.delta.is_some_and(|delta| !delta.touches(&finding.file, finding.span()));
    match is_claim {
        true if is_on_old_lines => Standing::Late,
        true if !facts.bar.blocks(finding) => Standing::BelowBar,
        _ => Standing::New,
    }
}

fn is_waived_by_file(finding: &Finding, facts: &TrackingFacts<'_>) -> bool {
    let waiver = facts.shared_waivers.get(&finding.dedupe_key);
    waiver.is_some_and(|waiver| waiver.ended(&finding.evidence_snippet, facts.today).is_none())
}

fn has_new_evidence(finding: &Finding, old: &LedgerFinding, facts: &TrackingFacts<'_>) -> bool {
    let is_other_evidence =
        code_hash(&finding.evidence_snippet) != code_hash(&old.finding.evidence_snippet);
    let is_on_new_lines = facts
        .delta
        .map_or(finding.on_changed_lines, |delta| delta.touches(&finding.file, finding.span()));
    is_other_evidence && is_on_new_lines
}

fn state_in_report(standing: Standing) -> FindingState {
    match standing {
        Standing::New | Standing::StillOpen | Standing::Late | Standing::BelowBar => {
            FindingState::Open
        }
        Standing::Regressed => FindingState::Regressed,
        Standing::Waived => FindingState::Waived,
        Standing::Disputed => FindingState::Disputed,
    }
}

/// Whether a finding takes part in the decision: what is late, waived, disputed or below the bar does not,
/// except a verified P0 that is late.
pub fn takes_part(tracked: &TrackedFinding) -> bool {
    tracked.standing.may_block() || is_late_blocker(tracked)
}

/// Whether a finding is a verified P0 on lines that an earlier round reviewed.
pub fn is_late_blocker(tracked: &TrackedFinding) -> bool {
    tracked.standing == Standing::Late
        && tracked.finding.effective_priority() == Priority::P0
        && tracked.finding.verification.is_confirmed()
}

/// An open finding that this review did not report, at head.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenFindingCheck {
    /// Its evidence and its symbol are as before: it is still open, on these lines.
    Unchanged(LineSpan),
    /// Its evidence is still there, and its symbol changed: a verifier is asked about it.
    AskVerifier(LineSpan),
    /// Its evidence is gone, and the reviewer, told about it, does not report it again.
    Fixed(&'static str),
    /// A rule does not report it, though its file did not change: the rule did not look at it.
    NotReviewed,
}

/// Compares an open finding with its file at head. `text` is `None` when the file is gone; `symbol_changed`
/// says whether the symbol around a line has lines that are new since the last review.
pub fn check_open_finding(
    open: &Finding,
    text: Option<&str>,
    file_changed: bool,
    symbol_changed: impl Fn(LineSpan) -> bool,
) -> OpenFindingCheck {
    let Some(text) = text else { return OpenFindingCheck::Fixed("its file is gone") };
    let located = locate_evidence(text, &open.evidence_snippet, open.line_start);
    match (located, open.rule.is_some()) {
        (None, _) => OpenFindingCheck::Fixed("its evidence is gone, and it is not reported again"),
        (Some(_), true) if file_changed => {
            OpenFindingCheck::Fixed("the file changed, and the rule does not report it again")
        }
        (Some(_), true) => OpenFindingCheck::NotReviewed,
        (Some(lines), false) if symbol_changed(lines) => OpenFindingCheck::AskVerifier(lines),
        (Some(lines), false) => OpenFindingCheck::Unchanged(lines),
    }
}

/// The lines of a text that are the lines of a quote, white space and empty lines aside; those nearest to a
/// line when there are several.
fn locate_evidence(text: &str, evidence: &str, near: u32) -> Option<LineSpan> {
    locate_lines(text, evidence, near).or_else(|| locate_within_line(text, evidence, near))
}

/// The whole lines of a text that are the lines of a quote, as `locate_evidence`.
pub fn locate_lines(text: &str, evidence: &str, near: u32) -> Option<LineSpan> {
    let hashes = |text: &str| -> Vec<(u32, u64)> {
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        lines.map(|(line, number)| (number, line_hash(line))).collect()
    };
    let (lines, quote) = (hashes(text), hashes(evidence));
    if quote.is_empty() {
        return None;
    }
    let matches = lines
        .windows(quote.len())
        .filter(|window| window.iter().zip(&quote).all(|((_, line), (_, quoted))| line == quoted));
    let spans =
        matches.filter_map(|window| Some(LineSpan::between(window.first()?.0, window.last()?.0)));
    spans.min_by_key(|span| span.start().abs_diff(near))
}

/// The line that contains a quote of a part of a line.
fn locate_within_line(text: &str, evidence: &str, near: u32) -> Option<LineSpan> {
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    let quote = squeeze(evidence);
    let lines = text.lines().zip(1..).filter(|(line, _)| squeeze(line).contains(&quote));
    let nearest = lines.map(|(_, number)| number).min_by_key(|number: &u32| number.abs_diff(near));
    nearest.map(LineSpan::line)
}

/// The findings of earlier reviews of a change that are not resolved and that this review did not report.
pub fn unreported<'k>(findings: &[Finding], facts: &TrackingFacts<'k>) -> Vec<&'k LedgerFinding> {
    let decisions = match_all(findings, &facts.known_findings());
    let reported: BTreeSet<FindingId> =
        decisions.into_iter().filter_map(|decision| decision.id).collect();
    let known = facts.known.iter();
    known
        .filter(|it| facts.reported_before.contains(&it.id) && !reported.contains(&it.id))
        .filter(|it| it.is_unresolved_in(facts.subject))
        .collect()
}

#[cfg(test)]
mod tests;
