//! Adapters of `review-gate`: the repository, its sessions, the lanes and the supervisor.

mod canary;
mod members;
mod session;
mod start;
pub mod work;

use super::changes::failure;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::UserModels;
use anyhow::Context;
pub use canary::CanaryLanes;
use mala_adapters::git::{Git, WorkTreeSnapshot};
use mala_adapters::lanes::{self, LanePresence, Lanes};
use mala_adapters::process::{self, ProcessEnvironment, ProcessSpec};
use mala_adapters::sessions::{self, SupervisorStatus};
pub use mala_adapters::sessions::{GateFolder, GateFolders, SessionFolder};
use mala_domain::config::{GatePolicy, PathGlobs, ReviewPolicy};
use mala_domain::gate::MARKER;
use mala_domain::gate::canary::CanaryBook;
use mala_domain::gate::lane::Lane;
use mala_domain::gate::session::{ExcludedFiles, PanelMember, PinnedChange, Session, SessionEnd};
use mala_domain::ports::{BoxFuture, ChangeSource, LaneOrder, LaneRun, LaneRunner, ReviewScope};
use mala_domain::scope::{HeadState, ReviewTarget};
use mala_pipeline::gate::{PanelChoice, PanelProblem, WatchedSession, choose};
use mala_pipeline::review::apply_path_settings;
pub use members::{InProcessSettings, panel_reviewers};
pub use session::{SessionLanes, review_session, session_policy};
pub use start::{
    SessionChange, SessionRequest, new_session, remove_older_than, session_panel_members,
    start_session,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use work::ScratchFolder;

/// The repository around the current folder, and its sessions.
pub struct Gate {
    git: Git,
    /// The sessions of this work tree.
    pub sessions: GateFolder,
    /// Whether this is a lane of a session.
    is_lane: bool,
}

impl Gate {
    /// Opens the repository around the current folder.
    pub async fn open(here: &Environment) -> anyhow::Result<Self> {
        let git = Git::open(&here.folder, &super::changes::child_environment(here)).await?;
        let sessions = GateFolder::of_work_tree(git.top());
        sessions.refuse_links()?;
        Ok(Self { git, sessions, is_lane: here.variable(MARKER).is_some() })
    }

    /// The session of this work tree with this key.
    pub fn own(&self, key: &str) -> anyhow::Result<SessionFolder> {
        self.sessions.find(key).with_context(|| format!("no session `{key}`"))
    }

    /// The sessions of all work trees of this repository.
    pub async fn everywhere(&self) -> anyhow::Result<GateFolders> {
        Ok(GateFolders::of_work_trees(&self.git.work_trees().await?))
    }

    /// The session with this key, or else the most recent one of this work tree, or else the most recent one
    /// of the repository. Those of hooks are found only by their key.
    pub async fn session(&self, key: Option<&str>) -> anyhow::Result<SessionFolder> {
        if let Some(key) = key {
            let found = match self.sessions.find(key) {
                Some(folder) => Some(folder),
                None => self.everywhere().await?.find(key),
            };
            return found.with_context(|| format!("no session `{key}`"));
        }
        self.refuse_lane()?;
        if let Some((folder, _)) = self.sessions.most_recent()? {
            return Ok(folder);
        }
        let others = self.everywhere().await?.all();
        let newest = others.into_iter().find(|(_, session)| !session.is_of_hook);
        let newest = newest.ok_or_else(|| {
            Failure::new(FailureKind::Internal, "no session in this repository")
                .hint("run `review-gate spawn-code-review --diff BASE..HEAD` to start one")
        });
        Ok(newest?.0)
    }

    /// A lane cannot start a session, so that the most recent one is never its own.
    pub fn refuse_lane(&self) -> anyhow::Result<()> {
        if self.is_lane {
            anyhow::bail!(
                "this is a reviewer of a gate already, and has no session of its own: name one with \
                 --session-key"
            );
        }
        Ok(())
    }

    /// Whether files of the work tree differ from HEAD.
    pub async fn has_uncommitted_changes(&self) -> anyhow::Result<bool> {
        Ok(self.git.is_dirty_tree().await?)
    }

    /// Whether a session is of this work tree.
    pub fn has(&self, folder: &SessionFolder) -> bool {
        folder.work_tree() == self.sessions.top()
    }

    /// Copies the repository to a new temporary folder and resolves the commits of the change in it, so that
    /// moved branches do not alter the change.
    pub async fn pin(
        &self,
        target: &ReviewTarget,
    ) -> anyhow::Result<(ScratchFolder, PinnedChange)> {
        let scratch = ScratchFolder::fresh(self).context("making a folder")?;
        let copy = copy_of(scratch.path());
        self.git.copy_to(&copy)?;
        let pinned = self.commits(target, &copy).await?;
        Ok((scratch, pinned))
    }

    async fn commits(&self, target: &ReviewTarget, copy: &Path) -> anyhow::Result<PinnedChange> {
        if matches!(target, ReviewTarget::WorkingTree | ReviewTarget::WorkingTreeSince(_)) {
            let since = match target {
                ReviewTarget::WorkingTreeSince(_) => {
                    self.git.scope(target, &[]).await.map_err(failure)?.scope.base
                }
                _ => None,
            };
            let WorkTreeSnapshot { commit, head, dirty } =
                self.git.snapshot_work_tree(copy).await?;
            return Ok(match since.or(head) {
                Some(base) => PinnedChange::Range { base, head: commit, dirty },
                None => PinnedChange::Commits(vec![commit]),
            });
        }
        if let ReviewTarget::Commits(revisions) = target {
            let mut commits = Vec::new();
            for revision in revisions {
                commits.push(self.commit(revision).await?);
            }
            return Ok(PinnedChange::Commits(commits));
        }
        let range = self.git.commit_range(target).await.map_err(|error| failure(error.into()))?;
        match range {
            Some((base, head)) => Ok(PinnedChange::Range { base, head, dirty: Vec::new() }),
            None => anyhow::bail!("the change is not between two commits"),
        }
    }

    /// The change of a session, from its copy of the repository.
    pub async fn scope(
        &self,
        scratch: &Path,
        pinned: &PinnedChange,
    ) -> anyhow::Result<(Git, ReviewScope)> {
        let git = self.git.open_copy(&copy_of(scratch))?;
        let scoped = match pinned {
            PinnedChange::Range { base, head, dirty } => {
                let change = git.snapshot_change(base, head, dirty).await;
                change.map_err(|error| failure(error.into()))?
            }
            PinnedChange::Commits(_) => git.scope(&pinned.target(), &[]).await.map_err(failure)?,
        };
        Ok((git, scoped))
    }

    async fn commit(&self, revision: &str) -> anyhow::Result<String> {
        let found = self.git.commit_id(revision).await;
        found.map_err(|error| failure(error.into()).into())
    }
}

fn copy_of(scratch: &Path) -> PathBuf {
    scratch.join("repository")
}

/// The change without the files that the settings exclude.
pub fn narrowed(scoped: ReviewScope, excluded: &ExcludedFiles) -> anyhow::Result<ReviewScope> {
    let ignore = PathGlobs::new(&excluded.ignore)?;
    Ok(apply_path_settings(scoped, &ignore, &PathGlobs::new(&excluded.generated)?))
}

/// The session of this work tree with this key, or its most recent one; `None` if it has none, or
/// if git is needed to find it.
pub fn session_here(
    here: &Environment,
    key: Option<&str>,
) -> anyhow::Result<Option<SessionFolder>> {
    let Some(top) = here.work_tree() else { return Ok(None) };
    let sessions = GateFolder::of_work_tree(top);
    sessions.refuse_links()?;
    sweep_dead(sessions.all());
    match key {
        Some(key) => Ok(sessions.find(key)),
        None if here.variable(MARKER).is_some() => Ok(None),
        None => Ok(sessions.most_recent()?.map(|(folder, _)| folder)),
    }
}

/// Removes a scratch folder.
pub fn remove_scratch(scratch: &Path) {
    sessions::remove_scratch(scratch);
}

/// Reads a regular file of at most this many bytes.
pub fn read_limited(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    mala_adapters::bounded_read::read_following_links(path, limit)
}

/// A random key and a random secret.
pub fn fresh_names() -> anyhow::Result<(String, String)> {
    Ok((sessions::fresh_key(), sessions::fresh_secret()))
}

/// All of the user's variables.
pub fn variables(here: &Environment) -> ProcessEnvironment {
    ProcessEnvironment::unfiltered(here.variables.clone())
}

/// The program and the sign-in of a lane on this machine.
pub fn presence(lane: &Lane, here: &Environment) -> LanePresence {
    lanes::detect(lane, &variables(here))
}

/// The version of a lane's program.
pub async fn version(lane: &Lane, program: &Path, here: &Environment) -> Option<String> {
    lanes::version(lane, program, &variables(here)).await
}

/// The panel of these settings, and warnings about its members.
pub fn panel(
    named: &[String],
    (policy, review, models): (&GatePolicy, &ReviewPolicy, &UserModels),
    here: &Environment,
) -> Result<(Vec<PanelMember>, Vec<String>), PanelProblem> {
    choose(&PanelChoice {
        named,
        policy,
        missing: &|lane| {
            if lane.is_in_process() {
                return super::reviewers::member_missing(&lane.name, review, models, here);
            }
            let presence = presence(lane, here);
            presence.program.is_none().then(|| presence.why_not(lane)).flatten()
        },
        useless: &|lane| presence(lane, here).why_not(lane),
    })
}

/// Lanes in a copy of the repository that is removed with them.
pub struct TemporaryLanes {
    /// Runs the lanes.
    pub lanes: Arc<dyn LaneRunner>,
    /// The commit that they review.
    pub head: String,
    /// The secret that the nonces of their prompts are made from.
    pub secret: String,
    /// The folder with their prompts and answers.
    pub logs: PathBuf,
}

/// Lanes that run in this process, for one review of this target. With `checks_user`, a change in the work tree of
/// the user while a lane runs counts as a change by that lane.
pub async fn temporary_lanes(
    here: &Environment,
    target: &ReviewTarget,
    checks_user: bool,
) -> anyhow::Result<TemporaryLanes> {
    let gate = Gate::open(here).await?;
    let (scratch, pinned) = gate.pin(target).await?;
    let (git, scoped) = gate.scope(scratch.path(), &pinned).await?;
    let HeadState::Commit(head) = scoped.scope.head else {
        anyhow::bail!("the copy of the tree has no commit");
    };
    let (session, secret) = fresh_names()?;
    process::adopt_orphans().context("adopting orphans")?;
    let logs = scratch.path().join("kept");
    let lanes = Lanes {
        git,
        head: head.clone(),
        session: session.clone(),
        scratch: scratch.path().to_owned(),
        folder: logs.clone(),
        variables: variables(here),
        user: Some(gate.git.clone()).filter(|_| checks_user),
    };
    let sweep = LaneCleanup { session, scratch: scratch.path().to_owned() };
    let lanes = Arc::new(OwnLanes { lanes, _sweep: sweep, _scratch: scratch });
    Ok(TemporaryLanes { lanes, head, secret, logs })
}

struct OwnLanes {
    lanes: Lanes,
    _sweep: LaneCleanup,
    _scratch: ScratchFolder,
}

impl LaneRunner for OwnLanes {
    fn run<'a>(&'a self, order: LaneOrder<'a>) -> BoxFuture<'a, LaneRun> {
        self.lanes.run(order)
    }
}

/// Ends the processes that the lanes of a session left behind, when it is dropped.
struct LaneCleanup {
    session: String,
    scratch: PathBuf,
}

impl Drop for LaneCleanup {
    fn drop(&mut self) {
        process::kill_marked(MARKER, &format!("{}/", self.session));
        // Orphans of this process may belong to another review that runs in it.
        process::kill_processes_inside(&self.scratch);
    }
}

/// Starts the supervisor of a session: this program, detached.
pub fn start_supervisor(
    here: &Environment,
    folder: &SessionFolder,
    key: &str,
) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("finding this program")?;
    let file = |name: &str| File::create(folder.path().join(name));
    let spec = ProcessSpec::new(program, here.root(), variables(here)).args([
        "supervise",
        "--session",
        key,
    ]);
    let pid = process::start_detached(&spec, file("supervisor.out")?, file("supervisor.err")?)?;
    match folder.set_supervisor(pid) {
        // Quick lanes: it is done before it was noted.
        Err(_) if matches!(folder.end(), Ok(Some(_))) => Ok(()),
        noted => noted.context("starting the supervisor"),
    }
}

/// Makes this process the supervisor of a session. It adopts the orphans of its lanes.
pub fn become_supervisor(folder: &SessionFolder) -> anyhow::Result<()> {
    folder.set_supervisor(std::process::id())?;
    process::adopt_orphans().context("adopting orphans")
}

/// The runner of a session's lanes.
pub fn runner(
    git: Git,
    session: &Session,
    folder: &SessionFolder,
    here: &Environment,
    user: Option<Git>,
) -> Lanes {
    let head = match &session.scope.head {
        HeadState::Commit(sha) => sha.clone(),
        _ => String::new(),
    };
    Lanes {
        git,
        head,
        session: session.key.clone(),
        scratch: PathBuf::from(&session.scratch),
        folder: folder.path().to_owned(),
        variables: variables(here),
        user,
    }
}

/// Ends all orphans of a supervisor.
pub fn kill_orphans() {
    process::kill_orphans();
}

/// Ends the processes that a session left behind and removes its copies of the repository. A process that
/// cleared its environment is found by the supervisor's records, or by its current folder.
pub fn sweep(folder: &SessionFolder, session: &Session) {
    folder.end_processes();
    process::kill_marked(MARKER, &format!("{}/", session.key));
    process::kill_processes_inside(Path::new(&session.scratch));
    throw_away(folder, session);
}

/// Keeps the output of the lanes, and removes the scratch folder of a session.
pub fn throw_away(folder: &SessionFolder, session: &Session) {
    let scratch = Path::new(&session.scratch);
    lanes::keep_printed(scratch, folder.path());
    sessions::remove_scratch(scratch);
}

/// Locks the temporary folder of a session for as long as this process lives.
pub fn hold_scratch(session: &Session) -> anyhow::Result<()> {
    sessions::hold_scratch(Path::new(&session.scratch)).context("holding the copy")
}

/// Removes the temporary folders of processes that died before their session was written.
pub fn sweep_scratch(gate: &Gate) {
    sessions::sweep_scratch(&gate.sessions);
}

/// The canary results in the work tree of a session.
pub fn book_of(folder: &SessionFolder) -> CanaryBook {
    GateFolder::of_work_tree(folder.work_tree()).canaries().book()
}

/// Cleans up those of these sessions whose supervisor died.
pub fn sweep_dead(sessions: Vec<(SessionFolder, Session)>) {
    for (folder, session) in sessions {
        if Path::new(&session.scratch).exists() && SessionProbe(&folder).is_dead() {
            sweep(&folder, &session);
        }
    }
}

/// Cancels a session; false if it had ended already.
pub fn stop(folder: &SessionFolder, session: &Session) -> anyhow::Result<bool> {
    let is_first = folder.conclude(SessionEnd::Cancelled)?;
    // A session with a result may still have running processes.
    if is_first || folder.supervisor().is_some() {
        sweep(folder, session);
    }
    Ok(is_first)
}

/// Looks at a session from a process that waits for it.
pub struct SessionProbe<'s>(pub &'s SessionFolder);

impl WatchedSession for SessionProbe<'_> {
    fn end(&self) -> Result<Option<SessionEnd>, String> {
        self.0.end().map_err(|error| error.to_string())
    }

    fn is_dead(&self) -> bool {
        self.0.supervisor_status() == SupervisorStatus::Dead
    }
}
