//! Applies decisions on a pull request to a report of another job, which could not read who may
//! decide.

use super::{CommentedFinding, Discussion};
use crate::finding::{DedupeKey, Finding, FindingState};
use crate::ledger::states::FindingEvent;
use crate::ledger::waiver::code_hash;
use crate::ledger::{FindingId, Standing};
use crate::report::{Report, SetAsideFinding, tally};
use crate::secrets::redact;
use crate::verdict::{Outcome, Verdict};

/// Removes findings that were waived or disputed in the discussion from the issues of a report, and
/// decides again. A decision applies to the code that it was made about. A report without finding
/// ids stays unchanged.
pub fn apply_decisions(report: &mut Report, discussion: &Discussion) {
    let Some(tracking) = &mut report.tracking else { return };
    let decided = report.issues.iter().filter_map(|finding| {
        let id = tracking.of_issue(finding)?.id.clone();
        set_aside(id, finding, discussion)
    });
    let decided: Vec<SetAsideFinding> = decided.collect();
    if decided.is_empty() {
        return;
    }
    let is_decided = |key: &DedupeKey| decided.iter().any(|aside| aside.finding.dedupe_key == *key);
    let before = tally(&report.issues);
    report.issues.retain(|issue| !is_decided(&issue.dedupe_key));
    tracking.issues.retain(|issue| !is_decided(&issue.dedupe_key));
    tracking.set_aside.extend(decided);
    let issues = &report.issues;
    report.summary = report.summary.replace(&before, &tally(issues));
    report.verdict = report.verdict.map(|_| Verdict::over(issues));
    for reviewer in &mut report.reviewers {
        let own: Vec<&Finding> =
            issues.iter().filter(|issue| issue.is_reported_by(&reviewer.reviewer)).collect();
        reviewer.findings = own.len();
        reviewer.verdict = reviewer.verdict.map(|_| Verdict::over(own));
    }
    if report.outcome == Outcome::Blocked && !issues.iter().any(|it| report.fail_on.blocks(it)) {
        (report.outcome, report.passed) = (Outcome::Passed, true);
        let consensus = &mut report.consensus;
        (consensus.passes, consensus.verdict) =
            (consensus.passes.max(consensus.needed), report.verdict);
    }
}

/// The finding with the last decision about it; `None` if the code changed since the decision.
fn set_aside(id: FindingId, finding: &Finding, discussion: &Discussion) -> Option<SetAsideFinding> {
    let decision = discussion.decisions().into_iter().find(|it| it.id == id)?;
    let posted = discussion.posted_findings().into_iter().find(|it| it.id == id)?;
    let CommentedFinding { evidence, .. } = &posted.remembered;
    if code_hash(evidence) != code_hash(&redact(&finding.evidence_snippet)) {
        return None;
    }
    let (standing, state) = match decision.event {
        FindingEvent::Disputed => (Standing::Disputed, FindingState::Disputed),
        _ => (Standing::Waived, FindingState::Waived),
    };
    let finding = Finding { state, ..finding.clone() };
    Some(SetAsideFinding { id, standing, reason: Some(decision.reason), finding })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{ForgeAuthor, InlineComment, finding_marker};
    use crate::ledger::convergence::NextStep;
    use crate::ledger::rounds::{FullReviewReason, RoundCoverage};
    use crate::render::tests::sample;
    use crate::report::{IssueTracking, TrackingReport};

    fn comment(id: u64, login: &str, body: String) -> InlineComment {
        InlineComment {
            id,
            reply_to: (id > 1).then_some(1),
            author: ForgeAuthor { login: login.to_owned(), is_bot: false },
            body,
            is_outdated: false,
            url: format!("u{id}"),
        }
    }

    /// A report with one finding that blocks, and a discussion about it with this reply.
    fn with_reply(login: &str, reply: &str, evidence: &str) -> (Report, Discussion) {
        let mut report = sample::full().report;
        report.issues.truncate(1);
        report.outcome = Outcome::Blocked;
        report.summary = format!("Reviewed: {}.", tally(&report.issues));
        let issue = report.issues[0].clone();
        report.fail_on = crate::verdict::Threshold::P3;
        let id = FindingId("a".to_owned());
        report.tracking = Some(TrackingReport {
            change: "7".to_owned(),
            round: 1,
            reviewed: RoundCoverage::Full(FullReviewReason::FirstReview),
            next_step: NextStep::Continue,
            issues: vec![IssueTracking {
                id,
                dedupe_key: issue.dedupe_key.clone(),
                standing: Standing::New,
                matched: String::new(),
            }],
            set_aside: Vec::new(),
            fixed: Vec::new(),
            unknown: Vec::new(),
            is_stored: true,
        });
        let posted = Finding { evidence_snippet: evidence.to_owned(), ..issue };
        let remembered = CommentedFinding::of(&posted, "r");
        let first = comment(1, "mala", finding_marker("a", remembered.as_ref()));
        let discussion = Discussion {
            viewer: Some("mala".to_owned()),
            inline: vec![first, comment(2, login, reply.to_owned())],
            writers: ["ada".to_owned()].into(),
            ..Discussion::default()
        };
        (report, discussion)
    }

    #[test]
    fn decisions_of_people_with_write_access_hold_for_the_same_code() {
        let evidence = sample::full().report.issues[0].evidence_snippet.clone();
        let (waive, dispute) = ("/mala waive known", "/mala dispute no");
        for (login, reply, evidence, expected) in [
            ("ada", waive, evidence.as_str(), Some(Standing::Waived)),
            ("ada", dispute, &evidence, Some(Standing::Disputed)),
            ("ada", "/mala waive", &evidence, None),
            ("eve", waive, &evidence, None),
            ("ada", waive, "other code", None),
        ] {
            let (mut report, discussion) = with_reply(login, reply, evidence);
            let before = report.clone();
            apply_decisions(&mut report, &discussion);
            let Some(expected) = expected else {
                assert_eq!(report.issues, before.issues, "{login}: {reply}");
                assert_eq!((report.outcome, report.summary), (Outcome::Blocked, before.summary));
                continue;
            };
            assert!(report.issues.is_empty() && report.passed, "{login}: {reply}");
            assert_eq!(report.outcome, Outcome::Passed);
            assert_eq!(report.verdict, Some(Verdict::Pass));
            assert_eq!(report.summary, "Reviewed: no findings.");
            let tracking = report.tracking.unwrap();
            assert_eq!(tracking.set_aside[0].standing, expected);
            assert!(tracking.issues.is_empty());
        }
    }
}
