//! Rounds of one change: what is reviewed again, what blocks, and when a person takes over.

use super::{commit, json, standings};
use crate::world;
use mala_testkit::World;
use serde_json::{Value, json};

/// A lane that answers what the test wrote, and keeps its prompt.
const LANE: &str = r#"
prompt=$(cat)
printf '%s' "$prompt" >"$1.prompt"
nonce=$(printf '%s\n' "$prompt" | sed -n 's/^Your `nonce`: //p')
head=$(printf '%s\n' "$prompt" | sed -n 's/^The commit under review (`head_sha`): //p')
sed "s/NONCE/$nonce/; s/HEAD/$head/" "$1"
"#;

/// A branch that changes `a.py` in two places, far from each other.
pub(super) struct Loop {
    pub(super) world: World,
    answer_file: std::path::PathBuf,
}

impl Loop {
    pub(super) fn new() -> Self {
        Self::with_lanes(&["reader"])
    }

    /// A panel of these lanes, each with its own answer.
    fn with_lanes(lanes: &[&str]) -> Self {
        let world = world().with_program("lane", LANE);
        let answer_file = world.home().join("reader.json");
        world.git(&["init", "-q", "-b", "main", "."]);
        let lane = |name: &&str| {
            let answer = answer_file.with_file_name(format!("{name}.json"));
            format!("{name}: {{command: [lane, {}]}}", answer.display())
        };
        let lanes: Vec<String> = lanes.iter().map(lane).collect();
        world.write("mala.yaml", format!("gate: {{lanes: {{{}}}}}\n", lanes.join(", ")));
        world.write("a.py", file("first = 1", "second = 1"));
        commit(&world, "start");
        world.git(&["checkout", "-q", "-b", "topic"]);
        let loop_ = Self { world, answer_file };
        loop_.change("first = 2", "second = 2");
        loop_
    }

    pub(super) fn change(&self, first: &str, second: &str) {
        self.world.write("a.py", file(first, second));
        commit(&self.world, "change");
    }

    /// Reviews with these findings, as line, priority and title, over so many hunks.
    fn review(&self, findings: &[(u32, u32, &str)], n_hunks: usize, args: &[&str]) -> (i32, Value) {
        self.review_answer(&self.answer(findings, n_hunks), args)
    }

    /// What a lane answers.
    fn answer(&self, findings: &[(u32, u32, &str)], n_hunks: usize) -> Value {
        let is_there = self.world.folder().join("a.py").exists();
        let path = if is_there { "a.py" } else { "b.py" };
        let finding = |(line, priority, title): &(u32, u32, &str)| {
            json!({
                "file_path": path, "line_start": line, "line_end": line, "priority": priority,
                "title": format!("[P{priority}] {title}"), "body": format!("{title} when it is called"),
            })
        };
        let findings: Vec<Value> = findings.iter().map(finding).collect();
        let worst = findings.iter().filter_map(|it| it["priority"].as_u64()).min();
        let verdict = match worst {
            None => "PASS",
            Some(0 | 1) => "FAIL",
            Some(_) => "NEEDS_WORK",
        };
        let hunks: Vec<usize> = (1..=n_hunks).collect();
        json!({
            "nonce": "NONCE", "head_sha": "HEAD", "verdict": verdict, "summary": "read",
            "findings": findings, "reviewed": [{"file_path": path, "hunks": hunks}],
        })
    }

    /// Reviews with this answer of the lane.
    pub(super) fn review_answer(&self, answer: &Value, args: &[&str]) -> (i32, Value) {
        self.review_range(answer, &[&["--base", "main"], args].concat())
    }

    /// Reviews this range with this answer of the lane.
    pub(super) fn review_range(&self, answer: &Value, args: &[&str]) -> (i32, Value) {
        std::fs::write(&self.answer_file, answer.to_string()).unwrap();
        json(&self.world, &[&["review", "--reviewer", "cerberus", "--json"], args].concat())
    }

    pub(super) fn prompt(&self) -> String {
        std::fs::read_to_string(self.answer_file.with_extension("json.prompt")).unwrap()
    }
}

/// Line 2 is the first place, line 62 the second.
fn file(first: &str, second: &str) -> String {
    let middle: String = (3..62).map(|number| format!("line_{number} = {number}\n")).collect();
    format!("# a file\n{first}\n{middle}{second}\n")
}

pub(super) fn aside(report: &Value) -> Vec<String> {
    let all = report["tracking"]["set_aside"].as_array().unwrap();
    all.iter().map(|it| it["standing"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_later_round_reviews_what_is_new_and_carries_what_is_open() {
    let it = Loop::new();
    let (code, report) = it.review(&[(2, 1, "first breaks on None")], 2, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["new".to_owned()]), "{report:#}");
    assert_eq!(report["tracking"]["reviewed"], json!({"full": "first_review"}));
    it.change("first = 2", "second = 3");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["still_open".to_owned()]), "{report:#}");
    assert_eq!(report["tracking"]["reviewed"], "delta");
    assert_eq!(report["tracking"]["round"], 2);
    assert_eq!(report["coverage"]["hunks_accounted"], 2, "the other hunk was reviewed before");
    let prompt = it.prompt();
    assert!(prompt.contains("second = 3") && !prompt.contains("+first = 2"), "{prompt}");
    assert!(prompt.contains("findings of earlier rounds that are still open"), "{prompt}");
}

#[test]
fn a_finding_is_fixed_when_its_evidence_is_gone_and_regressed_when_it_returns() {
    let it = Loop::new();
    it.review(&[(2, 1, "first breaks on None")], 2, &[]);
    it.change("first = good()", "second = 2");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["tracking"]["fixed"].as_array().unwrap().len(), 1);
    it.change("first = 2", "second = 2");
    let (code, report) = it.review(&[(2, 1, "first breaks on None")], 1, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["regressed".to_owned()]), "{report:#}");
}

#[test]
fn late_findings_and_minor_ones_do_not_block_later_rounds() {
    let it = Loop::new();
    it.review(&[(62, 1, "second overflows")], 2, &[]);
    it.change("first = 2", "second = 3");
    let findings = [(2, 1, "first breaks on None"), (62, 3, "second has a poor name")];
    let (code, report) = it.review(&findings, 1, &[]);
    assert_eq!(
        (code, aside(&report)),
        (0, vec!["late".to_owned(), "below_bar".to_owned()]),
        "{report:#}"
    );
    it.change("first = 2", "second = 4");
    let (code, report) = it.review(&[(2, 1, "first breaks on None")], 1, &[]);
    assert_eq!((code, aside(&report)), (0, vec!["late".to_owned()]), "late stays late");
    let (code, report) = it.review(&[(2, 1, "first breaks on None")], 2, &["--full"]);
    assert_eq!((code, standings(&report)), (1, vec!["still_open".to_owned()]), "{report:#}");
}

#[test]
fn a_late_verified_p0_goes_to_a_person() {
    let it = Loop::new();
    it.review(&[], 2, &[]);
    it.change("first = 2", "second = 3");
    let (code, report) = it.review(&[(2, 0, "first deletes the database")], 1, &[]);
    assert_eq!(code, 1, "{report:#}");
    let next = json!({"step": "escalate", "reason": "late_blocker"});
    assert_eq!(report["tracking"]["next_step"], next);
    it.change("first = 2", "second = 4");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["late".to_owned()]), "{report:#}");
}

/// 001-122, 000-043: an empty change is no answer to open findings.
#[test]
fn an_empty_change_is_no_progress_while_findings_are_open() {
    let it = Loop::new();
    it.review(&[BREAKS], 2, &[]);
    it.change("first = 1", "second = 1");
    for _ in 0..2 {
        let (code, report) = it.review(&[], 0, &[]);
        assert_eq!((code, &report["passed"]), (2, &json!(false)), "{report:#}");
        let why = report["parse_error"].as_str().unwrap();
        assert!(why.starts_with("no progress: the change is empty"), "{why}");
    }
    let id = super::ids(&it.world).remove(0);
    it.world.output(&["findings", "dispute", &id, "--reason", "reverted"], b"");
    let (code, report) = it.review(&[], 0, &[]);
    assert_eq!(code, 0, "nothing that blocks is open: {report:#}");
}

/// Drafts of another mala are not written by the lane.
#[test]
fn the_first_reviews_of_a_repository_do_not_disturb_each_other() {
    let it = Loop::new();
    let draft = it.world.folder().join(".mala/.tmpA1b2C3");
    let touch = format!(
        "mkdir -p {0}/.mala && echo x >{1}\n{LANE}",
        it.world.folder().display(),
        draft.display()
    );
    let world = it.world.with_program("lane", &touch);
    let it = Loop { world, ..it };
    let (code, report) = it.review(&[], 2, &["--no-save"]);
    assert!(draft.exists() && code == 0, "{report:#}");
}

const BREAKS: (u32, u32, &str) = (2, 1, "first breaks on None");

pub(super) fn n_fixed(report: &Value) -> usize {
    report["tracking"]["fixed"].as_array().unwrap().len()
}

#[test]
fn a_review_that_left_the_place_out_fixes_nothing() {
    let it = Loop::new();
    it.review(&[BREAKS], 2, &[]);
    it.change("first = good()", "second = 2");
    let (code, report) = it.review(&[], 0, &[]);
    assert_eq!((code, n_fixed(&report)), (2, 0), "{report:#}");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, n_fixed(&report)), (0, 1), "{report:#}");
    assert!(it.prompt().contains("first breaks on None"), "the lane is told again");
}

#[test]
fn two_findings_that_turn_out_to_be_one_are_duplicates() {
    let it = Loop::with_lanes(&["reader", "other"]);
    let other = it.answer_file.with_file_name("other.json");
    let overflows = (2, 1, "caller overflows the stack quickly");
    let answer = |findings: &[_], n| std::fs::write(&other, it.answer(findings, n).to_string());
    answer(&[overflows], 2).unwrap();
    let (_, report) = it.review(&[(2, 1, "first breaks on None values")], 2, &[]);
    assert_eq!(standings(&report).len(), 2, "{report:#}");
    it.change("first = 2", "second = 3");
    let mut both = it.answer(&[overflows], 1);
    both["findings"][0]["body"] = "first breaks on None values".into();
    std::fs::write(&other, both.to_string()).unwrap();
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["still_open".to_owned()]), "{report:#}");
    let listed = ["findings", "--state", "duplicate", "--format", "json"];
    let (_, duplicates) = json(&it.world, &listed);
    assert_eq!(duplicates["findings"].as_array().unwrap().len(), 1, "{duplicates:#}");
    it.change("first = good()", "second = 3");
    answer(&[], 1).unwrap();
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, n_fixed(&report)), (0, 1), "{report:#}");
}

#[test]
fn a_full_round_is_told_of_open_findings() {
    let it = Loop::new();
    it.review(&[BREAKS], 2, &[]);
    it.change("first = 2", "second = 3");
    let (code, _) = it.review(&[], 2, &["--full"]);
    assert_eq!(code, 1);
    assert!(it.prompt().contains("first breaks on None"), "{}", it.prompt());
}

#[test]
fn another_branch_does_not_change_what_blocks_here() {
    let it = Loop::new();
    it.world.git(&["branch", "other"]);
    it.review(&[BREAKS], 2, &[]);
    it.world.git(&["checkout", "-q", "other"]);
    it.review(&[(62, 1, "second overflows")], 2, &[]);
    it.change("first = 2", "second = 3");
    let (code, report) = it.review(&[BREAKS], 1, &[]);
    assert_eq!((code, aside(&report)), (0, vec!["late".to_owned()]), "{report:#}");
    it.world.git(&["checkout", "-q", "topic"]);
    it.change("first = 2", "second = 4");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["still_open".to_owned()]), "{report:#}");
}

#[test]
fn detached_heads_are_changes_of_their_own() {
    let it = Loop::new();
    it.world.git(&["branch", "other"]).git(&["checkout", "-q", "--detach", "topic"]);
    it.review(&[BREAKS], 2, &[]);
    it.world.git(&["checkout", "-q", "other"]);
    it.change("first = 2", "second = 7");
    it.world.git(&["checkout", "-q", "--detach", "other"]);
    let (_, report) = it.review(&[(62, 3, "second has a poor name")], 2, &["--fail-on", "P3"]);
    assert_eq!((&report["tracking"]["round"], n_fixed(&report)), (&json!(1), 0), "{report:#}");
    assert_eq!(report["issues"].as_array().unwrap().len(), 1);
}

#[test]
fn an_open_finding_survives_a_moved_base_and_another_panel() {
    let it = Loop::new();
    it.review(&[BREAKS], 2, &[]);
    it.world.git(&["checkout", "-q", "main"]);
    it.world.write("other.py", "x = 1\n");
    commit(&it.world, "elsewhere");
    it.world.git(&["checkout", "-q", "topic"]);
    let (code, report) =
        json(&it.world, &["review", "main..HEAD", "--reviewer", "builtin", "--json"]);
    assert_eq!((code, standings(&report)), (1, vec!["still_open".to_owned()]), "{report:#}");
    assert_eq!(report["tracking"]["round"], 1, "of this panel");
}

#[test]
fn a_fix_beside_the_quoted_line_is_accepted_when_the_reviewer_is_silent() {
    let it = Loop::new();
    it.world.write("a.py", "def mean(items):\n    return sum(items) / len(items)\n");
    commit(&it.world, "mean");
    it.review(&[(2, 1, "division by zero")], 1, &[]);
    it.world.write(
        "a.py",
        "def mean(items):\n    if not items:\n        return 0\n    return sum(items) / len(items)\n",
    );
    commit(&it.world, "guard");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, n_fixed(&report)), (0, 1), "{report:#}");
}

#[test]
fn a_file_of_the_branch_is_followed_when_it_is_renamed() {
    let it = Loop::new();
    it.world.git(&["checkout", "-q", "main"]).git(&["rm", "-q", "a.py"]);
    commit(&it.world, "without");
    it.world.git(&["checkout", "-q", "-b", "more"]);
    it.change("first = 2", "second = 2");
    it.review(&[BREAKS], 1, &[]);
    it.world.git(&["mv", "a.py", "b.py"]);
    commit(&it.world, "rename");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, n_fixed(&report)), (1, 0), "{report:#}");
    assert_eq!(report["issues"][0]["file"], "b.py", "{report:#}");
}

#[test]
fn indentation_is_reviewed_again_in_python() {
    let it = Loop::new();
    let text = |indent: &str| {
        format!(
            "def total(items):\n    s = 0\n    for item in items:\n        s += item\n{indent}return s\n"
        )
    };
    it.world.write("a.py", text("        "));
    commit(&it.world, "total");
    it.review(&[(5, 1, "returns after the first item")], 1, &[]);
    it.world.write("a.py", text("    "));
    commit(&it.world, "dedent");
    let (code, report) = it.review(&[], 1, &[]);
    assert_eq!((code, n_fixed(&report)), (0, 1), "{report:#}");
    it.world.write("a.py", text("        "));
    commit(&it.world, "indent");
    let (code, report) = it.review(&[(5, 1, "returns after the first item")], 1, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["regressed".to_owned()]), "{report:#}");
}

#[test]
fn a_loop_of_incomplete_reviews_ends() {
    let it = Loop::new();
    let mut next = Value::Null;
    for round in 1..=6 {
        it.change("first = 2", &format!("second = {round} + 2"));
        let (code, report) = it.review(&[BREAKS], 1, &[]);
        assert_eq!((code, &report["tracking"]["round"]), (1, &json!(round)), "{report:#}");
        next = report["tracking"]["next_step"].clone();
    }
    assert_eq!(next, json!({"step": "escalate", "reason": {"max_rounds": 6}}));
}

#[test]
fn a_review_of_some_files_is_no_round_of_the_whole() {
    let it = Loop::new();
    it.world.write("b.py", "x = 1\n");
    commit(&it.world, "another file");
    let (code, report) =
        json(&it.world, &["review", "--base", "main", "--reviewer", "builtin", "--json", "b.py"]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["tracking"]["change"], "topic, only b.py");
}

#[test]
fn a_rebase_reviews_everything_again() {
    let it = Loop::new();
    it.review(&[], 2, &[]);
    it.world.git(&["commit", "-q", "--amend", "-m", "another message"]);
    it.world.write("b.py", "x = 1\n");
    it.world.write("a.py", file("first = 2", "second = 5"));
    it.world.git(&["add", "a.py"]).git(&["commit", "-q", "--amend", "-m", "rewritten"]);
    let (_, report) = it.review(&[], 2, &[]);
    assert_eq!(report["tracking"]["reviewed"], json!({"full": "history_rewritten"}), "{report:#}");
}

#[test]
fn a_loop_without_progress_goes_to_a_person() {
    let it = Loop::new();
    let finding = [(2, 1, "first breaks on None")];
    assert_eq!(it.review(&finding, 2, &[]).1["tracking"]["next_step"], json!({"step": "continue"}));
    let (code, report) = it.review(&finding, 2, &[]);
    let next = json!({"step": "escalate", "reason": "no_progress"});
    assert_eq!((code, &report["tracking"]["next_step"]), (1, &next));
    assert_eq!(report["tracking"]["reviewed"], json!({"full": "nothing_new"}));
}

#[test]
fn a_dispute_stands_until_there_is_new_evidence() {
    let it = Loop::new();
    it.review(&[(2, 1, "first breaks on None")], 2, &[]);
    let id = super::ids(&it.world).remove(0);
    let dispute = ["findings", "dispute", &id, "--reason", "it is never None"];
    assert!(it.world.run(&dispute).starts_with("[exit 0]"));
    it.change("first = 2", "second = 3");
    let (code, report) = it.review(&[(2, 1, "None breaks first")], 1, &[]);
    assert_eq!((code, aside(&report)), (0, vec!["disputed".to_owned()]), "{report:#}");
    let last = report["warnings"].as_array().unwrap().last().unwrap();
    insta::assert_snapshot!(last, @r#""1 disputed finding was reported again without new evidence: a person decides (mala findings list --state disputed)""#);
    it.change("first = 2 + None", "second = 3");
    let (code, report) = it.review(&[(2, 1, "first breaks on None")], 1, &[]);
    assert_eq!((code, standings(&report)), (1, vec!["still_open".to_owned()]), "{report:#}");
}
