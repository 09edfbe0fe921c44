//! Sample reports for the tests of all formats.

use crate::change::{FilePath, LineCounts};
use crate::finding::{
    Category, Finding, FindingState, Priority, Verification, VerificationOutcome, identity,
};
use crate::language::Language;
use crate::render::ReportView;
use crate::report::{Report, ReportStats, ReviewStatus, ReviewerReport, SCHEMA_VERSION};
use crate::review::suppress::SuppressedFinding;
use crate::review::{Coverage, FileCoverage, SkipReason, SkippedFile, Usage};
use crate::scope::{HeadState, ScopeSummary};
use crate::verdict::{NotReviewedReason, Outcome, Threshold, Verdict};
use std::collections::BTreeMap;

/// A report and the files it refers to.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) report: Report,
    pub(crate) sources: BTreeMap<FilePath, String>,
}

impl Sample {
    pub(crate) fn view(&self) -> ReportView<'_> {
        ReportView { report: &self.report, sources: &self.sources }
    }
}

const USERS: &str = "\
import sqlite3


def find(connection: sqlite3.Connection, request):
    name = request.args[\"name\"]
    cursor = connection.cursor()
    cursor.execute(f\"select id, name, mail from users where name = '{name}' order by name\")
    return cursor.fetchall()


def forget(connection, user_id):
    try:
        connection.execute(\"delete from users where id = ?\", (user_id,))
    except Exception:
        pass
";

const STORE: &str = "\
package store

func Sum(rows []Row) (total int) {
\tfor _, row := range rows {
\t\tif row.Name == \"\u{6f22}\u{5b57}\" { total += row.Amount /* \u{1f980} */ }
\t}
\treturn total
}
";

/// A review with findings of all priorities, from several reviewers, in several files.
pub(crate) fn full() -> Sample {
    let sources = BTreeMap::from([
        (FilePath::from("src/users.py"), USERS.to_owned()),
        (FilePath::from("store/sum.go"), STORE.to_owned()),
    ]);
    Sample { report: full_report(), sources }
}

/// A review without findings.
pub(crate) fn clean() -> Sample {
    let mut sample = full();
    let report = &mut sample.report;
    report.issues.clear();
    report.notes.clear();
    report.refuted.clear();
    report.suppressed.clear();
    report.warnings.clear();
    report.verdict = Some(Verdict::Pass);
    report.outcome = Outcome::Passed;
    report.passed = true;
    report.coverage.skipped.clear();
    sample.sources.clear();
    sample
}

/// A review of an empty change.
pub(crate) fn empty() -> Sample {
    let mut sample = clean();
    sample.report.coverage = Coverage::default();
    sample.report.scope.files = 0;
    sample.report.scope.hunks = 0;
    sample.report.scope.lines = LineCounts::default();
    sample.report.files_reviewed.clear();
    sample.report.summary = "Nothing changed.".to_owned();
    sample
}

/// A review that could not be done.
pub(crate) fn incomplete(incomplete_reason: NotReviewedReason, error: Option<&str>) -> Sample {
    let mut sample = clean();
    let report = &mut sample.report;
    report.outcome = Outcome::CouldNotReview(incomplete_reason);
    report.passed = false;
    report.verdict = None;
    report.status = ReviewStatus::Error;
    report.parse_error = error.map(str::to_owned);
    report.summary = "The change is not reviewed.".to_owned();
    for file in &mut report.coverage.files {
        file.hunks_accounted = 0;
    }
    report.coverage.hunks_accounted = 0;
    sample
}

/// A finding on these lines, with default values.
pub(crate) fn finding(file: &str, lines: (u32, u32), priority: Priority) -> Finding {
    let file = FilePath::from(file);
    let evidence = "evidence".to_owned();
    let dedupe_key = identity(&file, None, &format!("{file} {lines:?}"), Category::Bug, 0);
    Finding {
        language: Language::of_path(&file),
        file,
        line_start: lines.0,
        line_end: lines.1,
        priority: Some(priority),
        severity: priority.severity(),
        category: Category::Bug,
        title: "a title".to_owned(),
        body: "When it rains, it pours.".to_owned(),
        suggestion: None,
        evidence_snippet: evidence,
        confidence: 0.95,
        reviewer: "builtin".to_owned(),
        rule: None,
        dedupe_key,
        symbol: None,
        verification: Verification::default(),
        state: FindingState::Open,
        first_seen: None,
        also_reported_by: Vec::new(),
        on_changed_lines: true,
        also_at: Vec::new(),
        is_note: false,
    }
}

fn sql() -> Finding {
    Finding {
        category: Category::Security,
        title: "SQL is built from a request value".to_owned(),
        body: "When `name` holds a quote, the rest of it is run as SQL: a caller reads or changes \
               every table that the connection may touch."
            .to_owned(),
        suggestion: Some(
            "Pass the value as a parameter: `cursor.execute(\"… where name = ?\", (name,))`."
                .to_owned(),
        ),
        evidence_snippet: "    cursor.execute(f\"select id, name, mail from users where name = '{name}' order by name\")".to_owned(),
        rule: Some("python/sql-from-format".to_owned()),
        symbol: Some("find".to_owned()),
        ..finding("src/users.py", (7, 7), Priority::P0)
    }
}

fn swallowed() -> Finding {
    Finding {
        category: Category::ErrorHandling,
        title: "Every error is swallowed".to_owned(),
        body: "When the delete fails, `forget` returns as if the user were gone.".to_owned(),
        suggestion: Some("Catch what is expected, and let the rest through.".to_owned()),
        evidence_snippet: "    except Exception:\n        pass".to_owned(),
        rule: Some("python/swallowed-error".to_owned()),
        confidence: 0.8,
        reviewer: "codex".to_owned(),
        also_reported_by: vec!["gemini".to_owned()],
        ..finding("src/users.py", (14, 15), Priority::P1)
    }
}

fn overflow() -> Finding {
    Finding {
        title: "Amounts are summed in an int".to_owned(),
        body: "When the amounts exceed the range of int, the total wraps around.".to_owned(),
        evidence_snippet: "total += row.Amount".to_owned(),
        rule: Some("go/int-overflow".to_owned()),
        confidence: 0.6,
        ..finding("store/sum.go", (5, 5), Priority::P2)
    }
}

fn note() -> Finding {
    Finding {
        title: "[P3] The sum is not documented".to_owned(),
        body: "When amounts are negative, the result is surprising.".to_owned(),
        reviewer: "codex".to_owned(),
        verification: Verification::unsure("codex: it may be meant so"),
        is_note: true,
        ..finding("store/sum.go", (3, 3), Priority::P3)
    }
}

fn stale_caller() -> Finding {
    Finding {
        title: "`find` is called without its request".to_owned(),
        body: "When the page opens, the call raises TypeError: `find` takes two arguments."
            .to_owned(),
        evidence_snippet: "rows = find(connection)".to_owned(),
        rule: Some("cross-file/signature".to_owned()),
        on_changed_lines: false,
        verification: Verification {
            outcome: VerificationOutcome::Verified,
            how: Some("parameter count".to_owned()),
        },
        ..finding("web/page.py", (120, 120), Priority::P2)
    }
}

fn refuted() -> Finding {
    Finding {
        title: "sqlite3 is not imported".to_owned(),
        body: "When the module loads, NameError is raised.".to_owned(),
        evidence_snippet: "def find(connection: sqlite3.Connection, request):".to_owned(),
        reviewer: "gemini".to_owned(),
        confidence: 0.4,
        verification: Verification {
            outcome: VerificationOutcome::Refuted,
            how: Some("import table".to_owned()),
        },
        ..finding("src/users.py", (4, 4), Priority::P1)
    }
}

fn coverage() -> Coverage {
    let file = |name: &str, hunks| FileCoverage {
        file: FilePath::from(name),
        hunks_given: hunks,
        hunks_accounted: hunks,
    };
    let skip = |name: &str, reason| SkippedFile { file: FilePath::from(name), reason, hunks: 1 };
    Coverage {
        hunks_given: 12,
        hunks_accounted: 12,
        files: vec![file("src/users.py", 7), file("store/sum.go", 3), file("web/page.py", 2)],
        skipped: vec![
            skip("Cargo.lock", SkipReason::Lock),
            skip("docs/logo.png", SkipReason::Binary),
            skip("web/package-lock.json", SkipReason::Lock),
        ],
    }
}

fn reviewer(name: &str, model: Option<&str>, findings: usize) -> ReviewerReport {
    ReviewerReport {
        reviewer: name.to_owned(),
        model: model.map(str::to_owned),
        verdict: Some(Verdict::Fail),
        findings,
        dropped: 0,
        error: None,
        log: None,
        usage: Usage::default(),
        claimed_verdict: None,
        summary: String::new(),
        not_reviewed: None,
        crashed: false,
        coverage: None,
        process: None,
    }
}

fn full_report() -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        review_id: "0123456789abcdef".to_owned(),
        passed: false,
        verdict: Some(Verdict::Fail),
        outcome: Outcome::Blocked,
        status: ReviewStatus::Ok,
        issues: vec![sql(), swallowed(), overflow(), stale_caller()],
        notes: vec![note()],
        refuted: vec![refuted()],
        suppressed: vec![SuppressedFinding {
            finding: Finding {
                title: "A debug print is left".to_owned(),
                rule: Some("python/debug-print".to_owned()),
                ..finding("web/page.py", (30, 30), Priority::P3)
            },
            line: 29,
            reason: "the page prints on purpose".to_owned(),
        }],
        parse_error: None,
        fatal_error: false,
        review_log_path: Some(".mala/runs/20260101T000000Z_0123456789abcdef".to_owned()),
        model_used: Some("gpt-x".to_owned()),
        warnings: vec!["eslint is configured and not installed".to_owned()],
        summary:
            "Reviewed by codex, gemini and the built-in analyzers. Two problems must be solved \
                  before this can go in."
                .to_owned(),
        files_reviewed: vec![FilePath::from("src/users.py")],
        coverage: coverage(),
        scope: ScopeSummary {
            repository: Some("https://example.com/acme/shop.git".to_owned()),
            target: "main...HEAD".to_owned(),
            base: Some("1111111111111111111111111111111111111111".to_owned()),
            head: HeadState::Commit("2222222222222222222222222222222222222222".to_owned()),
            diff_hash: "33".repeat(32),
            files: 6,
            hunks: 15,
            lines: LineCounts { added: 1234, removed: 56 },
        },
        fail_on: Threshold::P1,
        reviewers: vec![reviewer("builtin", None, 3), reviewer("codex", Some("gpt-x"), 1)],
        consensus: Default::default(),
        errors: Vec::new(),
        dropped: Vec::new(),
        checker: None,
        tracking: None,
        stats: ReportStats {
            tokens_used: Some(12_345),
            cost_usd: Some(0.0512),
            latency_seconds_e2e: 12.5,
            latency_seconds_llm: 11.0,
            llm_calls: 2,
            tool_calls: 5,
            cache_read_tokens: None,
            answers_read: Default::default(),
        },
    }
}
