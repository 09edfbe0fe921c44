//! `mala eval capture`: from a kept review to a case, and back through `mala eval run`.

use super::*;
use insta::assert_snapshot;
use mala_testkit::TestRepo;

const BASE: &str = "def total(items):\n    return sum(items)\n";
const SHORT: &str = "def total(items, seen=[]):\n    seen.append(items)\n    return sum(items)\n";
const HEAD: &str = "import json\n\n\ndef total(items, seen=[]):\n    seen.append(items)\n    return sum(items)\n\n\ndef load(path):\n    try:\n        return json.load(open(path))\n    except:\n        pass\n";

/// A repository with a change of two commits, reviewed by the built-in reviewer.
struct Reviewed {
    repo: TestRepo,
    world: World,
    findings: Vec<Value>,
}

impl Reviewed {
    fn new(head: &str, args: &[&str]) -> Self {
        let repo = TestRepo::with_files(&[("shop.py", BASE), ("other.py", "x = 1\n")]);
        repo.write("shop.py", head);
        if args.contains(&"HEAD~1..HEAD") {
            repo.commit("Remember the carts");
        }
        let world = world().in_folder(repo.root());
        let args: Vec<&str> = ["review", "--reviewer", "builtin", "--format", "json"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        let output = world.output(&args, b"");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
        });
        let findings = report["issues"].as_array().unwrap().clone();
        Self { repo, world, findings }
    }

    fn id(&self, at: usize) -> &str {
        self.findings[at]["dedupe_key"].as_str().unwrap()
    }

    fn capture(&self, args: &[&str]) -> (i32, Value) {
        let args: Vec<&str> =
            ["capture", "--format", "json"].into_iter().chain(args.iter().copied()).collect();
        eval(&self.world, &args)
    }
}

#[test]
fn what_is_right_is_found_again() {
    let reviewed = Reviewed::new(HEAD, &["HEAD~1..HEAD"]);
    let n_findings = reviewed.findings.len();
    assert!(n_findings >= 2, "{:#?}", reviewed.findings);
    let (code, made) = reviewed.capture(&["latest", "--all-right"]);
    assert_eq!((code, &made["problems"]), (0, &json!(n_findings)), "{made:#}");
    let folder = made["folder"].as_str().unwrap();
    assert!(folder.starts_with(".mala/eval/sets/captured/"), "{folder}");
    let kept: Value =
        serde_json::from_str(&reviewed.world.read(&format!("{folder}/case.json"))).unwrap();
    assert_eq!(kept["pr_title"], "Remember the carts");
    assert_eq!(reviewed.world.read(&format!("{folder}/head/shop.py")), HEAD);
    assert_eq!(reviewed.world.read(&format!("{folder}/base/shop.py")), BASE);
    assert!(
        reviewed.world.read(&format!("{folder}/change.diff")).contains("+    seen.append(items)\n")
    );
    let (code, result) = ran(&reviewed.world, &["--set", "captured", "--reviewer", "builtin"]);
    assert_eq!(
        (code, &result["recall"], &result["precision"]),
        (0, &json!(1.0), &json!(1.0)),
        "{result:#}"
    );
    assert_snapshot!(reviewed.world.run(&["eval", "capture", "--all-right"]), @"
    [exit 2]
    [stderr]
    error: writing [WORK]/.mala/eval/sets/captured/[ID]: already exists
    ");
}

#[test]
fn words_decide_what_a_case_says() {
    let reviewed = Reviewed::new(HEAD, &["HEAD~1..HEAD"]);
    let (right, wrong) = (reviewed.id(0), reviewed.id(1));
    let missed = "other.py:1:logic:x is never used: why?";
    let (code, made) = reviewed.capture(&[
        "--right",
        &right[..12],
        "--wrong",
        wrong,
        "--rest",
        "leave-out",
        "--missed",
        missed,
        "-o",
        "cases/one",
    ]);
    assert_eq!(code, 0, "{made:#}");
    assert_eq!((&made["problems"], &made["rejected_findings"]), (&json!(2), &json!(1)));
    assert_eq!(made["left_out"], reviewed.findings.len() - 2);
    let (code, result) = ran(&reviewed.world, &["--set", "cases", "--reviewer", "builtin"]);
    assert_eq!(code, 0, "{result:#}");
    assert_eq!(result["recall"], json!(0.5), "the one that was missed is missed again");
    assert_eq!(result["scores"]["strict"]["rejected"]["repeated"], 1, "{:#}", result["scores"]);
}

#[test]
fn a_finding_without_a_word_is_an_error_and_writes_nothing() {
    let reviewed = Reviewed::new(SHORT, &["HEAD~1..HEAD"]);
    assert_eq!(reviewed.findings.len(), 1, "{:#?}", reviewed.findings);
    let world = &reviewed.world;
    assert_snapshot!(world.run(&["eval", "capture"]), @r"
    [exit 64]
    [stderr]
    error: 1 finding without a label
      [ID]  shop.py:2  medium bug: Default argument is changed by the call
    hint: add --right ID or --wrong ID for each, or --rest right, wrong or leave-out for all others
    ");
    let shown = world.output(&["runs", "show"], b"").stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains(&format!("id {}", reviewed.id(0))), "{shown}");
    assert_snapshot!(world.run(&["eval", "capture", "--right", "nope"]), @r"
    [exit 64]
    [stderr]
    error: the review has no finding 'nope'
    hint: run `mala runs show` to list the findings with their ids
    ");
    assert_snapshot!(world.run(&["eval", "capture", "--all-right", "--missed", "shop.py:x"]), @"
    [exit 64]
    [stderr]
    error: 'shop.py:x' is not FILE:LINES:CATEGORY:TEXT, with LINES as 7 or 7-9 and one of security, bug, error_handling, performance, style, logic
    ");
    assert_snapshot!(world.run(&["eval", "capture", "--all-right", "--missed", "shop.py:99:bug:gone"]), @r"
    [exit 2]
    [stderr]
    error: shop.py has only 3 lines, not 99
    ");
    assert!(!world.folder().join(".mala/eval").exists(), "nothing is written");
}

#[test]
fn a_review_of_the_working_tree_can_be_captured_until_it_changes() {
    let reviewed = Reviewed::new(SHORT, &[]);
    let (code, made) = reviewed.capture(&["--all-wrong"]);
    assert_eq!((code, &made["problems"], &made["rejected_findings"]), (0, &json!(0), &json!(1)));
    reviewed.repo.write("shop.py", BASE.replace("sum", "max"));
    assert_snapshot!(reviewed.world.run(&["eval", "capture", "--all-right", "-o", "x"]), @r"
    [exit 2]
    [stderr]
    error: the code has changed since the review
    hint: capture a review before its files change, or review commits
    ");
    assert!(!reviewed.world.folder().join("x").exists());
}

#[test]
fn a_part_of_a_range_is_captured_as_that_part() {
    let repo = TestRepo::with_files(&[("shop.py", BASE), ("other.py", "x = 1\n")]);
    repo.write("shop.py", HEAD);
    repo.write("other.py", "x = 2\n");
    repo.commit("Both");
    let world = world().in_folder(repo.root());
    world.run(&["review", "--reviewer", "builtin", "HEAD~1..HEAD", "shop.py"]);
    let (code, made) = eval(&world, &["capture", "--all-right", "--format", "json"]);
    assert_eq!(code, 0, "{made:#}");
    let diff = world.read(&format!("{}/change.diff", made["folder"].as_str().unwrap()));
    assert!(diff.contains("shop.py") && !diff.contains("other.py"), "{diff}");
}

#[test]
fn secrets_stay_where_they_are() {
    let key = format!("AKIA{}", "Q3EGRMDVJZXKT7PW");
    let head = format!("{SHORT}\n\nKEY = \"{key}\"\n");
    let reviewed = Reviewed::new(&head, &["HEAD~1..HEAD"]);
    let (code, made) =
        reviewed.capture(&["--all-right", "--missed", &format!("shop.py:6:security:{key}")]);
    assert_eq!(code, 0, "{made:#}");
    let folder = made["folder"].as_str().unwrap();
    for file in ["case.json", "change.diff", "head/shop.py"] {
        let text = reviewed.world.read(&format!("{folder}/{file}"));
        assert!(!text.contains(&key), "{file}: {text}");
    }
    assert!(reviewed.world.read(&format!("{folder}/head/shop.py")).contains("[redacted:"));
}
