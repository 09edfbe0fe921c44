//! Puts a run together: tracker, coder, worktrees, log and reviews of this repository.

mod reviews;

pub use mala_adapters::git::Git;
pub use mala_adapters::run_log::{LockedRunFolder, RunFolder};
pub use mala_adapters::trackers::BuiltinTracker;

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::{RepositoryFile, RepositoryFileChoice, Settings, UserSettings};
use crate::wiring::changes::{Changes, child_environment};
use crate::wiring::task::TaskRepository;
use crate::wiring::trusted_settings::TargetSettings;
use anyhow::Context;
use mala_adapters::coders::CoderProcess;
use mala_adapters::git::{GitMainLine, GitWorkspaces, common_dir_of, end_processes_below};
use mala_adapters::ledger::SqliteLedger;
use mala_adapters::process::ProcessEnvironment;
use mala_adapters::run_log::fresh_run_id;
use mala_adapters::trackers::BeadsTracker;
use mala_domain::change::FilePath;
use mala_domain::config::{Config, FILE_NAME, RunPolicy, Seconds, TrackerKind};
use mala_domain::ports::{BoxFuture, MainLine, Tracker};
use mala_domain::run::coder::CoderSpec;
use mala_domain::run::lifecycle::RunRules;
use mala_domain::run::metadata::StartRequest;
use mala_domain::run::readiness::IssueSelection;
use mala_domain::run::triggers::{ReviewFlags, plan};
use mala_pipeline::run::{ConfigValidator, OrchestratorPlan};
use reviews::RangeReviews;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Files with rules of the project, for the prompts of coders.
const RULE_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"];

/// A run, as requested on the command line.
pub struct RunRequest {
    /// The issues.
    pub selection: IssueSelection,
    /// Whether it is resumed.
    pub start: StartRequest,
    /// How many issues at a time.
    pub max_agents: Option<usize>,
    /// How many issues in all.
    pub max_issues: Option<usize>,
    /// Whether it waits for further issues.
    pub watches: bool,
    /// Time limit of each review.
    pub review_timeout: Option<Seconds>,
    /// Flags about reviews.
    pub flags: ReviewFlags,
}

/// The adapters of a run.
pub struct RunAdapters {
    /// The tracker.
    pub tracker: Arc<dyn Tracker>,
    /// The coder.
    pub coder: CoderProcess,
    /// The worktrees.
    pub workspaces: GitWorkspaces,
    /// The target branch.
    pub main_line: GitMainLine,
    /// The reviews.
    pub reviews: RangeReviews,
    /// The configurations of commits.
    pub configs: CommittedConfigs,
}

/// The plan of the run.
pub async fn orchestrator_plan(
    request: &RunRequest,
    settings: &Settings,
    git: &Git,
    target: &str,
) -> anyhow::Result<OrchestratorPlan> {
    let policy = &settings.run;
    let triggers = plan(&settings.project, &request.flags)
        .map_err(|error| Failure::new(FailureKind::Configuration, error.to_string()))?;
    let trusted = format!("refs/heads/{target}");
    let mut project_rules = Vec::new();
    for file in RULE_FILES {
        if let Ok(Some(bytes)) = git.committed(&trusted, &FilePath::from(file)).await {
            project_rules.push((file.to_owned(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    let minutes = |minutes: f64| Duration::from_secs_f64(minutes * 60.0);
    let review_enabled = !request.flags.disabled;
    Ok(OrchestratorPlan {
        rules: RunRules {
            triggers,
            selection: request.selection.clone(),
            owner: owner(git),
            max_agents: request.max_agents.unwrap_or(policy.max_agents.value as usize),
            max_issues: request.max_issues,
            max_cost_usd: policy.max_cost_usd.value,
            max_minutes: policy.max_minutes.value,
            issue_cost_usd: policy.issue_cost_usd.value,
            commit_prefix: policy.commit_prefix.value.clone(),
            idle_resumes: policy.idle_resumes.value.get(),
            work_on_findings: policy.work_on_findings.value,
            watches: request.watches,
        },
        start: request.start,
        new_run_id: fresh_run_id(),
        setup: Some(policy.setup.value.clone()),
        max_session: minutes(policy.issue_minutes.value),
        max_idle: minutes(policy.idle_minutes.value),
        group_findings: policy.group_findings.value,
        review_enabled,
        project_rules,
    })
}

/// The name that claims issues: the same in every run of this work tree, different elsewhere.
fn owner(git: &Git) -> String {
    let hash = Sha256::digest(git.top().as_os_str().as_encoded_bytes());
    let digits: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("mala-{digits}")
}

/// The repository of the current folder.
pub async fn open_git(here: &Environment) -> anyhow::Result<Git> {
    let git = Git::open(&here.folder, &child_environment(here)).await;
    git.map_err(|error| Failure::new(FailureKind::Usage, error.to_string()).into())
}

/// The tracker that the settings name.
pub async fn open_tracker(
    here: &Environment,
    settings: &Settings,
    git: &Git,
) -> anyhow::Result<Arc<dyn Tracker>> {
    let has_beads = git.top().join(".beads").is_dir();
    let default = if has_beads { TrackerKind::Beads } else { TrackerKind::Builtin };
    Ok(match settings.run.tracker.value.unwrap_or(default) {
        TrackerKind::Builtin => Arc::new(open_builtin_tracker(git)?),
        TrackerKind::Beads => {
            let variables = all_variables(here);
            Arc::new(BeadsTracker::open(git.top().to_owned(), &variables).await?)
        }
    })
}

/// The built-in tracker of the repository.
pub fn open_builtin_tracker(git: &Git) -> anyhow::Result<BuiltinTracker> {
    let path = SqliteLedger::path_in(&git.common_dir()?);
    super::task::open_store(&path)
}

/// The adapters of a run.
pub async fn adapters(
    request: &RunRequest,
    TargetSettings { settings, user, target }: TargetSettings,
    here: &Environment,
    git: Git,
) -> anyhow::Result<RunAdapters> {
    let policy = &settings.run;
    let tracker = open_tracker(here, &settings, &git).await?;
    let coder = open_coder(here, policy, &git).await?;
    let workspaces =
        GitWorkspaces::new(git.clone(), workspace_folder(here, &git)?, child_environment(here));
    let changes = Changes::open(here).await;
    let timeout = request.review_timeout;
    let tasks = match tracker.name() {
        "builtin" => Some(TaskRepository::open(here, user.clone()).await?),
        _ => None,
    };
    let reviews = RangeReviews { here: here.clone(), settings, changes, timeout, tasks };
    Ok(RunAdapters {
        tracker,
        coder,
        workspaces,
        configs: CommittedConfigs { user, git: git.clone() },
        main_line: GitMainLine::new(git, target),
        reviews,
    })
}

/// The coder that the settings name. Fails if it is not installed.
pub async fn open_coder(
    here: &Environment,
    policy: &RunPolicy,
    git: &Git,
) -> anyhow::Result<CoderProcess> {
    let unusable = |why: String| Failure::new(FailureKind::Configuration, why);
    let name = policy.coder.value.clone();
    let spec = CoderSpec::find(&name, &policy.coders).map_err(|it| unusable(it.to_string()))?;
    let coder = CoderProcess::new(name, spec, git.clone(), all_variables(here)).await;
    match coder.missing() {
        Some(missing) => Err(unusable(missing).into()),
        None => Ok(coder),
    }
}

/// The `mala.yaml` of commits, with the settings of the user.
pub struct CommittedConfigs {
    user: UserSettings,
    git: Git,
}

impl CommittedConfigs {
    /// Checks a `mala.yaml`, with the error of a run that starts from it.
    fn check(&self, bytes: Vec<u8>) -> Result<(), String> {
        let file = Some(RepositoryFile::committed("this commit", bytes));
        let choice = RepositoryFileChoice { file, notice: None };
        let settings = self.user.with_file(choice, Config::default());
        let settings = settings.map_err(|error| error.to_string())?;
        let policy = &settings.run;
        CoderSpec::find(&policy.coder.value, &policy.coders).map_err(|it| it.to_string())?;
        plan(&settings.project, &ReviewFlags::default()).map_err(|it| it.to_string())?;
        Ok(())
    }
}

impl ConfigValidator for CommittedConfigs {
    fn problem<'a>(&'a self, commit: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let committed = self.git.committed(commit, &FilePath::from(FILE_NAME)).await;
            self.check(committed.ok().flatten()?).err()
        })
    }
}

/// The commit that the target branch points to.
pub async fn tip(git: &Git, target: &str) -> anyhow::Result<String> {
    Ok(GitMainLine::new(git.clone(), target).tip().await?)
}

/// Why the target branch cannot be moved at the moment.
pub async fn obstacle(git: &Git, target: &str) -> anyhow::Result<Option<String>> {
    Ok(GitMainLine::new(git.clone(), target).obstacle().await?)
}

/// Kills processes that a killed run left in its worktrees, unless a run is in progress.
pub fn end_leftovers(here: &Environment, folder: &RunFolder) {
    let root = workspace_root(here, &common_dir_of(here.root()));
    if let (None, Ok(root)) = (folder.holder(), root) {
        end_processes_below(&root);
    }
}

/// The folder of the worktrees: outside of every checkout, one per repository.
fn workspace_folder(here: &Environment, git: &Git) -> anyhow::Result<PathBuf> {
    workspace_root(here, &git.common_dir()?)
}

fn workspace_root(here: &Environment, common: &Path) -> anyhow::Result<PathBuf> {
    let cache = here.variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || here.variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?;
    let path = common.display().to_string();
    let name: String =
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Ok(cache.join("mala").join("worktrees").join(name.trim_matches('-')))
}

fn all_variables(here: &Environment) -> ProcessEnvironment {
    ProcessEnvironment::unfiltered(here.variables.clone())
}
