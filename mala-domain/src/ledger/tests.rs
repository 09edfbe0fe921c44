//! Loops of reviews and fixes, replayed through the functions of the ledger: what each round covers, how its
//! findings count, and how the loop ends.

use super::convergence::{ConvergencePolicy, NextStep, RoundSummary, next_step};
use super::delta::{Delta, ReviewedLines};
use super::reported_code::FileAtHead;
use super::rounds::{DEFAULT_BARS, RoundCoverage, RoundFacts, RoundPlan, bar_of_round, plan_round};
use super::states::{FindingEvent, next_state};
use super::track::{
    OpenFindingCheck, SilentReview, TrackingFacts, check_open_finding, is_late_blocker, takes_part,
    track, unreported,
};
use super::waiver::{SharedWaivers, Waiver, code_hash};
use super::{FindingId, LedgerFinding, ReviewRecord, Standing, TrackedFinding};
use crate::change::{Change, FilePath, LineSpan, parse};
use crate::finding::{Category, FindingState, Priority, ReviewClaim, Verification};
use crate::ports::Blob;
use crate::review::FileTexts;
use crate::review::admit::{SymbolIndex, admit};
use std::collections::BTreeMap;

/// One round: what happened before it, the files at head, and what the reviewer reports.
#[derive(Clone, Default)]
struct LoopStep {
    files: Vec<(&'static str, String)>,
    reports: Vec<Report>,
    /// What a person does before the round, to the finding with this number.
    person: Option<(usize, FindingEvent)>,
    is_rewritten: bool,
    cost_usd: f64,
}

/// A finding of a reviewer.
#[derive(Clone, Copy)]
struct Report {
    file: &'static str,
    /// The code that it cites.
    code: &'static str,
    category: Category,
    priority: Priority,
    title: &'static str,
    body: &'static str,
    reviewer: &'static str,
}

/// The ledger of one change.
#[derive(Default)]
struct LoopLedger {
    findings: Vec<LedgerFinding>,
    records: Vec<ReviewRecord>,
    /// One line per round.
    log: Vec<String>,
}

/// A line that starts with `def ` opens a symbol.
struct DefSymbols<'t>(&'t FileTexts);

impl SymbolIndex for DefSymbols<'_> {
    fn symbol_at(&self, file: &FilePath, line: u32) -> Option<String> {
        let n_lines = usize::try_from(line).ok()?;
        let before: Vec<&str> = self.0.at_head(file)?.lines().take(n_lines).collect();
        let definition = before.iter().rev().find_map(|line| line.strip_prefix("def "))?;
        Some(definition.trim_end_matches("():").to_owned())
    }
}

impl LoopLedger {
    fn play(&mut self, step: &LoopStep) -> NextStep {
        self.listen_to_person(step);
        let head = step.files.iter();
        let head = head.map(|(path, text)| ((*path).into(), Blob::Text(text.clone()))).collect();
        let texts = FileTexts { head, ..FileTexts::default() };
        let change = added(&step.files);
        let lines = ReviewedLines::of(&change);
        let last = self.records.last();
        let since = last.map(|last| Delta::between(&last.lines, &lines, &BTreeMap::new()));
        let plan = self.plan(step, since.as_ref());
        let delta = since.as_ref().filter(|_| plan.coverage == RoundCoverage::Delta);
        let findings = step.reports.iter().map(|it| it.claim(&texts)).collect();
        let findings = admit(findings, &change, &texts, &DefSymbols(&texts)).findings;
        let facts = TrackingFacts {
            known: &self.findings,
            renames: &BTreeMap::new(),
            moved: since.as_ref(),
            delta,
            added: &lines,
            texts: &texts,
            bar: bar_of_round(plan.round, &DEFAULT_BARS),
            shared_waivers: &SharedWaivers::default(),
            today: "2026-01-01",
        };
        let open: Vec<FindingId> =
            unreported(&findings, &facts).into_iter().map(|it| it.id.clone()).collect();
        let result = track(findings, &facts);
        for event in &result.events {
            self.change(&event.id, event.event);
        }
        let mut summary = RoundSummary {
            round: plan.round,
            diff_hash: format!("{:?}", step.files),
            is_complete: true,
            has_new_lines: since.as_ref().is_none_or(|delta| !delta.is_unchanged()),
            cost_usd: Some(step.cost_usd),
            ..RoundSummary::default()
        };
        let mut standings: Vec<&str> = Vec::new();
        for tracked in result.tracked {
            standings.push(tracked.standing.name());
            count(&mut summary, &tracked, since.as_ref());
            self.store(tracked);
        }
        for id in open {
            let is_open = self.is_still_open(&id, &texts, since.as_ref());
            standings.push(if is_open { "unreported" } else { "fixed" });
            summary.n_blocking += u32::from(is_open);
            summary.n_fixed += u32::from(!is_open);
            if !is_open {
                self.change(&id, FindingEvent::ConfirmedFixed);
            }
        }
        self.close(plan.coverage, summary, lines, &standings)
    }

    fn plan(&self, step: &LoopStep, since: Option<&Delta>) -> RoundPlan {
        let last = self.records.last();
        plan_round(&RoundFacts {
            n_earlier: u32::try_from(self.records.len()).unwrap(),
            is_known: last.is_some(),
            last_complete: last,
            has_new_lines: since.is_some_and(|delta| !delta.is_empty()),
            base: Some("base"),
            is_rewritten: step.is_rewritten,
            base_changed_files: false,
            full_requested: false,
            is_by_rules: false,
        })
    }

    fn listen_to_person(&mut self, step: &LoopStep) {
        let Some((number, event)) = step.person else { return };
        let id = self.findings[number].id.clone();
        self.change(&id, event);
        let evidence = &self.findings[number].finding.evidence_snippet;
        self.findings[number].waiver = (event == FindingEvent::Waived).then(|| Waiver {
            reason: "known".to_owned(),
            by: "a person".to_owned(),
            at: String::new(),
            until: None,
            code: code_hash(evidence),
            quote: Some(evidence.clone()),
        });
    }

    /// A finding that is not reported again is fixed when its code is gone.
    fn is_still_open(&self, id: &FindingId, texts: &FileTexts, since: Option<&Delta>) -> bool {
        let known = self.findings.iter().find(|it| it.id == *id).unwrap();
        let path = &known.finding.file;
        let file = texts.at_head(path).map(|text| FileAtHead::of(path, text));
        let is_changed = since.is_some_and(|it| it.touches(path, known.finding.span()));
        let review = SilentReview {
            is_covered: true,
            is_told: true,
            has_run_rules: true,
            is_in_change: file.is_some(),
        };
        let check = check_open_finding(&known.finding, file.as_ref(), review, |_| is_changed);
        matches!(check, OpenFindingCheck::StillOpen(_))
    }

    fn change(&mut self, id: &FindingId, event: FindingEvent) {
        let known = self.findings.iter_mut().find(|it| it.id == *id).unwrap();
        known.state = next_state(known.state, event).unwrap_or(known.state);
        if known.state == FindingState::Fixed {
            known.standing = Some(Standing::Fixed);
        }
    }

    fn store(&mut self, tracked: TrackedFinding) {
        if let Some(known) =
            tracked.id.and_then(|id| self.findings.iter_mut().find(|it| it.id == id))
        {
            known.finding = tracked.finding;
            known.standing = Some(tracked.standing);
            known.n_occurrences += 1;
        } else {
            self.findings.push(LedgerFinding {
                id: FindingId(self.findings.len().to_string()),
                finding: tracked.finding,
                state: FindingState::Open,
                subject: "change".to_owned(),
                standing: Some(tracked.standing),
                first_seen: String::new(),
                first_seen_at: String::new(),
                last_seen_at: String::new(),
                n_occurrences: 1,
                waiver: None,
                paths: Vec::new(),
                code: None,
            });
        }
    }

    fn close(
        &mut self,
        coverage: RoundCoverage,
        summary: RoundSummary,
        lines: ReviewedLines,
        standings: &[&str],
    ) -> NextStep {
        let mut record = super::convergence::tests::record(summary.round, "base");
        (record.summary, record.lines) = (summary, lines);
        self.records.push(record);
        let rounds: Vec<RoundSummary> = self.records.iter().map(|it| it.summary.clone()).collect();
        let max_cost_usd = Some(20.0);
        let policy = ConvergencePolicy {
            max_rounds: 6,
            plateau_rounds: 2,
            recurring_rounds: 3,
            max_cost_usd,
        };
        let next = next_step(&rounds, &policy);
        let coverage = if coverage == RoundCoverage::Delta { "delta" } else { "full" };
        self.log.push(format!("{coverage}: {}; {next}", standings.join(" ")));
        next
    }

    fn states(&self) -> String {
        let name = |it: &LedgerFinding| format!("{:?}", it.state).to_lowercase();
        self.findings.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

fn count(summary: &mut RoundSummary, tracked: &TrackedFinding, since: Option<&Delta>) {
    let finding = &tracked.finding;
    summary.n_late += u32::from(tracked.standing == Standing::Late);
    summary.has_late_blocker |= is_late_blocker(tracked);
    summary.n_disputed += u32::from(tracked.standing == Standing::Disputed);
    summary.n_regressed += u32::from(tracked.standing == Standing::Regressed);
    if takes_part(tracked) {
        summary.n_blocking += 1;
        let is_new = tracked.standing == Standing::New;
        let is_on_fix = since.is_some_and(|it| it.touches(&finding.file, finding.span()));
        summary.n_new += u32::from(is_new);
        summary.n_new_on_fix += u32::from(is_new && is_on_fix);
        if tracked.standing != Standing::StillOpen {
            let symbol = finding.symbol.as_deref().unwrap_or_default();
            summary.sites.push(format!("{} {symbol} {}", finding.file, finding.category));
        }
    }
}

/// The change that adds these files.
fn added(files: &[(&'static str, String)]) -> Change {
    let diff: String = files
        .iter()
        .map(|(path, text)| {
            let body: String = text.lines().map(|line| format!("+{line}\n")).collect();
            let n_lines = text.lines().count();
            format!(
                "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{n_lines} @@\n{body}"
            )
        })
        .collect();
    Change { files: parse(diff.as_bytes()).unwrap() }
}

impl Report {
    fn claim(&self, texts: &FileTexts) -> ReviewClaim {
        let text = texts.at_head(&self.file.into()).unwrap();
        let line = text.lines().position(|line| line.contains(self.code)).unwrap();
        ReviewClaim {
            file: self.file.into(),
            span: LineSpan::line(u32::try_from(line + 1).unwrap()),
            priority: Some(self.priority),
            category: self.category,
            title: self.title.to_owned(),
            body: self.body.to_owned(),
            suggestion: None,
            evidence: None,
            confidence: 1.0,
            reviewer: self.reviewer.to_owned(),
            rule: None,
            verification: Verification::verified("a test shows it"),
        }
    }
}

const START: &str = "def load():
    rows = query(name)
    return rows

def save():
    conn = connect(name)
    conn.write(rows)
    conn.close()
";

const INJECTION: Report = Report {
    file: "a.py",
    code: "query(name",
    category: Category::Security,
    priority: Priority::P1,
    title: "SQL injection",
    body: "Input is concatenated, so an attacker can inject SQL statements.",
    reviewer: "agent",
};
const REWORDED: Report = Report {
    title: "Unsafe query",
    body: "SQL statements are open to injection by an attacker.",
    reviewer: "another",
    ..INJECTION
};
const LEAK: Report = Report {
    code: "connect(",
    category: Category::Bug,
    title: "Connection leaks",
    body: "The connection stays open when writing raises an exception.",
    ..INJECTION
};
const NIT: Report = Report {
    code: "return rows",
    category: Category::Style,
    priority: Priority::P3,
    title: "Rename rows",
    body: "The name says nothing about the content.",
    ..INJECTION
};

/// A round over `a.py`, which is [`START`] with one replacement.
fn step(replaced: [&str; 2], reports: &[Report]) -> LoopStep {
    let text = START.replace(replaced[0], replaced[1]);
    LoopStep { files: vec![("a.py", text)], reports: reports.to_vec(), ..LoopStep::default() }
}

const SAME: [&str; 2] = ["", ""];
const FIXED_QUERY: [&str; 2] = ["query(name)", "select(bind(name))"];
const OTHER_LINE: [&str; 2] = ["    conn.close()", "    conn.close(now)"];

fn person(event: FindingEvent, step: LoopStep) -> LoopStep {
    LoopStep { person: Some((0, event)), ..step }
}

fn replay(name: &str, steps: &[LoopStep], expected: &[&str], states: &str) {
    let mut ledger = LoopLedger::default();
    for (number, step) in steps.iter().enumerate() {
        let next = ledger.play(step);
        let is_last = number + 1 == steps.len();
        assert_eq!(next == NextStep::Continue, !is_last, "{name}: {:#?}", ledger.log);
    }
    assert_eq!(ledger.log, expected, "{name}");
    assert_eq!(ledger.states(), states, "{name}");
}

const GO_ON: &str = "continue: fix the open findings and review again";

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn loops_about_one_finding_end() {
    use FindingEvent::{Disputed, Waived};
    let first = step(SAME, &[INJECTION]);
    let rewritten = LoopStep { is_rewritten: true, ..step(OTHER_LINE, &[REWORDED]) };
    let edited = ["query(name)", "query(name, 1)"];
    let p0 = Report { priority: Priority::P0, ..LEAK };
    let rows: [(&str, Vec<LoopStep>, Vec<&str>, &str); 8] = [
        (
            "a reworded title",
            vec![first.clone(), step(OTHER_LINE, &[REWORDED]), step(FIXED_QUERY, &[])],
            vec![
                "full: new; GO_ON",
                "delta: still_open; GO_ON",
                "delta: fixed; done: nothing blocks",
            ],
            "fixed",
        ),
        (
            "disputed, then raised again",
            vec![first.clone(), person(Disputed, step(OTHER_LINE, &[REWORDED]))],
            vec![
                "full: new; GO_ON",
                "delta: disputed; a person decides: a disputed finding was reported again",
            ],
            "disputed",
        ),
        (
            "disputed, then raised again with new evidence",
            vec![
                first.clone(),
                person(Disputed, step(edited, &[INJECTION])),
                step(FIXED_QUERY, &[]),
            ],
            vec![
                "full: new; GO_ON",
                "delta: still_open; GO_ON",
                "delta: fixed; done: nothing blocks",
            ],
            "fixed",
        ),
        (
            "waived, then raised again",
            vec![first.clone(), person(Waived, step(OTHER_LINE, &[REWORDED]))],
            vec!["full: new; GO_ON", "delta: waived; done: nothing blocks"],
            "waived",
        ),
        (
            "a rebase",
            vec![first.clone(), rewritten, step(FIXED_QUERY, &[])],
            vec![
                "full: new; GO_ON",
                "full: still_open; GO_ON",
                "delta: fixed; done: nothing blocks",
            ],
            "fixed",
        ),
        (
            "no progress",
            vec![first.clone(), step(SAME, &[])],
            vec![
                "full: new; GO_ON",
                "full: unreported; a person decides: nothing changed since the last review",
            ],
            "open",
        ),
        (
            "a late P0",
            vec![first.clone(), step(FIXED_QUERY, &[p0])],
            vec![
                "full: new; GO_ON",
                "delta: late fixed; a person decides: a verified P0 on lines that an earlier round reviewed",
            ],
            "fixed open",
        ),
        (
            "two reviewers who take turns",
            vec![
                first,
                step(OTHER_LINE, &[REWORDED]),
                step(["conn.close()", "conn.close(later)"], &[INJECTION]),
            ],
            vec![
                "full: new; GO_ON",
                "delta: still_open; GO_ON",
                "delta: still_open; a person decides: the number of blocking findings does not go down",
            ],
            "open",
        ),
    ];
    for (name, steps, expected, states) in rows {
        let expected: Vec<String> = expected.iter().map(|it| it.replace("GO_ON", GO_ON)).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        replay(name, &steps, &expected, states);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn loops_with_ever_new_findings_end() {
    let nit_on_fix = Report { code: "select(bind(name))", ..NIT };
    let overflow = Report {
        code: "select(bind(name))",
        title: "Overflow",
        body: "Large input wraps around.",
        ..LEAK
    };
    let both = step(SAME, &[INJECTION, LEAK]);
    let leak_fixed = LoopStep {
        files: vec![("a.py", START.replace("conn = connect(name)", "with opened(name) as conn:"))],
        reports: vec![INJECTION],
        ..LoopStep::default()
    };
    let with_b = |text: &str, b: &str, reports: &[Report]| LoopStep {
        files: vec![("a.py", text.to_owned()), ("b.py", b.to_owned())],
        reports: reports.to_vec(),
        ..LoopStep::default()
    };
    let in_b = Report {
        file: "b.py",
        code: "load(1)",
        title: "Wrong argument",
        body: "load takes no argument.",
        ..LEAK
    };
    let fixed_text = START.replace(FIXED_QUERY[0], FIXED_QUERY[1]);
    let attempt = |code: &'static str, title: &'static str| {
        step(["connect(name)", code], &[Report { code, title, body: title, ..LEAK }])
    };
    let rows: [(&str, Vec<LoopStep>, Vec<&str>, &str); 6] = [
        (
            "endless nits",
            vec![step(SAME, &[INJECTION]), step(FIXED_QUERY, &[nit_on_fix, NIT])],
            vec!["full: new; GO_ON", "delta: below_bar late fixed; done: nothing blocks"],
            "fixed open open",
        ),
        (
            "a fix that goes back and forth",
            vec![
                step(SAME, &[INJECTION]),
                step(FIXED_QUERY, &[overflow]),
                step(SAME, &[INJECTION]),
            ],
            vec![
                "full: new; GO_ON",
                "delta: new fixed; GO_ON",
                "delta: regressed fixed; a person decides: the change is back in the state of round 1",
            ],
            "regressed fixed",
        ),
        (
            "a finding that comes back",
            vec![
                both,
                step(FIXED_QUERY, &[]),
                leak_fixed,
                with_b(&fixed_text.replace("conn = connect(name)", "pass"), "", &[]),
            ],
            vec![
                "full: new new; GO_ON",
                "delta: fixed unreported; GO_ON",
                "delta: regressed fixed; GO_ON",
                "delta: fixed; done: nothing blocks",
            ],
            "fixed fixed",
        ),
        (
            "a fix that breaks another file",
            vec![
                with_b(START, "load()\n", &[INJECTION]),
                with_b(&fixed_text, "load(1)\n", &[in_b]),
                with_b(&fixed_text, "load()\n", &[]),
            ],
            vec![
                "full: new; GO_ON",
                "delta: new fixed; GO_ON",
                "delta: fixed; done: nothing blocks",
            ],
            "fixed fixed",
        ),
        (
            "the same kind of finding in the same symbol",
            vec![
                attempt("dial(name)", "Leaks the handle"),
                attempt("ring(other)", "Times out silently"),
                attempt("call(third)", "Overflows for large input"),
            ],
            vec![
                "full: new; GO_ON",
                "delta: new fixed; GO_ON",
                "delta: new fixed; a person decides: the same kind of finding keeps appearing in a.py save bug",
            ],
            "fixed fixed open",
        ),
        (
            "a budget that is used up",
            vec![
                LoopStep { cost_usd: 12.0, ..step(SAME, &[INJECTION, LEAK]) },
                LoopStep { cost_usd: 9.0, ..step(FIXED_QUERY, &[]) },
            ],
            vec![
                "full: new new; GO_ON",
                "delta: fixed unreported; a person decides: the budget of the loop is spent",
            ],
            "fixed open",
        ),
    ];
    for (name, steps, expected, states) in rows {
        let expected: Vec<String> = expected.iter().map(|it| it.replace("GO_ON", GO_ON)).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        replay(name, &steps, &expected, states);
    }
}

#[test]
fn slow_progress_ends_with_the_rounds() {
    let codes = ["one(1)", "two(2)", "three(3)", "four(4)", "five(5)", "six(6)", "seven(7)"];
    let text = |n_fixed: usize| -> String {
        let lines = codes.iter().enumerate().map(|(at, code)| {
            let code = if at < n_fixed { "pass" } else { code };
            format!("def f{at}():\n    {code}\n\n")
        });
        lines.collect()
    };
    let mut ledger = LoopLedger::default();
    let mut next = NextStep::Continue;
    for n_fixed in 0..6 {
        assert_eq!(next, NextStep::Continue, "{:#?}", ledger.log);
        let reports = codes.map(|code| Report { code, ..LEAK });
        let reports = if n_fixed == 0 { reports.to_vec() } else { Vec::new() };
        let files = vec![("a.py", text(n_fixed))];
        next = ledger.play(&LoopStep { files, reports, ..LoopStep::default() });
    }
    assert_eq!(next.to_string(), "a person decides: 6 rounds were used");
    assert_eq!(ledger.states(), "fixed fixed fixed fixed fixed open open");
}
