//! `mala init --hooks`: puts the stop hook into the settings of Claude Code and Codex, or takes it out.
//! Those files are the user's: one entry is added or removed, and every other byte stays.

mod edit;

use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::wiring::gate::variables;
use crate::wiring::gate::work::{head_commit, hook_folder, settings_are_committed};
use crate::wiring::{read_following_links, write_atomically};
use anyhow::Context;
use clap::ValueEnum;
use mala_domain::gate::hook::WorkStart;
use std::io;
use std::path::{Path, PathBuf};

/// A program that runs coding agents
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Host {
    Claude,
    Codex,
}

impl Host {
    /// The file of a project that its hooks are in.
    fn file(self) -> &'static str {
        match self {
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// Settings are not longer.
const MAX_BYTES: u64 = 16 << 20;

/// What becomes of a file.
enum Fate {
    Stays(&'static str),
    Written(String),
    Removed,
}

type Change<'c> = &'c dyn Fn(Host, Option<&str>) -> Result<Fate, String>;

/// Puts the hook into the files of these hosts.
pub(super) fn install(hosts: &[Host], here: &Environment) -> anyhow::Result<Exit> {
    let top = work_tree(here)?;
    let folder = hook_folder(top);
    begin(top, here)?;
    change(hosts, top, &|host, text| {
        let Some(new) = edit::installed(text.unwrap_or_default())? else {
            return Ok(Fate::Stays("it has the hook already"));
        };
        match text {
            Some(text) => {
                folder.keep_settings(host.name(), text).map_err(|error| error.to_string())?;
            }
            None => drop(folder.take_settings(host.name())),
        }
        Ok(Fate::Written(new))
    })?;
    if hosts.contains(&Host::Codex) {
        console::say("codex runs the hook after you trusted it: /hooks in codex");
    }
    if variables(here).find("mala").is_none() {
        console::say("warning: mala is not on the path, where the hosts look for it");
    }
    Ok(Exit::Passed)
}

/// Takes the hook out of the files of these hosts.
pub(super) fn remove(hosts: &[Host], here: &Environment) -> anyhow::Result<Exit> {
    let top = work_tree(here)?;
    let folder = hook_folder(top);
    change(hosts, top, &|host, text| {
        let Some(text) = text else { return Ok(Fate::Stays("it is not there")) };
        // Nobody changed it since: then every byte of it comes back.
        let before = folder.take_settings(host.name());
        if let Some(before) =
            before.filter(|before| edit::installed(before) == Ok(Some(text.to_owned())))
        {
            return Ok(Fate::Written(before));
        }
        Ok(match edit::removed(text)? {
            Some(text) if text.trim() == "{}" => Fate::Removed,
            Some(text) => Fate::Written(text),
            None if edit::has_hook(text)? => {
                Fate::Stays("its hook of mala is not the one that init writes, and stays")
            }
            None => Fate::Stays("it has no hook of mala"),
        })
    })?;
    let has_hook = |host: Host| {
        let text = read(&top.join(host.file())).ok().flatten();
        text.is_some_and(|text| edit::has_hook(&text) != Ok(false))
    };
    if ![Host::Claude, Host::Codex].into_iter().any(has_hook) {
        folder.forget_baseline().context("forgetting where the work starts")?;
    }
    Ok(Exit::Passed)
}

fn work_tree(here: &Environment) -> Result<&Path, Failure> {
    here.work_tree().ok_or_else(|| {
        Failure::usage("this is no git repository").hint("the hook reviews the work in one")
    })
}

/// Work without a remote starts where the hook was installed.
fn begin(top: &Path, here: &Environment) -> anyhow::Result<()> {
    let folder = hook_folder(top);
    until_interrupted(async {
        if folder.baseline().is_none() {
            let start = head_commit(here).await?.map_or(WorkStart::Nothing, WorkStart::Commit);
            folder.set_baseline(&start).context("remembering where the work starts")?;
        }
        if !settings_are_committed(here).await? {
            console::say(
                "warning: mala.yaml is not committed as it is, and the hook reads it from where work \
                 starts: commit it, publish it if there is a remote, then run this again with --remove \
                 and without",
            );
        }
        Ok(Exit::Passed)
    })?;
    Ok(())
}

/// Changes all files, or none when one of them cannot be understood.
fn change(hosts: &[Host], top: &Path, fate: Change<'_>) -> anyhow::Result<()> {
    let mut fates = Vec::new();
    for host in hosts {
        let path = top.join(host.file());
        // A link stays a link: what it leads to is changed.
        let path = path.canonicalize().unwrap_or_else(|_| led_to(path));
        refuse_outside(&path, top)?;
        let text = read(&path).with_context(|| format!("reading {}", path.display()))?;
        let fate = fate(*host, text.as_deref()).map_err(|why| {
            Failure::new(FailureKind::CouldNotReview, format!("{}: {why}", path.display()))
                .hint("nothing was changed: repair the file first")
        })?;
        fates.push((path, fate));
    }
    for (path, fate) in fates {
        match fate {
            Fate::Stays(why) => console::say(&format!("{}: {why}", path.display())),
            Fate::Written(text) => {
                write(&path, &text).with_context(|| format!("writing {}", path.display()))?;
                console::say(&format!("wrote {}", path.display()));
            }
            Fate::Removed => {
                std::fs::remove_file(&path)
                    .with_context(|| format!("removing {}", path.display()))?;
                console::say(&format!("removed {}: nothing else was in it", path.display()));
                remove_empty(path.parent());
            }
        }
    }
    Ok(())
}

/// Where a link leads that leads to nothing yet; all else as it is.
fn led_to(path: PathBuf) -> PathBuf {
    match (std::fs::read_link(&path), path.parent()) {
        (Ok(target), Some(folder)) => folder.join(target),
        _ => path,
    }
}

/// A repository chooses its links, and must not choose whose settings are changed.
fn refuse_outside(path: &Path, top: &Path) -> anyhow::Result<()> {
    let top = top.canonicalize().with_context(|| format!("finding {}", top.display()))?;
    // As much of it as is there already.
    let real = path.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
    if real.is_some_and(|folder| folder.starts_with(&top)) {
        return Ok(());
    }
    let why = format!("{}: it leads out of the work tree", path.display());
    Err(Failure::new(FailureKind::CouldNotReview, why).hint("nothing was changed").into())
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match read_following_links(path, MAX_BYTES) {
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
    write_atomically(path, text.as_bytes())?;
    match permissions {
        Ok(permissions) => std::fs::set_permissions(path, permissions),
        Err(_) => Ok(()),
    }
}

/// Removes a folder that has nothing in it; all others stay.
fn remove_empty(folder: Option<&Path>) {
    if let Some(folder) = folder {
        std::fs::remove_dir(folder).unwrap_or_default();
    }
}
