//! Lanes that go wrong in every way: each ends in the right code, within its limit, and leaves nothing.

use super::bench::{GateWorld, processes};
use insta::assert_snapshot;
use std::time::{Duration, Instant};

#[track_caller]
fn check(lane: &str, code: i32, says: &str) {
    let bench = GateWorld::new();
    let started = Instant::now();
    let ended = bench.review(lane, &["--timeout", "4"]);
    let case = format!("{lane}: {:#}", ended.json);
    assert_eq!(ended.code, code, "{case}");
    assert!(ended.error_of(lane).contains(says), "{case}");
    assert!(started.elapsed() < Duration::from_secs(30), "{case}");
    ended.assert_nothing_left();
    let status = bench.repo.git(&["status", "--porcelain"]);
    assert_eq!(status, "", "the user's tree is untouched");
}

#[test]
fn a_complete_answer_counts_though_the_process_hangs() {
    check("hangs", 0, "");
}

#[test]
fn a_complete_answer_counts_though_the_process_fails() {
    check("breaks_after", 0, "");
}

#[test]
fn a_complete_answer_counts_though_the_process_then_floods() {
    check("flood_after", 0, "");
    check("flood_stdout", 0, "");
}

#[test]
fn one_that_goes_on_printing_after_its_answer_is_not_waited_for() {
    let bench = GateWorld::new();
    let started = Instant::now();
    let ended = bench.review("chatty", &["--timeout", "50"]);
    assert_eq!(ended.code, 0, "{:#}", ended.json);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    ended.assert_nothing_left();
}

#[test]
fn one_that_cannot_be_executed_says_why() {
    let bench = GateWorld::with_config("gate: {lanes: {odd: {command: [odd]}}}\n");
    let program = bench.world.home().join("bin/odd");
    std::fs::write(&program, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let ended = bench.review("odd", &[]);
    assert_eq!(ended.code, 4, "{:#}", ended.json);
    let why = "cannot start odd: No such file or directory";
    assert!(ended.error_of("odd").starts_with(why), "{:#}", ended.json);
}

#[test]
fn an_answer_file_that_is_none_is_left_alone() {
    check("pipe", 0, "");
    check("hole", 0, "");
}

#[test]
fn a_context_file_that_is_none_is_refused() {
    let bench = GateWorld::new();
    let pipe = bench.repo.beside("pipe");
    assert!(bench.world.command("mkfifo").arg(&pipe).status().unwrap().success());
    bench.world.name(pipe.to_str().unwrap(), "[PIPE]");
    let mut shown = String::new();
    for file in [pipe.to_str().unwrap(), "/dev/zero"] {
        let started = Instant::now();
        let args = ["spawn-code-review", "--diff", "HEAD~1..HEAD", "--context-file", file];
        shown.push_str(&bench.world.run(&args));
        assert!(started.elapsed() < Duration::from_secs(10));
    }
    assert_snapshot!(shown, @"
    [exit 1]
    [stderr]
    error: reading the context file [PIPE]: it is not a regular file
    [exit 1]
    [stderr]
    error: reading the context file /dev/zero: it is not a regular file
    ");
}

#[test]
fn a_bound_answer_counts_inside_of_other_text() {
    check("fenced", 0, "");
}

// Rows 001-035.
#[test]
fn one_that_never_answers_is_a_timeout() {
    check("never", 3, "no answer within 4 s");
}

#[test]
fn one_that_reads_for_ever_is_a_timeout() {
    check("stdin", 3, "no answer within 4 s");
}

#[test]
fn a_flood_is_cut() {
    check("flood", 2, "no answer in the first 16777216 bytes");
}

#[test]
fn one_that_contradicts_itself_has_no_vote() {
    check("wavers", 2, "two answers that contradict each other");
    check("two_places", 2, "two answers that contradict each other");
    for lane in ["beside", "twice", "garbled", "two_fields", "file_and_words"] {
        check(lane, 2, "two answers that contradict each other");
    }
}

#[test]
fn a_lane_sees_the_bytes_of_the_commit_whatever_its_attributes_say() {
    let bench = GateWorld::new();
    let encoded = |number: u8| {
        let text = format!("def f(x):\n    return x + {number}  # $Id$\n");
        text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    };
    bench.repo.write(".gitattributes", "*.py working-tree-encoding=UTF-16LE eol=crlf ident\n");
    bench.repo.write("a.py", encoded(1));
    bench.repo.commit("attributes");
    bench.repo.write("a.py", encoded(2));
    bench.repo.commit("add two");
    assert!(bench.repo.git(&["show", "HEAD:a.py"]).contains("return x + 2  # $Id$"));
    let ended = bench.review("bytes", &[]);
    assert_eq!(ended.code, 0, "{:#}", ended.json);
}

#[test]
fn no_link_of_a_commit_leads_to_what_signs_in() {
    let lane = "{command: [lane, looks], links: [{from: ['~/.x/auth.json'], to: .x/auth.json}]}";
    let bench = GateWorld::with_config(&format!("gate: {{lanes: {{looks: {lane}}}}}\n"));
    let key = bench.world.home().join(".x/auth.json");
    std::fs::create_dir_all(key.parent().unwrap()).unwrap();
    std::fs::write(&key, "token").unwrap();
    for target in [std::path::Path::new("../home/.x/auth.json"), &key] {
        bench.repo.link("creds", target);
        bench.repo.commit("a link");
        bench.repo.write("a.py", format!("x = '{}'\n", target.display()));
        bench.repo.commit("a change");
        let ended = bench.review("looks", &[]);
        assert_eq!(ended.code, 0, "{target:?}: {:#}", ended.json);
        bench.repo.remove("creds");
    }
}

#[test]
fn exit_0_with_a_banner_is_no_pass() {
    check("banner", 2, "You've hit your usage limit");
}

#[test]
fn an_echo_of_the_prompt_is_no_answer() {
    check("echo", 2, "invalid json");
}

// Rows 001-008, 001-078.
#[test]
fn prose_is_no_answer() {
    check("prose", 2, "invalid json");
}

#[test]
fn silence_is_no_answer() {
    check("empty", 2, "exit 0 without an answer");
}

// Rows 001-057.
#[test]
fn a_crash_is_no_answer() {
    check("crash", 2, "exit 7 without an answer: cannot go on");
}

// Rows 001-062.
#[test]
fn an_answer_to_another_session_is_no_answer() {
    check("nonce", 2, "the answer does not have this session's nonce");
}

#[test]
fn an_answer_about_another_commit_is_no_answer() {
    check("sha", 2, "1111111111111111111111111111111111111111");
}

#[test]
fn a_pass_without_an_account_of_all_regions_is_no_pass() {
    check("partial", 2, "1 of 1 hunks were not reviewed");
}

#[test]
fn one_that_writes_to_the_tree_has_no_vote() {
    check("writes", 2, "it wrote to the tree that it reviews: new.py");
    check("edits", 2, "it wrote to the tree that it reviews: a.py");
}

#[test]
fn one_that_commits_and_moves_branches_does_so_in_a_copy() {
    let bench = GateWorld::new();
    let before = bench.repo.git(&["rev-parse", "main", "HEAD"]);
    let ended = bench.review("commits", &[]);
    assert_eq!(ended.code, 2, "{:#}", ended.json);
    let wrote = "it wrote to the tree that it reviews: .git/";
    assert!(ended.error_of("commits").starts_with(wrote), "{:#}", ended.json);
    assert_eq!(bench.repo.git(&["rev-parse", "main", "HEAD"]), before);
    assert_eq!(bench.repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn one_that_changes_what_git_has_staged_wrote() {
    check("stages", 2, "it wrote to the tree that it reviews: .git");
}

#[test]
fn one_that_asks_git_keeps_its_vote() {
    check("reads", 0, "");
}

#[test]
fn a_lane_sees_only_what_it_needs_of_the_environment() {
    let GateWorld { repo, mut world } = GateWorld::new();
    for name in ["CARGO_HOME", "GEM_HOME", "GOFLAGS", "PYENV_ROOT", "VIRTUAL_ENV"] {
        world = world.with_env(name, "/somewhere");
    }
    for name in ["LC_TIME", "USER", "VOLTA_HOME"] {
        world = world.with_env(name, "C");
    }
    let bench = GateWorld { repo, world };
    let ended = bench.review("env", &[]);
    assert_eq!(ended.code, 0, "{:#}", ended.json);
    let folder = ended.json["report"]["session_dir"].as_str().unwrap();
    let seen = std::fs::read_to_string(format!("{folder}/lanes/env/review/stderr.txt")).unwrap();
    // What the shell sets by itself.
    let own = ["OLDPWD", "PWD", "SHLVL", "_"];
    let seen: Vec<&str> = seen.lines().filter(|name| !own.contains(name)).collect();
    let expected = [
        "GIT_OPTIONAL_LOCKS",
        "GIT_TERMINAL_PROMPT",
        "HOME",
        "LANG",
        "LC_TIME",
        "MALA_CHILD",
        "MALA_GATE",
        "NO_COLOR",
        "PATH",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "VOLTA_HOME",
    ];
    assert_eq!(seen, expected);
}

// Rows 001-027.
#[test]
fn a_gate_inside_of_a_gate_refuses() {
    let gate = std::path::Path::new(env!("CARGO_BIN_EXE_review-gate"));
    let bench = GateWorld::new();
    let path = std::env::var_os("PATH").unwrap();
    let folders = [bench.world.home().join("bin"), gate.parent().unwrap().to_owned()];
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path)));
    let bench = GateWorld { world: bench.world.with_env("PATH", path.unwrap()), repo: bench.repo };
    let ended = bench.review("gate", &[]);
    assert_eq!(ended.code, 0);
    let folder = ended.json["report"]["session_dir"].as_str().unwrap();
    let stderr = std::fs::read_to_string(format!("{folder}/lanes/gate/review/stderr.txt")).unwrap();
    assert_snapshot!(stderr, @"
    error: cannot run inside a review of a gate
    hint: run `review-gate` outside of a reviewer
    ");
}

/// A reviewer cannot start a session, so that no other may stand for the one that it has not.
#[test]
fn inside_of_a_gate_no_session_is_chosen() {
    let bench = GateWorld::new();
    let passed = bench.review("pass", &[]);
    assert_eq!(passed.code, 0);
    let folder = bench.repo.path(".mala/gate");
    let entries = || std::fs::read_dir(&folder).unwrap().count();
    let before = entries();
    let inside = |args: &[&str]| {
        let mut gate = bench.world.command(env!("CARGO_BIN_EXE_review-gate"));
        bench.world.show(&gate.args(args).env("MALA_GATE", "some/lane/").output().unwrap())
    };
    let spawn = ["spawn-code-review", "--diff", "HEAD~1..HEAD", "--lanes", "fail"];
    assert_snapshot!(inside(&spawn), @"
    [exit 1]
    [stderr]
    error: cannot run inside a review of a gate
    hint: run `review-gate` outside of a reviewer
    ");
    assert_snapshot!(inside(&["spawn-code-review", "--dif", "HEAD~1..HEAD"]), @"
    [exit 1]
    [stderr]
    error: unexpected argument '--dif' found

      tip: a similar argument exists: '--diff'

    Usage: review-gate spawn-code-review <--diff <RANGE>|--commit <SHA>...|--base <BRANCH>|--uncommitted>

    For more information, try '--help'.
    ");
    assert_eq!(entries(), before, "nothing is written down");
    assert_snapshot!(inside(&["wait", "--json"]), @r#"
    [exit 5]
    [stdout]
    {
      "schema_version": 1,
      "status": "error",
      "consensus": {
        "verdict": "no_reviewers",
        "iteration": 1,
        "rule": "unanimous",
        "needed": 0,
        "passes": 0
      },
      "reviewers": {},
      "issues": [],
      "parse_errors": [
        "this is a reviewer of a gate already, and has no session of its own: name one with --session-key"
      ],
      "report": {
        "session_key": null,
        "session_dir": null,
        "scope": null,
        "not_reviewed": "internal",
        "checks": [],
        "reviewers": {},
        "coverage": {
          "hunks_given": 0,
          "hunks_accounted": 0,
          "files": [],
          "skipped": []
        },
        "usage": {
          "llm_calls": 0,
          "tool_calls": 0,
          "tokens_used": null,
          "cache_read_tokens": null,
          "cost_usd": null,
          "latency_seconds_llm": 0.0
        },
        "checker": null,
        "warnings": []
      }
    }
    "#);
    assert_snapshot!(inside(&["wait"]), @"
    [exit 5]
    [stderr]
    error: this is a reviewer of a gate already, and has no session of its own: name one with --session-key
    ");
    assert_snapshot!(inside(&["status"]), @"
    [exit 5]
    [stderr]
    error: this is a reviewer of a gate already, and has no session of its own: name one with --session-key
    ");
    assert_snapshot!(inside(&["status", "--json"]), @"
    [exit 5]
    [stderr]
    error: this is a reviewer of a gate already, and has no session of its own: name one with --session-key
    ");
    assert_snapshot!(inside(&["cancel"]), @"
    [exit 5]
    [stderr]
    error: this is a reviewer of a gate already, and has no session of its own: name one with --session-key
    ");
    assert_snapshot!(inside(&["wait", "--session-key", &passed.key]), @"
    [exit 0]
    [stdout]
    PASS (unanimous: 1 of 1 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      pass: PASS
    [WORK]/.mala/gate/[KEY]
    ");
    assert_snapshot!(inside(&["status", "--session-key", &passed.key]), @"
    [exit 0]
    [stdout]
    [KEY]  done, PASS  HEAD~1..HEAD  1 of 1 lanes over
    ");
}

#[test]
fn children_that_outlive_a_lane_are_ended() {
    check("forks", 0, "");
    check("holds_pipe", 2, "exit 0 without an answer");
    for seconds in ["1003", "1004"] {
        let left = processes(|_, command| command == format!("sleep {seconds} "));
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn one_that_kills_its_supervisor_is_noticed_at_once() {
    let bench = GateWorld::new();
    let started = Instant::now();
    let spawned = bench.spawn(&["--lanes", "killer,never"]);
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(ended.code, 5, "{:#}", ended.json);
    assert_eq!(ended.json["status"], "error");
    assert_eq!(ended.json["parse_errors"][0], "the supervisor of the session died");
    assert!(started.elapsed() < Duration::from_secs(10));
    ended.assert_nothing_left();
    assert_snapshot!(bench.world.run(&["status"]), @"
    [exit 5]
    [stdout]
    [KEY]  dead  HEAD~1..HEAD  0 of 2 lanes over
    ");
}
