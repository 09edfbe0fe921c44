//! Inputs in the shape of each format, written for these tests; and inputs in no shape at all.

use super::*;
use crate::ports::IntroducedLine;
use mala_domain::change::{Change, parse};
use std::collections::BTreeMap;

fn source(path: &str, text: impl Into<String>) -> ImportFile {
    ImportFile { name: format!("in/{path}"), path: FilePath::from(path), text: text.into() }
}

fn why(passed_over: &[SkippedRecord]) -> Vec<String> {
    passed_over.iter().map(ToString::to_string).collect()
}

fn sides(diff: &str, head: &[(&str, &str)]) -> ChangeSides {
    let head = head.iter().map(|(path, text)| (FilePath::from(*path), (*text).to_owned()));
    ChangeSides {
        change: Change { files: parse(diff.as_bytes()).unwrap() },
        diff: diff.to_owned(),
        head: head.collect(),
        base: BTreeMap::new(),
        base_id: Some("b".repeat(40)),
        head_id: "a".repeat(40),
        message: "Change it\n\nIn full.\n".to_owned(),
    }
}

const DIFF: &str = "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,3 @@\n+one = 1\n+load_two(one)\n+three = 3\n";
const HEAD: &[(&str, &str)] = &[("a.py", "one = 1\nload_two(one)\nthree = 3\n"), ("b.py", "x\n")];

fn truths(case: &crate::EvalCase) -> Vec<String> {
    let truth = |truth: &crate::KnownProblem| {
        let severity = truth.severity.map_or("-", |severity| severity.name());
        let (category, span) = (truth.category.name(), truth.span());
        format!("{}:{span} {category} {severity}: {}", truth.file, truth.description)
    };
    case.ground_truth.iter().map(truth).collect()
}

#[test]
fn humanevalpack_gives_a_case_with_the_bug_and_one_without() {
    let task = r#"{"task_id": "Go/3", "prompt": "// Adds.\nfunc Add(a int, b int) int {\n", "canonical_solution": "    return a + b\n}\n", "buggy_solution": "    return a - b\n}\n", "bug_type": "operator misuse", "failure_symptoms": "incorrect output", "entry_point": "Add", "declaration": "", "test": ""}"#;
    let other = task.replace("Go/3", "Cobol/3");
    let same = task.replace("a - b", "a + b");
    let text = format!("{task}\n\n{other}\nnot json\n{same}\n");
    let imported = ImportFormat::HumanEvalPack.read(&[source("humanevalpack.jsonl", text)]);
    assert_eq!(
        why(&imported.passed_over),
        [
            "in/humanevalpack.jsonl:3: the language \"Cobol\" is not known",
            "in/humanevalpack.jsonl:4: expected ident",
            "in/humanevalpack.jsonl:5: the two solutions are the same",
        ]
    );
    let cases: Vec<_> = imported
        .drafts
        .into_iter()
        .map(|draft| case_of_added_files(draft).unwrap().case.unwrap())
        .collect();
    assert_eq!([&cases[0].id, &cases[1].id], ["hep-go-3", "hep-go-3-right"]);
    assert_eq!(
        truths(&cases[0]),
        ["src/task_3.go:5 logic high: Add: operator misuse (incorrect output)"]
    );
    assert_eq!(cases[0].ground_truth[0].evidence.as_deref(), Some("return a - b"));
    assert!(cases[1].is_clean());
    let text = &cases[1].files[&FilePath::from("src/task_3.go")];
    assert!(text.starts_with("package main\n\n// Adds.\n"), "{text}");
    assert!(cases.iter().all(|case| case.problem().is_none() && case.meta.licence().is_some()));
    let trees = crate::trees::CaseTrees::of(&cases[0]);
    assert_eq!((trees.base.len(), trees.head.len(), trees.notes), (0, 1, Vec::<String>::new()));
}

#[test]
fn aacr_has_right_and_wrong_comments_on_the_lines_of_the_head() {
    let comment = |path: &str, from: u32, side: &str, category: &str| {
        format!(
            r#"{{"is_ai_comment": true, "note": "Look.", "path": "{path}", "side": "{side}", "from_line": {from}, "to_line": 2, "category": "{category}", "context": "Diff Level"}}"#
        )
    };
    let request = |comments: &[String]| {
        format!(
            "[\n{{\"githubPrUrl\": \"https://github.com/o/n/pull/5\", \"source_commit\": \"{}\", \"target_commit\": \"{}\", \"project_main_language\": \"C++\",\n\"comments\": [\n{}\n]}},\n{{\"comments\": []}}]",
            "1".repeat(40),
            "2".repeat(40),
            comments.join(",\n")
        )
    };
    let right = request(&[
        comment("a.py", 3, "right", "Code Defect"),
        comment("a.py", 1, "left", "Performance"),
        comment("a.py", 1, "right", "Weather"),
        comment("gone.py", 1, "right", "Security Vulnerability"),
    ]);
    let wrong = request(&[comment("a.py", 1, "right", "Maintainability and Readability")]);
    let files = [source("positive_samples.json", right), source("negative_samples.json", wrong)];
    assert!(files.iter().all(|file| ImportFormat::Aacr.wants(&file.path)));
    let mut imported = ImportFormat::Aacr.read(&files);
    assert_eq!(imported.drafts.len(), 1);
    let draft = imported.drafts.remove(0);
    let revisions = DraftRevisions::SinceMergeBase { base: "1".repeat(40), head: "2".repeat(40) };
    assert_eq!(draft.code, DraftCode::Clone(vec![("o/n".to_owned(), revisions)]));
    let outcome = build_case(draft, sides(DIFF, HEAD));
    let case = outcome.case.unwrap();
    assert_eq!(truths(&case), ["a.py:2-3 bug -: Look."]);
    assert_eq!(case.rejected_findings.len(), 1);
    assert_eq!((case.id.as_str(), case.language.as_str()), ("aacr-o_n-5", "cpp"));
    assert_eq!((case.pr_title.as_str(), case.pr_description.as_str()), ("Change it", "In full."));
    imported.passed_over.extend(outcome.passed_over);
    assert_eq!(
        why(&imported.passed_over),
        [
            "in/positive_samples.json:5: it is about removed lines",
            "in/positive_samples.json:6: unknown category \"Weather\"",
            "in/positive_samples.json:9: missing field `githubPrUrl`",
            "in/negative_samples.json:6: missing field `githubPrUrl`",
            "in/positive_samples.json:7: gone.py does not exist at head",
        ]
    );
}

#[test]
fn a_draft_that_loses_all_its_problems_is_no_clean_case() {
    let text = r#"[{"pr_title": "T", "url": "https://github.com/o/n/pull/5", "comments": [{"comment": "It is wrong."}]}]"#;
    let mut imported = ImportFormat::Martian.read(&[source("n.json", text)]);
    let outcome = build_case(imported.drafts.remove(0), sides(DIFF, HEAD));
    assert_eq!(outcome.case, None);
    assert_eq!(
        why(&outcome.passed_over),
        [
            "in/n.json:1: no part of the change clearly matches its description",
            "in/n.json:1: none of its 1 problems is in the code",
        ]
    );
}

#[test]
fn martian_comments_are_placed_by_their_words() {
    let text = r#"[{"pr_title": "T", "url": "https://github.com/o/n-fork/pull/5", "original_url": "https://github.com/o/n/commit/0123456789", "comments": [
        {"comment": "load_two fails", "severity": "High"}, {"severity": "Low"}]}, {"pr_title": "U", "url": "x", "comments": []}]"#;
    let mut imported = ImportFormat::Martian.read(&[source("n.json", text)]);
    let draft = imported.drafts.remove(0);
    let choices = vec![
        ("o/n-fork".to_owned(), DraftRevisions::PullRequest(5)),
        ("o/n".to_owned(), DraftRevisions::Commit("0123456789".to_owned())),
    ];
    assert_eq!(draft.code, DraftCode::Clone(choices));
    let case = build_case(draft, sides(DIFF, HEAD)).case.unwrap();
    assert_eq!(truths(&case), ["a.py:1-3 bug high: load_two fails"]);
    assert_eq!((case.pr_title.as_str(), case.language.as_str()), ("T", "python"));
    assert_eq!(
        why(&imported.passed_over),
        ["in/n.json:2: missing field `comment`", "in/n.json:2: \"x\" is not a pull request",]
    );
}

#[test]
fn factory_takes_commits_from_the_manifest() {
    let manifest = r#"{"destination_org": "org", "projects": {"shop": {"source_repo": "https://github.com/src/shop.git", "destination_repo": "droid-shop", "prs": [{"number": 1, "title": "T", "headRefName": "h", "headRefOid": "2222222", "baseRefName": "main"}]}}}"#;
    let golden = r#"{"version": "2.0", "repos": {"shop": {"prs": [
        {"pr_number": 6, "pr_title": "T", "bugs": [
            {"id": 1, "file": "a.py", "line": 2, "description": "D", "severity": "high", "bug_type": "logic_bug"},
            {"id": 2, "file": "a.py", "description": "D", "severity": "high", "bug_type": "logic_bug"},
            {"id": "3", "file": "a.py", "line": 1, "description": "D", "severity": "", "bug_type": "mood"}]},
        {"pr_number": 7, "pr_title": "Other", "bugs": []}]}}}"#;
    let alone = ImportFormat::Factory.read(&[source("golden_comments_v2.json", golden)]);
    assert_eq!((alone.drafts.len(), alone.passed_over.len()), (0, 2));
    let files =
        [source("results/golden_comments_v2.json", golden), source("manifest.json", manifest)];
    let mut imported = ImportFormat::Factory.read(&files);
    let draft = imported.drafts.remove(0);
    let DraftCode::Clone(choices) = &draft.code else { panic!("{draft:?}") };
    assert_eq!(
        choices.iter().map(|(repo, _)| repo.as_str()).collect::<Vec<_>>(),
        ["org/droid-shop", "src/shop"]
    );
    let case = build_case(draft, sides(DIFF, HEAD)).case.unwrap();
    assert_eq!(
        (case.id.as_str(), truths(&case)),
        ("factory-shop-6", vec!["a.py:2 logic high: D".to_owned()])
    );
    assert_eq!(
        why(&imported.passed_over),
        [
            "in/results/golden_comments_v2.json:4: missing field `line`",
            "in/results/golden_comments_v2.json:5: the bug_type \"mood\" is not known",
            "in/results/golden_comments_v2.json:6: the manifest has no pull request of this title",
        ]
    );
}

#[test]
fn bugsinpy_blames_the_lines_that_the_fix_takes_away() {
    let info = "python_version=\"3.8\"\nbuggy_commit_id=\"1111111\"\nfixed_commit_id =\"2222222\"\r\ntest_file=\"t.py\"\n";
    let patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -4,5 +4,3 @@\n x\n-# why\n-y = 1\n-\n+y = 2\n z\n";
    let adds = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,2 @@\n x\n+y = 2\n";
    let files = [
        source("projects/shop/project.info", "github_url=\"https://github.com/o/shop/\"\n"),
        source("projects/shop/bugs/1/bug.info", info),
        source("projects/shop/bugs/1/bug_patch.txt", patch),
        source("projects/shop/bugs/2/bug.info", info),
        source("projects/shop/bugs/2/bug_patch.txt", adds),
        source("projects/shop/bugs/3/bug.info", "buggy_commit_id=\"--help\"\n"),
    ];
    let mut imported = ImportFormat::BugsInPy.read(&files);
    assert_eq!(
        why(&imported.passed_over),
        [
            "in/projects/shop/bugs/2/bug_patch.txt:1: the fix only adds lines",
            "in/projects/shop/bugs/3/bug.info:1: it has no buggy_commit_id",
        ]
    );
    let mut draft = imported.drafts.remove(0);
    let DraftCode::Introduced { repository, at, fix, lines } = &draft.code else {
        panic!("{draft:?}")
    };
    assert_eq!((repository.as_str(), at.as_str(), fix.as_str()), ("o/shop", "1111111", "2222222"));
    assert_eq!(lines, &[(FilePath::from("a.py"), vec![6])]);
    let origin = |commit: &str, time: i64, line: u32| IntroducedLine {
        commit: commit.to_owned(),
        time,
        file: FilePath::from("a.py"),
        line,
    };
    let origins =
        [origin("old", 1, 9), origin("new", 2, 3), origin("new", 2, 1), origin("old", 1, 2)];
    let commit = choose_introducing_commit(&mut draft, &origins, "Fix y\n\nBody");
    assert_eq!(commit.as_deref(), Some("new"), "of two with as many lines, the later");
    let case = build_case(draft.clone(), sides(DIFF, HEAD)).case.unwrap();
    assert_eq!(truths(&case), ["a.py:1-3 bug high: later fixed by: Fix y"]);
    assert_eq!(choose_introducing_commit(&mut draft, &[], ""), None);
}

const SARIF: &str = r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint", "rules": [
  {"id": "r/sec", "properties": {"tags": ["external/cwe/cwe-78"], "security-severity": "9.1"}},
  {"id": "r/slow", "defaultConfiguration": {"level": "note"}, "properties": {"tags": ["performance"]}}]}},
  "originalUriBaseIds": {"ROOT": {"uri": "file:///home/x/"}},
  "artifacts": [{"location": {"uri": "a.py"}}],
  "results": [
    {"ruleId": "r/sec", "message": {"text": "Unsafe."}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///home/x/a.py", "uriBaseId": "ROOT"}, "region": {"startLine": 2}}}]},
    {"ruleIndex": 1, "message": {"text": "Slow."}, "locations": [{"physicalLocation": {"artifactLocation": {"index": 0}, "region": {"startLine": 1, "endLine": 99}}}]},
    {"ruleId": "new", "level": "warning", "message": {"text": "Odd."}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "./b%2Epy"}, "region": {"startLine": 1}}}]},
    {"ruleId": "new", "message": {"text": "Out."}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "../x"}, "region": {"startLine": 1}}}]},
    {"ruleId": "new", "kind": "pass", "message": {"text": "Fine."}},
    {"ruleId": "new", "suppressions": [{"kind": "inSource"}], "message": {"text": "Hushed."}},
    {"ruleId": "new", "message": {"text": "Nowhere."}}]}]}"#;

#[test]
fn sarif_is_the_truth_about_the_lines_that_a_change_adds() {
    let mut imported = ImportFormat::Sarif.read(&[source("x.sarif", SARIF)]);
    let draft = imported.drafts.remove(0);
    assert_eq!((&draft.code, draft.keep), (&DraftCode::Named, ProblemFilter::OnChangedLines));
    let outcome = build_case(draft, sides(DIFF, HEAD));
    let case = outcome.case.unwrap();
    assert_eq!(
        truths(&case),
        ["a.py:2 security critical: Unsafe.", "a.py:1-3 performance low: Slow."]
    );
    assert_eq!(case.id, "change-aaaaaaaaaaaa");
    imported.passed_over.extend(outcome.passed_over);
    assert_eq!(
        why(&imported.passed_over),
        [
            "in/x.sarif:10: \"../x\" is not below the root of the tree",
            "in/x.sarif:11: its kind is \"pass\"",
            "in/x.sarif:12: it is suppressed",
            "in/x.sarif:13: it names no file",
            "in/x.sarif:9: not on an added line",
        ]
    );
    let other = ImportFormat::Sarif.read(&[source("x.sarif", r#"{"version": "2.0.0"}"#)]);
    assert_eq!(why(&other.passed_over), ["in/x.sarif:1: not a SARIF 2.1.0 file"]);
    assert_eq!(other.drafts, []);
    let nothing =
        r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": []}]}"#;
    let nothing = ImportFormat::Sarif.read(&[source("x.sarif", nothing)]).drafts.remove(0);
    assert!(build_case(nothing, sides(DIFF, HEAD)).case.unwrap().is_clean());
}

#[test]
fn formats_have_one_name_each() {
    for format in ImportFormat::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert_eq!("weather".parse::<ImportFormat>(), Err(()));
}

/// Names that all formats look at.
const NAMES: &[&str] = &[
    "positive_samples.json",
    "projects/p/bugs/1/bug.info",
    "projects/p/bugs/1/bug_patch.txt",
    "projects/p/project.info",
    "q/Q.qlref",
    "q/Q.expected",
    "q/a.py",
    "golden_comments_v2.json",
    "manifest.json",
    "x.sarif",
];

fn read_all(texts: &[String]) {
    let files: Vec<ImportFile> =
        NAMES.iter().zip(texts).map(|(name, text)| source(name, text.clone())).collect();
    for format in ImportFormat::ALL {
        for draft in format.read(&files).drafts {
            drop(case_of_added_files(draft.clone()));
            let outcome = build_case(draft, sides(DIFF, HEAD));
            assert!(outcome.case.is_none_or(|case| case.problem().is_none()));
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_files_make_it_panic(texts in proptest::collection::vec(".{0,60}", NAMES.len())) {
        read_all(&texts);
    }

    #[test]
    fn no_cut_or_changed_file_makes_it_panic(at in 0..4000_usize, with in "[\\[\\]{}\":,|$@/#0-9a-z\\n é]{0,4}") {
        let broken = |text: &str| {
            let cut = (0..=at % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at));
            let (start, end) = text.split_at(cut.unwrap_or(0));
            format!("{start}{with}{}", end.chars().skip(1).collect::<String>())
        };
        let texts = [
            r#"[{"githubPrUrl": "https://github.com/o/n/pull/5", "source_commit": "a", "target_commit": "b", "comments": [{"note": "n", "path": "a.py", "from_line": 3, "to_line": 2, "category": "Performance"}]}]"#,
            "buggy_commit_id=\"1111111\"\nfixed_commit_id=\"2222222\"\n",
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -4,5 +4,3 @@\n x\n-# why\n-y = 1\n-\n+y = 2\n z\n",
            "github_url=\"https://github.com/o/shop/\"\n",
            "query: Security/Q.ql\n",
            "#select\n| a.py:1:1:1:2 | x | a.py:1:1:1:2 | y | z $@ | a.py:2:1:2:2 | é |\n",
            "f() # $ Alert[é/x] MISSING: Alert SPURIOUS: Alert # NOT OK\n# GOOD\n",
            r#"{"repos": {"shop": {"prs": [{"pr_number": 6, "pr_title": "T", "bugs": [{"file": "a.py", "line": 2, "description": "D", "bug_type": "logic_bug"}]}]}}}"#,
            r#"{"destination_org": "org", "projects": {"shop": {"source_repo": "s", "destination_repo": "d", "prs": [{"title": "T", "headRefOid": "2", "baseRefName": "m"}]}}}"#,
            SARIF,
        ];
        read_all(&texts.map(broken));
    }
}
