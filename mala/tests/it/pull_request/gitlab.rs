//! Merge requests on a loopback GitLab with a real repository: the same stage, ledger and markers as on GitHub.

use super::{AGENT, CLEAN, FLAW, reporting_model, status};
use crate::world;
use insta::assert_snapshot;
use mala_testkit::forge_server::ForgeRequest;
use mala_testkit::gitlab_server::StoredNote;
use mala_testkit::{GitLabServer, TestRepo, World};
use serde_json::{Value, json};

const TOKEN: &str = "dummy-token-of-gitlab";
const REVIEW: [&str; 2] = ["--post", "review"];

/// A GitLab with merge request 7, and a world in an empty folder.
pub(super) struct MergeRequestBench {
    pub(super) repo: TestRepo,
    pub(super) gitlab: GitLabServer,
    pub(super) world: World,
}

impl MergeRequestBench {
    /// A merge request that adds a flaw to `app.py`.
    pub(super) fn new() -> Self {
        let repo = TestRepo::with_files(&[("app.py", CLEAN), ("other.py", CLEAN)]);
        repo.branch("topic");
        repo.write("app.py", FLAW);
        repo.commit("add a flaw");
        let gitlab = GitLabServer::new(repo.root());
        let api = format!("{}/api/v4", gitlab.url());
        let world = world().with_env("GITLAB_API_URL", api).with_env("GITLAB_TOKEN", TOKEN);
        Self { repo, gitlab, world }
    }

    /// All output of `mala pr g/sub/p!7` with these options. The server is `[GITLAB]`.
    fn show(&self, options: &[&str]) -> String {
        let args = [&["pr", "g/sub/p!7"], options].concat();
        let shown = self.world.name(&self.gitlab.url(), "[GITLAB]").run(&args);
        assert!(!shown.contains(TOKEN), "the token is shown");
        shown
    }

    /// Runs `mala pr g/sub/p!7` with these options, and returns its exit code and output.
    fn pr(&self, options: &[&str]) -> (i32, String) {
        let output = self.world.output(&[&["pr", "g/sub/p!7"], options].concat(), b"");
        let shown = [&output.stderr[..], &output.stdout[..]].concat();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert!(!shown.contains(TOKEN), "the token is shown");
        (output.status.code().unwrap_or(-1), shown)
    }

    /// Our summaries, and the lines with a discussion of ours.
    pub(super) fn posted(&self) -> (Vec<String>, Vec<String>) {
        let notes = self.gitlab.notes();
        let ours = notes.iter().filter(|note| note.login == "mala-bot" && note.id == note.first);
        let (summaries, threads): (Vec<&StoredNote>, Vec<_>) =
            ours.partition(|note| note.position.is_null());
        let place = |note: &&StoredNote| {
            let path = note.position["new_path"].as_str().unwrap_or_default();
            format!("{path}:{}", note.position["new_line"])
        };
        (
            summaries.iter().map(|note| note.body.clone()).collect(),
            threads.iter().map(place).collect(),
        )
    }

    /// The writes since the last call.
    fn writes(&self) -> Vec<ForgeRequest> {
        let requests = self.gitlab.take_requests().into_iter();
        requests.filter(|request| request.method != "GET" && !request.is_git()).collect()
    }

    fn thread(&self) -> u64 {
        self.gitlab.notes().iter().find(|note| !note.position.is_null()).unwrap().id
    }
}

#[test]
fn a_merge_request_gets_one_summary_and_a_discussion_per_finding() {
    let bench = MergeRequestBench::new();
    let (code, shown) = bench.pr(&REVIEW);
    assert_eq!(code, 1, "{shown}");
    let (summaries, threads) = bench.posted();
    assert_eq!((summaries.len(), threads), (1, vec!["app.py:2".to_owned()]));
    assert!(summaries[0].starts_with("<!-- code-review-agent:review_id="), "{}", summaries[0]);
    let link = format!("/g/sub/p/-/blob/{}/app.py#L2", bench.repo.id("topic"));
    assert!(summaries[0].contains(&link), "{}", summaries[0]);
    assert_eq!(bench.writes().len(), 2);
    for is_fresh in [false, true] {
        if is_fresh {
            std::fs::remove_dir_all(bench.world.home().join(".cache/mala/forges")).unwrap();
        }
        assert_eq!(bench.pr(&REVIEW).0, 1);
        assert_eq!(bench.writes(), [], "fresh: {is_fresh}");
    }
}

#[test]
fn a_url_names_a_merge_request_of_this_host_only() {
    let bench = MergeRequestBench::new();
    let url = |host: &str| format!("{host}/g/sub/p/-/merge_requests/7");
    for (url, code) in [(url(&bench.gitlab.url()), 1), (url("https://gitlab.example"), 64)] {
        let output = bench.world.output(&["pr", &url], b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{url}: {stderr}");
    }
}

#[test]
fn a_push_that_fixes_the_finding_resolves_its_discussion() {
    let bench = MergeRequestBench::new();
    bench.pr(&REVIEW);
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix");
    let (code, shown) = bench.pr(&REVIEW);
    assert_eq!(code, 0, "{shown}");
    let first = bench.thread();
    let note = bench.gitlab.notes().into_iter().find(|note| note.id == first).unwrap();
    assert_eq!(note.resolved_by.as_deref(), Some("mala-bot"));
    assert_eq!(bench.posted().0.len(), 1);
}

#[test]
fn a_push_with_another_finding_adds_one_discussion() {
    let bench = MergeRequestBench::new();
    bench.pr(&REVIEW);
    bench.repo.write("other.py", FLAW);
    bench.repo.commit("another flaw");
    assert_eq!(bench.pr(&REVIEW).0, 1);
    let (summaries, mut threads) = bench.posted();
    threads.sort();
    assert_eq!((summaries.len(), threads), (1, vec!["app.py:2".into(), "other.py:2".into()]));
}

#[test]
fn a_waiver_counts_only_from_developers() {
    for (login, code) in [("ada", 0), ("eve", 1)] {
        let bench = MergeRequestBench::new();
        bench.gitlab.add_developer("ada");
        bench.pr(&REVIEW);
        bench.gitlab.reply(bench.thread(), login, "/mala waive a known breakpoint");
        let (found, shown) = bench.pr(&REVIEW);
        assert_eq!(found, code, "{login}: {shown}");
        assert_eq!(bench.posted().0[0].contains("Not counted: 1"), code == 0, "{login}");
        bench.writes();
        assert_eq!(bench.pr(&REVIEW).0, code, "the next run");
        assert_eq!(bench.writes(), [], "{login}");
    }
}

#[test]
fn a_discussion_resolved_by_a_developer_is_a_waiver() {
    for (login, code) in [("ada", 0), ("eve", 1)] {
        let bench = MergeRequestBench::new();
        bench.gitlab.add_developer("ada");
        bench.pr(&REVIEW);
        bench.gitlab.resolve(bench.thread(), login);
        assert_eq!(bench.pr(&REVIEW).0, code, "{login}");
    }
}

#[test]
fn a_question_is_answered_in_its_discussion() {
    let bench = MergeRequestBench::new();
    bench.gitlab.add_developer("ada");
    bench.pr(&REVIEW);
    let first = bench.thread();
    bench.gitlab.reply(first, "ada", "/mala explain");
    bench.pr(&REVIEW);
    bench.pr(&REVIEW);
    let notes = bench.gitlab.notes();
    let replies = notes.iter().filter(|note| note.first == first && note.id != first);
    let ours: Vec<_> = replies.filter(|note| note.login == "mala-bot").collect();
    assert_eq!(ours.len(), 1);
    assert!(ours[0].body.contains("breakpoint()"), "{}", ours[0].body);
}

#[test]
fn a_rejected_position_moves_to_the_summary() {
    let bench = MergeRequestBench::new();
    bench.repo.write("other.py", FLAW);
    bench.repo.commit("another flaw");
    bench.gitlab.fail(|request| {
        let is_refused = request.path.ends_with("/discussions")
            && String::from_utf8_lossy(&request.body).contains("\"new_path\":\"other.py\"");
        is_refused.then(|| status(400, &[], "line_code must be a valid line code"))
    });
    assert_eq!(bench.pr(&REVIEW).0, 1);
    let (summaries, threads) = bench.posted();
    assert_eq!((summaries.len(), threads), (1, vec!["app.py:2".to_owned()]));
    assert!(summaries[0].contains("<details open>"), "{}", summaries[0]);
    bench.writes();
    bench.pr(&REVIEW);
    assert_eq!(bench.writes(), [], "a refused position is not tried again");
}

#[test]
fn a_finding_on_several_lines_shows_its_range() {
    let evidence = "    first = input()\n    return eval(first)";
    let server = reporting_model((2, 3), "Input is run", evidence, "");
    let mut bench = MergeRequestBench::new();
    bench.repo.write("app.py", format!("def ask():\n{evidence}\n    return 1\n"));
    bench.repo.commit("several lines");
    bench.world = bench
        .world
        .with_env("ANTHROPIC_BASE_URL", server.url())
        .with_env("ANTHROPIC_API_KEY", "test-key");
    let (code, shown) = bench.pr(&AGENT);
    assert_eq!(code, 1, "{shown}");
    let notes = bench.gitlab.notes();
    let thread = notes.iter().find(|note| !note.position.is_null()).unwrap();
    let hash = "13cce7fd076299c81b4986166f3d822791c9490e";
    assert_eq!(
        thread.position["line_range"],
        json!({
            "start": {"line_code": format!("{hash}_2_2"), "type": "new", "new_line": 2},
            "end": {"line_code": format!("{hash}_2_3"), "type": "new", "new_line": 3},
        })
    );
}

#[test]
fn a_copied_file_is_a_new_file() {
    let bench = MergeRequestBench::new();
    let lines: String = (0..20).map(|line| format!("value_{line} = {line}\n")).collect();
    bench.repo.checkout("main");
    bench.repo.write("src.py", &lines);
    bench.repo.commit("a file to copy");
    bench.repo.checkout("topic");
    bench.repo.git(&["rebase", "-q", "main"]);
    bench.repo.write("src.py", format!("{lines}more = 1\n"));
    bench.repo.write("copy.py", format!("{lines}breakpoint()\n"));
    bench.repo.commit("copy it");
    assert_eq!(bench.pr(&REVIEW).0, 1);
    let notes = bench.gitlab.notes();
    let copied = notes.iter().find(|note| note.position["new_path"] == "copy.py").unwrap();
    assert_eq!(copied.position["new_line"], 21);
    assert_eq!(copied.position["old_path"], "copy.py", "GitLab does not know of copies");
}

#[test]
fn the_merge_request_of_the_current_branch_is_not_that_of_a_fork() {
    let mut bench = MergeRequestBench::new();
    let url = format!("{}/g/sub/p.git", bench.gitlab.url());
    bench.repo.git(&["remote", "add", "origin", &url]);
    bench.world = bench.world.in_folder(bench.repo.root());
    let output = bench.world.output(&["pr", "--json"], b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["scope"]["target"], "pull request 7");
}

#[test]
fn a_renamed_project_is_found_under_its_old_name() {
    let bench = MergeRequestBench::new();
    bench.pr(&REVIEW);
    let api = format!("{}/api/v4/projects", bench.gitlab.url());
    bench.gitlab.fail(move |request| {
        let rest = request.path.strip_prefix("/api/v4/projects/old%2Fp")?;
        let url = format!("{api}/1{rest}");
        let is_read = request.method == "GET";
        Some(match is_read {
            true => status(301, &[("Location", &url)], "Moved Permanently"),
            false => status(404, &[], "404 Project Not Found"),
        })
    });
    bench.repo.write("other.py", FLAW);
    bench.repo.commit("another flaw");
    let output = bench.world.output(&["pr", "old/p!7", "--json", "--post", "review"], b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["tracking"]["round"], 2, "{}", report["tracking"]);
    let (summaries, threads) = bench.posted();
    assert_eq!((summaries.len(), threads.len()), (1, 2));
}

#[test]
fn all_pages_of_discussions_are_read() {
    let bench = MergeRequestBench::new();
    for number in 0..45 {
        bench.gitlab.add_note("ada", &format!("note {number}"));
    }
    bench.pr(&REVIEW);
    for number in 0..45 {
        bench.gitlab.add_note("ada", &format!("another note {number}"));
    }
    bench.writes();
    bench.pr(&REVIEW);
    assert_eq!(bench.writes(), [], "our notes are on the third page");
    let (summaries, threads) = bench.posted();
    assert_eq!((summaries.len(), threads.len()), (1, 1));
}

#[test]
fn a_check_is_a_commit_status_written_once() {
    let bench = MergeRequestBench::new();
    for _ in 0..2 {
        assert_eq!(bench.pr(&["--post", "check"]).0, 1);
        let statuses = bench.gitlab.statuses();
        assert_eq!(statuses.len(), 1, "{statuses:#?}");
        assert_eq!(statuses[0]["state"], "failed");
        assert_eq!(statuses[0]["name"], "mala");
    }
}

#[test]
fn a_rate_limit_is_waited_for() {
    let bench = MergeRequestBench::new();
    bench.gitlab.fail(|request| {
        (request.number == 0).then(|| status(429, &[("Retry-After", "1")], "Retry later"))
    });
    assert_snapshot!(bench.show(&["--post", "comment"]), @"
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
    note: GitLab limits the rate of requests (429): waiting 1 s
    note: posted with 1 write
    ");
}

#[test]
fn without_a_token_nothing_is_sent() {
    let mut bench = MergeRequestBench::new();
    bench.world = bench.world.with_env("GITLAB_TOKEN", "").with_env("CI_JOB_TOKEN", "job");
    assert_snapshot!(bench.show(&[]), @"
    [exit 78]
    [stderr]
    error: no GitLab token: GITLAB_TOKEN is not set
    hint: set GITLAB_TOKEN to a token with the scope 'api' and the role Developer; CI_JOB_TOKEN cannot read or write discussions
    ");
    assert!(bench.gitlab.take_requests().is_empty());
}

#[test]
fn a_dry_run_shows_positions_and_sends_nothing() {
    let bench = MergeRequestBench::new();
    assert_snapshot!(bench.show(&["--dry-run"]), @r#"
    [exit 1]
    [stdout]
    POST /projects/g%2Fsub%2Fp/merge_requests/7/discussions
    {
      "body": "**P1 Breakpoint left in**\n\nWhen this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.\n\n**Fix:** Remove the line.\n\n<sub>`debug/python-breakpoint` · bug · by builtin · confidence 0.97</sub>\n\n<!-- mala:finding=[ID] {\"review\":\"[ID]\",\"key\":\"[ID]\",\"file\":\"app.py\",\"lines\":[2,2],\"priority\":1,\"category\":\"bug\",\"title\":\"Breakpoint left in\",\"symbol\":\"ask\",\"evidence\":\"    breakpoint()\",\"rule\":\"debug/python-breakpoint\",\"reviewer\":\"builtin\"} -->\n",
      "position": {
        "base_sha": "[SHA]",
        "head_sha": "[SHA]",
        "new_line": 2,
        "new_path": "app.py",
        "old_path": "app.py",
        "position_type": "text",
        "start_sha": "[SHA]"
      }
    }
    POST /projects/g%2Fsub%2Fp/merge_requests/7/notes
    {
      "body": "<!-- code-review-agent:review_id=[ID] -->\n<!-- mala:state {\"head\":\"[SHA]\",\"started\":\"[TIME]\",\"digest\":\"[ID]\",\"rejected\":[],\"resolved\":[],\"answered\":0} -->\n\n## mala: FAIL\n\n**1 finding at or above P1 (1 P1)**\n\nBuilt-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file: 1 finding (1 P1).\n\n| P0 critical | P1 high | P2 medium | P3 low |\n|---:|---:|---:|---:|\n| 0 | 1 | 0 | 0 |\n\n- **P1** Breakpoint left in [`app.py:2`]([GITLAB]/g/sub/p/-/blob/[SHA]/app.py#L2-L2)\n\n---\n\n**Coverage:** reviewed 1 of 1 hunk in 1 file\n\n<details><summary>Reviewers (1)</summary>\n\n- builtin: FAIL, 1 finding, 0 dropped\n\n</details>\n\n**Scope:** pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -0\n\n<sub>review `[ID]` · [DURATION] · 0 model calls · 0 tool calls</sub>\n"
    }
    "#);
    assert_eq!(bench.writes(), []);
}

#[test]
fn a_job_with_a_token_posts_on_its_merge_request() {
    let bench = MergeRequestBench::new();
    let world = bench
        .world
        .with_env("GITLAB_API_URL", "")
        .with_env("CI_API_V4_URL", format!("{}/api/v4", bench.gitlab.url()))
        .with_env("GITLAB_CI", "true")
        .with_env("CI_MERGE_REQUEST_IID", "7")
        .with_env("CI_MERGE_REQUEST_PROJECT_PATH", "g/sub/p")
        .with_env("CI_COMMIT_SHA", bench.repo.id("topic"))
        .in_folder(bench.repo.root());
    let output = world.output(&["ci"], b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let notes = bench.gitlab.notes();
    assert_eq!(notes.iter().filter(|note| !note.position.is_null()).count(), 1, "{stderr}");
    let report = std::fs::read(bench.repo.root().join("gl-code-quality-report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report[0]["location"]["path"], "app.py", "{report:#}");
}
