//! Tracks findings: compares the findings of a review with the ledger, and derives their standings
//! and the changes of state.

use super::delta::{Delta, ReviewedLines};
use super::matching::{KnownFindings, is_added_copy, match_all};
use super::reported_code::FileAtHead;
use super::states::FindingEvent;
use super::waiver::{SharedWaiver, SharedWaivers, WaiverEnd, code_hash, stands_at};
use super::{FindingId, LedgerFinding, Standing, TrackedFinding};
use crate::change::{FilePath, LineSpan};
use crate::finding::{CodeLines, Finding, FindingState, copy_number, identity, occurrence};
use crate::review::FileTexts;
use crate::verdict::{Threshold, counts, is_refuted};
use std::collections::{BTreeMap, BTreeSet};

/// The input of tracking.
pub struct TrackingFacts<'t> {
    /// The ledger's findings of this change and in its files.
    pub known: &'t [LedgerFinding],
    /// Paths that were renamed, old to new.
    pub renames: &'t BTreeMap<FilePath, FilePath>,
    /// The lines that moved since the last complete review.
    pub moved: Option<&'t Delta>,
    /// The lines that are new since the last complete review; `None` in a review of the whole
    /// change.
    pub delta: Option<&'t Delta>,
    /// The lines of the change.
    pub added: &'t ReviewedLines,
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
            added: self.added,
            texts: self.texts,
        }
    }
}

/// Findings with their standing, and the changes of state that follow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrackingResult {
    /// The findings of the review, in their order.
    pub tracked: Vec<TrackedFinding>,
    /// Events for findings that the ledger has.
    pub events: Vec<TrackingEvent>,
}

/// Something that happens to a known finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackingEvent {
    /// The id of the finding.
    pub id: FindingId,
    /// The event.
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
        let own = old.and_then(|old| old.waiver.as_ref()).map(|it| &it.reason);
        let shared = shared_waiver(&finding, facts).map(|it| &it.reason);
        let reason = own.or(shared).filter(|_| standing == Standing::Waived).cloned();
        finding.state = state_in_report(standing);
        finding.first_seen = old.map(|old| old.first_seen.clone());
        result.tracked.push(TrackedFinding {
            finding,
            id: decision.id,
            standing,
            matched: decision.why,
            reason,
            code: None,
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
    match old.state {
        FindingState::Waived => match waiver_end(finding, old, facts) {
            Some(end) if shared_waiver(finding, facts).is_none() => {
                (Standing::StillOpen, event(FindingEvent::WaiverExpired, end.reason()))
            }
            _ => (Standing::Waived, None),
        },
        FindingState::Disputed
            if !is_more_urgent(finding, old) && !has_new_evidence(finding, old, facts) =>
        {
            (Standing::Disputed, None)
        }
        _ if finding.is_note => (Standing::StillOpen, None),
        _ if is_refuted(finding) => standing_of_refuted(finding, old, facts),
        _ if shared_waiver(finding, facts).is_some() => (Standing::Waived, None),
        FindingState::Disputed => {
            let reason = match is_more_urgent(finding, old) {
                true => "reported as more urgent than it was when it was disputed",
                false => "reported with new evidence on changed lines",
            };
            (Standing::StillOpen, event(FindingEvent::ReportedWithNewEvidence, reason))
        }
        FindingState::Duplicate => {
            let (standing, _) = standing_of_open(finding, old, facts);
            (standing, event(FindingEvent::Reported, "reported again on its own"))
        }
        FindingState::Open | FindingState::Regressed | FindingState::Fixed => {
            standing_of_open(finding, old, facts)
        }
    }
}

/// The standing of a finding without a person's decision, from its previous standing in this
/// change.
fn standing_of_open(
    finding: &Finding,
    old: &LedgerFinding,
    facts: &TrackingFacts<'_>,
) -> (Standing, Event) {
    let standing = match old.standing {
        Some(Standing::Fixed) => {
            let reason = "reported again after a fix";
            return (Standing::Regressed, event(FindingEvent::Reported, reason));
        }
        Some(Standing::Regressed) => Standing::Regressed,
        Some(Standing::Late | Standing::BelowBar) | None => {
            let is_new_line = old.standing.is_some() && facts.delta.is_some();
            match standing_of_new(finding, facts) {
                Standing::New if !is_new_line => Standing::StillOpen,
                other => other,
            }
        }
        Some(Standing::New | Standing::StillOpen | Standing::Waived | Standing::Disputed) => {
            Standing::StillOpen
        }
    };
    let reason = "fixed in another change and still present in this one";
    let is_fixed_elsewhere = old.state == FindingState::Fixed;
    (standing, event(FindingEvent::Reopened, reason).filter(|_| is_fixed_elsewhere))
}

/// A check refutes it: fixed when its file changed since it was reported, and otherwise an opinion against
/// another one, which does not change its state.
fn standing_of_refuted(
    finding: &Finding,
    old: &LedgerFinding,
    facts: &TrackingFacts<'_>,
) -> (Standing, Event) {
    let file = facts.texts.at_head(&finding.file).map(|text| FileAtHead::of(&finding.file, text));
    let is_changed =
        old.code.as_ref().zip(file).is_some_and(|(code, file)| file.differs_from(code));
    if !is_changed {
        return (Standing::StillOpen, None);
    }
    let how = finding.verification.how.as_deref().unwrap_or("a check refuted it");
    (Standing::Fixed, event(FindingEvent::ConfirmedFixed, how))
}

fn event(event: FindingEvent, reason: &str) -> Event {
    Some((event, reason.to_owned()))
}

fn waiver_end(
    finding: &Finding,
    old: &LedgerFinding,
    facts: &TrackingFacts<'_>,
) -> Option<WaiverEnd> {
    let text = facts.texts.at_head(&finding.file);
    let end = old.waiver.as_ref().and_then(|waiver| waiver.ended(finding, text, facts.today));
    end.or_else(|| is_more_urgent(finding, old).then_some(WaiverEnd::MoreUrgent))
}

/// Whether a finding counts and is more urgent than when a person decided about it; then the
/// decision no longer applies. The ledger does not change the priority of a finding while a
/// decision applies.
fn is_more_urgent(finding: &Finding, decided: &LedgerFinding) -> bool {
    counts(finding) && finding.effective_priority() < decided.finding.effective_priority()
}

fn standing_of_new(finding: &Finding, facts: &TrackingFacts<'_>) -> Standing {
    if shared_waiver(finding, facts).is_some() {
        return Standing::Waived;
    }
    // Rules report every problem, so a problem that a rule did not report before is caused by the
    // new lines.
    let is_claim = finding.rule.is_none() && counts(finding);
    let is_on_old_lines =
        facts.delta.is_some_and(|delta| !delta.touches(&finding.file, finding.span()));
    match is_claim {
        true if is_on_old_lines => Standing::Late,
        true if !facts.bar.blocks(finding) => Standing::BelowBar,
        _ => Standing::New,
    }
}

/// The shared waiver that applies to a finding: it has the same identity, under any of the file's
/// names, was given for the same code or for code on the same lines, and for a finding that was at
/// least as urgent.
pub fn shared_waiver<'w>(finding: &Finding, facts: &TrackingFacts<'w>) -> Option<&'w SharedWaiver> {
    if facts.shared_waivers.waivers.is_empty() || is_added_copy(finding, facts.added, facts.texts) {
        return None;
    }
    let text = facts.texts.at_head(&finding.file);
    let old_names = facts.renames.iter().filter(|(_, new)| **new == finding.file);
    let files: Vec<&FilePath> =
        std::iter::once(&finding.file).chain(old_names.map(|(old, _)| old)).collect();
    let occurrence = old_occurrence(finding, facts);
    let has_key = |waiver: &SharedWaiver, evidence: &str| {
        let symbol = finding.symbol.as_deref();
        let key = |file: &FilePath| identity(file, symbol, evidence, finding.category, occurrence);
        code_hash(evidence) == waiver.code && files.iter().any(|file| key(file) == waiver.finding)
    };
    let holds = |waiver: &&SharedWaiver| {
        let is_past = waiver.until.as_deref().is_some_and(|until| until < facts.today);
        let is_urgent = waiver.priority.is_some_and(|it| finding.effective_priority() < it);
        let is_quoted = |quote: &str| has_key(waiver, quote) && stands_at(quote, finding, text);
        let is_for = || {
            has_key(waiver, &finding.evidence_snippet)
                || waiver.quote.as_deref().is_some_and(is_quoted)
        };
        !is_past && !is_urgent && is_for()
    };
    facts.shared_waivers.waivers.iter().find(holds)
}

/// The occurrence of a finding without the copies of its code that the change adds above it.
fn old_occurrence(finding: &Finding, facts: &TrackingFacts<'_>) -> usize {
    let Some((copy, n_before)) = copy_number(finding) else { return 0 };
    let text = facts.texts.at_head(&finding.file).unwrap_or_default();
    let copies = CodeLines::of(text).positions(finding.evidence_snippet.lines());
    let above = copies.iter().filter(|it| it.start() < finding.line_start);
    let n_added = above.filter(|it| facts.added.has_added(&finding.file, **it)).count();
    occurrence(copy.saturating_sub(n_added), n_before)
}

/// Whether the disputed code changed: it is neither the evidence nor on the lines of the finding, and those
/// lines are new since the last review.
fn has_new_evidence(finding: &Finding, old: &LedgerFinding, facts: &TrackingFacts<'_>) -> bool {
    let (disputed, text) = (&old.finding.evidence_snippet, facts.texts.at_head(&finding.file));
    let is_on_new_lines = facts
        .moved
        .map_or(finding.on_changed_lines, |delta| delta.touches(&finding.file, finding.span()));
    code_hash(&finding.evidence_snippet) != code_hash(disputed)
        && !stands_at(disputed, finding, text)
        && is_on_new_lines
}

fn state_in_report(standing: Standing) -> FindingState {
    match standing {
        Standing::New | Standing::StillOpen | Standing::Late | Standing::BelowBar => {
            FindingState::Open
        }
        Standing::Regressed => FindingState::Regressed,
        Standing::Waived => FindingState::Waived,
        Standing::Disputed => FindingState::Disputed,
        Standing::Fixed => FindingState::Fixed,
    }
}

/// Whether a finding takes part in the decision.
pub fn takes_part(tracked: &TrackedFinding) -> bool {
    tracked.standing.takes_part(&tracked.finding)
}

/// Whether a finding is a verified P0 on lines that an earlier round reviewed.
pub fn is_late_blocker(tracked: &TrackedFinding) -> bool {
    tracked.standing == Standing::Late && takes_part(tracked)
}

/// How a review treated an open finding that it does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SilentReview {
    /// Whether every reviewer accounts for the file.
    pub is_covered: bool,
    /// Whether the prompt of the reviewers listed the finding; rules do not need it.
    pub is_told: bool,
    /// Whether the rules ran that reported it, if rules did.
    pub has_run_rules: bool,
    /// Whether the file is part of the change.
    pub is_in_change: bool,
}

/// An open finding that this review did not report, at head.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenFindingCheck {
    /// It is still open, on these lines.
    StillOpen(LineSpan),
    /// It is fixed, for this reason.
    Fixed(&'static str),
    /// Its code changed, and this review cannot decide whether it is fixed, because the prompt did
    /// not list it or its file was not reviewed.
    Unknown,
    /// It can be neither shown nor confirmed as fixed: it stays open for the next review.
    NotReviewed,
}

/// Compares an open finding with its file at head. It is fixed if its evidence is gone or its code
/// changed, and reviewers who knew about it reviewed the file and do not report it again. A finding
/// of a rule that did not run is fixed only if its evidence is gone. `file` is `None` if the file
/// is gone; `is_changed` says whether the code around these lines changed since the finding was
/// reported.
pub fn check_open_finding(
    open: &Finding,
    file: Option<&FileAtHead>,
    review: SilentReview,
    is_changed: impl Fn(LineSpan) -> bool,
) -> OpenFindingCheck {
    let is_rule = open.rule.is_some();
    let agrees = review.is_covered && (review.is_told || (is_rule && review.has_run_rules));
    let fixed = |why| match (agrees, review.is_in_change) {
        (true, _) => OpenFindingCheck::Fixed(why),
        (false, true) => OpenFindingCheck::Unknown,
        (false, false) => OpenFindingCheck::NotReviewed,
    };
    let Some(file) = file else { return fixed("its file is gone") };
    let Some(lines) = file.locate(&open.evidence_snippet, open.line_start) else {
        return fixed("its evidence is gone, and it is not reported again");
    };
    if !review.is_in_change {
        return OpenFindingCheck::NotReviewed;
    }
    match is_rule && review.has_run_rules {
        true if is_changed(lines) => {
            fixed("the file changed, and the rule does not report it again")
        }
        true => OpenFindingCheck::NotReviewed,
        false if !is_rule && agrees && is_changed(lines) => fixed(
            "the code around it changed, and the reviewers, told about it, do not report it again",
        ),
        false => OpenFindingCheck::StillOpen(lines),
    }
}

/// The findings of earlier reviews of a change that are not resolved and that this review did not report.
pub fn unreported<'k>(findings: &[Finding], facts: &TrackingFacts<'k>) -> Vec<&'k LedgerFinding> {
    let decisions = match_all(findings, &facts.known_findings());
    let reported: BTreeSet<FindingId> =
        decisions.into_iter().filter_map(|decision| decision.id).collect();
    let known = facts.known.iter();
    known.filter(|it| !reported.contains(&it.id) && it.still_blocks(facts.today)).collect()
}

/// The findings of a review that the ledger knows, before duplicates are merged.
pub fn recognised(findings: &[Finding], facts: &TrackingFacts<'_>) -> Vec<(FindingId, Finding)> {
    let decisions = match_all(findings, &facts.known_findings());
    let known = findings.iter().zip(decisions);
    known.filter_map(|(finding, decision)| Some((decision.id?, finding.clone()))).collect()
}

/// Marks known findings as duplicates of another one if the review reported both and merged them.
/// Only a finding that takes part in the decision can have duplicates.
pub fn duplicates(
    recognised: &[(FindingId, Finding)],
    tracked: &[TrackedFinding],
) -> Vec<TrackingEvent> {
    let reported: BTreeSet<&FindingId> = tracked.iter().filter_map(|it| it.id.as_ref()).collect();
    let merged = recognised.iter().filter(|(id, _)| !reported.contains(id));
    let duplicates = merged.filter_map(|(id, finding)| {
        let stands_for = |it: &&TrackedFinding| {
            takes_part(it)
                && it.finding.file == finding.file
                && it.finding.span().overlaps(finding.span())
                && it.finding.is_reported_by(&finding.reviewer)
        };
        let other = tracked.iter().find(stands_for)?.id.as_ref()?;
        let reason = format!("the same as {other}");
        Some(TrackingEvent { id: id.clone(), event: FindingEvent::MarkedDuplicate, reason })
    });
    duplicates.collect()
}

#[cfg(test)]
pub(crate) mod tests;
