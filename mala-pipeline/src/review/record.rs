//! Stores a review in the ledger, and adds the ledger's data to the report.

use super::round::{Round, commits};
use mala_domain::finding::{Finding, FindingState};
use mala_domain::ledger::convergence::{NextStep, RoundSummary, next_step};
use mala_domain::ledger::states::{FindingEvent, next_state};
use mala_domain::ledger::track::{
    TrackingEvent, TrackingResult, duplicates, is_late_blocker, takes_part,
};
use mala_domain::ledger::{
    FindingId, LedgerFinding, Occurrence, ReviewRecord, Standing, StateChange, TrackedFinding,
    new_finding_id,
};
use mala_domain::ports::{LedgerError, StoredReview};
use mala_domain::report::{
    FixedFinding, IssueTracking, ReportParts, SetAsideFinding, TrackingReport,
};
use mala_domain::review::decide::ReviewerVote;
use mala_domain::verdict::{Outcome, counts};
use std::collections::BTreeSet;

/// The name under which reviews change states.
const BY: &str = "mala";

/// The ledger's data about a review, and the record to store.
pub(super) struct TrackedReview {
    pub(super) tracking: TrackingReport,
    pub(super) stored: StoredReview,
    pub(super) warnings: Vec<String>,
}

/// The result of storing a review.
pub(super) enum StoreOutcome {
    Stored,
    NotWanted,
    Failed(LedgerError),
}

impl StoreOutcome {
    pub(super) fn warning(&self) -> Option<String> {
        match self {
            Self::Failed(error) => Some(format!("this review is not stored: {error}")),
            Self::Stored | Self::NotWanted => None,
        }
    }
}

impl Round<'_> {
    /// The ledger's data about a review, and the record to store.
    pub(super) fn tracked_review(
        &self,
        parts: &ReportParts,
        mut result: TrackingResult,
    ) -> TrackedReview {
        self.name_new(&mut result.tracked);
        let is_there = |it: &TrackedFinding| counts(&it.finding) || it.standing != Standing::New;
        result.tracked.retain(is_there);
        let events = self.events(&result, parts.decision.outcome);
        let fixed = self.fixed(&events);
        let summary = self.summary(parts, &result.tracked, fixed.len());
        let next_step = self.next_step(&summary);
        let stored = StoredReview {
            review: self.review(parts, summary, next_step.clone()),
            findings: result.tracked.iter().filter_map(|it| self.stored(it, parts)).collect(),
            state_changes: self.state_changes(&events),
        };
        let tracking = TrackingReport {
            change: self.tracking.subject.to_owned(),
            round: self.plan.round,
            reviewed: self.plan.coverage,
            next_step,
            issues: issues(parts, &result.tracked),
            set_aside: Self::set_aside(&result.tracked),
            fixed,
            unknown: self.unknown.iter().map(unknown).collect(),
            is_stored: false,
        };
        let unknown_cost = self.unknown_cost(parts.cost_usd());
        let warnings = disputed_again(&result.tracked).into_iter().chain(unknown_cost).collect();
        TrackedReview { tracking, stored, warnings }
    }

    /// Stores a review, if that is wanted.
    pub(super) async fn store(&self, stored: &StoredReview) -> StoreOutcome {
        if !self.tracking.stores {
            return StoreOutcome::NotWanted;
        }
        match self.tracking.ledger.record(stored).await {
            Ok(()) => StoreOutcome::Stored,
            Err(error) => StoreOutcome::Failed(error),
        }
    }

    /// An unknown cost is not zero: the limit of the loop does not see it.
    fn unknown_cost(&self, cost_usd: Option<f64>) -> Option<String> {
        let is_limited = self.tracking.policy.convergence.max_cost_usd.is_some();
        (is_limited && !self.is_by_rules && cost_usd.is_none()).then(|| {
            "the cost of this review is not known: review.rounds.max_cost_usd does not count it"
                .to_owned()
        })
    }

    /// Gives ids to findings that are not known.
    fn name_new(&self, tracked: &mut [TrackedFinding]) {
        let mut taken: BTreeSet<FindingId> = self.known.iter().map(|it| it.id.clone()).collect();
        for it in tracked.iter_mut().filter(|it| it.id.is_none()) {
            let id = new_finding_id(&it.finding.dedupe_key, &taken);
            taken.insert(id.clone());
            it.id = Some(id);
        }
    }

    /// The events for known findings that were reported, merged or are gone. A review that could
    /// not be done closes none.
    fn events(&self, result: &TrackingResult, outcome: Outcome) -> Vec<TrackingEvent> {
        let gone = self.gone.iter().map(|(id, why)| TrackingEvent {
            id: id.clone(),
            event: FindingEvent::ConfirmedFixed,
            reason: (*why).to_owned(),
        });
        let is_done = !matches!(outcome, Outcome::CouldNotReview(_));
        let closes = |it: &TrackingEvent| {
            matches!(it.event, FindingEvent::ConfirmedFixed | FindingEvent::MarkedDuplicate)
        };
        let merged = duplicates(&self.recognised, &result.tracked);
        let all = result.events.iter().cloned().chain(gone).chain(merged);
        all.filter(|it| is_done || !closes(it)).collect()
    }

    fn fixed(&self, events: &[TrackingEvent]) -> Vec<FixedFinding> {
        let fixed = events.iter().filter(|it| it.event == FindingEvent::ConfirmedFixed);
        let fixed = fixed.filter_map(|it| {
            let known = self.known(&it.id)?;
            let (id, reason) = (it.id.clone(), it.reason.clone());
            Some(FixedFinding { id, reason, finding: known.finding.clone() })
        });
        fixed.collect()
    }

    fn known(&self, id: &FindingId) -> Option<&LedgerFinding> {
        self.known.iter().find(|it| it.id == *id)
    }

    fn state_changes(&self, events: &[TrackingEvent]) -> Vec<(FindingId, StateChange)> {
        let changes = events.iter().filter_map(|it| {
            let known = self.known(&it.id)?;
            let state = next_state(known.state, it.event)?;
            let is_fixed_here = it.event == FindingEvent::ConfirmedFixed;
            (state != known.state || is_fixed_here).then(|| {
                let (by, at) = (BY.to_owned(), self.tracking.at.to_owned());
                let reason = it.reason.clone();
                (it.id.clone(), StateChange { state, by, at, reason })
            })
        });
        changes.collect()
    }

    fn summary(
        &self,
        parts: &ReportParts,
        tracked: &[TrackedFinding],
        n_fixed: usize,
    ) -> RoundSummary {
        let fail_on = parts.fail_on();
        let deciding = || tracked.iter().filter(|it| takes_part(it) && counts(&it.finding));
        let of = |standing| deciding().filter(move |it| it.standing == standing);
        let is_on_fix = |it: &&TrackedFinding| {
            let delta = self.delta.as_ref();
            delta.is_some_and(|delta| delta.touches(&it.finding.file, it.finding.span()))
        };
        let count = |standing| tracked.iter().filter(|it| it.standing == standing).count();
        RoundSummary {
            round: self.plan.round,
            diff_hash: parts.scope.diff_hash.clone(),
            is_complete: is_complete(parts),
            has_new_lines: self.delta.as_ref().is_none_or(|delta| !delta.is_unchanged()),
            n_blocking: number(deciding().filter(|it| fail_on.blocks(&it.finding)).count()),
            n_new: number(of(Standing::New).count()),
            n_new_on_fix: number(of(Standing::New).filter(is_on_fix).count()),
            n_fixed: number(n_fixed),
            n_regressed: number(of(Standing::Regressed).count()),
            n_disputed: number(count(Standing::Disputed)),
            n_late: number(count(Standing::Late)),
            has_late_blocker: tracked.iter().any(is_late_blocker),
            sites: of(Standing::New).chain(of(Standing::Regressed)).map(site).collect(),
            cost_usd: parts.cost_usd(),
        }
    }

    /// The next step. Rounds of rules alone do not escalate, because rules always report the same
    /// problems; only reviews by models can continue forever.
    fn next_step(&self, summary: &RoundSummary) -> NextStep {
        let rounds = [self.earlier.as_slice(), std::slice::from_ref(summary)].concat();
        match (self.is_by_rules, summary.n_blocking) {
            (true, 0) if summary.is_complete => NextStep::Done,
            (true, _) => NextStep::Continue,
            (false, _) => next_step(&rounds, &self.tracking.policy.convergence),
        }
    }

    fn review(
        &self,
        parts: &ReportParts,
        summary: RoundSummary,
        next_step: NextStep,
    ) -> ReviewRecord {
        let commits = commits(&parts.scope);
        ReviewRecord {
            review_id: parts.review_id.clone(),
            subject: self.tracking.subject.to_owned(),
            round: self.plan.round,
            at: self.tracking.at.to_owned(),
            base: commits.base.map(str::to_owned),
            head: commits.head.map(str::to_owned),
            diff_hash: parts.scope.diff_hash.clone(),
            is_complete: is_complete(parts),
            outcome: match parts.decision.outcome {
                Outcome::Passed => "passed",
                Outcome::Blocked => "blocked",
                Outcome::CouldNotReview(_) => "could_not_review",
            }
            .to_owned(),
            reviewers: parts.reviewer_names(),
            panel: self.panel.clone(),
            cost_usd: parts.cost_usd(),
            summary,
            next_step,
            lines: self.lines.clone(),
        }
    }

    /// A finding as it is stored; `None` for one that a check refuted.
    fn stored(
        &self,
        it: &TrackedFinding,
        parts: &ReportParts,
    ) -> Option<(LedgerFinding, Occurrence)> {
        let id = it.id.clone().filter(|_| counts(&it.finding))?;
        let at = self.tracking.at.to_owned();
        let finding = LedgerFinding {
            state: FindingState::Open,
            subject: self.tracking.subject.to_owned(),
            standing: Some(it.standing),
            first_seen: parts.review_id.clone(),
            first_seen_at: at.clone(),
            last_seen_at: at.clone(),
            n_occurrences: 1,
            waiver: None,
            paths: Vec::new(),
            code: it.code.clone(),
            finding: Finding { state: FindingState::Open, ..self.as_decided(it) },
            id,
        };
        let occurrence = Occurrence {
            review_id: parts.review_id.clone(),
            subject: self.tracking.subject.to_owned(),
            reviewer: it.finding.reviewer.clone(),
            round: self.plan.round,
            line_start: it.finding.line_start,
            line_end: it.finding.line_end,
            commit: commits(&parts.scope).head.map(str::to_owned),
            at,
            matched: it.matched.clone(),
        };
        Some((finding, occurrence))
    }

    /// The finding to store. While a person's decision applies, it keeps the priority at the
    /// decision.
    fn as_decided(&self, it: &TrackedFinding) -> Finding {
        let is_decided = matches!(it.standing, Standing::Waived | Standing::Disputed);
        let known = it.id.as_ref().filter(|_| is_decided).and_then(|id| self.known(id));
        let (priority, severity) = known.map_or((it.finding.priority, it.finding.severity), |it| {
            (it.finding.priority, it.finding.severity)
        });
        Finding { priority, severity, ..it.finding.clone() }
    }

    fn set_aside(tracked: &[TrackedFinding]) -> Vec<SetAsideFinding> {
        let aside = tracked.iter().filter(|it| counts(&it.finding) && !takes_part(it));
        let aside = aside.filter_map(|it| {
            let (id, reason, finding) = (it.id.clone()?, it.reason.clone(), it.finding.clone());
            Some(SetAsideFinding { id, standing: it.standing, reason, finding })
        });
        aside.collect()
    }
}

/// Whether every reviewer reviewed every hunk, so that a later round need not show them again.
fn is_complete(parts: &ReportParts) -> bool {
    !matches!(parts.decision.outcome, Outcome::CouldNotReview(_))
        && parts.coverage.is_complete()
        && parts.votes.iter().all(ReviewerVote::is_complete)
}

fn issues(parts: &ReportParts, tracked: &[TrackedFinding]) -> Vec<IssueTracking> {
    let of_issue = |finding: &Finding| {
        let it = tracked.iter().find(|it| it.finding.dedupe_key == finding.dedupe_key)?;
        Some(IssueTracking {
            id: it.id.clone()?,
            dedupe_key: finding.dedupe_key.clone(),
            standing: it.standing,
            matched: it.matched.clone(),
        })
    };
    parts.issues().filter_map(of_issue).collect()
}

/// An open finding that the review could not check.
fn unknown(known: &LedgerFinding) -> SetAsideFinding {
    SetAsideFinding {
        id: known.id.clone(),
        standing: Standing::StillOpen,
        reason: Some("its code changed, and this review could not check it".to_owned()),
        finding: known.finding.clone(),
    }
}

/// A warning about disputed findings that were reported again. They stay disputed until a person
/// decides.
fn disputed_again(tracked: &[TrackedFinding]) -> Option<String> {
    let n = tracked.iter().filter(|it| it.standing == Standing::Disputed).count();
    let findings = match n {
        0 => return None,
        1 => "1 disputed finding was".to_owned(),
        n => format!("{n} disputed findings were"),
    };
    Some(format!(
        "{findings} reported again without new evidence: a person decides (mala findings list --state disputed)"
    ))
}

fn site(it: &TrackedFinding) -> String {
    let finding = &it.finding;
    let symbol = finding.symbol.as_deref().unwrap_or("-");
    format!("{} {symbol} {}", finding.file, finding.category)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
