//! `mala init --hooks`: adds the hooks to the settings of Claude Code and Codex and to git, or removes them.
//! Those files belong to the user: one entry is added or removed, and every other byte stays.

mod edit;
mod panel;
mod push;

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::wiring::gate::variables;
use crate::wiring::gate::work::{
    current_state, hook_folder, n_unpushed, read_file, settings_are_committed, write_file,
};
use anyhow::Context;
use clap::ValueEnum;
use std::io;
use std::path::{Path, PathBuf};

/// A program that runs hooks
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Host {
    Claude,
    Codex,
    PrePush,
    /// The agents that are installed; both if none is
    #[value(hide = true)]
    Usable,
}

impl Host {
    /// The settings file of a project with the hooks of this host; git has none.
    fn file(self) -> &'static str {
        match self {
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            Self::PrePush | Self::Usable => "",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::PrePush => "pre-push",
            Self::Usable => "usable",
        }
    }
}

/// The hosts with a settings file.
const AGENTS: [Host; 2] = [Host::Claude, Host::Codex];

/// What to do with a settings file.
enum FileAction {
    Stays(&'static str),
    Written(String),
    Removed,
}

type Change<'c> = &'c dyn Fn(Host, Option<&str>) -> Result<FileAction, String>;

/// Adds the hook to the files of these hosts. Without any, they are the agents on this machine.
pub(super) fn install(hosts: &[Host], here: &Environment) -> anyhow::Result<Exit> {
    let top = work_tree(here)?;
    let found = installed_agents(here);
    let hosts = if hosts.contains(&Host::Usable) { found.as_slice() } else { hosts };
    let folder = hook_folder(top);
    change(hosts, top, &|host, text| {
        let Some(new) = edit::installed(text.unwrap_or_default())? else {
            return Ok(FileAction::Stays("the hook is already there"));
        };
        match text {
            Some(text) => {
                folder.keep_settings(host.name(), text).map_err(|error| error.to_string())?;
            }
            None => drop(folder.take_settings(host.name())),
        }
        Ok(FileAction::Written(new))
    })?;
    if hosts.contains(&Host::PrePush) {
        push::install(top, here)?;
    }
    panel::choose(top, here)?;
    accept(top, here)?;
    if hosts.contains(&Host::Codex) {
        console::say("codex runs the hook after you trust it: /hooks in codex");
    }
    if variables(here).find("mala").is_none() {
        console::say("warning: `mala` is not on PATH, where hosts look for it");
    }
    Ok(Exit::Passed)
}

/// Removes the hook from the files of these hosts; by default, of all hosts.
pub(super) fn remove(hosts: &[Host], here: &Environment) -> anyhow::Result<Exit> {
    let top = work_tree(here)?;
    let is_all = hosts.contains(&Host::Usable);
    let hosts = if is_all { &AGENTS } else { hosts };
    let folder = hook_folder(top);
    change(hosts, top, &|host, text| {
        let Some(text) = text else { return Ok(FileAction::Stays("no such file")) };
        // A file that has not changed since is restored.
        let before = folder.take_settings(host.name());
        if let Some(before) =
            before.filter(|before| edit::installed(before) == Ok(Some(text.to_owned())))
        {
            return Ok(FileAction::Written(before));
        }
        Ok(match edit::removed(text)? {
            Some(text) if text.trim() == "{}" => FileAction::Removed,
            Some(text) => FileAction::Written(text),
            None if edit::has_hook(text)? => {
                FileAction::Stays("its hook was not written by mala init, and stays")
            }
            None => FileAction::Stays("no hook of mala"),
        })
    })?;
    let has_hook = |host: Host| {
        let text = read(&top.join(host.file())).ok().flatten();
        text.is_some_and(|text| edit::has_hook(&text) != Ok(false))
    };
    if hosts.contains(&Host::PrePush) || is_all && push::is_installed(top, here) {
        push::remove(top, here)?;
    }
    if !AGENTS.into_iter().any(has_hook) {
        folder.forget_accepted().context("forgetting what is accepted")?;
    }
    Ok(Exit::Passed)
}

/// The agents on this machine. Without any, both are set up for other users of the repository.
fn installed_agents(here: &Environment) -> Vec<Host> {
    let variables = variables(here);
    let found: Vec<Host> =
        AGENTS.into_iter().filter(|host| variables.find(host.name()).is_some()).collect();
    if found.is_empty() { AGENTS.to_vec() } else { found }
}

fn work_tree(here: &Environment) -> Result<&Path, Failure> {
    here.work_tree().ok_or_else(|| {
        Failure::usage("not in a git repository").hint("hooks review the work in one")
    })
}

/// Accepts the current state when the hook is installed.
fn accept(top: &Path, here: &Environment) -> anyhow::Result<()> {
    let folder = hook_folder(top);
    until_interrupted(async {
        if folder.accepted()?.is_none() {
            let state = current_state(here).await?;
            folder.accept(&state).context("recording the state of the repository")?;
            match n_unpushed(here, &state).await? {
                0 => {}
                1 => console::say("not reviewed: 1 of your commits is not pushed yet"),
                n => console::say(&format!("not reviewed: {n} of your commits are not pushed yet")),
            }
        }
        if !settings_are_committed(here).await? {
            console::say(
                "warning: mala.yaml is not committed: hooks read it from the commit that work starts from, \
                 and for a push from the remote; commit and push it first",
            );
        }
        Ok(Exit::Passed)
    })?;
    Ok(())
}

/// Changes all files, or none if one of them is invalid.
fn change(hosts: &[Host], top: &Path, action: Change<'_>) -> anyhow::Result<()> {
    let mut actions = Vec::new();
    for host in hosts.iter().filter(|host| AGENTS.contains(host)) {
        let path = top.join(host.file());
        // The target of a link is changed, and the link stays.
        let path = path.canonicalize().unwrap_or_else(|_| led_to(path));
        refuse_outside(&path, top)?;
        let text = read(&path).with_context(|| format!("reading {}", path.display()))?;
        let action = action(*host, text.as_deref()).map_err(|why| {
            Failure::new(FailureKind::CouldNotReview, format!("{}: {why}", path.display()))
                .hint("nothing was changed: repair the file first")
        })?;
        actions.push((path, action));
    }
    for (path, action) in actions {
        match action {
            FileAction::Stays(why) => console::say(&format!("{}: {why}", path.display())),
            FileAction::Written(text) => {
                write(&path, &text).with_context(|| format!("writing {}", path.display()))?;
                console::say(&format!("wrote {}", path.display()));
            }
            FileAction::Removed => {
                std::fs::remove_file(&path)
                    .with_context(|| format!("removing {}", path.display()))?;
                console::say(&format!("removed {}: nothing else was in it", path.display()));
                remove_empty(path.parent());
            }
        }
    }
    Ok(())
}

/// The target of a link to a file that does not exist; other paths as they are.
fn led_to(path: PathBuf) -> PathBuf {
    match (std::fs::read_link(&path), path.parent()) {
        (Ok(target), Some(folder)) => folder.join(target),
        _ => path,
    }
}

/// Fails if a link in the repository leads to settings outside of it.
fn refuse_outside(path: &Path, top: &Path) -> anyhow::Result<()> {
    let top = top.canonicalize().with_context(|| format!("finding {}", top.display()))?;
    // The part of the path that exists.
    let real = path.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
    if real.is_some_and(|folder| folder.starts_with(&top)) {
        return Ok(());
    }
    let why = format!("{}: the link leads out of the work tree", path.display());
    Err(Failure::new(FailureKind::CouldNotReview, why).hint("nothing was changed").into())
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match read_file(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(path: &PathBuf, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let permissions = std::fs::metadata(path).map(|meta| meta.permissions());
    write_file(path, text.as_bytes())?;
    match permissions {
        Ok(permissions) => std::fs::set_permissions(path, permissions),
        Err(_) => Ok(()),
    }
}

/// Removes a folder if it is empty.
fn remove_empty(folder: Option<&Path>) {
    if let Some(folder) = folder {
        std::fs::remove_dir(folder).unwrap_or_default();
    }
}
