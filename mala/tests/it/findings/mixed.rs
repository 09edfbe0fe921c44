//! Reviews of one branch that compare different commits, by reviewers with and without rules, and branches with
//! different names of a file: none of them says that a finding is fixed while its code stands.

use super::rounds::{Loop, aside, n_fixed};
use super::{commit, ids, json, standings};
use serde_json::{Value, json};

/// What a lane answers: findings as file, line, priority and title, and the files that it reviewed.
fn answer(findings: &[(&str, u32, u32, &str)], reviewed: &[(&str, usize)]) -> Value {
    let finding = |(file, line, priority, title): &(&str, u32, u32, &str)| {
        json!({
            "file_path": file, "line_start": line, "line_end": line, "priority": priority,
            "title": format!("[P{priority}] {title}"), "body": format!("{title} when it is called"),
        })
    };
    let verdict = match findings.iter().map(|it| it.2).min() {
        None => "PASS",
        Some(0 | 1) => "FAIL",
        Some(_) => "NEEDS_WORK",
    };
    let hunks = |(file, n): &(&str, usize)| json!({"file_path": file, "hunks": (1..=*n).collect::<Vec<usize>>()});
    json!({
        "nonce": "NONCE", "head_sha": "HEAD", "verdict": verdict, "summary": "read",
        "findings": findings.iter().map(finding).collect::<Vec<Value>>(),
        "reviewed": reviewed.iter().map(hunks).collect::<Vec<Value>>(),
    })
}

fn silent(reviewed: &[(&str, usize)]) -> Value {
    answer(&[], reviewed)
}

fn write(it: &Loop, files: &[(&str, &str)]) {
    for (file, text) in files {
        it.world.write(file, text);
    }
    commit(&it.world, "change");
}

const EVAL: &str = "def ask(x):\n    return eval(x)\n";
const LAST_COMMIT: &str = "HEAD~1..HEAD";

fn review_last_commit(it: &Loop) -> (i32, Value) {
    json(&it.world, &["review", LAST_COMMIT, "--reviewer", "builtin", "--json"])
}

fn still_open() -> Vec<String> {
    vec!["still_open".to_owned()]
}

#[test]
fn a_review_of_another_range_fixes_nothing_in_the_files_that_it_did_not_have() {
    for reviewer in ["builtin", "cerberus"] {
        let it = Loop::new();
        write(&it, &[("c.py", EVAL)]);
        let found = answer(&[("c.py", 2, 1, "eval of input")], &[("a.py", 2), ("c.py", 1)]);
        assert_eq!(it.review_answer(&found, &[]).0, 1);
        write(&it, &[("b.py", "z = 1\n")]);
        let (code, report) = match reviewer {
            "builtin" => review_last_commit(&it),
            _ => it.review_range(&silent(&[("b.py", 1)]), &[LAST_COMMIT]),
        };
        assert_eq!((code, n_fixed(&report)), (0, 0), "{reviewer}: {report:#}");
        let (code, report) = it.review_answer(&silent(&[("b.py", 1)]), &[]);
        assert_eq!(report["tracking"]["reviewed"], "delta", "{reviewer}: since the same base");
        assert_eq!((code, standings(&report)), (1, still_open()), "{reviewer}: {report:#}");
    }
}

#[test]
fn a_review_of_another_hunk_of_the_file_fixes_nothing() {
    let it = Loop::new();
    let two = |second: &str| format!("{EVAL}\n\ndef other():\n    return {second}\n");
    write(&it, &[("c.py", &two("1"))]);
    let found = answer(&[("c.py", 2, 1, "eval of input")], &[("a.py", 2), ("c.py", 1)]);
    it.review_answer(&found, &[]);
    write(&it, &[("c.py", &two("2"))]);
    let (code, report) = review_last_commit(&it);
    assert_eq!((code, standings(&report)), (1, still_open()), "{report:#}");
    let (code, report) = it.review_answer(&silent(&[("c.py", 1)]), &[]);
    assert_eq!((code, standings(&report)), (1, still_open()), "{report:#}");
}

#[test]
fn reviewers_without_rules_fix_what_a_rule_found_only_when_its_code_is_gone() {
    let it = Loop::new();
    let file = |first: &str, last: &str| {
        format!("def ask():\n{first}    return 1\n\n\ndef other():\n    return {last}\n")
    };
    write(&it, &[("a.py", &file("    breakpoint()\n", "2"))]);
    assert_eq!(super::review(&it.world, &[]).0, 1);
    for text in [file("    breakpoint()\n", "3"), file("    breakpoint()\n    x = 1\n", "3")] {
        write(&it, &[("a.py", &text)]);
        let (code, report) = it.review_answer(&silent(&[("a.py", 1)]), &[]);
        assert_eq!((code, standings(&report)), (1, still_open()), "{report:#}");
        assert!(it.prompt().contains("Breakpoint left in"), "the lane is told of it");
    }
    write(&it, &[("a.py", &file("", "3"))]);
    let (code, report) = it.review_answer(&silent(&[("a.py", 1)]), &[]);
    assert_eq!((code, n_fixed(&report)), (0, 1), "{report:#}");
}

#[test]
fn a_decision_about_a_nit_does_not_hide_a_blocker_on_its_line() {
    for decision in ["waive", "dispute"] {
        let it = Loop::new();
        let nit = [("a.py", 2, 3, "An empty name is not logged")];
        it.review_answer(&answer(&nit, &[("a.py", 2)]), &[]);
        let id = ids(&it.world).remove(0);
        let args = ["findings", decision, &id, "--reason", "not important"];
        assert!(it.world.run(&args).starts_with("[exit 0]"));
        let (code, report) = it.review_answer(&answer(&nit, &[("a.py", 2)]), &["--full"]);
        assert_eq!((code, aside(&report).len()), (0, 1), "{decision}: {report:#}");
        let blocker = [("a.py", 2, 0, "An empty name deletes every row")];
        let (code, report) = it.review_answer(&answer(&blocker, &[("a.py", 2)]), &["--full"]);
        assert_eq!((code, aside(&report).len()), (1, 0), "{decision}: {report:#}");
        let waive = ["findings", "waive", &id, "--reason", "not reachable"];
        assert!(it.world.run(&waive).starts_with("[exit 0]"));
        for reported in [&nit, &blocker] {
            let (code, _) = it.review_answer(&answer(reported, &[("a.py", 2)]), &["--full"]);
            assert_eq!(code, 0, "{decision}: a person decided about the blocker");
        }
    }
}

#[test]
fn a_file_that_is_still_there_was_not_renamed() {
    for is_waived in [false, true] {
        let it = Loop::new();
        let (imports, file) = ("import os\nimport sys\ndef f(x):\n", "    return eval(x)\n");
        write(&it, &[("c.py", &format!("{imports}{file}"))]);
        let found = [("c.py", 4, 1, "eval of input")];
        assert_eq!(it.review_range(&answer(&found, &[("c.py", 1)]), &[LAST_COMMIT]).0, 1);
        if is_waived {
            let id = ids(&it.world).remove(0);
            it.world.run(&["findings", "waive", &id, "--reason", "ok"]);
        }
        write(&it, &[("d.py", &format!("{imports}    return int(x)\n"))]);
        let (_, report) = it.review_range(&silent(&[("d.py", 1)]), &[LAST_COMMIT]);
        assert_eq!(n_fixed(&report), 0, "{report:#}");
        let all = [("a.py", 2), ("c.py", 1), ("d.py", 1)];
        let (code, report) = it.review_answer(&answer(&found, &all), &[]);
        assert_eq!(code, i32::from(!is_waived), "{report:#}");
    }
}

/// A file with a finding, long enough that git sees it renamed after an edit.
fn long(first: &str, last: &str) -> String {
    let middle: String = (0..20).map(|n| format!("def f{n}():\n    return {n}\n\n")).collect();
    format!("def ask(x):\n    return {first}\n\n{middle}last = {last}\n")
}

#[test]
fn a_rename_in_one_branch_keeps_what_was_decided_in_the_others() {
    let it = Loop::new();
    let at = |file| [(file, 2, 1, "eval of input")];
    it.world.git(&["checkout", "-q", "main"]);
    write(&it, &[("a.py", &long("1", "1"))]);
    it.world.git(&["checkout", "-q", "-b", "start"]);
    write(&it, &[("a.py", &long("eval(x)", "1"))]);
    assert_eq!(it.review_answer(&answer(&at("a.py"), &[("a.py", 1)]), &[]).0, 1);
    let id = ids(&it.world).remove(0);
    it.world.run(&["findings", "waive", &id, "--reason", "ok"]);
    it.world.git(&["checkout", "-q", "main"]).git(&["merge", "-q", "start"]);
    for branch in ["renaming", "other"] {
        it.world.git(&["branch", branch]);
    }
    it.world.git(&["checkout", "-q", "renaming"]).git(&["mv", "a.py", "b.py"]);
    write(&it, &[("b.py", &long("eval(x)", "2"))]);
    let (code, report) = it.review_answer(&answer(&at("b.py"), &[("b.py", 1)]), &[]);
    assert_eq!((code, aside(&report)), (0, vec!["waived".to_owned()]), "{report:#}");
    it.world.git(&["checkout", "-q", "other"]);
    write(&it, &[("a.py", &long("eval(x)", "3"))]);
    let (code, report) = it.review_answer(&answer(&at("a.py"), &[("a.py", 1)]), &[]);
    assert_eq!((code, aside(&report)), (0, vec!["waived".to_owned()]), "{report:#}");
    assert_eq!(ids(&it.world), [id.as_str()], "one finding under two names");

    it.world.run(&["findings", "reopen", &id]);
    it.world.git(&["checkout", "-q", "renaming"]);
    write(&it, &[("b.py", &long("int(x)", "2"))]);
    let (_, report) = it.review_answer(&silent(&[("b.py", 1)]), &[]);
    assert_eq!(n_fixed(&report), 1, "{report:#}");
    let waive = ["findings", "waive", &id, "--reason", "open in the other branch"];
    assert!(it.world.run(&waive).starts_with("[exit 0]"), "it is fixed in one branch only");
    it.world.run(&["findings", "reopen", &id]);
    it.world.git(&["checkout", "-q", "other"]);
    write(&it, &[("a.py", &long("eval(x)", "4"))]);
    let (code, report) = it.review_answer(&answer(&at("a.py"), &[("a.py", 1)]), &[]);
    assert_eq!((code, standings(&report)), (1, still_open()), "{report:#}");
    let (_, list) = json(&it.world, &["findings", "--state", "open", "--format", "json"]);
    assert_eq!(list["findings"].as_array().map(Vec::len), Some(1), "{list:#}");
}
