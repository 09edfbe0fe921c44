//! `mala init`: detects the languages, commands and linters of a project and writes a `mala.yaml` for it.

mod commands;
mod detect;
mod gitignore;
mod hooks;
mod template;

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::wiring::probe::Probe;
use crate::wiring::{linter_program, state_folder, write_atomically, write_new};
use anyhow::Context;
use clap::Args;
use commands::ProjectCommand;
use mala_domain::config::{FILE_NAME, LinterName};
use mala_domain::language::Language;
use std::io;
use std::path::Path;

/// Write a mala.yaml for this project, or install hooks
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Replace an existing mala.yaml, with a backup in .mala/old
    #[arg(long)]
    force: bool,

    /// Only install hooks: claude, codex, pre-push, or the agents on this machine
    #[arg(long, value_name = "HOST", num_args = 0..=1, require_equals = true, value_delimiter = ',',
          default_missing_value = "usable", conflicts_with = "force")]
    hooks: Vec<hooks::Host>,

    /// Remove the hooks again
    #[arg(long, requires = "hooks")]
    remove: bool,
}

/// Properties of a project that its files show.
#[derive(Debug, Default, PartialEq)]
struct DetectedProject {
    /// With their number of files, most first.
    languages: Vec<(Language, usize)>,
    commands: Vec<ProjectCommand>,
    /// The linters of the project, and whether they are installed.
    linters: Vec<(LinterName, bool)>,
    default_branch: Option<String>,
    /// The first coder of `mala run` that is installed.
    coder: Option<&'static str>,
}

pub(super) fn run(args: &InitArgs, here: &Environment) -> anyhow::Result<Exit> {
    match (args.hooks.as_slice(), args.remove) {
        ([], _) => {}
        (hosts, false) => return hooks::install(hosts, here),
        (hosts, true) => return hooks::remove(hosts, here),
    }
    let root = here.root();
    let project = detect_project(root, &Probe::new(here, root)?);
    console::say(&summary(&project));
    if project.coder.is_none() {
        let known = CODERS.join(", ");
        console::say(&format!("note: `mala run` needs a coding agent: none of {known} is on PATH"));
    }
    write_config(root, &template::render(&project), args)?;
    match here.work_tree() {
        Some(root) => ignore_state(root)?,
        None => console::say("not in a git repository: .gitignore is not changed"),
    }
    Ok(Exit::Passed)
}

/// The built-in coders of `mala run`.
const CODERS: [&str; 3] = ["claude", "codex", "gemini"];

fn detect_project(root: &Path, probe: &Probe) -> DetectedProject {
    let is_installed = |name| probe.find(linter_program(name)).is_some();
    let linters = detect::linters(root);
    DetectedProject {
        languages: detect::languages(root),
        commands: commands::find(root),
        linters: linters.into_iter().map(|name| (name, is_installed(name))).collect(),
        default_branch: default_branch(probe),
        coder: CODERS.into_iter().find(|name| probe.find(name).is_some()),
    }
}

/// The default branch of `origin`, or `main` or `master`.
fn default_branch(probe: &Probe) -> Option<String> {
    let say = |args: &[&str]| {
        let answer = probe.ask("git", args).ok().flatten()?;
        Some(String::from_utf8(answer).ok()?.trim().to_owned())
    };
    let remote = say(&["symbolic-ref", "--short", "refs/remotes/origin/HEAD"]);
    let remote = remote.and_then(|name| name.strip_prefix("origin/").map(str::to_owned));
    let local = |name: &&str| {
        say(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{name}")]).is_some()
    };
    remote.or_else(|| ["main", "master"].into_iter().find(local).map(str::to_owned))
}

fn summary(project: &DetectedProject) -> String {
    let list = |names: Vec<String>| match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    let languages = project.languages.iter().map(|(language, _)| language.to_string());
    let commands =
        project.commands.iter().map(|command| format!("{} ({})", command.text, command.from));
    let linters = project.linters.iter().map(|(name, installed)| match installed {
        true if name.is_slow() => format!("{} (add it to review.linters.also)", name.name()),
        true => name.name().to_owned(),
        false => format!("{} (not installed)", name.name()),
    });
    format!(
        "languages: {}\ncommands: {}\nlinters: {}",
        list(languages.collect()),
        console::harmless(&list(commands.collect())),
        list(linters.collect())
    )
}

fn write_config(root: &Path, text: &str, args: &InitArgs) -> anyhow::Result<()> {
    let path = root.join(FILE_NAME);
    let written = match args.force {
        true => replace(root, &path, text),
        false => write_new(&path, text.as_bytes()),
    };
    match written {
        Ok(()) => console::say(&format!("wrote {}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            console::say(&format!("{} already exists (use --force to replace it)", path.display()))
        }
        Err(error) => return Err(error).with_context(|| format!("writing {}", path.display())),
    }
    Ok(())
}

/// Replaces the file, with a backup if the content changes.
fn replace(root: &Path, path: &Path, text: &str) -> io::Result<()> {
    match std::fs::read(path) {
        Ok(old) if old != text.as_bytes() => {
            let kept = state_folder(root).back_up(FILE_NAME, &old)?;
            console::say(&format!("the old {FILE_NAME} is saved as {}", kept.display()));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_atomically(path, text.as_bytes())
}

fn ignore_state(root: &Path) -> anyhow::Result<()> {
    // Change the target of a symbolic link, not the link.
    let named = root.join(".gitignore");
    let path = named.canonicalize().unwrap_or(named);
    let old = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
    };
    match gitignore::with_state(&old) {
        Some(new) => {
            write_atomically(&path, &new).with_context(|| format!("writing {}", path.display()))?;
            console::say(&format!("added .mala/ to {}", path.display()));
        }
        None => console::say(&format!(".mala/ is already in {}", path.display())),
    }
    Ok(())
}
