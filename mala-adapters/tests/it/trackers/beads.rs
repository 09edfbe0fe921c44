//! The two `bd` programs that `scripts/install-tools` installs, and scripts that are no tracker at all.

use super::draft;
use crate::git::{environment, wait};
use mala_adapters::process::{self, ProcessEnvironment};
use mala_adapters::trackers::BeadsTracker;
use mala_domain::ports::{Tracker, TrackerError};
use mala_domain::run::issue::{IssueDraft, IssueId, IssueKind, IssueStatus, TrackerIssue};
use mala_testkit::TestRepo;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PROGRAMS: [&str; 2] = ["beads-rs", "rusty-beads"];

/// A repository with an initialised tracker. What the tracker starts ends with it.
struct Beads {
    name: &'static str,
    repo: TestRepo,
    runtime: tempfile::TempDir,
}

impl Beads {
    fn new(name: &'static str) -> Self {
        let repo = TestRepo::with_files(&[("a.txt", "one\n")]);
        repo.git(&["init", "-q", "--bare", "../origin.git"]);
        repo.git(&["remote", "add", "origin", "../origin.git"]);
        repo.git(&["push", "-q", "origin", "main"]);
        std::fs::create_dir_all(repo.beside("home")).unwrap();
        // The path of a socket is short.
        let runtime = tempfile::tempdir().unwrap();
        let beads = Self { name, repo, runtime };
        beads.bd(&["init"]);
        beads
    }

    fn program(&self) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let folder = root.join(".tools/trackers").join(self.name).join("bin");
        assert!(folder.join("bd").exists(), "bd is missing: run scripts/install-tools");
        folder
    }

    fn variables(&self) -> ProcessEnvironment {
        let variables = environment(&self.repo);
        let path = variables.get("PATH").unwrap().to_owned();
        let folders = [self.program()].into_iter().chain(std::env::split_paths(&path));
        variables
            .with("PATH", std::env::join_paths(folders).unwrap())
            .with("XDG_RUNTIME_DIR", self.runtime.path())
            .with("GIT_CONFIG_GLOBAL", "/dev/null")
    }

    /// Runs the program as its user would.
    fn bd(&self, arguments: &[&str]) -> String {
        let output = Command::new(self.program().join("bd"))
            .args(arguments)
            .current_dir(self.repo.root())
            .env_clear()
            .envs(self.variables().iter())
            .env("BD_NO_AUTO_UPGRADE", "1")
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: bd {arguments:?}: {complaint}", self.name);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn tracker(&self) -> BeadsTracker {
        wait(BeadsTracker::open(self.repo.root().to_owned(), &self.variables())).unwrap()
    }

    /// Creates an issue with options of this program, and returns its id.
    fn add(&self, title: &str, epic: bool, parent: Option<&IssueId>) -> IssueId {
        let title = format!("--title={title}");
        let kind = match (epic, self.name) {
            (false, _) => "--priority=2",
            (true, "beads-rs") => "--type=epic",
            (true, _) => "--issue-type=epic",
        };
        let parent = parent.map(|id| format!("--parent={id}"));
        let json = if self.name == "beads-rs" { "--json=true" } else { "--json" };
        let mut arguments = vec![json, "create", &title, "--description=text", kind];
        arguments.extend(parent.as_deref());
        let printed = self.bd(&arguments);
        let value: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let id = value["id"].as_str().or(value["data"]["id"].as_str());
        IssueId::new(id.unwrap())
    }
}

impl Drop for Beads {
    fn drop(&mut self) {
        let meta = std::fs::read(self.runtime.path().join("beads/daemon.meta.json"));
        let meta: serde_json::Value =
            serde_json::from_slice(&meta.unwrap_or_default()).unwrap_or_default();
        if let Some(pid) = meta["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()) {
            process::kill(pid);
        }
    }
}

fn find<'i>(issues: &'i [TrackerIssue], id: &IssueId) -> &'i TrackerIssue {
    issues.iter().find(|issue| issue.id == *id).unwrap()
}

#[test]
fn both_programs_say_the_same_about_their_issues() {
    for name in PROGRAMS {
        let beads = Beads::new(name);
        let epic = beads.add("All", true, None);
        let first = beads.add("First", false, Some(&epic));
        let second = beads.add("Second", false, Some(&epic));
        beads.bd(&["dep", "add", second.as_str(), first.as_str()]);
        let tracker = beads.tracker();
        let related =
            IssueDraft { related_to: Some(first.clone()), ..draft("--help; \"$(x)\"\n'") };
        let filed = wait(tracker.create(&related)).unwrap();

        let issues = wait(tracker.issues()).unwrap();
        assert_eq!(issues.len(), 4, "{name}: {issues:#?}");
        assert_eq!(find(&issues, &epic).kind, IssueKind::Epic, "{name}");
        let issue = find(&issues, &second);
        assert_eq!((issue.kind, issue.status), (IssueKind::Work, IssueStatus::Open), "{name}");
        assert_eq!(
            (issue.parent.as_ref(), &issue.blocked_by),
            (Some(&epic), &vec![first.clone()]),
            "{name}"
        );
        assert_eq!((issue.title.as_str(), issue.body.as_str()), ("Second", "text"), "{name}");
        let issue = find(&issues, &filed);
        assert_eq!(issue.title, "--help; \"$(x)\" '", "{name}");
        assert!(
            issue.body.contains("All of it.") && issue.body.contains("\nFinding: k1\n"),
            "{name}: {issue:?}"
        );
        assert_eq!(
            (issue.priority, issue.blocked_by.len(), &issue.parent),
            (1, 0, &None),
            "{name}"
        );
        let mut labels: Vec<_> = issue.labels.iter().map(|label| label.len()).collect();
        labels.sort_unstable();
        assert_eq!(labels, [14, 50], "{name}");
    }
}

#[test]
fn both_programs_claim_release_and_close() {
    for name in PROGRAMS {
        let beads = Beads::new(name);
        let epic = beads.add("All", true, None);
        let first = beads.add("First", false, Some(&epic));
        let tracker = beads.tracker();
        // A claim holds only for the one who made it.
        let claimed = wait(tracker.claim(&first, "mala-run-1")).unwrap();
        assert_eq!(
            (claimed.status, claimed.assignee.as_deref()),
            (IssueStatus::InProgress, Some("mala-run-1")),
            "{name}"
        );
        let other = wait(beads.tracker().claim(&first, "mala-run-2")).unwrap();
        assert_ne!(other.assignee.as_deref(), Some("mala-run-2"), "{name}");
        assert_eq!(other.status, IssueStatus::InProgress, "{name}");
        wait(tracker.release(&first, "no progress")).unwrap();
        assert_eq!(wait(tracker.issue(&first)).unwrap().status, IssueStatus::Open, "{name}");

        // Closed issues stay visible, and closing twice is no error.
        wait(tracker.close(&first, "done")).unwrap();
        wait(tracker.close(&first, "done")).unwrap();
        for _ in 0..2 {
            let issues = wait(tracker.issues()).unwrap();
            assert_eq!(find(&issues, &first).status, IssueStatus::Closed, "{name}");
            assert_eq!(
                (issues.len(), find(&issues, &first).parent.as_ref()),
                (2, Some(&epic)),
                "{name}"
            );
        }
        let closed = wait(tracker.claim(&first, "mala-run-3")).unwrap();
        assert_eq!(closed.status, IssueStatus::Closed, "{name}");
        for unknown in ["nope-123", "--help", ""] {
            let id = IssueId::new(unknown);
            assert_eq!(wait(tracker.issue(&id)), Err(TrackerError::Unknown(id.clone())), "{name}");
            assert_eq!(wait(tracker.close(&id, "x")), Err(TrackerError::Unknown(id)), "{name}");
        }
    }
}

/// A tracker that is this script.
fn scripted(script: &str) -> (TestRepo, Result<BeadsTracker, TrackerError>) {
    let repo = TestRepo::with_files(&[("a.txt", "one\n")]);
    let folder = repo.beside("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("bd");
    let help = r#"if [ "$1" = --help ]; then echo "  search  x"; exit; fi"#;
    std::fs::write(&program, format!("#!/bin/sh\n{help}\n{script}\n")).unwrap();
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let variables = environment(&repo).with("PATH", path);
    let tracker = wait(BeadsTracker::open(repo.root().to_owned(), &variables));
    (repo, tracker)
}

#[test]
fn a_tracker_that_fails_is_an_error_and_never_an_empty_list() {
    let failed = |why: &str| TrackerError::Failed(why.to_owned());
    for (script, expected) in [
        ("exit 3", failed("bd list: exit 3: no message")),
        (
            "echo '{\"error\": \"locked\"}'; exit 1",
            failed("bd list: exit 1: {\"error\": \"locked\"}"),
        ),
        ("echo oops >&2; exit 1", failed("bd list: exit 1: oops")),
        ("", failed("bd list: its answer is not JSON: ")),
        ("echo hello; printf '\\033[2J'", failed("bd list: its answer is not JSON: hello[2J")),
        ("echo '{\"x\": 1}'", failed("bd list: cannot read its answer: {\"x\":1}")),
        ("echo '[{\"id\": \"a\"}]'", failed("bd list: cannot read its answer: {\"id\":\"a\"}")),
        (
            "echo 'error: no_remote - x' >&2; exit 1",
            TrackerError::Unavailable("bd list: exit 1: error: no_remote - x".to_owned()),
        ),
        ("sleep 60", TrackerError::TimedOut("bd list: no answer in 1 s".to_owned())),
    ] {
        let (_repo, tracker) = scripted(script);
        let tracker = tracker.unwrap().within(Duration::from_secs(1));
        assert_eq!(wait(tracker.issues()), Err(expected), "{script}");
    }
    let repo = TestRepo::new();
    let none = environment(&repo).with("PATH", "/nowhere");
    let missing = wait(BeadsTracker::open(repo.root().to_owned(), &none)).err();
    assert_eq!(missing, Some(TrackerError::Unavailable("`bd` is not on PATH".to_owned())));
}

#[test]
fn upstream_answers_and_a_lost_claim_are_read() {
    let issue = |status: &str, assignee: &str| {
        format!(
            r#"[{{"id":"bd-1","title":"One","status":"{status}","priority":0,"assignee":"{assignee}"}}]"#
        )
    };
    let script = format!(
        r#"case "$*" in
        "--json list --all --limit=0") echo 'Note: new version'; echo '{{"schema_version":1,"data":{open}}}';;
        "--json show bd-1") if [ -e claimed ]; then echo '{lost}'; else echo '{open}'; fi;;
        "--json update bd-1 --status=in_progress --assignee=mala") touch claimed; echo '{won}';;
        "--json show bd-2") echo 'Error: issue not found: bd-2' >&2; exit 1;;
        *) echo "unexpected: $*" >&2; exit 9;; esac"#,
        open = issue("open", ""),
        lost = issue("in_progress", "other"),
        won = issue("in_progress", "mala"),
    );
    let (_repo, tracker) = scripted(&script);
    let tracker = tracker.unwrap();
    let issues = wait(tracker.issues()).unwrap();
    assert_eq!((issues.len(), issues[0].priority, &issues[0].assignee), (1, 0, &None));
    // The answer of the claim says one thing, and the next read another.
    let claimed = wait(tracker.claim(&IssueId::new("bd-1"), "mala")).unwrap();
    assert_eq!(claimed.assignee.as_deref(), Some("other"));
    let unknown = IssueId::new("bd-2");
    assert_eq!(wait(tracker.issue(&unknown)), Err(TrackerError::Unknown(unknown.clone())));
}
