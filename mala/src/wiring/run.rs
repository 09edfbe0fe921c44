//! Puts a run together: tracker, coder, worktrees, log and reviews of this repository.

mod reviews;

pub use mala_adapters::git::Git;
pub use mala_adapters::run_log::{LockedRunFolder, RunFolder};
pub use mala_adapters::trackers::BuiltinTracker;

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::Settings;
use crate::wiring::changes::{Changes, child_environment};
use anyhow::Context;
use mala_adapters::coders::CoderProcess;
use mala_adapters::git::{GitMainLine, GitWorkspaces};
use mala_adapters::ledger::SqliteLedger;
use mala_adapters::process::ProcessEnvironment;
use mala_adapters::run_log::fresh_run_id;
use mala_adapters::trackers::BeadsTracker;
use mala_domain::change::FilePath;
use mala_domain::config::{Seconds, TrackerKind};
use mala_domain::ports::Tracker;
use mala_domain::run::coder::CoderSpec;
use mala_domain::run::lifecycle::RunRules;
use mala_domain::run::metadata::StartRequest;
use mala_domain::run::readiness::IssueSelection;
use mala_domain::run::triggers::{ReviewFlags, plan};
use mala_pipeline::run::OrchestratorPlan;
use reviews::RangeReviews;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Files with rules of the project that coders are told.
const RULE_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"];

/// What the command line asks of a run.
pub struct RunRequest {
    /// Which issues.
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
}

/// How the run works.
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
    Ok(BuiltinTracker::new(SqliteLedger::open(&path)?))
}

/// The adapters of a run.
pub async fn adapters(
    request: &RunRequest,
    settings: Settings,
    here: &Environment,
    (git, target): (Git, String),
) -> anyhow::Result<RunAdapters> {
    let policy = &settings.run;
    let tracker = open_tracker(here, &settings, &git).await?;
    let name = policy.coder.value.clone();
    let spec = CoderSpec::find(&name, &policy.coders)
        .map_err(|error| Failure::new(FailureKind::Configuration, error.to_string()))?;
    let coder = CoderProcess::new(name, spec, git.clone(), all_variables(here)).await;
    if let Some(missing) = coder.missing() {
        return Err(Failure::new(FailureKind::Configuration, missing).into());
    }
    let workspaces =
        GitWorkspaces::new(git.clone(), workspace_folder(here, &git)?, child_environment(here));
    let changes = Changes::open(here).await;
    let timeout = request.review_timeout;
    let reviews = RangeReviews { here: here.clone(), settings, changes, timeout };
    Ok(RunAdapters {
        tracker,
        coder,
        workspaces,
        main_line: GitMainLine::new(git, target),
        reviews,
    })
}

/// The folder of the worktrees: outside of every checkout, one per repository.
fn workspace_folder(here: &Environment, git: &Git) -> anyhow::Result<PathBuf> {
    let common = git.common_dir()?;
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
