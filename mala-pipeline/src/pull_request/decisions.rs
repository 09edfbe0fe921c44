//! Stores findings and decisions of a pull request in the ledger: findings in our comments that the
//! ledger does not have, for example on a fresh machine, and decisions in replies.

use mala_domain::finding::FindingState;
use mala_domain::forge::{Discussion, PostedFinding, ThreadDecision};
use mala_domain::ledger::states::{FindingEvent, next_state};
use mala_domain::ledger::waiver::{Waiver, code_hash};
use mala_domain::ledger::{ChangeStanding, Occurrence, Standing, StateChange};
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
            Err(LedgerError::Unknown(_)) => unknown.push(history(&posted, subject, at)),
            Err(error) => return Err(error),
        }
    }
    if !unknown.is_empty() {
        ledger.import(&unknown).await?;
    }
    let decisions = discussion.decisions();
    let mut updates = Vec::new();
    for (_, id) in discussion.threads() {
        let known = match ledger.finding(id).await {
            Ok(known) => known,
            Err(LedgerError::Unknown(_)) => continue,
            Err(error) => return Err(error),
        };
        let decision = decisions.iter().find(|decision| decision.id.0 == id);
        updates.extend(match decision {
            Some(decision) => update(&known, decision, at),
            None => withdrawal(&known, discussion, at),
        });
    }
    if updates.is_empty() { Ok(()) } else { ledger.change_states(&updates).await }
}

/// A finding that only a comment remembers, as an open one.
fn history(posted: &PostedFinding, subject: &str, at: &str) -> FindingHistory {
    let remembered = &posted.remembered;
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
    FindingHistory {
        finding: posted.as_known(subject, at),
        occurrences: vec![occurrence],
        state_changes: Vec::new(),
        standings: vec![ChangeStanding {
            subject: subject.to_owned(),
            standing: Standing::New,
            file: None,
            code: None,
        }],
    }
}

/// Reopens a finding whose decision was made on the pull request and withdrawn there.
fn withdrawal(known: &FindingHistory, discussion: &Discussion, at: &str) -> Option<StateUpdate> {
    let finding = &known.finding;
    let is_decided = matches!(finding.state, FindingState::Waived | FindingState::Disputed);
    let last = known.state_changes.last().filter(|_| is_decided)?;
    let is_taken_back = discussion.is_taken_back(&finding.id, &last.reason);
    let change = StateChange {
        state: next_state(finding.state, FindingEvent::Reopened).filter(|_| is_taken_back)?,
        by: last.by.clone(),
        at: at.to_owned(),
        reason: taken_back(&last.reason),
    };
    Some(StateUpdate { id: finding.id.clone(), change, waiver: None })
}

fn taken_back(reason: &str) -> String {
    format!("taken back: {reason}")
}

/// The change of state of a decision, unless it is stored already: a person may have changed it again since. A decision
/// that was taken back counts again.
fn update(known: &FindingHistory, decision: &ThreadDecision, at: &str) -> Option<StateUpdate> {
    let finding = &known.finding;
    let is_same = |it: &&StateChange| {
        let is_of_decision =
            it.reason == decision.reason || it.reason == taken_back(&decision.reason);
        it.by == decision.by && is_of_decision
    };
    let last = known.state_changes.iter().rev().find(is_same);
    if last.is_some_and(|last| last.reason == decision.reason) {
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
