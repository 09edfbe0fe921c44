//! Calls a linter: finds it outside the reviewed tree, bounds it, and says in one sentence why there
//! is no answer.

use super::output::{Hit, Unreadable};
use super::place::Place;
use super::setup::Setup;
use super::table::{Linter, Reach};
use super::{LinterWorld, Run};
use crate::process::{self, Environment, Finished, Limits, ProcessError, Spec};
use mala_domain::config::LinterName;
use mala_domain::ports::RepositoryError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// The most that a linter may write.
const MAX_OUTPUT: usize = 8 << 20;

/// The longest complaint of a linter that is shown.
const MAX_COMPLAINT: usize = 200;

/// What compilers say when packages are not installed.
const MISSING_PACKAGES: &[&str] = &["TS2307", "TS2688", "TS2792", "TS7016"];

/// Why a linter gave no answer.
#[derive(Debug, Error)]
pub(super) enum Trouble {
    #[error("it does not look at this file")]
    NoTargets,
    #[error("the project is not set up for it")]
    NotSetUp,
    #[error("it is not on the path outside the reviewed tree")]
    NotInstalled,
    #[error("the project is set up for it, and it is not on the path outside the reviewed tree")]
    NotFound,
    #[error("it runs the project's code, and the reviewed state is not the work tree")]
    NotOwnTree,
    #[error("no answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("it wrote more than {} MiB", MAX_OUTPUT >> 20)]
    Flood,
    #[error("its answer cannot be read: {0}")]
    Unreadable(Unreadable),
    #[error("{0}")]
    Complained(String),
    #[error("the project's packages are not installed")]
    NoPackages,
    #[error("{0}")]
    Process(ProcessError),
    #[error("{0}")]
    Tree(RepositoryError),
    #[error("{0}")]
    Files(#[from] std::io::Error),
}

/// A linter and the environment in which nothing of the reviewed tree is on the path.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) environment: Environment,
}

/// Where the linter is, outside the reviewed tree.
pub(super) async fn find(linter: &Linter, world: &LinterWorld) -> Option<Program> {
    let (world, program) = (world.clone(), linter.program);
    let looking = tokio::task::spawn_blocking(move || find_outside(program, &world));
    looking.await.ok().flatten()
}

fn find_outside(program: &str, world: &LinterWorld) -> Option<Program> {
    let environment = outside(world)?;
    let path = environment.find(program).filter(|path| is_outside(path, world))?;
    Some(Program { path, environment })
}

/// The environment in which nothing of the reviewed tree is on the path.
pub(super) fn outside(world: &LinterWorld) -> Option<Environment> {
    let folders = std::env::split_paths(world.environment.get("PATH")?);
    let path = std::env::join_paths(folders.filter(|folder| is_outside(folder, world))).ok()?;
    Some(world.environment.clone().with("PATH", path).with("NO_COLOR", "1"))
}

fn is_outside(path: &Path, world: &LinterWorld) -> bool {
    let tree = world.folder.as_ref().and_then(|folder| folder.canonicalize().ok());
    match (path.canonicalize(), tree) {
        (Ok(path), Some(tree)) => !path.starts_with(tree),
        (found, _) => found.is_ok(),
    }
}

/// What the linter says of the files in this place.
pub(super) async fn run(
    run: &Run<'_>,
    program: &Program,
    place: &Place,
    setup: &Setup,
) -> Result<Vec<Hit>, Trouble> {
    let spec = Spec::new(&program.path, place.dir(), program.environment.clone())
        .args(arguments(run.linter, place, setup));
    // No limit on silence: a linter writes nothing until it is done.
    let wall = run.settings.timeout.min(run.request.timeout);
    let limits = Limits::within(wall).stdout(MAX_OUTPUT);
    let finished = process::run(spec, limits).await.map_err(|error| match error {
        ProcessError::TimedOut { after, .. } => Trouble::TimedOut(after),
        other => Trouble::Process(other),
    })?;
    let hits = answer(run.linter, &finished)?;
    if run.linter.name == LinterName::Tsc && lacks_packages(&hits, place) {
        return Err(Trouble::NoPackages);
    }
    Ok(hits)
}

fn arguments(linter: &Linter, place: &Place, setup: &Setup) -> Vec<OsString> {
    let scratch = place.scratch.path().to_string_lossy();
    let fixed = linter.args.iter().map(|arg| arg.replace("{scratch}", &scratch).into());
    let mut all: Vec<OsString> = fixed.collect();
    if let Some(option) = linter.config_option {
        let configs = setup.configs.iter().map(|(path, _)| format!("./{}", path.to_text()));
        all.extend(configs.flat_map(|path| [option.into(), path.into()]));
    }
    let names_files = linter.reach == Reach::Files || linter.name == LinterName::Eslint;
    if names_files {
        let below = |name: &String| match place.folder.as_str() {
            "" => Some(name.clone()),
            folder => Some(name.strip_prefix(folder)?.strip_prefix('/')?.to_owned()),
        };
        // A name that starts with a dash is no option.
        all.extend(place.targets.keys().filter_map(below).map(|name| format!("./{name}").into()));
    }
    all
}

fn answer(linter: &Linter, finished: &Finished) -> Result<Vec<Hit>, Trouble> {
    let output = &finished.output;
    if output.stdout_cut {
        return Err(Trouble::Flood);
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let is_json = stdout.trim_start().starts_with(['[', '{']);
    let in_words = if is_json { "" } else { &*stdout };
    let complaint = || match (telling(&output.complaint()), telling(in_words)) {
        (Some(text), _) | (None, Some(text)) => Trouble::Complained(text),
        (None, None) => Trouble::Complained(ending(finished)),
    };
    if !finished.code().is_some_and(|code| linter.exits.contains(&code)) {
        return Err(complaint());
    }
    let hits = match (linter.read)(&stdout) {
        Ok(hits) => hits,
        Err(_) if finished.code() != Some(0) && !output.stderr.is_empty() => {
            return Err(complaint());
        }
        Err(unreadable) => return Err(Trouble::Unreadable(unreadable)),
    };
    if hits.is_empty() && finished.code() != Some(0) {
        return Err(complaint());
    }
    Ok(hits)
}

fn ending(finished: &Finished) -> String {
    match (finished.code(), finished.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended without an exit code".to_owned(),
    }
}

/// The line of a complaint that says what is wrong.
fn telling(complaint: &str) -> Option<String> {
    let lines = || complaint.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| {
        let line = line.to_lowercase();
        ["cannot find", "error", "× ", "failed to"].iter().any(|word| line.contains(word))
    };
    let line = lines().find(says).or_else(|| lines().next())?;
    Some(line.trim_start_matches("× ").chars().take(MAX_COMPLAINT).collect())
}

/// Whether packages cannot be found because none are there: every type is unknown then.
fn lacks_packages(hits: &[Hit], place: &Place) -> bool {
    let of_package = |hit: &Hit| {
        let relative = hit.message.contains("module '.") || hit.message.contains("module \".");
        MISSING_PACKAGES.contains(&hit.code.as_str()) && !relative
    };
    let mut above = place.dir();
    let mut installed = above.join("node_modules").is_dir();
    while !installed && above != place.root && above.pop() {
        installed = above.join("node_modules").is_dir();
    }
    !installed && hits.iter().any(of_package)
}
