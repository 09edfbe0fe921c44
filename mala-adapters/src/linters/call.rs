//! Finds a linter outside the reviewed tree, or where the user installed it, and runs it with
//! limits.

use super::output::{LintDiagnostic, LintParseError};
use super::registry::{LinterInput, LinterSpec};
use super::setup::LinterSetup;
use super::workspace::LintWorkspace;
use super::{LinterContext, LinterRun};
use crate::process::{
    self, FinishedProcess, ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec,
};
use mala_domain::config::LinterName;
use mala_domain::ports::RepositoryError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// The largest output of a linter, in bytes.
const MAX_OUTPUT: usize = 8 << 20;

/// The longest message of a linter that is shown.
const MAX_MESSAGE: usize = 200;

/// Compiler errors about packages that are not installed.
const MISSING_PACKAGES: &[&str] = &["TS2307", "TS2688", "TS2792", "TS7016"];

/// Why a linter has no result.
#[derive(Debug, Error)]
pub(super) enum LinterError {
    #[error("it does not check this file")]
    NoTargets,
    #[error("the project does not configure it")]
    NotSetUp,
    #[error("not on PATH outside the reviewed tree")]
    NotInstalled,
    #[error("the project configures it, but it is not on PATH outside the reviewed tree")]
    NotFound,
    #[error("it runs project code, and the reviewed state is not the work tree")]
    NotOwnTree,
    #[error("timed out after {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("its output is larger than {} MiB", MAX_OUTPUT >> 20)]
    TooMuchOutput,
    #[error("cannot parse its output: {0}")]
    Unparsable(LintParseError),
    #[error("{0}")]
    Reported(String),
    #[error("the project's packages are not installed")]
    NoPackages,
    #[error("{0}")]
    Process(ProcessError),
    #[error("{0}")]
    Tree(RepositoryError),
    #[error("{0}")]
    Files(#[from] std::io::Error),
}

/// A linter and an environment whose path excludes the reviewed tree.
pub(super) struct LinterProgram {
    pub(super) path: PathBuf,
    pub(super) environment: ProcessEnvironment,
}

/// Finds a linter outside the reviewed tree.
pub(super) async fn find(linter: &LinterSpec, context: &LinterContext) -> Option<LinterProgram> {
    let (context, program) = (context.clone(), linter.program);
    let looking = tokio::task::spawn_blocking(move || find_outside(program, &context));
    looking.await.ok().flatten()
}

fn find_outside(program: &str, context: &LinterContext) -> Option<LinterProgram> {
    let environment = outside(context)?;
    let path = environment.find(program).filter(|path| is_outside(path, context))?;
    Some(LinterProgram { path, environment })
}

/// The environment with a path that excludes the reviewed tree.
pub(super) fn outside(context: &LinterContext) -> Option<ProcessEnvironment> {
    let folders = std::env::split_paths(context.environment.get("PATH")?);
    let path = std::env::join_paths(folders.filter(|folder| is_outside(folder, context))).ok()?;
    Some(context.environment.clone().with("PATH", path).with("NO_COLOR", "1"))
}

fn is_outside(path: &Path, context: &LinterContext) -> bool {
    let tree = context.folder.as_ref().and_then(|folder| folder.canonicalize().ok());
    match (path.canonicalize(), tree) {
        (Ok(path), Some(tree)) => !path.starts_with(tree),
        (found, _) => found.is_ok(),
    }
}

/// The linter's diagnostics for the files of this workspace.
pub(super) async fn run(
    run: &LinterRun<'_>,
    program: &LinterProgram,
    place: &LintWorkspace,
    setup: &LinterSetup,
) -> Result<Vec<LintDiagnostic>, LinterError> {
    let spec = ProcessSpec::new(&program.path, place.dir(), program.environment.clone())
        .args(arguments(run.linter, place, setup));
    // No limit on silence: a linter writes nothing until it is done.
    let wall = run.settings.timeout.min(run.request.timeout);
    let limits = ProcessLimits::within(wall).stdout(MAX_OUTPUT);
    let finished = process::run(spec, limits).await.map_err(|error| match error {
        ProcessError::TimedOut { after, .. } => LinterError::TimedOut(after),
        other => LinterError::Process(other),
    })?;
    let diagnostics = answer(run.linter, &finished)?;
    if run.linter.name == LinterName::Tsc && lacks_packages(&diagnostics, place) {
        return Err(LinterError::NoPackages);
    }
    Ok(diagnostics)
}

fn arguments(linter: &LinterSpec, place: &LintWorkspace, setup: &LinterSetup) -> Vec<OsString> {
    let scratch = place.scratch.path().to_string_lossy();
    let fixed = linter.args.iter().map(|arg| arg.replace("{scratch}", &scratch).into());
    let mut all: Vec<OsString> = fixed.collect();
    if let Some(option) = linter.config_option {
        let configs = setup.configs.iter().map(|(path, _)| format!("./{}", path.to_text()));
        all.extend(configs.flat_map(|path| [option.into(), path.into()]));
    }
    let names_files = linter.reach == LinterInput::Files || linter.name == LinterName::Eslint;
    if names_files {
        let below = |name: &String| match place.folder.as_str() {
            "" => Some(name.clone()),
            folder => Some(name.strip_prefix(folder)?.strip_prefix('/')?.to_owned()),
        };
        // `./` keeps a name with a leading dash from becoming an option.
        all.extend(place.targets.keys().filter_map(below).map(|name| format!("./{name}").into()));
    }
    all
}

fn answer(
    linter: &LinterSpec,
    finished: &FinishedProcess,
) -> Result<Vec<LintDiagnostic>, LinterError> {
    let output = &finished.output;
    if output.stdout_cut {
        return Err(LinterError::TooMuchOutput);
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let is_json = stdout.trim_start().starts_with(['[', '{']);
    let text = if is_json { "" } else { &*stdout };
    let message = || match (error_line(&output.stderr_text()), error_line(text)) {
        (Some(text), _) | (None, Some(text)) => LinterError::Reported(text),
        (None, None) => LinterError::Reported(exit_description(finished)),
    };
    if !finished.code().is_some_and(|code| linter.exits.contains(&code)) {
        return Err(message());
    }
    let diagnostics = match (linter.read)(&stdout) {
        Ok(diagnostics) => diagnostics,
        Err(_) if finished.code() != Some(0) && !output.stderr.is_empty() => {
            return Err(message());
        }
        Err(unreadable) => return Err(LinterError::Unparsable(unreadable)),
    };
    if diagnostics.is_empty() && finished.code() != Some(0) {
        return Err(message());
    }
    Ok(diagnostics)
}

fn exit_description(finished: &FinishedProcess) -> String {
    match (finished.code(), finished.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}

/// The line of a message that names the error.
fn error_line(message: &str) -> Option<String> {
    let lines = || message.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| {
        let line = line.to_lowercase();
        ["cannot find", "error", "× ", "failed to"].iter().any(|word| line.contains(word))
    };
    let line = lines().find(says).or_else(|| lines().next())?;
    Some(line.trim_start_matches("× ").chars().take(MAX_MESSAGE).collect())
}

/// Whether packages are missing because none are installed. Every type is unknown then.
fn lacks_packages(diagnostics: &[LintDiagnostic], place: &LintWorkspace) -> bool {
    let of_package = |diagnostic: &LintDiagnostic| {
        let relative =
            diagnostic.message.contains("module '.") || diagnostic.message.contains("module \".");
        MISSING_PACKAGES.contains(&diagnostic.code.as_str()) && !relative
    };
    let mut above = place.dir();
    let mut installed = above.join("node_modules").is_dir();
    while !installed && above != place.root && above.pop() {
        installed = above.join("node_modules").is_dir();
    }
    !installed && diagnostics.iter().any(of_package)
}

/// Where package managers install programs.
const FOLDERS: [&str; 3] = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/// The time limit of `git check-ignore`.
const PATIENCE: Duration = Duration::from_secs(10);

/// Finds a linter that the user installed in the work tree, below `node_modules` or a virtual
/// environment. It must be ignored by git and not tracked, so that a commit cannot bring it.
pub(super) async fn find_installed(
    linter: &LinterSpec,
    context: &LinterContext,
    setup: &LinterSetup,
) -> Option<LinterProgram> {
    let root = tokio::fs::canonicalize(context.folder.as_ref()?).await.ok()?;
    let outside = outside(context)?;
    for path in places(&root, &setup.folder(), linter.program) {
        if is_ignored(&root, &path, &outside).await {
            return Some(LinterProgram { path, environment: outside });
        }
    }
    None
}

/// The possible paths of a program: next to the linter's configuration, then at the root.
fn places(root: &Path, folder: &str, program: &str) -> Vec<PathBuf> {
    let mut starts = vec![root.join(folder), root.to_owned()];
    starts.dedup();
    let inside = |start: &PathBuf| FOLDERS.map(|bin| start.join(bin).join(program));
    starts.iter().flat_map(inside).collect()
}

/// Whether git ignores a program and the target of its link. Tracked files are not ignored.
async fn is_ignored(root: &Path, path: &Path, environment: &ProcessEnvironment) -> bool {
    let Ok(real) = tokio::fs::canonicalize(path).await else { return false };
    let is_file = tokio::fs::metadata(&real).await.is_ok_and(|meta| meta.is_file());
    let mut asked = vec![path.to_owned()];
    if real.starts_with(root) && real != path {
        asked.push(real);
    }
    for path in &asked {
        // A linked folder in the path leads outside of the tree that git checks.
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return false };
        let spec = ProcessSpec::new("git", root, environment.clone()).args([
            "check-ignore",
            "--quiet",
            "--",
            name,
        ]);
        let answer = process::run(spec, ProcessLimits::within(PATIENCE)).await;
        if !answer.is_ok_and(|finished| finished.code() == Some(0)) {
            return false;
        }
    }
    is_file
}
