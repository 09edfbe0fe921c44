//! One table: what a known finding and a reported one look like, and what comes of it.

use super::*;
use crate::change::{Change, parse};
use crate::finding::{FindingState, Priority, ReviewClaim, Verification};
use crate::ledger::Standing;
use crate::ledger::delta::ReviewedLines;
use crate::ports::Blob;
use crate::review::admit::{SymbolIndex, admit};

/// A text with functions: a line that starts with `def ` opens one.
struct DefSymbols<'t>(&'t str);

impl SymbolIndex for DefSymbols<'_> {
    fn symbol_at(&self, _: &FilePath, line: u32) -> Option<String> {
        let before: Vec<&str> = self.0.lines().take(usize::try_from(line).ok()?).collect();
        let definition = before.iter().rev().find_map(|line| line.strip_prefix("def "))?;
        Some(definition.trim_end_matches("():").to_owned())
    }
}

/// A review of one file, in which lines are reported.
struct ReviewedFile {
    path: &'static str,
    text: String,
    lines: ReviewedLines,
}

/// A finding: its first and last line, category, title, body and rule.
#[derive(Clone, Copy, Debug)]
struct FindingRow(u32, u32, Category, &'static str, &'static str, Option<&'static str>);

impl ReviewedFile {
    fn new(path: &'static str, text: &str) -> Self {
        let body: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let n_lines = text.lines().count();
        let diff = format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{n_lines} @@\n{body}"
        );
        let lines = ReviewedLines::of(&Change { files: parse(diff.as_bytes()).unwrap() });
        Self { path, text: text.to_owned(), lines }
    }

    fn texts(&self) -> FileTexts {
        let mut texts = FileTexts::default();
        texts.head.insert(self.path.into(), Blob::Text(self.text.clone()));
        texts
    }

    fn findings(&self, said: &[FindingRow]) -> Vec<Finding> {
        let claims =
            said.iter().map(|FindingRow(start, end, category, title, body, rule)| ReviewClaim {
                file: self.path.into(),
                span: LineSpan::between(*start, *end),
                priority: Some(Priority::P1),
                category: *category,
                title: (*title).to_owned(),
                body: (*body).to_owned(),
                suggestion: None,
                evidence: None,
                confidence: 1.0,
                reviewer: "agent".to_owned(),
                rule: rule.map(str::to_owned),
                verification: Verification::default(),
            });
        let symbols = DefSymbols(&self.text);
        let admitted =
            admit(claims.collect(), &Change { files: Vec::new() }, &self.texts(), &symbols);
        admitted.findings.into_iter().map(|it| Finding { on_changed_lines: true, ..it }).collect()
    }
}

fn stored(findings: Vec<Finding>) -> Vec<LedgerFinding> {
    let stored =
        findings.into_iter().zip(1..).map(|(finding, number): (Finding, u32)| LedgerFinding {
            id: FindingId(number.to_string()),
            finding,
            state: FindingState::Open,
            standing: Some(Standing::New),
            subject: String::new(),
            first_seen: String::new(),
            first_seen_at: String::new(),
            last_seen_at: String::new(),
            n_occurrences: 1,
            waiver: None,
            paths: Vec::new(),
            code: None,
        });
    stored.collect()
}

/// The decisions about a second review, with and without the lines of the first one.
fn decide(
    (first, known): (&ReviewedFile, &[FindingRow]),
    (second, reported): (&ReviewedFile, &[FindingRow]),
    has_delta: bool,
) -> Vec<MatchDecision> {
    let known = stored(first.findings(known));
    let renames = match first.path == second.path {
        true => BTreeMap::new(),
        false => BTreeMap::from([(first.path.into(), second.path.into())]),
    };
    let delta = Delta::between(&first.lines, &second.lines, &renames);
    let delta = has_delta.then_some(&delta);
    let facts = KnownFindings {
        findings: &known,
        renames: &renames,
        delta,
        added: &second.lines,
        texts: &second.texts(),
    };
    match_all(&second.findings(reported), &facts)
}

const FIRST: &str = "import db
def load():
    rows = db.query(name)
    check(rows)
    return rows

def save():
    conn = db.open(name)
    check(conn)
    conn.write(rows, name)
    check(conn)
    conn.close()
";

const INJECTION: &str = "Input is concatenated, so an attacker can inject SQL statements.";
const REWORDED: &str = "SQL statements are open to injection by an attacker.";
const LEAK: &str = "The handle stays open when writing raises an exception.";

use Category::{Bug, Logic, Performance, Security};

const QUERY: FindingRow = FindingRow(3, 3, Security, "SQL injection", INJECTION, None);

#[test]
#[expect(clippy::too_many_lines, reason = "one row per reason")]
fn a_finding_is_recognised_for_these_reasons() {
    let moved = FIRST.replace("import db\n", "import db\nimport os\n\n");
    let (indented, other_symbol) =
        (FIRST.replace("    ", "\t"), FIRST.replace("def load", "def fetch"));
    let moved_out = FIRST.replace("    rows = db.query(name)\n", "")
        + "def ask():\n    rows = db.query(name)\n";
    let asks = |query: &str| FIRST.replace("db.query(name)", query);
    let (edited, wrapped) = (asks("db.query(name, 1)"), asks("db.query(\n        name\n    )"));
    let rows: [(&str, &str, FindingRow, &str); 14] = [
        ("the same", FIRST, QUERY, "same symbol, evidence and kind of category"),
        ("lines above", &moved, at(5, 5, QUERY), "same symbol, evidence and kind of category"),
        ("reindented", &indented, QUERY, "same symbol, evidence and kind of category"),
        (
            "reworded",
            FIRST,
            FindingRow(3, 3, Security, "Unsafe query", REWORDED, None),
            "same symbol, evidence and kind of category",
        ),
        (
            "title only",
            FIRST,
            FindingRow(3, 3, Security, "Bad query", "", None),
            "same symbol, evidence and kind of category",
        ),
        (
            "other category",
            FIRST,
            FindingRow(3, 3, Bug, "Injection of SQL", REWORDED, None),
            "same evidence and similar wording",
        ),
        ("symbol renamed", &other_symbol, QUERY, "same lines, evidence and kind of category"),
        (
            "wider quote",
            FIRST,
            FindingRow(2, 4, Security, "SQL injection", REWORDED, None),
            "overlapping lines and similar wording",
        ),
        (
            "moved to another symbol",
            &moved_out,
            at(13, 13, QUERY),
            "same lines, evidence and kind of category",
        ),
        ("edited", &edited, QUERY, "same symbol, 80 % of the code, similar wording"),
        ("wrapped", &wrapped, at(3, 5, QUERY), "same symbol, evidence and kind of category"),
        ("wrapped, first line", &wrapped, QUERY, "overlapping lines and similar wording"),
        ("wrapped, inner line", &wrapped, at(4, 4, QUERY), "overlapping lines and similar wording"),
        (
            "another reviewer's rule",
            FIRST,
            FindingRow(3, 3, Security, "SQL injection", "", Some("sql")),
            "same symbol, evidence and kind of category",
        ),
    ];
    for (what, text, said, expected) in rows {
        let first = ReviewedFile::new("a.py", FIRST);
        let second = ReviewedFile::new("a.py", text);
        let decision = decide((&first, &[QUERY]), (&second, &[said]), true);
        let expected =
            MatchDecision { id: Some(FindingId("1".to_owned())), why: expected.to_owned() };
        assert_eq!(decision, [expected], "{what}");
    }
}

fn at(
    start: u32,
    end: u32,
    FindingRow(_, _, category, title, body, rule): FindingRow,
) -> FindingRow {
    FindingRow(start, end, category, title, body, rule)
}

#[test]
fn a_renamed_file_keeps_its_findings_even_reworded() {
    let first = ReviewedFile::new("a.py", FIRST);
    let second = ReviewedFile::new("b/a.py", FIRST);
    let reworded = FindingRow(3, 3, Security, "Unsafe query", "", None);
    for has_delta in [true, false] {
        let decision = decide((&first, &[QUERY]), (&second, &[reworded]), has_delta);
        let why = "same symbol, evidence and kind of category, in a renamed file".to_owned();
        assert_eq!(decision, [MatchDecision { id: Some(FindingId("1".to_owned())), why }]);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn other_problems_are_other_findings() {
    const CHECK: FindingRow = FindingRow(9, 9, Bug, "The result of check is ignored", LEAK, None);
    let without_first = FIRST.replacen("    check(conn)\n", "", 1);
    let copied = FIRST.replace("def save", "def copy():\n    rows = db.query(name)\n\ndef save");
    let moved_copy = "def copy():\n    rows = db.query(name)\n";
    let both = FIRST.to_owned() + moved_copy;
    let only_copy = both.replacen("    rows = db.query(name)\n", "", 1);
    let rows: [(&str, [&str; 2], FindingRow, FindingRow, &str); 9] = [
        ("elsewhere", [FIRST, FIRST], QUERY, at(8, 8, QUERY), "no known finding is like it"),
        (
            "another problem",
            [FIRST, FIRST],
            QUERY,
            FindingRow(3, 3, Security, "Names in the log", LEAK, None),
            "not 1: the same code, and the wording has nothing in common",
        ),
        (
            "another category",
            [FIRST, FIRST],
            QUERY,
            FindingRow(3, 3, Performance, "Slow query", "Every row is read; add an index.", None),
            "not 1: the same code, and another kind of problem",
        ),
        (
            "another rule",
            [FIRST, FIRST],
            FindingRow(3, 3, Security, "x", "", Some("one")),
            FindingRow(3, 3, Security, "x", "", Some("two")),
            "no known finding is like it",
        ),
        (
            "the next of two equal lines",
            [FIRST, FIRST],
            CHECK,
            at(11, 11, CHECK),
            "not 1: the same code, and that finding is on another copy of it",
        ),
        (
            "the second of two equal lines, after the first was removed",
            [FIRST, &without_first],
            CHECK,
            at(10, 10, CHECK),
            "not 1: the same code, and that finding is on another copy of it",
        ),
        (
            "a copy of the code in another symbol",
            [FIRST, &copied],
            QUERY,
            at(8, 8, QUERY),
            "not 1: the same code, and that finding is on another copy of it",
        ),
        (
            "a copy that was there before the code was removed",
            [&both, &only_copy],
            QUERY,
            at(13, 13, QUERY),
            "not 1: similar wording, on lines that did not change",
        ),
        (
            "similar code that was there before",
            [FIRST, FIRST],
            FindingRow(9, 10, Logic, "Checked twice", INJECTION, None),
            FindingRow(10, 11, Logic, "Checked twice", LEAK, None),
            "no known finding is like it",
        ),
    ];
    for (what, [first, second], known, said, expected) in rows {
        let (first, second) = (ReviewedFile::new("a.py", first), ReviewedFile::new("a.py", second));
        let decision = decide((&first, &[known]), (&second, &[said]), true);
        assert_eq!(decision, [MatchDecision { id: None, why: expected.to_owned() }], "{what}");
    }
}

#[test]
fn equal_lines_are_told_apart_by_their_number_when_no_review_is_at_hand() {
    let file = ReviewedFile::new("a.py", FIRST);
    let twins = [9, 11].map(|line| FindingRow(line, line, Bug, "Result ignored", LEAK, None));
    for (known, said, expected) in
        [(0, 0, Some("1")), (0, 1, None), (1, 0, None), (1, 1, Some("1"))]
    {
        let decision = decide((&file, &[twins[known]]), (&file, &[twins[said]]), false);
        let id = decision.first().and_then(|it| it.id.as_ref()).map(|id| id.0.as_str());
        assert_eq!(id, expected, "{known} {said}");
    }
}

#[test]
fn two_problems_on_the_same_line_keep_their_own_findings() {
    let file = ReviewedFile::new("a.py", FIRST);
    let zero = FindingRow(
        8,
        8,
        Bug,
        "Connection may be null",
        "open returns null when the database is down.",
        None,
    );
    let leak = FindingRow(8, 8, Bug, "Connection leaks", LEAK, None);
    let again =
        FindingRow(8, 8, Bug, "Leaked connection", "An exception leaves the handle open.", None);
    let decision = decide((&file, &[zero, leak]), (&file, &[again]), true);
    assert_eq!(decision.first().and_then(|it| it.id.clone()), Some(FindingId("2".to_owned())));
}
