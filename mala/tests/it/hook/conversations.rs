//! Conversations from start to stop, one row each: what the agent does, and the files that are reviewed
//! then. The rule is that of docs/hook.md.

use super::bench::{Bench, blocks};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A lane that passes everything and accounts for every region that its prompt lists.
const ALL: &str = r#"
prompt=$(cat)
nonce=$(printf '%s\n' "$prompt" | sed -n 's/^Your `nonce`: //p')
head=$(printf '%s\n' "$prompt" | sed -n 's/^The commit under review (`head_sha`): //p')
reviewed=$(printf '%s\n' "$prompt" | sed -n 's/^\([^ ]*\): \(1 (lines [0-9]*-[0-9]*).*\)$/\1|\2/p' |
    sed 's/ (lines [0-9]*-[0-9]*)//g; s/\(.*\)|\(.*\)/{"file_path":"\1","hunks":[\2]}/; $!s/$/,/')
printf '{"nonce":"%s","head_sha":"%s","verdict":"PASS","summary":"s","findings":[],"reviewed":[%s]}\n' \
    "$nonce" "$head" "$reviewed"
"#;

/// A repository with a remote, the hook, and a file of its own for each way to change it.
struct Scene {
    bench: Bench,
}

impl Scene {
    fn new() -> Self {
        let mut bench = Bench::with_config("gate: {lanes: {all: {command: [all]}}}\n");
        bench.world = bench.world.with_program("all", ALL);
        let repo = &bench.repo;
        repo.write(".gitignore", "ignored\n");
        repo.write("b.py", "b = 1\n");
        repo.commit("more");
        repo.write("c.py", "c = 1\n");
        repo.commit("the last one");
        repo.git(&["branch", "old", "HEAD~1"]);
        let origin = repo.beside("origin.git");
        repo.git(&["clone", "-q", "--bare", ".", origin.to_str().unwrap()]);
        repo.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
        repo.git(&["fetch", "-q", "origin"]);
        repo.git(&["branch", "-q", "--set-upstream-to=origin/main"]);
        repo.git(&["config", "pull.rebase", "false"]);
        Self { bench }
    }

    fn write(&self, file: &str, text: &str) {
        self.bench.repo.write(file, text);
    }

    fn git(&self, args: &[&str]) {
        self.bench.repo.git(args);
    }

    fn commit(&self, file: &str, text: &str) {
        self.write(file, text);
        self.bench.repo.commit(file);
    }

    /// Others publish a commit on this branch.
    fn others(&self, branch: &str, file: &str) {
        let clone = self.bench.repo.beside(&format!("others-{}", file.replace('.', "-")));
        let origin = self.bench.repo.beside("origin.git");
        as_other(
            Path::new("/"),
            &["clone", "-q", origin.to_str().unwrap(), clone.to_str().unwrap()],
        );
        as_other(&clone, &["checkout", "-qB", branch]);
        std::fs::write(clone.join(file), "theirs = 1\n").unwrap();
        as_other(&clone, &["add", "-A"]);
        as_other(&clone, &["commit", "-qm", "theirs"]);
        as_other(&clone, &["push", "-q", "origin", branch]);
    }

    /// The files of all sessions, or what the hook says instead.
    fn reviewed(&self) -> String {
        let answer = self.bench.stop(false);
        let mut files: Vec<String> = self.prompts().iter().flat_map(regions).collect();
        files.sort();
        files.dedup();
        if blocks(&answer) { format!("blocked: {}", files.join(" ")) } else { files.join(" ") }
    }

    fn prompts(&self) -> Vec<PathBuf> {
        let gate = self.bench.repo.path(".mala/gate");
        let sessions = self.bench.sessions().into_iter();
        sessions
            .map(|key| gate.join(key).join("lanes/all/review/prompt.md"))
            .filter(|path| path.exists())
            .collect()
    }
}

/// The files of a prompt that are to be reviewed.
fn regions(prompt: &PathBuf) -> Vec<String> {
    let text = std::fs::read_to_string(prompt).unwrap();
    let line = |line: &str| Some(line.split_once(": 1 (lines ")?.0.to_owned());
    text.lines().filter_map(line).collect()
}

fn as_other(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(args).current_dir(folder);
    for (name, value) in [("NAME", "Bob"), ("EMAIL", "bob@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value);
        command.env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

type Row = (&'static str, fn(&Scene), fn(&Scene), &'static str);

fn nothing(_: &Scene) {}

const NEW: &str = "new = 1\n";

/// What there is before the start, what the conversation does, and what is reviewed.
const ROWS: &[Row] = &[
    ("no change", nothing, nothing, ""),
    ("an edit", nothing, |it| it.write("a.py", NEW), "a.py"),
    ("a new file", nothing, |it| it.write("d.py", NEW), "d.py"),
    ("an ignored file", nothing, |it| it.write("ignored", NEW), ""),
    ("a commit", nothing, |it| it.commit("a.py", NEW), "a.py"),
    (
        "a commit and an edit",
        nothing,
        |it| {
            it.commit("a.py", NEW);
            it.write("b.py", NEW);
        },
        "a.py b.py",
    ),
    (
        "a new branch",
        nothing,
        |it| {
            it.git(&["checkout", "-qb", "topic"]);
            it.commit("a.py", NEW);
        },
        "a.py",
    ),
    (
        "a new branch and back",
        nothing,
        |it| {
            it.git(&["checkout", "-qb", "topic"]);
            it.commit("a.py", NEW);
            it.git(&["checkout", "-q", "main"]);
        },
        "a.py",
    ),
    (
        "a new branch, a push and back",
        nothing,
        |it| {
            it.git(&["checkout", "-qb", "topic"]);
            it.commit("a.py", NEW);
            it.git(&["push", "-q", "origin", "topic"]);
            it.git(&["checkout", "-q", "main"]);
        },
        "a.py",
    ),
    (
        "two branches",
        nothing,
        |it| {
            it.git(&["checkout", "-qb", "one"]);
            it.commit("a.py", NEW);
            it.git(&["checkout", "-qb", "two", "main"]);
            it.commit("b.py", NEW);
        },
        "a.py b.py",
    ),
    (
        "a pushed commit",
        nothing,
        |it| {
            it.commit("a.py", NEW);
            it.git(&["push", "-q", "origin", "main"]);
        },
        "a.py",
    ),
    (
        "a commit in a second work tree",
        nothing,
        |it| {
            let linked = it.bench.repo.beside("linked");
            let linked = linked.to_str().unwrap();
            it.git(&["worktree", "add", "-q", "-b", "topic", linked]);
            std::fs::write(format!("{linked}/b.py"), NEW).unwrap();
            it.git(&["-C", linked, "commit", "-qam", "linked"]);
        },
        "b.py",
    ),
    (
        "an edit in a second work tree",
        nothing,
        |it| {
            let linked = it.bench.repo.beside("linked");
            let linked = linked.to_str().unwrap();
            it.git(&["worktree", "add", "-q", "-b", "topic", linked]);
            std::fs::write(format!("{linked}/b.py"), NEW).unwrap();
        },
        "",
    ),
    (
        "a pull",
        nothing,
        |it| {
            it.others("main", "theirs.py");
            it.git(&["pull", "-q"]);
        },
        "",
    ),
    (
        "a rebase onto others' commits",
        nothing,
        |it| {
            it.commit("a.py", NEW);
            it.others("main", "theirs.py");
            it.git(&["pull", "-q", "--rebase"]);
        },
        "a.py",
    ),
    (
        "a pull that merges",
        nothing,
        |it| {
            it.commit("a.py", NEW);
            it.others("main", "theirs.py");
            it.git(&["pull", "-q", "--no-edit"]);
        },
        "a.py",
    ),
    (
        "a merge of a branch that was there",
        |it| {
            it.git(&["checkout", "-qb", "side"]);
            it.commit("d.py", NEW);
            it.git(&["checkout", "-q", "main"]);
            it.commit("b.py", NEW);
        },
        |it| it.git(&["merge", "-q", "--no-edit", "side"]),
        "",
    ),
    (
        "a merge with a conflict",
        |it| {
            it.git(&["checkout", "-qb", "side"]);
            it.commit("a.py", "side = 1\n");
            it.git(&["checkout", "-q", "main"]);
            it.commit("a.py", "main = 1\n");
        },
        |it| {
            it.bench.repo.try_git(&["merge", "-q", "side"]);
            it.commit("a.py", "both = 1\n");
        },
        "a.py",
    ),
    (
        "an amended commit",
        nothing,
        |it| {
            it.write("a.py", NEW);
            it.git(&["commit", "-qa", "--amend", "-m", "other"]);
        },
        "a.py c.py",
    ),
    (
        "a stash",
        nothing,
        |it| {
            it.write("a.py", NEW);
            it.git(&["stash", "-q"]);
        },
        "",
    ),
    (
        "a stash from before",
        |it| {
            it.write("a.py", NEW);
            it.git(&["stash", "-q"]);
        },
        |it| it.git(&["stash", "pop", "-q"]),
        "a.py",
    ),
    ("an edit from before", |it| it.write("a.py", NEW), nothing, ""),
    (
        "an edit beside one from before",
        |it| it.write("a.py", NEW),
        |it| it.write("b.py", NEW),
        "b.py",
    ),
    (
        "another edit of a file from before",
        |it| it.write("a.py", NEW),
        |it| it.write("a.py", "newer = 1\n"),
        "a.py",
    ),
    (
        "an edit from before that is committed",
        |it| it.write("a.py", NEW),
        |it| it.git(&["commit", "-qam", "late"]),
        "a.py",
    ),
    (
        "a commit of others that is picked",
        nothing,
        |it| {
            it.others("topic", "theirs.py");
            it.git(&["fetch", "-q"]);
            it.git(&["cherry-pick", "origin/topic"]);
        },
        "theirs.py",
    ),
    (
        "a branch of others",
        nothing,
        |it| {
            it.others("topic", "theirs.py");
            it.git(&["fetch", "-q"]);
            it.git(&["checkout", "-q", "topic"]);
        },
        "",
    ),
    (
        "a commit that is undone",
        nothing,
        |it| {
            it.commit("a.py", NEW);
            it.git(&["reset", "-q", "--hard", "HEAD~1"]);
        },
        "",
    ),
    (
        "a commit that is reverted",
        nothing,
        |it| {
            it.commit("a.py", NEW);
            it.git(&["revert", "--no-edit", "HEAD"]);
        },
        "",
    ),
    (
        "a commit without a branch",
        nothing,
        |it| {
            it.git(&["checkout", "-q", "--detach"]);
            it.commit("a.py", NEW);
        },
        "a.py",
    ),
    ("an old branch that is checked out", nothing, |it| it.git(&["checkout", "-q", "old"]), ""),
    (
        "a branch that is merged and deleted",
        nothing,
        |it| {
            it.git(&["checkout", "-qb", "topic"]);
            it.commit("a.py", NEW);
            it.git(&["checkout", "-q", "main"]);
            it.git(&["merge", "-q", "topic"]);
            it.git(&["branch", "-qD", "topic"]);
        },
        "a.py",
    ),
    (
        "a commit in the name of others",
        nothing,
        |it| {
            it.write("a.py", NEW);
            as_other(it.bench.repo.root(), &["commit", "-qam", "as others"]);
        },
        "",
    ),
    (
        "a submodule that was dirty before",
        |it| {
            it.git(&["clone", "-q", ".", "sub"]);
            it.git(&["add", "sub"]);
            it.bench.repo.commit_staged("a submodule");
            it.write("sub/a.py", NEW);
        },
        nothing,
        "",
    ),
    (
        "a submodule that is changed",
        |it| {
            it.git(&["clone", "-q", ".", "sub"]);
            it.git(&["add", "sub"]);
            it.bench.repo.commit_staged("a submodule");
        },
        |it| it.write("sub/a.py", NEW),
        "blocked: ",
    ),
];

#[test]
fn a_conversation_is_reviewed_for_what_it_changed() {
    for (what, before, during, expected) in ROWS {
        let scene = Scene::new();
        before(&scene);
        scene.bench.begin();
        during(&scene);
        assert_eq!(scene.reviewed(), *expected, "{what}");
        // A conversation that is resumed goes on where it was, and what passed is not reviewed again.
        let n_prompts = scene.prompts().len();
        scene.bench.begin();
        scene.bench.stop(true);
        let is_blocked = expected.starts_with("blocked");
        assert!(is_blocked || scene.prompts().len() == n_prompts, "{what}: reviewed again");
    }
}
