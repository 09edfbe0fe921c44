//! Stores what a pull request says about findings: those that our comments remember and the ledger does not have, as on
//! a fresh machine, and what people decided about them in replies.

use mala_domain::finding::FindingState;
use mala_domain::forge::{Discussion, PostedFinding, ThreadDecision};
use mala_domain::ledger::states::{FindingEvent, next_state};
use mala_domain::ledger::waiver::{Waiver, code_hash};
use mala_domain::ledger::{ChangeStanding, LedgerFinding, Occurrence, Standing, StateChange};
use mala_domain::ports::{FindingHistory, Ledger, LedgerError, StateUpdate};

/// Stores the findings and decisions of a discussion under this subject. `at` is the time of the review.
pub async fn store_decisions(
    ledger: &dyn Ledger,
    discussion: &Discussion,
    subject: &str,
    at: &str,
) -> Result<(), LedgerError> {
    let mut unknown = Vec::new();
    for posted in discussion.posted_findings() {
        match ledger.finding(&posted.id.0).await {
            Ok(_) => {}
            Err(LedgerError::Unknown(_)) => unknown.push(history(posted, subject, at)),
            Err(error) => return Err(error),
        }
    }
    if !unknown.is_empty() {
        ledger.import(&unknown).await?;
    }
    let mut updates = Vec::new();
    for decision in discussion.decisions() {
        match ledger.finding(&decision.id.0).await {
            Ok(known) => updates.extend(update(&known, &decision, at)),
            Err(LedgerError::Unknown(_)) => {}
            Err(error) => return Err(error),
        }
    }
    if updates.is_empty() { Ok(()) } else { ledger.change_states(&updates).await }
}

/// A finding that only a comment remembers, as an open one.
fn history(posted: PostedFinding, subject: &str, at: &str) -> FindingHistory {
    let PostedFinding { id, remembered } = posted;
    let occurrence = Occurrence {
        review_id: remembered.review.clone(),
        subject: subject.to_owned(),
        reviewer: remembered.reviewer.clone(),
        round: 1,
        line_start: remembered.lines.0,
        line_end: remembered.lines.1,
        commit: None,
        at: at.to_owned(),
        matched: "read from a comment on the pull request".to_owned(),
    };
    let finding = LedgerFinding {
        id,
        state: FindingState::Open,
        subject: subject.to_owned(),
        standing: Some(Standing::New),
        first_seen: remembered.review.clone(),
        first_seen_at: at.to_owned(),
        last_seen_at: at.to_owned(),
        n_occurrences: 1,
        waiver: None,
        finding: remembered.finding(),
    };
    let standings = vec![ChangeStanding { subject: subject.to_owned(), standing: Standing::New }];
    FindingHistory { finding, occurrences: vec![occurrence], state_changes: Vec::new(), standings }
}

/// The change of state of a decision, unless it is stored already: a person may have changed it again since.
fn update(known: &FindingHistory, decision: &ThreadDecision, at: &str) -> Option<StateUpdate> {
    let finding = &known.finding;
    let is_same = |it: &StateChange| it.by == decision.by && it.reason == decision.reason;
    if known.state_changes.iter().any(is_same) {
        return None;
    }
    let change = StateChange {
        state: next_state(finding.state, decision.event)?,
        by: decision.by.clone(),
        at: at.to_owned(),
        reason: decision.reason.clone(),
    };
    let waiver = (decision.event == FindingEvent::Waived).then(|| Waiver {
        reason: decision.reason.clone(),
        by: decision.by.clone(),
        at: at.to_owned(),
        until: None,
        code: code_hash(&finding.finding.evidence_snippet),
        quote: Some(finding.finding.evidence_snippet.clone()),
    });
    Some(StateUpdate { id: finding.id.clone(), change, waiver })
}
