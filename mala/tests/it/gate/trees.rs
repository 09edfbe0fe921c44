//! One repository with several work trees: a session of one of them is one of the repository.

use super::bench::GateWorld;
use insta::assert_snapshot;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Exit code, stdout and stderr of `review-gate` in a folder.
fn run_in(bench: &GateWorld, folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut gate = bench.world.command(env!("CARGO_BIN_EXE_review-gate"));
    let output = gate.args(args).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn key_of(text: &str) -> String {
    let json: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let key = json["session_key"].as_str().or(json["report"]["session_key"].as_str());
    key.unwrap_or_else(|| panic!("no key: {text}")).to_owned()
}

/// Starts a session in a work tree and waits for it; gives its key.
fn review_in(bench: &GateWorld, folder: &Path, lane: &str) -> String {
    let args = ["spawn-code-review", "--diff", "HEAD~1..HEAD", "--lanes", lane];
    let (code, stdout, stderr) = run_in(bench, folder, &args);
    assert_eq!(code, 0, "{stderr}");
    let key = key_of(&stdout);
    run_in(bench, folder, &["wait", "--session-key", &key]);
    key
}

/// A second work tree, with a name that is as hard to read as any.
fn linked(bench: &GateWorld) -> PathBuf {
    let tree = bench.repo.beside("linked\nworktree \"tree\\");
    bench.repo.git(&["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
    tree
}

/// 001-038: the most recent session of this work tree, then of the repository.
#[test]
fn without_a_key_a_session_of_this_work_tree_goes_first() {
    let bench = GateWorld::new();
    let main = bench.repo.root().to_owned();
    let tree = linked(&bench);
    let first = review_in(&bench, &main, "pass");
    let (code, stdout, stderr) = run_in(&bench, &tree, &["wait", "--json"]);
    assert_eq!((code, key_of(&stdout)), (0, first.clone()), "the repository's: {stdout}");
    // It names the other work tree. The session may be some seconds old.
    let said = bench.world.clean(&stderr);
    let (start, end) = said.split_once(" s ago").unwrap();
    let start = start.trim_end_matches(|c: char| c.is_ascii_digit());
    assert_snapshot!(format!("{start}N s ago{end}"), @"session [KEY] in [WORK], started N s ago: HEAD~1..HEAD");
    let second = review_in(&bench, &tree, "fail");
    for (folder, expected, key) in [(&main, 0, &first), (&tree, 1, &second)] {
        let (code, stdout, stderr) = run_in(&bench, folder, &["wait", "--json"]);
        assert_eq!((code, &key_of(&stdout)), (expected, key), "{stdout}");
        assert!(stderr.contains(&format!("session {key}, started ")), "{stderr}");
        assert_eq!(key_of(&run_in(&bench, folder, &["status", "--json"]).1), *key);
        for (key, expected) in [(&first, 0), (&second, 1)] {
            let (code, _, stderr) = run_in(&bench, folder, &["wait", "--session-key", key]);
            assert_eq!((code, stderr.as_str()), (expected, ""), "by its key");
        }
    }
    std::fs::write(main.join(format!(".mala/gate/{first}/session.json")), "{").unwrap();
    assert_snapshot!(bench.world.run(&["wait"]), @"
    [exit 5]
    [stderr]
    error: cannot read the most recent session: [WORK]/.mala/gate/[KEY]/session.json: EOF while parsing an object at line 1 column 1 (run `review-gate clean --older-than 0s` to remove it)
    ");
}

#[test]
fn the_list_names_other_work_trees_and_cleaning_takes_them() {
    let bench = GateWorld::new();
    let tree = linked(&bench);
    let (here, there) =
        (review_in(&bench, bench.repo.root(), "pass"), review_in(&bench, &tree, "fail"));
    let (_, stdout, _) = bench.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&stdout).unwrap();
    let shown = |at: usize| (listed[at]["session_key"].clone(), listed[at]["work_tree"].clone());
    let text = |path: &Path| Value::from(path.to_str().unwrap());
    assert_eq!(shown(0), (there.clone().into(), text(&tree)));
    assert_eq!(shown(1), (here.clone().into(), text(bench.repo.root())));
    let (_, stdout, _) = bench.run(&["list"]);
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].starts_with(&there) && lines[0].contains("lanes over  in /"), "{stdout}");
    assert!(lines.last().unwrap().ends_with("1 of 1 lanes over"), "{stdout}");
    let (_, _, said) = bench.run(&["clean", "--older-than", "0s"]);
    assert_eq!(said, "2 sessions removed\n");
    assert_eq!(run_in(&bench, &tree, &["list"]).1, "");
}

#[test]
fn what_took_the_place_of_a_work_tree_is_not_believed() {
    let bench = GateWorld::new();
    let tree = linked(&bench);
    let failed = review_in(&bench, bench.repo.root(), "fail");
    std::fs::remove_dir_all(&tree).unwrap();
    assert_eq!(bench.run(&["wait"]).0, 1, "one that is gone does no harm");
    bench.repo.git(&["clone", "-q", ".", tree.to_str().unwrap()]);
    let foreign = review_in(&bench, &tree, "pass");
    let (code, stdout, _) = bench.run(&["wait", "--json"]);
    assert_eq!((code, key_of(&stdout)), (1, failed));
    assert_eq!(bench.run(&["wait", "--session-key", &foreign]).0, 5);
    assert!(!bench.run(&["list"]).1.contains(&foreign));
    // Nor when it says that it is of this repository.
    let common = bench.repo.path(".git");
    std::fs::write(tree.join(".git/commondir"), common.to_str().unwrap()).unwrap();
    assert_eq!(bench.run(&["wait", "--session-key", &foreign]).0, 5);
}

/// A copy borrows the objects of the repository, wherever they are and however they are named.
#[test]
fn every_kind_of_repository_is_reviewed() {
    for kind in ["sha256", "linked", "shallow"] {
        let GateWorld { repo, world } = GateWorld::new();
        let folder = repo.beside(kind);
        let path = folder.to_str().unwrap();
        match kind {
            "linked" => drop(repo.git(&["worktree", "add", "-q", "-b", "topic", path])),
            "shallow" => {
                let origin = format!("file://{}", repo.root().display());
                repo.git(&["clone", "-q", "--depth", "2", &origin, path]);
            }
            _ => {
                repo.git(&["init", "-q", "--object-format=sha256", path]);
                for revision in ["HEAD~1", "HEAD"] {
                    for file in ["mala.yaml", "a.py"] {
                        let text = repo.git(&["show", &format!("{revision}:{file}")]);
                        std::fs::write(folder.join(file), text + "\n").unwrap();
                    }
                    repo.git(&["-C", path, "add", "-A"]);
                    repo.git(&["-C", path, "commit", "-q", "-m", revision]);
                }
            }
        }
        let bench = GateWorld { world: world.in_folder(&folder), repo };
        let ended = bench.review("pass", &[]);
        assert_eq!((ended.code, ended.verdict()), (0, "PASS"), "{kind}: {:#}", ended.json);
        ended.assert_nothing_left();
    }
}
