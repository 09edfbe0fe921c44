//! The decision. A change passes only if as many reviewers pass it as the consensus rule needs. A
//! reviewer passes it only if it reviewed every hunk and none of its findings reaches the threshold.

pub use super::consensus::VoteStatus;
use super::consensus::{ConsensusRule, Decision, SplitVotes, joint};
use crate::agent::answer::ParseProblem;
use crate::change::Change;
use crate::finding::{Finding, Priority};
use crate::ports::ReviewerFailure;
use crate::review::admit::{Admission, DroppedClaim};
use crate::review::{Coverage, Opinion, Opinions, ReviewerOpinion};
use crate::verdict::{NotReviewedReason, Outcome, Threshold, Verdict};

/// The policy of the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionPolicy {
    /// From which priority on findings fail the review.
    pub fail_on: Threshold,
    /// The same for members of the panel, and for a reviewer that objects to the change by a rule of its
    /// own, as an external gate does.
    pub fail_on_objection: Threshold,
    /// How many members of the panel must pass the change.
    pub rule: ConsensusRule,
    /// The names of the members of the panel. Every other reviewer must pass the change.
    pub panel: Vec<String>,
}

impl DecisionPolicy {
    /// Whether a reviewer is a member of the panel.
    pub fn is_in_panel(&self, reviewer: &str) -> bool {
        self.panel.iter().any(|name| name == reviewer)
    }

    /// From which priority on findings of a reviewer fail the review.
    fn threshold_of(&self, reviewer: &str, objects: bool) -> Threshold {
        match objects || self.is_in_panel(reviewer) {
            true => self.fail_on_objection,
            false => self.fail_on,
        }
    }

    /// The threshold that a report names: that of the panel if only the panel reviews or a member of it
    /// objects.
    pub fn reported_threshold(&self, opinions: &Opinions, votes: &[ReviewerVote]) -> Threshold {
        let in_panel = || opinions.0.iter().map(|given| self.is_in_panel(&given.reviewer));
        let is_only_panel = !self.panel.is_empty() && in_panel().all(|is_member| is_member);
        let objects = |vote: &ReviewerVote| matches!(vote.vote.status, VoteStatus::Objects(_));
        let panel_objects =
            in_panel().zip(votes).any(|(is_member, vote)| is_member && objects(vote));
        match is_only_panel || panel_objects || opinions.objects() {
            true => self.fail_on_objection,
            false => self.fail_on,
        }
    }
}

/// The facts for the decision.
#[derive(Debug, Clone)]
pub struct DecisionFacts<'f> {
    /// Whether the change is empty.
    pub is_empty: bool,
    /// Whether its last review blocked on findings that are still open.
    pub is_retry: bool,
    /// Whether an open finding of an earlier review may be fixed or not: its code changed, and this review could not
    /// check it.
    pub has_unknown: bool,
    /// The coverage.
    pub coverage: &'f Coverage,
    /// One vote per reviewer.
    pub votes: SplitVotes,
}

/// Whether reviewers are needed: not for an empty change, and not if no file can be reviewed.
pub fn needs_reviewers(is_empty: bool, coverage: &Coverage) -> bool {
    !is_empty && !coverage.has_nothing_reviewable()
}

/// Decides the outcome of a review. An empty change passes, unless findings of an earlier round are
/// open. A change does not pass if none of its files can be reviewed, if one is too large, or if an
/// open finding could not be checked.
pub fn decide(facts: &DecisionFacts<'_>, policy: &DecisionPolicy) -> Decision {
    if facts.is_empty && !facts.is_retry {
        let (verdict, outcome) = (Some(Verdict::Pass), Outcome::Passed);
        return Decision { verdict, outcome, passes: 0, needed: 0 };
    }
    if facts.is_empty || facts.coverage.has_nothing_reviewable() {
        let outcome = Outcome::CouldNotReview(NotReviewedReason::Incomplete);
        return Decision { verdict: None, outcome, passes: 0, needed: 0 };
    }
    let decision = joint(policy.rule, &facts.votes);
    match decision.outcome {
        Outcome::Passed if facts.has_unknown || !facts.coverage.unreviewable().is_empty() => {
            let outcome = Outcome::CouldNotReview(NotReviewedReason::Incomplete);
            Decision { verdict: None, outcome, ..decision }
        }
        _ => decision,
    }
}

/// The vote of a reviewer, with its verdict or the reason why it has no vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteWithReason {
    /// The vote.
    pub status: VoteStatus,
    /// The verdict over its findings that are not refuted; `None` if it has no vote.
    pub verdict: Option<Verdict>,
    /// Why it has no vote.
    pub error: Option<String>,
}

impl VoteWithReason {
    fn absent(reason: NotReviewedReason, error: String) -> Self {
        Self { status: VoteStatus::Absent(reason), verdict: None, error: Some(error) }
    }
}

/// One reviewer's part in the decision.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewerVote {
    /// Its vote.
    pub vote: VoteWithReason,
    /// The vote that it gave itself.
    pub claimed: VoteStatus,
    /// Its coverage.
    pub coverage: Coverage,
}

impl ReviewerVote {
    /// Whether the reviewer has a vote and accounts for every hunk itself.
    pub fn is_complete(&self) -> bool {
        !matches!(self.vote.status, VoteStatus::Absent(_)) && self.coverage.hunks_missed() == 0
    }
}

/// The facts for the vote of a reviewer.
#[derive(Debug, Clone, Copy)]
pub struct VoteFacts<'f> {
    /// Its name.
    pub reviewer: &'f str,
    /// Its opinion, or why it has none.
    pub opinion: Result<&'f Opinion, &'f ReviewerFailure>,
    /// The findings that it reports.
    pub findings: &'f [&'f Finding],
    /// Its claims that could not be placed.
    pub dropped: &'f [&'f DroppedClaim],
    /// Its coverage.
    pub coverage: &'f Coverage,
}

/// The vote of each reviewer, from the admitted findings.
pub fn votes(
    opinions: &Opinions,
    admission: &Admission,
    change: &Change,
    policy: &DecisionPolicy,
) -> Vec<ReviewerVote> {
    let vote_of = |given: &ReviewerOpinion| {
        let findings = given.findings(&admission.findings);
        let dropped = given.dropped(&admission.dropped);
        let coverage = Coverage::over(change, given.accounted());
        let facts = VoteFacts {
            reviewer: &given.reviewer,
            opinion: given.opinion.as_ref(),
            findings: &findings,
            dropped: &dropped,
            coverage: &coverage,
        };
        let (vote, claimed) = (vote(&facts, policy), claimed_vote(&facts, policy));
        ReviewerVote { vote, claimed, coverage }
    };
    opinions.0.iter().map(vote_of).collect()
}

/// These votes, one per reviewer, by whether the reviewer is in the panel.
pub fn split(
    opinions: &Opinions,
    votes: impl IntoIterator<Item = VoteStatus>,
    policy: &DecisionPolicy,
) -> SplitVotes {
    let mut split = SplitVotes::default();
    for (given, vote) in opinions.0.iter().zip(votes) {
        match policy.is_in_panel(&given.reviewer) {
            true => split.panel.push(vote),
            false => split.single.push(vote),
        }
    }
    split
}

/// The vote of a reviewer.
pub fn vote(facts: &VoteFacts<'_>, policy: &DecisionPolicy) -> VoteWithReason {
    let opinion = match facts.opinion {
        Ok(Opinion { failure: Some(failure), .. }) | Err(failure) => {
            return VoteWithReason::absent(reason_of(failure), failure.to_string());
        }
        Ok(opinion) => opinion,
    };
    let verdict = Verdict::over(facts.findings.iter().copied());
    if let Some(why) = unplaced_claim_reason(opinion, verdict, facts) {
        return VoteWithReason::absent(NotReviewedReason::Incomplete, why);
    }
    let fail_on = policy.threshold_of(facts.reviewer, opinion.objects);
    if facts.findings.iter().any(|finding| fail_on.blocks(finding)) {
        return VoteWithReason {
            status: VoteStatus::Objects(verdict),
            verdict: Some(verdict),
            error: None,
        };
    }
    let absent = VoteStatus::Absent(NotReviewedReason::Incomplete);
    match (facts.coverage.hunks_missed(), opinion.unshown.first()) {
        // The files are to blame, not the reviewer.
        (0, _) if facts.coverage.has_nothing_reviewable() => {
            VoteWithReason { status: absent, verdict: None, error: None }
        }
        (0, _) => {
            VoteWithReason { status: VoteStatus::Passes, verdict: Some(verdict), error: None }
        }
        (_, Some(file)) => {
            let why = format!("{file} does not fit into its prompt");
            VoteWithReason { status: absent, verdict: None, error: Some(why) }
        }
        (missed, None) => {
            let given = facts.coverage.hunks_given;
            let why = format!("{missed} of {given} hunks were not reviewed");
            VoteWithReason { status: absent, verdict: None, error: Some(why) }
        }
    }
}

/// The vote as the reviewer itself gave it, before its findings were checked.
pub fn claimed_vote(facts: &VoteFacts<'_>, policy: &DecisionPolicy) -> VoteStatus {
    match facts.opinion {
        Ok(Opinion { claimed_verdict: Some(Verdict::Pass), .. }) => VoteStatus::Passes,
        Ok(Opinion { claimed_verdict: Some(verdict), .. }) => VoteStatus::Objects(*verdict),
        _ => vote(facts, policy).status,
    }
}

/// Why dropped claims remove the vote of a reviewer: a claim without a valid location is not
/// refuted, so the objection is unknown.
fn unplaced_claim_reason(
    opinion: &Opinion,
    verdict: Verdict,
    facts: &VoteFacts<'_>,
) -> Option<String> {
    let lost = || facts.dropped.iter().filter(|it| it.claim.rule.is_none() && !it.is_refuted());
    let worst = lost().map(|it| it.priority()).min()?;
    let why = &lost().next()?.why;
    let Some(claimed) = opinion.claimed_verdict else {
        let has_other = facts.findings.iter().any(|finding| finding.rule.is_none());
        return (!has_other).then(|| ParseProblem::InvalidEvidence(why.clone()).to_string());
    };
    let is_said = match verdict {
        Verdict::Fail => true,
        Verdict::NeedsWork => worst > Priority::P1,
        Verdict::Pass => false,
    };
    let findings = if lost().count() == 1 { "a finding" } else { "findings" };
    let says = claimed.name();
    (!is_said).then(|| format!("it says {says} for {findings} that cannot be placed: {why}"))
}

/// Why a change is not reviewed when its reviewer fails like this.
pub fn reason_of(failure: &ReviewerFailure) -> NotReviewedReason {
    match failure {
        ReviewerFailure::Unavailable(_) => NotReviewedReason::NoReviewers,
        ReviewerFailure::TimedOut(_) => NotReviewedReason::TimedOut,
        ReviewerFailure::Crashed(_) | ReviewerFailure::Unreadable(_) => {
            NotReviewedReason::Incomplete
        }
        ReviewerFailure::Broken(_) => NotReviewedReason::Internal,
    }
}
