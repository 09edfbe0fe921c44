//! Nothing that a change brings along is believed or run.

use super::bench::GateWorld;
use insta::assert_snapshot;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_committed_verdict_does_not_count() {
    let bench = GateWorld::new();
    let passed = bench.review("pass", &[]);
    assert_eq!(passed.code, 0);
    bench.repo.git(&["add", "-f", ".mala"]);
    bench.repo.commit_staged("a verdict");
    let clone = bench.repo.beside("clone");
    bench.repo.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    assert!(clone.join(format!(".mala/gate/{}/result.json", passed.key)).exists());
    let bench = GateWorld { world: bench.world.in_folder(&clone), repo: bench.repo };
    for is_known in [false, true] {
        if is_known {
            // The clone has sessions of its own.
            bench.spawn(&["--lanes", "fail"]);
            bench.run(&["wait"]);
        }
        let ended = bench.wait(&passed.key);
        assert_eq!(ended.code, 5, "{:#}", ended.json);
        let (_, listed, _) = bench.run(&["list"]);
        assert!(!listed.contains(&passed.key), "{listed}");
    }
    let (code, stdout, _) = bench.run(&["wait", "--json"]);
    assert_eq!(code, 1, "its own: {stdout}");
}

#[test]
fn a_committed_repository_does_not_count() {
    let bench = GateWorld::new();
    let bare = bench.repo.beside("bare.git");
    bench.repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let GateWorld { repo, world } = bench;
    let bench = GateWorld { world: world.in_folder(&bare), repo };
    assert_eq!(bench.review("pass", &[]).code, 0, "a bare repository of its own is one");
    let sub = bench.repo.path("sub");
    bench.world.command("cp").args(["-r"]).args([&bare, &sub]).status().unwrap();
    let mut shown = String::new();
    for (worktree, name) in [(None, "bare"), (Some(".."), "not bare")] {
        for file in ["refs/README", "objects/README", "refs/heads/README"] {
            bench.repo.write(format!("sub/{file}"), "");
        }
        if let Some(folder) = worktree {
            let config = format!("[core]\n\tbare = false\n\tworktree = {folder}\n");
            bench.repo.write("sub/config", config);
        }
        bench.repo.git(&["add", "-Af", "sub"]);
        bench.repo.commit_staged("a repository");
        let clone = bench.repo.beside(name);
        bench.repo.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
        assert!(clone.join("sub/mala-secret").exists());
        let mut wait = bench.world.command(env!("CARGO_BIN_EXE_review-gate"));
        let output = wait.arg("wait").current_dir(clone.join("sub")).output().unwrap();
        let clone = clone.canonicalize().unwrap().display().to_string();
        shown.push_str(&bench.world.name(&clone, "[CLONE]").show(&output));
    }
    assert_snapshot!(shown, @"
    [exit 5]
    [stderr]
    error: [CLONE]/sub is a bare repository inside the work tree [CLONE]
    [exit 5]
    [stderr]
    error: [CLONE]/sub is inside a .git folder
    ");
}

#[test]
fn a_state_folder_that_leads_elsewhere_is_refused() {
    let bench = GateWorld::new();
    let elsewhere = bench.repo.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    bench.repo.link(".mala", &elsewhere);
    let spawn = ["spawn-code-review", "--diff", "HEAD~1..HEAD"];
    assert_snapshot!(bench.world.run(&spawn), @"
    [exit 1]
    [stderr]
    error: [WORK]/.mala: it is a symbolic link
    ");
    assert_snapshot!(bench.world.run(&["wait"]), @"
    [exit 5]
    [stderr]
    error: [WORK]/.mala: it is a symbolic link
    ");
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 0);
}

#[test]
fn the_program_of_an_unreviewed_lane_is_not_run_for_its_version() {
    let bench = GateWorld::with_config("");
    let mark = bench.repo.beside("ran");
    let config = format!(
        "gate: {{lanes: {{mine: {{command: [sh], version: [-c, 'touch {}; echo 7']}}}}}}\n",
        mark.display()
    );
    let lanes = || {
        let (code, stdout, stderr) = bench.run(&["lanes"]);
        assert_eq!(code, 0, "{stderr}");
        let mine = stdout.split("mine: ").nth(1).unwrap();
        let is_stable = |line: &&str| !line.starts_with("  program: ");
        let mine = mine.lines().filter(is_stable).collect::<Vec<_>>().join("\n");
        (mine, mark.exists())
    };
    bench.repo.write("mala.yaml", &config);
    bench.repo.remove("mala.yaml");
    bench.repo.commit("without");
    bench.repo.write("mala.yaml", &config);
    let (mine, ran) = lanes();
    assert!(!ran, "on disk");
    assert_snapshot!(mine, @"
    usable
      version not asked: mala.yaml says how, and is not committed, or not on the branch that work starts from
    agent: not usable
      why not: ANTHROPIC_API_KEY is not set
    builtin: usable
    ");
    bench.repo.branch("topic");
    bench.repo.commit("on a branch");
    assert_eq!(lanes(), (mine, false), "on a branch");
    bench.repo.checkout("main");
    bench.repo.git(&["merge", "-q", "topic"]);
    let (mine, ran) = lanes();
    assert!(ran, "on the base");
    assert_snapshot!(mine, @"
    usable
      version: 7
    agent: not usable
      why not: ANTHROPIC_API_KEY is not set
    builtin: usable
    ");
}

#[test]
fn a_session_keeps_its_secrets() {
    let bench = GateWorld::new();
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3");
    let file = bench.repo.beside("issue.txt");
    std::fs::write(&file, format!("Use {token} to sign in.\n")).unwrap();
    let ended = bench.review("pass", &["--context-file", file.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{:#}", ended.json);
    let folder = ended.json["report"]["session_dir"].as_str().unwrap().to_owned();
    let session = std::path::Path::new(&folder).join("session.json");
    assert!(!std::fs::read_to_string(&session).unwrap().contains(&token));
    assert_eq!(std::fs::metadata(&session).unwrap().permissions().mode() & 0o777, 0o600);
    let prompt = std::fs::read_to_string(format!("{folder}/lanes/pass/review/prompt.md")).unwrap();
    assert!(prompt.contains("to sign in") && !prompt.contains(&token));
}

/// What a lane prints stands in the session's folder only without secrets, however the session ends.
#[test]
fn what_a_lane_prints_is_kept_without_secrets_however_it_ends() {
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3");
    let bench = GateWorld::with_config(&format!(
        "gate: {{lanes: {{leaky: {{command: [lane, leaky, holds, {token}]}}}}}}\n"
    ));
    let contents = |folder: &str, name: &str| {
        std::fs::read_to_string(format!("{folder}/lanes/leaky/review/{name}")).unwrap_or_default()
    };
    for (end, code) in [("timeout", 3), ("cancel", 5), ("kill", 5), ("stop", 5)] {
        let spawned = bench.spawn(&["--timeout", if end == "timeout" { "2" } else { "50" }]);
        let (key, folder) = (&spawned["session_key"], &spawned["session_dir"]);
        let (key, folder) = (key.as_str().unwrap(), folder.as_str().unwrap());
        std::thread::sleep(std::time::Duration::from_secs(1));
        for name in ["stdout.txt", "stderr.txt"] {
            assert!(!contents(folder, name).contains(&token), "{end}: {name} while it runs");
        }
        let signal = match end {
            "kill" => Some("-9"),
            "stop" => Some("-STOP"),
            _ => None,
        };
        if let Some(signal) = signal {
            let beat = std::fs::read(format!("{folder}/heartbeat.json")).unwrap();
            let beat: Value = serde_json::from_slice(&beat).unwrap();
            let pid = beat["pid"].to_string();
            bench.world.command("kill").args([signal, &pid]).status().unwrap();
        }
        if end == "cancel" {
            bench.run(&["cancel", "--session-key", key]);
        }
        let ended = bench.wait(key);
        assert_eq!(ended.code, code, "{end}: {:#}", ended.json);
        for (name, word) in [("stdout.txt", "use [redacted"), ("stderr.txt", "or [redacted")] {
            let kept = contents(folder, name);
            assert!(kept.starts_with(word) && !kept.contains(&token), "{end}: {name}: {kept}");
        }
        ended.assert_nothing_left();
    }
}

#[test]
fn no_lane_finds_what_agents_obey_unless_it_says_so() {
    let bench = GateWorld::with_config(
        "gate:\n  lanes:\n    lists: {command: [lane, lists]}\n    alike: {like: claude, command: [lane, \
         lists]}\n    all: {command: [lane, lists], hide: []}\n    some: {like: codex, command: [lane, \
         lists], hide: [.env]}\n",
    );
    let planted = [
        ".claude/settings.json",
        ".codex/config.toml",
        ".env",
        ".gemini/settings.json",
        ".mcp.json",
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "sub/.env",
        "sub/CLAUDE.md",
    ];
    for file in planted {
        bench.repo.write(file, "{}\n");
    }
    bench.repo.commit("settings");
    let ended = bench.review("lists,alike,all,some", &[]);
    let folder = ended.json["report"]["session_dir"].as_str().unwrap().to_owned();
    let seen = |lane: &str| {
        let listed = std::fs::read_to_string(format!("{folder}/lanes/{lane}/review/stderr.txt"));
        let listed = listed.unwrap();
        assert!(listed.contains("./a.py\n"), "{lane}: {listed}");
        planted.iter().filter(|file| listed.contains(&format!("./{file}\n"))).count()
    };
    assert_eq!([seen("lists"), seen("alike")], [0, 0]);
    assert_eq!([seen("all"), seen("some")], [planted.len(), planted.len() - 2]);
}

#[test]
fn what_cannot_be_read_hides_nothing() {
    let bench = GateWorld::new();
    let (old, new) = (bench.review("pass", &[]), bench.review("fail", &[]));
    let file = |key: &str, name: &str| bench.repo.path(format!(".mala/gate/{key}/{name}"));
    std::fs::write(file(&old.key, "result.json"), "{").unwrap();
    let (code, stdout, _) = bench.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&stdout).unwrap();
    let states: Vec<&str> =
        listed.as_array().unwrap().iter().filter_map(|it| it["state"].as_str()).collect();
    assert_eq!((code, states), (0, vec!["done", "broken"]));
    std::fs::write(file(&new.key, "session.json"), "{").unwrap();
    // No older one takes its place.
    let shown = bench.world.run(&["wait"]).replace(&new.key, "[KEY]");
    assert_snapshot!(shown, @"
    [exit 5]
    [stderr]
    error: cannot read the most recent session: [WORK]/.mala/gate/[KEY]/session.json: EOF while parsing an object at line 1 column 1 (run `review-gate clean --older-than 0s` to remove it)
    ");
    let (code, _, said) = bench.run(&["clean"]);
    assert_eq!((code, said.as_str()), (0, "0 sessions removed\n"), "it is young");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let (code, _, said) = bench.run(&["clean", "--older-than", "1s"]);
    assert_eq!((code, said.as_str()), (0, "2 sessions removed\n"));
    assert_snapshot!(bench.world.run(&["wait"]), @"
    [exit 5]
    [stderr]
    error: no session in this repository
    hint: run `review-gate spawn-code-review --diff BASE..HEAD` to start one
    ");
    let newest = bench.review_apart("pass");
    let (code, stdout, _) = bench.run(&["wait", "--json"]);
    assert!(code == 0 && stdout.contains(&newest.key), "{stdout}");
}

#[test]
fn what_is_over_and_cannot_be_read_is_cleaned_at_once() {
    let bench = GateWorld::new();
    for broken in ["session.json", "result.json"] {
        let ended = bench.review("pass", &[]);
        let file = bench.repo.path(format!(".mala/gate/{}/{broken}", ended.key));
        std::fs::write(&file, "{").unwrap();
        let (code, _, said) = bench.run(&["clean", "--older-than", "0s"]);
        assert_eq!((code, said.as_str()), (0, "1 session removed\n"), "{broken}");
    }
    let running = bench.spawn(&["--lanes", "never"]);
    let key = running["session_key"].as_str().unwrap();
    let file = bench.repo.path(format!(".mala/gate/{key}/session.json"));
    let session = std::fs::read(&file).unwrap();
    std::fs::write(&file, "{").unwrap();
    let (_, _, said) = bench.run(&["clean", "--older-than", "0s"]);
    assert_eq!(said, "0 sessions removed\n", "one that runs stays");
    std::fs::write(&file, session).unwrap();
    bench.run(&["cancel"]);
}
