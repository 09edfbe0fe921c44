//! `mala ci` and the action, with the environment that the services set.

use super::{FLAW, PullRequestBench, is_write};
use insta::assert_snapshot;
use mala_testkit::World;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;

/// The bench as a job of GitHub Actions with this event.
pub(super) fn in_actions(
    mut bench: PullRequestBench,
    name: &str,
    event: &Value,
) -> PullRequestBench {
    let path = bench.world.home().join("event.json");
    std::fs::write(&path, event.to_string()).unwrap();
    let summary = bench.world.home().join("summary.md");
    bench.world = bench
        .world
        .with_env("CI", "true")
        .with_env("GITHUB_ACTIONS", "true")
        .with_env("GITHUB_REPOSITORY", "o/r")
        .with_env("GITHUB_SHA", bench.repo.id("topic"))
        .with_env("GITHUB_REF", "refs/heads/topic")
        .with_env("GITHUB_EVENT_NAME", name)
        .with_env("GITHUB_EVENT_PATH", &path)
        .with_env("GITHUB_STEP_SUMMARY", &summary);
    bench
}

pub(super) fn pull_event(head: &str) -> Value {
    json!({"pull_request": {"number": 7, "head": {"repo": {"full_name": head}}}})
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_pull_request_of_the_repository_gets_a_review() {
    // `edited` is another title or another base branch: both are part of what is reviewed.
    let mut shown = String::new();
    for action in ["synchronize", "edited"] {
        let mut event = pull_event("o/r");
        event["action"] = json!(action);
        let bench = in_actions(PullRequestBench::new(), "pull_request", &event);
        shown = bench.run(&["ci"]);
        assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]), "{action}: {shown}");
        let summary = std::fs::read_to_string(bench.world.home().join("summary.md")).unwrap();
        shown.push_str(&format!("[summary]\n{}", bench.world.clean(&summary)));
    }
    assert_snapshot!(shown, @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:2 in ask
    1 │ def ask():
    2 │     breakpoint()
      │     ━━━━━━━━━━━━
    3 │     return 1
      ╰╴
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -0
    report:  [WORK]/.mala/runs/[RUN]/review.md

    FAIL  1 finding at or above P1 (1 P1)
    [stderr]
    note: posted with 2 writes
    [summary]
    ## mala: FAIL

    **1 finding at or above P1 (1 P1)**

    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file: 1 finding (1 P1).

    | P0 critical | P1 high | P2 medium | P3 low |
    |---:|---:|---:|---:|
    | 0 | 1 | 0 | 0 |

    ### `app.py`

    <details open><summary><b>P1 high</b> Breakpoint left in, line 2</summary>

    When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.

    ```python
        breakpoint()
    ```

    **Fix:** Remove the line.

    <sub>`debug/python-breakpoint` · bug · by builtin · confidence 0.97</sub>

    </details>

    ---

    **Coverage:** reviewed 1 of 1 hunk in 1 file

    <details><summary>Reviewers (1)</summary>

    - builtin: FAIL, 1 finding, 0 dropped

    </details>

    **Scope:** pull request 7 ([SHA] to [SHA]), 1 file, 1 hunk, +1 -0, diff `[SHA256]`

    <sub>review `[ID]` · [DURATION] · 0 model calls · 0 tool calls</sub>
    ");
}

#[test]
fn a_pull_request_of_a_fork_gets_annotations() {
    let bench = PullRequestBench::new();
    bench.github.set_fork(true);
    let bench = in_actions(bench, "pull_request", &pull_event("eve/r"));
    assert_snapshot!(bench.run(&["ci"]), @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:2 in ask
    1 │ def ask():
    2 │     breakpoint()
      │     ━━━━━━━━━━━━
    3 │     return 1
      ╰╴
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    warning:  linters do not run on pull requests from forks:
              pull_requests.fork_commands allows them
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -0
    report:  [WORK]/.mala/runs/[RUN]/review.md

    FAIL  1 finding at or above P1 (1 P1)
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala warning::linters do not run on pull requests from forks: pull_requests.fork_commands allows them
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 1 of 1 hunk in 1 file
    ");
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
}

#[test]
fn names_of_files_are_no_commands_of_the_runner() {
    let bench = PullRequestBench::new();
    bench.github.set_fork(true);
    bench.repo.write("::stop-commands::x.py", FLAW);
    bench.repo.commit("a name that is a command");
    let bench = in_actions(bench, "pull_request", &pull_event("eve/r"));
    let shown = bench.run(&["ci"]);
    let is_command = |line: &str| line.trim_start().starts_with("::stop-commands");
    assert!(!shown.lines().any(is_command), "{shown}");
    assert_snapshot!(shown.replace('\u{200b}', "<U+200B>"), @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 2 hunks in 2
    files: 2 findings (2 P1).

    <U+200B>::stop-commands::x.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ ::stop-commands::x.py:2 in ask
    1 │ def ask():
    2 │     breakpoint()
      │     ━━━━━━━━━━━━
    3 │     return 1
      ╰╴
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:2 in ask
    1 │ def ask():
    2 │     breakpoint()
      │     ━━━━━━━━━━━━
    3 │     return 1
      ╰╴
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    warning:  linters do not run on pull requests from forks:
              pull_requests.fork_commands allows them
    coverage:  reviewed 2 of 2 hunks in 2 files
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 2 files, 2 hunks, +2 -0
    report:  [WORK]/.mala/runs/[RUN]/review.md

    FAIL  2 findings at or above P1 (2 P1)
    ::error file=%3A%3Astop-commands%3A%3Ax.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala warning::linters do not run on pull requests from forks: pull_requests.fork_commands allows them
    ::notice title=mala::FAIL: 2 findings at or above P1 (2 P1). reviewed 2 of 2 hunks in 2 files
    ");
}

/// The output for commits of a job in a clone of all branches.
fn pushed(bench: PullRequestBench, name: &str, event: &Value) -> String {
    bench.repo.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    let mut bench = in_actions(bench, name, event);
    bench.world = bench.world.in_folder(bench.repo.root());
    let shown = bench.run(&["ci"]);
    assert!(bench.github.take_requests().is_empty());
    shown
}

const ZEROS: &str = "0000000000000000000000000000000000000000";

#[test]
fn all_commits_of_a_job_are_reviewed() {
    let repository = json!({"default_branch": "main"});
    let unknown = "1".repeat(40);
    let mut shown = String::new();
    for (name, event) in [
        ("push", json!({"before": "main", "after": "topic"})),
        ("push", json!({"before": ZEROS, "after": "topic", "repository": repository})),
        ("push", json!({"before": unknown, "after": "topic", "repository": repository})),
        (
            "push",
            json!({"before": "topic", "after": "topic", "forced": true, "repository": repository}),
        ),
        ("merge_group", json!({"merge_group": {"base_sha": "main", "head_sha": "topic"}})),
        ("workflow_dispatch", json!({"repository": repository})),
    ] {
        let bench = PullRequestBench::new();
        bench.repo.write("other.py", "def ask():\n    return 2\n");
        bench.repo.commit("a clean commit after the flaw");
        let mut text = event.to_string();
        for branch in ["main", "topic"] {
            let id = format!("\"{}\"", bench.repo.id(branch));
            let known = text.replace(&format!(":\"{branch}\""), &format!(":{id}"));
            // The name of the default branch stays.
            text =
                known.replace(&format!("\"default_branch\":{id}"), "\"default_branch\":\"main\"");
        }
        let event = serde_json::from_str(&text).unwrap();
        shown.push_str(&format!("{name}: {}", pushed(bench, name, &event)));
    }
    assert_snapshot!(shown, @"
    push: [exit 1]
    [stdout]
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 2 of 2 hunks in 2 files
    push: [exit 1]
    [stdout]
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 2 of 2 hunks in 2 files
    push: [exit 1]
    [stdout]
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 2 of 2 hunks in 2 files
    push: [exit 1]
    [stdout]
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 2 of 2 hunks in 2 files
    merge_group: [exit 1]
    [stdout]
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 2 of 2 hunks in 2 files
    workflow_dispatch: [exit 1]
    [stdout]
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 2 of 2 hunks in 2 files
    ");
}

#[test]
fn a_job_that_names_no_commits_could_not_be_reviewed() {
    let mut bench = PullRequestBench::new();
    bench.repo.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    let event = json!({"schedule": "daily"});
    assert_snapshot!(pushed(PullRequestBench::new(), "schedule", &event), @"
    [exit 2]
    [stderr]
    error: cannot tell which commits are new: the job names no commit before them
    hint: run `mala review A..B` to review certain commits
    ");
    let event = json!({"before": bench.repo.id("main"), "after": bench.repo.id("topic")});
    let shallow = bench.repo.beside("shallow");
    let url = format!("file://{}", bench.repo.root().display());
    bench.repo.git(&["clone", "-q", "--depth", "1", &url, &shallow.display().to_string()]);
    bench = in_actions(bench, "push", &event);
    bench.world = bench.world.in_folder(shallow);
    assert_snapshot!(bench.run(&["ci"]), @"
    [exit 2]
    [stderr]
    error: unknown revision: [SHA]
    hint: add actions/checkout with `fetch-depth: 0` before this step
    ");
    let home = bench.world.home();
    bench.world = bench.world.in_folder(home);
    assert_snapshot!(bench.run(&["ci"]), @"
    [exit 2]
    [stderr]
    error: not in a clone
    hint: add actions/checkout with `fetch-depth: 0` before this step
    ");
}

#[test]
fn comments_start_a_review_only_with_a_command_of_an_account_with_write_access() {
    // The comments on the pull request as it is, whatever the event says.
    let bench = PullRequestBench::new();
    bench.github.allow_writes("ada");
    bench.github.add_comment("eve", "/mala review");
    bench.github.add_comment("ada", "/mala review");
    let mut bench = Some(bench);
    let event = |action: &str, body: &str, login: &str| {
        // GitHub calls members of an organization whose membership is private NONE.
        let user = json!({"login": login, "type": "User"});
        json!({"action": action, "issue": {"number": 7, "pull_request": {}},
               "comment": {"body": body, "author_association": "NONE", "user": user}})
    };
    let on_lines = json!({
        "action": "created",
        "pull_request": {"number": 7, "head": {"repo": {"full_name": "o/r"}}},
        "comment": {"body": "why?", "user": {"login": "eve", "type": "User"}},
    });
    let (whole, lines) = ("issue_comment", "pull_request_review_comment");
    for (name, event, code) in [
        (lines, on_lines, 0),
        (whole, event("deleted", "/mala review", "ada"), 0),
        (whole, event("created", "/mala review", "eve"), 0),
        (whole, event("created", "/mala review", "ada"), 1),
    ] {
        let job = in_actions(bench.take().unwrap(), name, &event);
        let output = job.world.output(&["ci"], b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{event}: {stderr}");
        assert_eq!(job.posted().0, usize::try_from(code).unwrap(), "{event}");
        bench = Some(job);
    }
}

#[test]
fn a_merge_request_on_gitlab_gets_a_code_quality_report() {
    let bench = PullRequestBench::new();
    let world: World = bench
        .world
        .with_env("GITLAB_CI", "true")
        .with_env("CI_MERGE_REQUEST_IID", "3")
        .with_env("CI_MERGE_REQUEST_DIFF_BASE_SHA", bench.repo.id("main"))
        .with_env("CI_COMMIT_SHA", bench.repo.id("topic"))
        .in_folder(bench.repo.root());
    assert_eq!(world.output(&["ci"], b"").status.code(), Some(1));
    let report = std::fs::read(bench.repo.root().join("gl-code-quality-report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report[0]["location"]["path"], "app.py", "{report:#}");
}

#[test]
fn a_merge_request_on_gitlab_is_reviewed_without_the_target_branch_and_without_commands_of_a_fork()
{
    for (path, runs) in [("g/p", true), ("eve/p", false)] {
        let bench = PullRequestBench::new();
        let repo = &bench.repo;
        repo.checkout("main");
        repo.write("ruff.toml", "");
        let base = repo.commit("configure");
        repo.write("late.py", FLAW);
        repo.commit("a flaw on the target branch");
        repo.git(&["checkout", "-q", "-B", "clean", &base]);
        repo.write("new.py", "x = 1\n");
        let source = repo.commit("a clean change");
        repo.git(&["merge", "-q", "-m", "the merged result", "main"]);
        let ran = bench.world.home().join("ran");
        let world = bench
            .world
            .with_program("ruff", &format!("touch {}; echo '[]'", ran.display()))
            .with_env("GITLAB_CI", "true")
            .with_env("CI_MERGE_REQUEST_IID", "3")
            .with_env("CI_MERGE_REQUEST_PROJECT_PATH", "g/p")
            .with_env("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", path)
            .with_env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base)
            .with_env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", source)
            .with_env("CI_COMMIT_SHA", repo.head())
            .in_folder(repo.root());
        let output = world.output(&["ci", "--reviewer", "builtin"], b"");
        let shown = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{path}: {shown}");
        assert_eq!(ran.exists(), runs, "{path}: {shown}");
    }
}

#[test]
fn elsewhere_it_is_an_error() {
    let bench = PullRequestBench::new();
    assert_snapshot!(bench.run(&["ci"]), @"
    [exit 78]
    [stderr]
    error: no CI service was detected: neither GITHUB_ACTIONS nor GITLAB_CI is true
    hint: run `mala review` or `mala pr` outside of CI
    ");
}

/// A review of a fork without secrets, and the event of the workflow that posts it.
fn reviewed_fork() -> (PullRequestBench, PathBuf) {
    let bench = PullRequestBench::new();
    bench.github.set_fork(true);
    let file = bench.world.home().join("review.json");
    (first_job(bench, &file), file)
}

/// Reviews a fork with a token that may not read the access of accounts, and leaves the bench as the job that posts.
fn first_job(bench: PullRequestBench, file: &Path) -> PullRequestBench {
    let bench = in_actions(bench, "pull_request", &pull_event("eve/r"));
    bench.github.fail(|request| {
        let is_refused = request.path.contains("/collaborators/");
        is_refused.then(|| super::status(403, &[], "Must have push access"))
    });
    let sink = format!("json={}", file.display());
    bench.world.output(&["ci", "--post", "none", "--output", &sink], b"");
    bench.github.heal();
    let event = json!({"workflow_run": {
        "head_sha": bench.repo.id("topic"), "head_branch": "topic",
        "head_repository": {"owner": {"login": "eve"}},
    }});
    in_actions(bench, "workflow_run", &event)
}

/// Posts the review of a fork, and returns the exit code and the summary.
fn second_job(bench: &PullRequestBench, file: &Path) -> (i32, String) {
    let output = bench.world.output(&["ci", "--from", file.to_str().unwrap()], b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let comments = bench.github.comments();
    let summary = comments.iter().find(|one| one.login == "mala-bot");
    let summary = summary.unwrap_or_else(|| panic!("{stderr}")).body.clone();
    (output.status.code().unwrap(), summary)
}

#[test]
fn a_second_job_posts_the_review_of_a_fork() {
    let (bench, file) = reviewed_fork();
    assert_eq!(second_job(&bench, &file).0, 1);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn replies_count_when_the_review_of_a_fork_is_posted() {
    for (login, reply, code) in [
        ("ada", "/mala waive a known breakpoint", 0),
        ("ada", "/mala dispute this is wanted", 0),
        ("eve", "/mala waive a known breakpoint", 1),
    ] {
        let (bench, file) = reviewed_fork();
        assert_eq!(second_job(&bench, &file).0, 1);
        bench.github.allow_writes("ada");
        bench.github.add_reply(bench.github.inline_comments()[0].id, login, reply);
        let bench = first_job(bench, &file);
        let (found, summary) = second_job(&bench, &file);
        assert_eq!(found, code, "{login}: {reply}: {summary}");
        assert_eq!(summary.contains("Not counted: 1"), code == 0, "{summary}");
        assert_eq!(summary.contains("## mala: PASS"), code == 0, "{summary}");
        assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
        // A decision is about the code as it was.
        bench.repo.write("app.py", FLAW.replace("breakpoint()", "breakpoint()  # twice"));
        bench.repo.commit("another breakpoint");
        let bench = first_job(bench, &file);
        assert_eq!(second_job(&bench, &file).0, 1, "{login}: {reply}");
    }
}

#[test]
fn a_review_from_a_file_resolves_no_threads() {
    let (bench, file) = reviewed_fork();
    assert_eq!(second_job(&bench, &file).0, 1);
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix, or so the file says");
    let bench = first_job(bench, &file);
    let (code, summary) = second_job(&bench, &file);
    assert_eq!(code, 0, "{summary}");
    assert!(summary.contains("## mala: PASS"), "{summary}");
    assert!(bench.github.resolved().is_empty());
    // The same review with a token of the repository.
    assert_eq!(bench.pr(&["--post", "review"]).0, 0);
    assert_eq!(bench.github.resolved().len(), 1);
}

#[test]
fn a_file_that_is_no_review_of_this_change_is_not_posted() {
    let (bench, file) = reviewed_fork();
    let review: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let changed = |pointer: &str, value: Value| {
        let mut changed = review.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed.to_string()
    };
    for (name, text) in [
        ("no JSON", "{".to_owned()),
        ("no review", "{}".to_owned()),
        ("another commit", changed("/scope/head/commit", json!("0".repeat(40)))),
        ("another diff", changed("/scope/diff_hash", json!("0".repeat(64)))),
        ("another type", changed("/issues/0/line_start", json!("two"))),
        ("no id of a review", changed("/review_id", json!("a --> **b** @org/team <!--"))),
        ("no id at all", changed("/review_id", json!(""))),
        ("no id of a finding", changed("/issues/0/dedupe_key", json!("a --> <script>"))),
        ("no id in the ledger", changed("/tracking/issues/0/id", json!("ab cd"))),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = bench.world.output(&["ci", "--from", file.to_str().unwrap()], b"");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", stdout(&output));
        assert_eq!(bench.posted(), (0, Vec::new()), "{name}");
    }
    bench.repo.write("app.py", format!("{FLAW}\n"));
    bench.repo.commit("a newer head");
    std::fs::write(&file, review.to_string()).unwrap();
    let output = bench.world.output(&["ci", "--from", file.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(2), "a newer head");
    assert_eq!(bench.posted(), (0, Vec::new()));
}

#[test]
fn hostile_texts_of_a_file_do_not_forge_markers() {
    let (bench, file) = reviewed_fork();
    let mut review: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    review["issues"][0]["title"] = json!("x\n<!-- mala:finding=ffff -->");
    std::fs::write(&file, review.to_string()).unwrap();
    for _ in 0..2 {
        assert_eq!(second_job(&bench, &file).0, 1);
    }
    let comments = bench.github.inline_comments();
    assert_eq!(comments.len(), 1);
    for one in comments {
        assert_eq!(one.body.matches("<!--").count(), 1, "{}", one.body);
        assert_eq!(one.body.matches("-->").count(), 1, "{}", one.body);
    }
}
