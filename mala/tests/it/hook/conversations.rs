//! Conversations from start to stop, one row each: what the agent does, and the files that are reviewed
//! then. The rule is that of docs/hook.md.

use super::bench::{HookWorld, blocks};
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

const SETTINGS: &str = "gate: {lanes: {all: {command: [all]}}}\n";

/// A repository with a remote, the hook, and a file of its own for each way to change it.
struct Scene {
    bench: HookWorld,
}

impl Scene {
    fn new() -> Self {
        let mut bench = HookWorld::with_config(SETTINGS);
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

    /// Performs steps like `edit a.py; commit b.py; checkout -q main`. What is not a step of this table is
    /// a git command.
    fn perform(&self, steps: &str) {
        let repo = &self.bench.repo;
        for step in steps.split("; ").filter(|step| !step.is_empty()) {
            match step.split(' ').collect::<Vec<_>>().as_slice() {
                ["edit", file] => repo.write(file, "new = 1\n"),
                ["edit", file, name] => repo.write(file, format!("{name} = 1\n")),
                ["commit", file @ ..] => {
                    self.perform(&format!("edit {}", file.join(" ")));
                    repo.commit(step);
                }
                ["others", branch, file] => self.others(branch, file),
                ["as-others", args @ ..] => as_other(repo.root(), args),
                ["try", args @ ..] => {
                    repo.try_git(args);
                }
                ["settings", comment] => {
                    repo.write("mala.yaml", format!("{SETTINGS}# {comment}\n"));
                }
                ["submodule"] => {
                    self.perform("clone -q . sub; add sub");
                    repo.commit_staged("a submodule");
                }
                ["git", args @ ..] => {
                    repo.git(args);
                }
                args => {
                    repo.git(args);
                }
            }
        }
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

/// The steps before the start, those of the conversation, and what is reviewed.
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("no change", "", "", ""),
    ("an edit", "", "edit a.py", "a.py"),
    ("a new file", "", "edit d.py", "d.py"),
    ("an ignored file", "", "edit ignored", ""),
    ("a commit", "", "commit a.py", "a.py"),
    ("a commit and an edit", "", "commit a.py; edit b.py", "a.py b.py"),
    ("a new branch", "", "checkout -qb topic; commit a.py", "a.py"),
    ("a new branch and back", "", "checkout -qb topic; commit a.py; checkout -q main", "a.py"),
    (
        "a new branch, a push and back",
        "",
        "checkout -qb topic; commit a.py; push -q origin topic; checkout -q main",
        "a.py",
    ),
    (
        "two branches",
        "",
        "checkout -qb one; commit a.py; checkout -qb two main; commit b.py",
        "a.py b.py",
    ),
    ("a pushed commit", "", "commit a.py; push -q origin main", "a.py"),
    (
        "a commit in a second work tree",
        "",
        "worktree add -q -b topic ../linked; edit ../linked/b.py; -C ../linked commit -qam linked",
        "b.py",
    ),
    (
        "an edit in a second work tree",
        "",
        "worktree add -q -b topic ../linked; edit ../linked/b.py",
        "",
    ),
    ("a pull", "", "others main theirs.py; pull -q", ""),
    (
        "a rebase onto others' commits",
        "",
        "commit a.py; others main theirs.py; pull -q --rebase",
        "a.py",
    ),
    ("a pull that merges", "", "commit a.py; others main theirs.py; pull -q --no-edit", "a.py"),
    (
        "a merge of a branch that was there",
        "checkout -qb side; commit d.py; checkout -q main; commit b.py",
        "merge -q --no-edit side",
        "",
    ),
    (
        "a merge with a conflict",
        "checkout -qb side; commit a.py side; checkout -q main; commit a.py main",
        "try merge -q side; commit a.py both",
        "a.py",
    ),
    (
        "a merge with a conflict in the settings",
        "checkout -qb side; settings side; git commit -qam side; checkout -q main; settings main; \
         git commit -qam main",
        "try merge -q side; settings both; git commit -qam both",
        "mala.yaml",
    ),
    ("an amended commit", "", "edit a.py; git commit -qa --amend -m other", "a.py c.py"),
    ("a stash", "", "edit a.py; stash -q", ""),
    ("a stash from before", "edit a.py; stash -q", "stash pop -q", "a.py"),
    ("an edit from before", "edit a.py", "", ""),
    ("an edit beside one from before", "edit a.py", "edit b.py", "b.py"),
    ("another edit of a file from before", "edit a.py", "edit a.py newer", "a.py"),
    ("an edit from before that is committed", "edit a.py", "git commit -qam late", "a.py"),
    (
        "a commit of others that is picked",
        "",
        "others topic theirs.py; fetch -q; cherry-pick origin/topic",
        "theirs.py",
    ),
    ("a branch of others", "", "others topic theirs.py; fetch -q; checkout -q topic", ""),
    ("a commit that is undone", "", "commit a.py; reset -q --hard HEAD~1", ""),
    ("a commit that is reverted", "", "commit a.py; revert --no-edit HEAD", ""),
    ("a commit without a branch", "", "checkout -q --detach; commit a.py", "a.py"),
    ("an old branch that is checked out", "", "checkout -q old", ""),
    (
        "a branch that is merged and deleted",
        "",
        "checkout -qb topic; commit a.py; checkout -q main; merge -q topic; branch -qD topic",
        "a.py",
    ),
    ("a commit in the name of others", "", "edit a.py; as-others commit -qam others", ""),
    ("a submodule that was dirty before", "submodule; edit sub/a.py", "", ""),
    ("a submodule that is changed", "submodule", "edit sub/a.py", ""),
];

#[test]
fn a_conversation_is_reviewed_for_what_it_changed() {
    for (what, before, during, expected) in ROWS {
        let scene = Scene::new();
        scene.perform(before);
        scene.bench.begin();
        scene.perform(during);
        assert_eq!(scene.reviewed(), *expected, "{what}");
        // A conversation that is resumed goes on where it was, and what passed is not reviewed again.
        let n_prompts = scene.prompts().len();
        scene.bench.begin();
        scene.bench.stop(true);
        let is_blocked = expected.starts_with("blocked");
        assert!(is_blocked || scene.prompts().len() == n_prompts, "{what}: reviewed again");
    }
}
