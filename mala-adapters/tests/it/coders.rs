//! Coders as processes: scripted ones with every fault, and the real CLIs.

mod real;

use crate::git::{environment, open, wait};
use mala_adapters::coders::CoderProcess;
use mala_adapters::git::GitWorkspaces;
use mala_adapters::process::ProcessEnvironment;
use mala_domain::config::CoderTemplate;
use mala_domain::ports::{Coder, CoderEnd, CoderOrder, CoderSession, Workspace, Workspaces};
use mala_domain::run::coder::CoderSpec;
use mala_testkit::TestRepo;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// A repository with a coder that is a shell script, and a workspace for it.
struct Scene {
    repo: TestRepo,
    variables: ProcessEnvironment,
    workspaces: GitWorkspaces,
    workspace: Workspace,
}

impl Scene {
    fn new(script: &str) -> Self {
        let repo = TestRepo::with_files(&[("a.txt", "one\n")]);
        let script = format!("#!/bin/sh\n{script}\n");
        std::fs::write(repo.beside("agent.sh"), script).unwrap();
        std::fs::create_dir_all(repo.beside("home")).unwrap();
        let variables = environment(&repo);
        let root = repo.beside("workspaces");
        let workspaces = GitWorkspaces::new(open(&repo), root, variables.clone());
        let workspace = wait(workspaces.open("bd-1", &repo.head())).unwrap();
        Self { repo, variables, workspaces, workspace }
    }

    /// With bubblewrap on the path.
    fn confined(mut self) -> Self {
        let path = self.variables.get("PATH").unwrap().to_owned();
        let folders = [bubblewrap()].into_iter().chain(std::env::split_paths(&path));
        self.variables = self.variables.with("PATH", std::env::join_paths(folders).unwrap());
        self
    }

    fn coder(&self, arguments: &[&str]) -> CoderProcess {
        let command = ["sh".to_owned(), self.repo.beside("agent.sh").display().to_string()];
        let command = command.into_iter().chain(arguments.iter().map(|it| (*it).to_owned()));
        let template = CoderTemplate { command: command.collect(), ..CoderTemplate::default() };
        self.template(template)
    }

    fn template(&self, template: CoderTemplate) -> CoderProcess {
        let own = BTreeMap::from([("scripted".to_owned(), template)]);
        let spec = CoderSpec::find("scripted", &own).unwrap();
        wait(CoderProcess::new("scripted", spec, open(&self.repo), self.variables.clone()))
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new(&self.workspace.root).join(name)
    }
}

/// The bubblewrap that codex brings along.
fn bubblewrap() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let vendor = root.join(".tools/reviewers/node_modules/@openai/codex-linux-x64/vendor");
    let folder = vendor.join("x86_64-unknown-linux-musl/codex-resources");
    assert!(folder.join("bwrap").exists(), "codex is missing: run scripts/install-tools");
    folder
}

/// The limits of a session, in milliseconds.
#[derive(Clone, Copy)]
struct SessionLimits {
    time: u64,
    idle: u64,
}

const LONG: SessionLimits = SessionLimits { time: 120_000, idle: 120_000 };

fn work(
    coder: &CoderProcess,
    scene: &Scene,
    resume: Option<&str>,
    limits: SessionLimits,
) -> CoderSession {
    wait(work_on(coder, &scene.workspace, (resume, "fix a.txt\n"), limits, &|_| {}))
}

async fn work_on(
    coder: &CoderProcess,
    workspace: &Workspace,
    (resume, prompt): (Option<&str>, &str),
    limits: SessionLimits,
    said: &(dyn Fn(&str) + Send + Sync),
) -> CoderSession {
    let order = CoderOrder {
        workspace,
        issue: "bd-1",
        prefix: "bd-1: ",
        prompt,
        resume,
        max_time: Duration::from_millis(limits.time),
        max_idle: Duration::from_millis(limits.idle),
        max_cost_usd: None,
        said,
    };
    coder.work(order).await
}

#[test]
fn a_session_gets_its_prompt_and_commits_and_is_resumed() {
    let script = r#"cat "$1"; pwd; echo "issue $2 session $3"; echo done >> a.txt
        git commit -qam "bd-$2: change" && git log -1 --format='%an %s'"#;
    for confined in [false, true] {
        let scene = Scene::new(script);
        let scene = if confined { scene.confined() } else { scene };
        let coder = scene.coder(&["{prompt_file}", "{issue}", "{session}"]);
        let expected =
            if confined { "bubblewrap" } else { "not confined: bubblewrap is not installed" };
        assert_eq!((coder.name(), coder.confinement()), ("scripted", expected));
        let said = Mutex::new(Vec::new());
        let first =
            wait(work_on(&coder, &scene.workspace, (None, "fix \u{1b}it\n"), LONG, &|line| {
                said.lock().unwrap().push(line.to_owned());
            }));
        let id = first.session.clone().unwrap();
        assert_eq!(first.end, CoderEnd::Finished, "{first:?}");
        let root = &scene.workspace.root;
        let message =
            format!("fix \u{1b}it\n{root}\nissue bd-1 session {id}\nmala bd-bd-1: change");
        assert_eq!(first.message, message);
        assert_eq!(said.lock().unwrap().last().unwrap(), "mala bd-bd-1: change");
        let second = work(&coder, &scene, Some(&id), LONG);
        assert_eq!((second.end, second.session), (CoderEnd::Finished, Some(id)));
        let state = wait(scene.workspaces.state(&scene.workspace)).unwrap();
        assert_eq!((state.commits.len(), state.uncommitted.len()), (2, 0));
        assert_eq!(scene.repo.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn every_way_to_end_has_its_name() {
    let quick = SessionLimits { time: 120_000, idle: 700 };
    let failed = |why: &str| CoderEnd::Failed(why.to_owned());
    for (script, limits, expected) in [
        ("exit 0", LONG, CoderEnd::Finished),
        ("echo oops >&2; echo why >&2; exit 3", LONG, failed("exit code 3: why")),
        ("kill -9 $$", LONG, failed("killed by signal 9")),
        (
            "while :; do echo x; sleep 0.1; done",
            SessionLimits { time: 900, idle: 60_000 },
            CoderEnd::TimedOut,
        ),
        ("sleep 600", quick, CoderEnd::Idle),
        ("yes 0123456789", LONG, failed("printed more than 32 MiB")),
        // Silent, but it changes files.
        (
            "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i > b.txt; sleep 0.3; done",
            SessionLimits { time: 120_000, idle: 3_000 },
            CoderEnd::Finished,
        ),
        ("cd .. && rm -rf bd-1", LONG, CoderEnd::Finished),
    ] {
        let scene = Scene::new(script);
        let session = work(&scene.coder(&[]), &scene, None, limits);
        assert_eq!(session.end, expected, "{script}");
        assert!(session.session.is_some() && session.cost_usd.is_none());
    }
}

#[test]
fn a_missing_program_or_workspace_is_said() {
    let scene = Scene::new("");
    let command = vec!["no-such-coder".to_owned()];
    let coder = scene.template(CoderTemplate { command, ..CoderTemplate::default() });
    let missing = CoderEnd::Unavailable("`no-such-coder` is not on PATH".to_owned());
    assert_eq!(work(&coder, &scene, None, LONG).end, missing);
    assert!(coder.missing().is_some() && scene.coder(&[]).missing().is_none());
    wait(scene.workspaces.remove("bd-1")).unwrap();
    let gone = work(&scene.coder(&[]), &scene, None, LONG).end;
    assert!(
        matches!(&gone, CoderEnd::Unavailable(why) if why.contains("does not exist")),
        "{gone:?}"
    );
}

#[test]
fn a_program_of_the_repository_is_the_users_and_not_the_coders() {
    let scene = Scene::new("");
    scene.repo.write("agent.sh", "#!/bin/sh\necho user\n");
    scene.repo.git(&["add", "--chmod=+x", "agent.sh"]);
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(scene.repo.path("agent.sh"))
        .status()
        .unwrap();
    std::fs::write(scene.file("agent.sh"), "#!/bin/sh\necho coder\n").unwrap();
    let command = vec!["./agent.sh".to_owned()];
    let coder = scene.template(CoderTemplate { command, ..CoderTemplate::default() });
    assert_eq!(work(&coder, &scene, None, LONG).message, "user");
}

#[test]
fn variables_of_the_template_are_set_and_git_is_not_led_elsewhere() {
    let mut scene =
        Scene::new(r#"echo "$OWN $TOKEN $GIT_DIR-"; git rev-parse --show-toplevel; cat"#);
    scene.variables = scene.variables.with("GIT_DIR", "/nowhere").with("TOKEN", "t");
    let env = BTreeMap::from([("OWN".to_owned(), "{issue}".to_owned())]);
    let command = ["sh".to_owned(), scene.repo.beside("agent.sh").display().to_string()].to_vec();
    let coder = scene.template(CoderTemplate { command, env, ..CoderTemplate::default() });
    // The prompt is on stdin when no argument names its file.
    let expected = format!("bd-1 t -\n{}\nfix a.txt", scene.workspace.root);
    assert_eq!(work(&coder, &scene, None, LONG).message, expected);
}

/// The process numbers that a script wrote down.
fn is_over(pid: &str) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .map_or(true, |stat| stat.contains(") Z "))
    })
}

#[test]
fn nothing_of_a_session_runs_on() {
    let daemon = "setsid sleep 600 >/dev/null 2>&1 & echo $! > pid";
    for (script, is_dropped) in [(daemon.to_owned(), false), (format!("{daemon}; sleep 600"), true)]
    {
        let scene = Scene::new(&script);
        let coder = scene.coder(&[]);
        let pid = || std::fs::read_to_string(scene.file("pid")).unwrap_or_default();
        if is_dropped {
            wait(async {
                let session = work_on(&coder, &scene.workspace, (None, "x"), LONG, &|_| {});
                let written = async {
                    while pid().trim().is_empty() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                tokio::select! { _ = session => {}, () = written => {} }
            });
        } else {
            assert_eq!(work(&coder, &scene, None, LONG).end, CoderEnd::Finished);
        }
        assert!(is_over(pid().trim()), "{} still runs", pid());
    }
}

#[test]
fn a_confined_coder_writes_only_where_it_works() {
    let scene = Scene::new(
        r#"try() { if "$@" 2>/dev/null; then echo "allowed: $*"; fi; }
        top=$1
        try touch "$top/a.txt"
        try touch "$top/.git/hooks/x"
        try git update-ref refs/heads/main HEAD
        try git branch mine
        try git config user.name x
        try touch inside.txt
        touch "$HOME/of-user" && echo "home is the user's"
        echo y > inside.txt && git add -A && git commit -qm "bd-1: x" && echo committed"#,
    )
    .confined();
    let coder = scene.coder(&[&scene.repo.root().display().to_string()]);
    let session = work(&coder, &scene, None, LONG);
    assert_eq!(session.message, "allowed: touch inside.txt\nhome is the user's\ncommitted");
    assert_eq!(scene.repo.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    assert_eq!(wait(scene.workspaces.state(&scene.workspace)).unwrap().commits.len(), 1);
}
