//! Tracks findings over reviews: looks up the change in the ledger, recognises findings, and stores
//! the result. If the ledger fails, the review continues with a warning and without known findings,
//! so that the failure never makes it pass.

use super::admit::AdmittedClaims;
use super::delta::DeltaContext;
use super::record::StoreOutcome;
use super::round::Round;
use super::verify::VerifiedFindings;
use mala_domain::ledger::rounds::{RoundPolicy, is_unanswered};
use mala_domain::ledger::track::TrackingResult;
use mala_domain::ledger::waiver::SharedWaivers;
use mala_domain::ports::{ChangeHistory, FindingFilter, Ledger, LedgerError, Reviewer, ScopeError};
use mala_domain::report::{ReportParts, TrackingReport};
use mala_domain::review::{Opinions, ReviewContext, ReviewPlan};
use mala_domain::verdict::Threshold;
use std::sync::Arc;

/// The ledger of a change under review.
#[derive(Clone, Copy)]
pub struct ChangeTracking<'p> {
    /// The ledger.
    pub ledger: &'p dyn Ledger,
    /// The commits of the change.
    pub history: &'p dyn ChangeHistory,
    /// The change: reviews with the same subject are rounds of it.
    pub subject: &'p str,
    /// How rounds are reviewed.
    pub policy: &'p RoundPolicy,
    /// The waivers that the repository shares, from the trusted ref.
    pub waivers: &'p SharedWaivers,
    /// When the review started, as an RFC 3339 timestamp.
    pub at: &'p str,
    /// Whether the review is stored.
    pub stores: bool,
}

/// The tracking of one review; without a ledger, it does nothing.
pub(super) struct Tracker<'p> {
    round: Option<Round<'p>>,
    result: TrackingResult,
    /// Whether the change is empty, and its last review blocked on findings that are still open.
    pub(super) is_retry: bool,
    /// Why the ledger cannot be used.
    pub(super) warning: Option<String>,
}

impl<'p> Tracker<'p> {
    /// Starts a round, if the change is tracked.
    pub(super) async fn start(
        tracking: Option<ChangeTracking<'p>>,
        context: &ReviewContext,
        plan: &ReviewPlan,
        reviewers: &[Arc<dyn Reviewer>],
    ) -> Self {
        let result = TrackingResult::default();
        let mut tracker = Self { round: None, result, is_retry: false, warning: None };
        let Some(tracking) = tracking else { return tracker };
        let started = match context.change.is_empty() {
            true => is_retry(tracking, plan).await.map(|is_retry| tracker.is_retry = is_retry),
            false => Round::start(tracking, context, plan, reviewers)
                .await
                .map(|round| tracker.round = Some(round)),
        };
        tracker.warning = started.err().map(|error| not_known(&error));
        tracker
    }

    /// The input of this round, if it is not the whole change.
    pub(super) fn delta_context(&self, context: &ReviewContext) -> Option<DeltaContext> {
        self.round.as_ref()?.delta_context(context)
    }

    /// Adds the open findings that this review did not report and that are still there.
    pub(super) async fn with_open(
        &mut self,
        admitted: AdmittedClaims,
        opinions: &Opinions,
    ) -> Result<AdmittedClaims, ScopeError> {
        match &mut self.round {
            Some(round) => round.with_open(admitted, opinions).await,
            None => Ok(admitted),
        }
    }

    /// Recognises the findings; those that do not count leave the decision.
    pub(super) fn track(
        &mut self,
        verified: VerifiedFindings,
        review_id: &str,
    ) -> VerifiedFindings {
        let Some(round) = &self.round else { return verified };
        let (verified, result) = round.track(verified, review_id);
        self.result = result;
        verified
    }

    /// Whether it is unknown if a finding that fails the review is fixed.
    pub(super) fn has_unknown(&self, fail_on: Threshold) -> bool {
        let unknown = self.round.iter().flat_map(|round| &round.unknown);
        unknown.into_iter().any(|it| fail_on.blocks(&it.finding))
    }

    /// Stores the review, and adds the ledger's data to its report.
    pub(super) async fn record(self, parts: ReportParts) -> ReportParts {
        let Some(round) = self.round else { return parts };
        let tracked = round.tracked_review(&parts, self.result);
        let stored = round.store(&tracked.stored).await;
        let is_stored = matches!(stored, StoreOutcome::Stored);
        let more = stored.warning().into_iter().chain(tracked.warnings);
        ReportParts {
            warnings: parts.warnings.into_iter().chain(more).collect(),
            tracking: Some(TrackingReport { is_stored, ..tracked.tracking }),
            ..parts
        }
    }
}

/// Whether the last review of a change blocked on findings that are still open. Such a review is not stored again
/// while the change is empty.
async fn is_retry(tracking: ChangeTracking<'_>, plan: &ReviewPlan) -> Result<bool, LedgerError> {
    let records = tracking.ledger.reviews(tracking.subject).await?;
    let subject = Some(tracking.subject.to_owned());
    let of_change = FindingFilter { subject, ..FindingFilter::default() };
    let known = tracking.ledger.findings(&of_change).await?;
    let today = tracking.at.get(..10).unwrap_or_default();
    Ok(is_unanswered(&records, &known, &plan.policy, today))
}

/// Says that a ledger cannot be used for a review.
pub fn not_known(error: &LedgerError) -> String {
    format!(
        "{error}: the whole change is reviewed as in a first review, and this review is not stored"
    )
}
