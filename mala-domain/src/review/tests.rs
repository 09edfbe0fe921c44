//! Admission, merging, suppression and decision, as tables.

use super::admit::{Admission, DroppedClaim, SymbolIndex, admit};
use super::consensus::{ConsensusRule, SplitVotes, VoteStatus};
use super::decide::{
    DecisionFacts, DecisionPolicy, ReviewerVote, VoteFacts, decide, needs_reviewers, vote,
};
use super::suppress::{SuppressionPolicy, apply_suppressions};
use super::{Coverage, FileTexts, Opinion, ReviewerOpinion, verify};
use crate::change::{
    Change, ChangedFile, DiffLine, EntryKind, FileClass, FilePath, FileStatus, Hunk, LineKind,
    LineSpan,
};
use crate::finding::{Category, Finding, Priority, ReviewClaim, Verification, VerificationOutcome};
use crate::ports::{Blob, ReviewerFailure};
use crate::review::merge::{merge_duplicates, most_urgent};
use crate::verdict::{NotReviewedReason, Outcome, Threshold, Verdict};

struct NoSymbols;

impl SymbolIndex for NoSymbols {
    fn symbol_at(&self, _: &FilePath, _: u32) -> Option<String> {
        None
    }
}

const TEXT: &str = "one\ntwo\nthree\nfour\ntwo\n";

fn texts() -> FileTexts {
    let mut texts = FileTexts::default();
    texts.head.insert("a.py".into(), Blob::Text(TEXT.to_owned()));
    texts
}

/// Line 2 of `a.py` is added.
fn change() -> Change {
    let line = |kind, text: &str| DiffLine { kind, text: text.to_owned() };
    let hunk = Hunk {
        old_start: 1,
        old_lines: 1,
        new_start: 1,
        new_lines: 2,
        section: String::new(),
        lines: vec![line(LineKind::Context, "one"), line(LineKind::Added, "two")],
    };
    let file = ChangedFile {
        path: "a.py".into(),
        old_path: None,
        status: FileStatus::Modified,
        kind: EntryKind::File,
        mode_change: None,
        class: FileClass::Source,
        script: None,
        hunks: vec![hunk],
    };
    Change { files: vec![file] }
}

fn claim(file: &str, start: u32, end: u32) -> ReviewClaim {
    ReviewClaim {
        file: file.into(),
        span: LineSpan::between(start, end),
        priority: Some(Priority::P1),
        category: Category::Bug,
        title: "title".to_owned(),
        body: "body".to_owned(),
        suggestion: None,
        evidence: None,
        confidence: 0.9,
        reviewer: "r".to_owned(),
        rule: Some("rule/one".to_owned()),
        verification: Verification::default(),
    }
}

fn admitted(claims: Vec<ReviewClaim>) -> Admission {
    admit(claims, &change(), &texts(), &NoSymbols)
}

fn one(claim: ReviewClaim) -> Result<Finding, String> {
    let mut admission = admitted(vec![claim]);
    match admission.findings.pop() {
        Some(finding) => Ok(finding),
        None => Err(admission.dropped.pop().expect("dropped").why),
    }
}

#[test]
fn only_claims_that_stand_in_the_tree_are_admitted() {
    let rows = [
        (claim("a.py", 2, 2), Ok("two")),
        (claim("a.py", 2, 3), Ok("two\nthree")),
        (claim("a.py", 4, 99), Ok("four\ntwo")),
        (claim("a.py", 6, 6), Err("a.py:6: the file has 5 lines")),
        (claim("b.py", 1, 1), Err("b.py:1: no such file or lines at head")),
        (claim("../a.py", 1, 1), Err("../a.py: a finding outside the reviewed tree")),
        (claim("/etc/passwd", 1, 1), Err("/etc/passwd: a finding outside the reviewed tree")),
    ];
    for (claim, expected) in rows {
        let got = one(claim).map(|finding| finding.evidence_snippet);
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned));
    }
}

#[test]
fn quoted_evidence_is_looked_up_and_moves_the_finding() {
    let quoted =
        |line, text: &str| ReviewClaim { evidence: Some(text.into()), ..claim("a.py", line, line) };
    let rows = [
        (quoted(3, "three"), Ok(3)),
        (quoted(1, "  four  "), Ok(4)),
        (quoted(4, "three\nfour"), Ok(3)),
        (quoted(2, "two"), Ok(2)),
        (quoted(3, "t hree\n\tfo ur"), Ok(3)),
        (quoted(3, "nowhere"), Err("a.py:3: the quoted evidence is not there")),
        (quoted(3, ""), Err("a.py:3: the quoted evidence is not there")),
    ];
    for (claim, expected) in rows {
        let got = one(claim).map(|finding| finding.line_start);
        assert_eq!(got, expected.map_err(str::to_owned));
    }
}

#[test]
fn evidence_is_found_at_the_nearest_place_and_keeps_the_cited_range() {
    let text = "x = 1\nreturn x\ny = 2\nreturn x\n\nz = 3\nreturn x\nend\n";
    let mut texts = FileTexts::default();
    texts.head.insert("a.py".into(), Blob::Text(text.to_owned()));
    for (start, end, quoted, lines, evidence) in [
        // Of several identical lines, the nearest one.
        (2, 2, "return x", (2, 2), "return x"),
        (4, 4, "return x", (4, 4), "return x"),
        (5, 5, "return x", (4, 4), "return x"),
        (6, 7, "return x", (6, 7), "return x"),
        // A range does not shrink to the quoted line, and moves with it.
        (3, 6, "return x", (3, 6), "return x"),
        (2, 3, "x = 1", (1, 2), "x = 1"),
        // A blank line does not end the evidence, in the file or in the quote.
        (4, 4, "return x\nz = 3", (4, 6), "return x\n\nz = 3"),
        (4, 4, "return x\n\nz = 3\nreturn x", (4, 7), "return x\n\nz = 3\nreturn x"),
    ] {
        let claim = ReviewClaim { evidence: Some(quoted.into()), ..claim("a.py", start, end) };
        let found = admit(vec![claim], &change(), &texts, &NoSymbols).findings.remove(0);
        let place = (found.line_start, found.line_end);
        assert_eq!((place, found.evidence_snippet.as_str()), (lines, evidence), "{quoted}");
    }
}

#[test]
fn the_lines_of_a_deleted_file_are_its_evidence() {
    let mut change = change();
    let file = &mut change.files[0];
    file.status = FileStatus::Deleted;
    file.hunks[0].lines.iter_mut().for_each(|line| line.kind = LineKind::Removed);
    let quoted = |line, text: &str| ReviewClaim {
        evidence: Some(text.to_owned()),
        ..claim("a.py", line, line)
    };
    let mut gone = texts();
    gone.head.insert("a.py".into(), Blob::Missing);
    for (claim, expected) in [
        (claim("a.py", 2, 2), Ok("two")),
        (quoted(1, "two"), Ok("two")),
        (claim("a.py", 3, 3), Err("a.py:3: the file has 2 lines")),
        (quoted(1, "three"), Err("a.py:1: the quoted evidence is not there")),
    ] {
        let mut got = admit(vec![claim], &change, &gone, &NoSymbols);
        let why = got.dropped.pop().map(|it| it.why).unwrap_or_default();
        let got = got.findings.pop().map(|it| it.evidence_snippet).ok_or(why);
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned));
    }
}

#[test]
fn what_is_dropped_is_kept_and_marked() {
    let claim = ReviewClaim { evidence: Some("no such\ntext".into()), ..claim("a.py", 2, 3) };
    let dropped = admitted(vec![claim]).dropped.remove(0);
    let marked = dropped.to_refuted_finding();
    assert_eq!((marked.line_start, marked.evidence_snippet.as_str()), (2, "no such\ntext"));
    assert_eq!(marked.verification.outcome, VerificationOutcome::Refuted);
    let how = marked.verification.how.unwrap();
    assert_eq!(how, "it cannot be placed: a.py:2-3: the quoted evidence is not there");
}

#[test]
fn a_patch_without_its_repository_is_its_own_evidence() {
    let alone = |claim| admit(vec![claim], &change(), &FileTexts::default(), &NoSymbols);
    let shown = alone(claim("a.py", 2, 2));
    assert_eq!(shown.findings.first().map(|f| f.evidence_snippet.as_str()), Some("two"));
    assert!(alone(claim("a.py", 3, 3)).findings.is_empty());
}

#[test]
fn findings_know_whether_they_are_on_changed_lines() {
    let on = |line| one(claim("a.py", line, line)).expect("admitted").on_changed_lines;
    assert_eq!([on(1), on(2), on(3)], [false, true, false]);
}

#[test]
fn the_same_said_twice_is_one_finding_with_two_voices() {
    let other = |rule: &str, reviewer: &str, priority| ReviewClaim {
        rule: Some(rule.to_owned()),
        reviewer: reviewer.to_owned(),
        priority: Some(priority),
        ..claim("a.py", 2, 2)
    };
    let said = |claims| merge_duplicates(admitted(claims).findings);
    let one = said(vec![
        other("rule/two", "s", Priority::P2),
        other("rule/one", "r", Priority::P0),
        other("lint/x", "ruff", Priority::P1),
    ]);
    assert_eq!(one.len(), 1);
    let finding = one.first().expect("one");
    assert_eq!(finding.priority, Some(Priority::P0));
    assert_eq!(finding.also_reported_by, ["ruff: lint/x", "s: rule/two"]);
    let rules = ["rule/one", "rule/two"].map(|rule| other(rule, "r", Priority::P1));
    assert_eq!(said(rules.to_vec()).len(), 2, "two rules of one reviewer mean different things");
    let linted = ["python/one", "ruff/F1"].map(|rule| other(rule, "r", Priority::P1));
    assert_eq!(said(linted.to_vec()).len(), 1, "linters look for what rules look for");
    let other_kind = ReviewClaim {
        category: Category::Security,
        rule: Some("rule/three".to_owned()),
        ..claim("a.py", 2, 2)
    };
    let apart = said(vec![claim("a.py", 2, 2), other_kind, claim("a.py", 5, 5)]);
    assert_eq!(apart.len(), 3, "another kind or another place is another finding");
}

#[test]
fn equal_lines_have_identities_of_their_own() {
    let twins = admitted(vec![claim("a.py", 2, 2), claim("a.py", 5, 5)]);
    let keys: Vec<_> = twins.findings.iter().map(|finding| &finding.dedupe_key).collect();
    assert_eq!(keys.len(), 2);
    assert_ne!(keys.first(), keys.last());
}

#[test]
fn equal_lines_keep_their_identities_when_lines_shift_and_indentation_tells_none_apart() {
    let keys = |text: &str, lines: &[u32]| -> Vec<String> {
        let mut texts = FileTexts::default();
        texts.head.insert("a.py".into(), Blob::Text(text.to_owned()));
        let claims = lines.iter().map(|line| claim("a.py", *line, *line)).collect();
        let found = admit(claims, &change(), &texts, &NoSymbols).findings;
        found.iter().map(|finding| finding.dedupe_key.to_string()).collect()
    };
    let first = keys("pass\n    pass\nx\npass\n", &[1, 2, 4]);
    let unique: std::collections::BTreeSet<&String> = first.iter().collect();
    assert_eq!(unique.len(), 3, "{first:?}");
    assert_eq!(first, keys("new\nnew\n\tpass\npass\nnew\npass\n", &[3, 4, 6]));
}

fn remaining(line_2: &str, line_3: &str, policy: SuppressionPolicy) -> (usize, usize, usize) {
    let mut texts = FileTexts::default();
    let text = format!("one\n{line_2}\n{line_3}\n");
    texts.head.insert("a.py".into(), Blob::Text(text));
    let findings = admit(vec![claim("a.py", 3, 3)], &change(), &texts, &NoSymbols).findings;
    let is_added = |_: &Finding, line| line == 2;
    let remaining = apply_suppressions(findings, &texts, policy, &is_added);
    (remaining.findings.len(), remaining.suppressed.len(), remaining.warnings.len())
}

#[test]
fn comments_set_findings_aside_when_they_name_the_rule_and_the_reason() {
    let all = SuppressionPolicy::All;
    let rows = [
        ("x", "y = 1  # mala: ignore[rule/one] legacy", all, (0, 1, 0)),
        ("# mala: ignore[rule/one] legacy", "y = 1", all, (0, 1, 0)),
        ("  // mala: ignore[rule/two, rule/one] legacy", "y", all, (0, 1, 0)),
        ("/* mala: ignore[rule/one] legacy */", "y", all, (0, 1, 0)),
        ("x", "y = 1  # mala: ignore[rule/one]", all, (1, 0, 1)),
        ("x", "y = 1  # mala: ignore[rule/two] legacy", all, (1, 0, 0)),
        ("x = 2  # mala: ignore[rule/one] legacy", "y", all, (1, 0, 0)),
        ("x", "mala: ignore[rule/one] legacy", all, (1, 0, 0)),
        ("x", "y  # mala: ignore[rule/one] legacy", SuppressionPolicy::Off, (1, 0, 0)),
        ("x", "y  # mala: ignore[rule/one] legacy", SuppressionPolicy::Trusted, (0, 1, 0)),
        ("# mala: ignore[rule/one] legacy", "y", SuppressionPolicy::Trusted, (1, 0, 0)),
    ];
    for (line_2, line_3, policy, expected) in rows {
        assert_eq!(remaining(line_2, line_3, policy), expected, "{line_2} / {line_3}");
    }
}

fn finding(priority: Option<Priority>) -> Finding {
    one(ReviewClaim { priority, ..claim("a.py", 2, 2) }).expect("admitted")
}

#[test]
fn the_most_urgent_stay_and_what_is_refuted_goes_first() {
    use Priority::{P0, P1, P2, P3};
    let refuted =
        |priority| Finding { verification: Verification::refuted("no"), ..finding(Some(priority)) };
    let of = |priorities: &[Priority]| -> Vec<Finding> {
        priorities.iter().map(|priority| finding(Some(*priority))).collect()
    };
    let with_refuted = [vec![refuted(P0)], of(&[P3, P1, P2])].concat();
    for (findings, max, fail_on, expected) in [
        (of(&[P3, P1, P2]), 2, Threshold::P1, vec![P1, P2]),
        (of(&[P3, P1, P2]), 9, Threshold::P1, vec![P3, P1, P2]),
        (of(&[P1, P1, P0, P2]), 2, Threshold::P1, vec![P1, P0]),
        (of(&[P1, P1, P0, P2]), 2, Threshold::None, vec![P1, P0]),
        (of(&[P2, P2, P3]), 1, Threshold::P2, vec![P2]),
        (with_refuted, 3, Threshold::P1, vec![P3, P1, P2]),
    ] {
        let n = findings.len();
        let (kept, left_out) = most_urgent(findings, max, fail_on);
        let found: Vec<Priority> = kept.iter().map(Finding::effective_priority).collect();
        assert_eq!((found, left_out), (expected.clone(), n - expected.len()), "{max} {fail_on:?}");
    }
}

#[test]
fn the_verdict_follows_from_the_findings() {
    let rows: [(&[Option<Priority>], Verdict); 6] = [
        (&[], Verdict::Pass),
        (&[Some(Priority::P0)], Verdict::Fail),
        (&[Some(Priority::P3), Some(Priority::P1)], Verdict::Fail),
        (&[Some(Priority::P2)], Verdict::NeedsWork),
        (&[Some(Priority::P3)], Verdict::NeedsWork),
        (&[None], Verdict::NeedsWork),
    ];
    for (priorities, expected) in rows {
        let findings: Vec<Finding> = priorities.iter().map(|p| finding(*p)).collect();
        assert_eq!(Verdict::over(&findings), expected, "{priorities:?}");
    }
    let mut refuted = finding(Some(Priority::P0));
    refuted.verification.outcome = VerificationOutcome::Refuted;
    assert_eq!(Verdict::over([&refuted]), Verdict::Pass);
    assert!(!Threshold::P3.blocks(&refuted));
}

fn policy(fail_on: Threshold, rule: ConsensusRule) -> DecisionPolicy {
    DecisionPolicy { fail_on, fail_on_objection: Threshold::P3, rule, panel: Vec::new() }
}

#[test]
fn silence_never_passes() {
    use ReviewerFailure::{Broken, Crashed, Unavailable, Unreadable};
    let of = |priority| vec![finding(Some(priority))];
    let (p1, p2) = (of(Priority::P1), of(Priority::P2));
    let all = Coverage::over(&change(), &[("a.py".into(), vec![0])]);
    let none = Coverage::over(&change(), &[("a.py".into(), vec![7]), ("b.py".into(), vec![0])]);
    let absent = VoteStatus::Absent;
    let fails = |why: fn(String) -> ReviewerFailure| Some(why("x".to_owned()));
    type Row<'r> = (&'r [Finding], &'r Coverage, Option<ReviewerFailure>, Threshold, VoteStatus);
    let rows: [Row<'_>; 13] = [
        (&[], &all, None, Threshold::P1, VoteStatus::Passes),
        (&p2, &all, None, Threshold::P1, VoteStatus::Passes),
        (&p2, &all, None, Threshold::P2, VoteStatus::Objects(Verdict::NeedsWork)),
        (&p1, &all, None, Threshold::P1, VoteStatus::Objects(Verdict::Fail)),
        (&p1, &all, None, Threshold::None, VoteStatus::Passes),
        (&[], &none, None, Threshold::P1, absent(NotReviewedReason::Incomplete)),
        (&[], &none, None, Threshold::None, absent(NotReviewedReason::Incomplete)),
        (&p1, &none, None, Threshold::P1, VoteStatus::Objects(Verdict::Fail)),
        (&[], &all, fails(Crashed), Threshold::P1, absent(NotReviewedReason::Incomplete)),
        (&[], &all, fails(Unreadable), Threshold::P1, absent(NotReviewedReason::Incomplete)),
        (&[], &all, fails(Unavailable), Threshold::P1, absent(NotReviewedReason::NoReviewers)),
        (&[], &all, fails(Broken), Threshold::P1, absent(NotReviewedReason::Internal)),
        (
            &p1,
            &all,
            Some(ReviewerFailure::timeout()),
            Threshold::P1,
            absent(NotReviewedReason::TimedOut),
        ),
    ];
    for (findings, coverage, failure, threshold, expected) in rows {
        let findings: Vec<&Finding> = findings.iter().collect();
        let opinion = Opinion { failure: failure.clone(), ..Opinion::default() };
        let facts = VoteFacts {
            reviewer: "r",
            opinion: Ok(&opinion),
            findings: &findings,
            dropped: &[],
            coverage,
        };
        let vote = vote(&facts, &policy(threshold, ConsensusRule::Unanimous));
        assert_eq!(vote.status, expected, "{failure:?} {threshold:?}");
        let is_absent = matches!(vote.status, VoteStatus::Absent(_));
        assert_eq!((vote.verdict.is_none(), vote.error.is_some()), (is_absent, is_absent));
        let vote = ReviewerVote { claimed: vote.status, coverage: coverage.clone(), vote };
        let is_complete = !is_absent && coverage == &all;
        assert_eq!(vote.is_complete(), is_complete, "an objection may leave hunks out too");
    }
}

#[test]
fn only_reviewers_with_a_vote_may_check_others() {
    let whole = vec![(FilePath::from("a.py"), vec![0])];
    let dropped = |reviewer: &str| DroppedClaim {
        reviewer: reviewer.to_owned(),
        why: "not there".to_owned(),
        claim: claim("a.py", 1, 1),
    };
    let failed = || Some(ReviewerFailure::timeout());
    let rows = [
        (whole.clone(), None, vec![], true),
        (whole.clone(), None, vec![dropped("other")], true),
        (whole.clone(), None, vec![dropped("r")], false),
        (whole, failed(), vec![], false),
        (Vec::new(), None, vec![], false),
    ];
    for (accounted, failure, dropped, expected) in rows {
        let opinion = Opinion { accounted, failure, ..Opinion::default() };
        let given = ReviewerOpinion { reviewer: "r".to_owned(), opinion: Ok(opinion) };
        assert_eq!(verify::may_check(&given, &change(), &dropped), expected, "{given:?}");
    }
    let opinion = Err(ReviewerFailure::timeout());
    let given = ReviewerOpinion { reviewer: "r".to_owned(), opinion };
    assert!(!verify::may_check(&given, &change(), &[]));
}

#[test]
fn members_of_the_panel_have_their_own_threshold() {
    let findings = [finding(Some(Priority::P2))];
    let findings: Vec<&Finding> = findings.iter().collect();
    let coverage = Coverage::over(&change(), &[("a.py".into(), vec![0])]);
    let panel = vec!["codex".to_owned()];
    let policy = DecisionPolicy { panel, ..policy(Threshold::P1, ConsensusRule::Unanimous) };
    let objects = VoteStatus::Objects(Verdict::NeedsWork);
    for (reviewer, by_own_rule, expected) in [
        ("builtin", false, VoteStatus::Passes),
        ("codex", false, objects),
        ("cerberus", true, objects),
    ] {
        let opinion = Opinion { objects: by_own_rule, ..Opinion::default() };
        let facts = VoteFacts {
            reviewer,
            opinion: Ok(&opinion),
            findings: &findings,
            dropped: &[],
            coverage: &coverage,
        };
        assert_eq!(vote(&facts, &policy).status, expected, "{reviewer}");
    }
}

#[test]
fn a_claim_that_cannot_be_placed_takes_the_vote() {
    let dropped = |priority, rule: Option<&str>| DroppedClaim {
        reviewer: "r".to_owned(),
        why: "not there".to_owned(),
        claim: ReviewClaim {
            priority: Some(priority),
            rule: rule.map(str::to_owned),
            ..claim("b.py", 1, 1)
        },
    };
    let left = |priority| Finding { rule: None, ..finding(Some(priority)) };
    use Priority::{P0, P1, P2, P3};
    // What is left, what is lost, the verdict that the reviewer gives, and whether it has a vote.
    for (left_over, lost, claimed, has_vote) in [
        (None, dropped(P1, None), Some(Verdict::Fail), false),
        (None, dropped(P1, None), None, false),
        (None, dropped(P1, Some("rule/one")), None, true),
        (Some(left(P1)), dropped(P0, None), Some(Verdict::Fail), true),
        (Some(left(P2)), dropped(P1, None), Some(Verdict::Fail), false),
        (Some(left(P2)), dropped(P1, None), None, true),
        (Some(left(P3)), dropped(P2, None), Some(Verdict::NeedsWork), true),
    ] {
        let findings: Vec<&Finding> = left_over.iter().collect();
        let opinion = Opinion { claimed_verdict: claimed, ..Opinion::default() };
        let coverage = Coverage::over(&change(), &[("a.py".into(), vec![0])]);
        let facts = VoteFacts {
            reviewer: "r",
            opinion: Ok(&opinion),
            findings: &findings,
            dropped: &[&lost],
            coverage: &coverage,
        };
        let vote = vote(&facts, &policy(Threshold::P3, ConsensusRule::Unanimous));
        assert_eq!(vote.error.is_none(), has_vote, "{left_over:?} {lost:?} {vote:?}");
    }
}

#[test]
fn the_decision_by_votes_rule_and_what_there_is_to_review() {
    let visible = Coverage::over(&change(), &[]);
    let mut vendored = change();
    vendored.files[0].class = FileClass::Vendored;
    let blind = Coverage::over(&vendored, &[]);
    let mut large = change();
    let mut file = large.files[0].clone();
    (file.path, file.class) = ("large.py".into(), FileClass::TooLarge);
    large.files.push(file);
    let large = Coverage::over(&large, &[]);
    let (pass, object) = (VoteStatus::Passes, VoteStatus::Objects(Verdict::Fail));
    let could_not = Outcome::CouldNotReview;
    let (all, any) = (ConsensusRule::Unanimous, ConsensusRule::Any);
    type Row<'r> = (bool, &'r Coverage, &'r [VoteStatus], ConsensusRule, Outcome);
    let rows: [Row<'_>; 11] = [
        (true, &visible, &[], all, Outcome::Passed),
        (false, &visible, &[], all, could_not(NotReviewedReason::NoReviewers)),
        (false, &visible, &[pass], all, Outcome::Passed),
        (false, &visible, &[pass, object], all, Outcome::Blocked),
        (false, &visible, &[pass, object], any, Outcome::Passed),
        (false, &blind, &[], all, could_not(NotReviewedReason::Incomplete)),
        (false, &blind, &[pass], all, could_not(NotReviewedReason::Incomplete)),
        (true, &blind, &[], all, Outcome::Passed),
        (false, &large, &[pass], all, could_not(NotReviewedReason::Incomplete)),
        (false, &large, &[pass, object], any, could_not(NotReviewedReason::Incomplete)),
        (false, &large, &[pass, object], all, Outcome::Blocked),
    ];
    for (is_empty, coverage, votes, rule, expected) in rows {
        let split = SplitVotes { single: Vec::new(), panel: votes.to_vec() };
        let facts =
            DecisionFacts { is_empty, is_retry: false, has_unknown: false, coverage, votes: split };
        let decision = decide(&facts, &policy(Threshold::P3, rule));
        assert_eq!(decision.outcome, expected, "{is_empty} {votes:?} {rule}");
        let asks = needs_reviewers(is_empty, coverage);
        assert_eq!(asks, !is_empty && !coverage.has_nothing_reviewable());
    }
    // 001-122: an empty change is no answer to open findings.
    let votes = SplitVotes::default();
    let retry = DecisionFacts {
        is_empty: true,
        is_retry: true,
        has_unknown: false,
        coverage: &visible,
        votes,
    };
    let decision = decide(&retry, &policy(Threshold::P3, all));
    assert_eq!(decision.outcome, could_not(NotReviewedReason::Incomplete));
}

#[test]
fn a_change_without_a_reviewed_file_needs_a_trusted_setting() {
    for (class, can_be_reviewed) in [
        (FileClass::Source, true),
        (FileClass::Ignored, true),
        (FileClass::Vendored, false),
        (FileClass::Generated, false),
        (FileClass::Lock, false),
        (FileClass::Minified, false),
        (FileClass::Binary, false),
        (FileClass::Garbled, false),
        (FileClass::TooLarge, false),
    ] {
        let mut change = change();
        change.files.iter_mut().for_each(|file| file.class = class);
        let coverage = Coverage::over(&change, &[]);
        assert_eq!(coverage.has_nothing_reviewable(), !can_be_reviewed, "{class:?}");
        let n_listed = coverage.files.len() + coverage.skipped.len();
        assert_eq!(n_listed, change.files.len(), "every file is listed");
        let warns = coverage.vendored_warning().is_some();
        assert_eq!(warns, class == FileClass::Vendored, "{class:?}");
    }
}

#[test]
fn which_findings_are_checked() {
    use Priority::{P0, P1, P2, P3};
    for (priority, confidence, urgent, escalated) in [
        (P0, 0.99, true, false),
        (P1, 0.60, true, false),
        (P1, 0.59, true, true),
        (P2, 0.10, false, false),
        (P3, 0.10, false, false),
    ] {
        let finding = Finding { confidence, ..finding(Some(priority)) };
        let found = (verify::is_urgent_and_unsettled(&finding), verify::needs_escalation(&finding));
        assert_eq!(found, (urgent, escalated), "{priority} {confidence}");
    }
    let states = [
        (Verification::verified("x"), false, false, true),
        (Verification::corrected("x"), false, false, true),
        (Verification::refuted("x"), false, false, false),
        (Verification::unsure("x"), true, false, true),
        (Verification::not_checked("x"), true, true, true),
        (Verification::default(), true, true, true),
    ];
    for (verification, open, unasked, stands) in states {
        let finding = Finding { verification, confidence: 0.5, ..finding(Some(P1)) };
        let found = (
            verify::is_urgent_and_unsettled(&finding),
            verify::is_urgent_and_unchecked(&finding),
            verify::needs_escalation(&finding),
        );
        assert_eq!(found, (open, unasked, stands), "{:?}", finding.verification);
    }
}

#[test]
fn a_later_check_that_cannot_tell_takes_nothing_away() {
    let (holds, refuted) = (Verification::verified("h"), Verification::refuted("r"));
    let (unsure, not_checked) = (Verification::unsure("u"), Verification::not_checked("n"));
    for (known, checked, expected) in [
        (&holds, &unsure, &holds),
        (&holds, &refuted, &refuted),
        (&unsure, &not_checked, &unsure),
        (&unsure, &holds, &holds),
        (&not_checked, &unsure, &unsure),
        (&Verification::default(), &not_checked, &not_checked),
    ] {
        assert_eq!(verify::later_verification(known.clone(), checked.clone()), *expected);
    }
}
