//! The pre-push hook of git: a script that is added only if there is no other one.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::wiring::gate::work::{git_hook, read_file, write_file};
use anyhow::Context;
use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const SCRIPT: &str =
    "#!/bin/sh\n# Written by `mala init --hooks=pre-push`.\nexec mala hook pre-push \"$@\"\n";

/// The line that a hook of the user needs.
const LINE: &str = "mala hook pre-push \"$@\" || exit 1";

/// Adds the hook. Another hook is left as it is.
pub(super) fn install(top: &Path, here: &Environment) -> anyhow::Result<()> {
    let path = hook_path(top, here)?;
    match read(&path)? {
        Some(text) if has_command(&text) => {
            console::say(&format!("{}: the hook is already there", path.display()));
            return Ok(());
        }
        Some(_) => {
            let why = format!("{}: there is another hook", path.display());
            let hint =
                format!("it needs this line before all others (it reads all of stdin): {LINE}");
            return Err(Failure::new(FailureKind::CouldNotReview, why).hint(hint).into());
        }
        None => {}
    }
    let writing = || format!("writing {}", path.display());
    path.parent().map_or(Ok(()), std::fs::create_dir_all).with_context(writing)?;
    write_file(&path, SCRIPT.as_bytes()).with_context(writing)?;
    set_permissions(&path, Permissions::from_mode(0o755)).with_context(writing)?;
    console::say(&format!("wrote {}", path.display()));
    Ok(())
}

/// Whether a script runs the hook, and ends if it refuses the push; comments do not count.
fn has_command(script: &str) -> bool {
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let ends = |line: &str| line.starts_with("exec ") || line.contains("|| exit");
    let sets = script.lines().any(|line| line.trim().starts_with("set -e"));
    lines.into_iter().any(|line| line.contains("mala hook pre-push") && (sets || ends(line)))
}

/// Whether the hook that `install` writes exists.
pub(super) fn is_installed(top: &Path, here: &Environment) -> bool {
    let text = hook_path(top, here).ok().and_then(|path| read(&path).ok().flatten());
    text.is_some_and(|text| text == SCRIPT)
}

/// Removes the hook if it is the one that `install` wrote.
pub(super) fn remove(top: &Path, here: &Environment) -> anyhow::Result<()> {
    let path = hook_path(top, here)?;
    match read(&path)? {
        Some(text) if text == SCRIPT => {
            std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
            console::say(&format!("removed {}", path.display()));
        }
        Some(_) => {
            console::say(&format!("{}: it was not written by mala init, and stays", path.display()))
        }
        None => console::say(&format!("{}: no such file", path.display())),
    }
    Ok(())
}

fn hook_path(top: &Path, here: &Environment) -> anyhow::Result<PathBuf> {
    let mut path = top.join(".git/hooks/pre-push");
    until_interrupted(async {
        path = git_hook(here, "pre-push").await?;
        Ok(Exit::Passed)
    })?;
    Ok(path)
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match read_file(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}
