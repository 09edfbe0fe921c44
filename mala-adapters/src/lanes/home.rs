//! Creates a home for a program. It has only the files that the table of lanes lists: no settings, hooks or
//! plugins of the user, and links to the files that sign in.

use super::detect::path;
use crate::process::ProcessEnvironment;
use mala_domain::gate::lane::{HomeFile, HomeLink};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The content of a home.
pub(crate) struct HomeContent<'h> {
    /// Files of the user.
    pub(crate) links: &'h [HomeLink],
    /// Files with their text.
    pub(crate) files: &'h [HomeFile],
    /// Values of variables: the folders in the home that they name are created.
    pub(crate) values: Vec<&'h str>,
}

/// Creates a home in this folder and replaces existing files. Returns the files of the user that it links to.
pub(crate) fn furnish(
    content: &HomeContent<'_>,
    home: &Path,
    variables: &ProcessEnvironment,
) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(home.join("tmp"))?;
    let mut linked = Vec::new();
    for link in content.links {
        let place = free_place(home, &link.to)?;
        let theirs = link.from.iter().filter_map(|from| path(from, variables));
        if let Some(theirs) = theirs.filter(|file| file.is_file()).find_map(absolute) {
            std::os::unix::fs::symlink(&theirs, place)?;
            linked.push(theirs);
        }
    }
    for file in content.files {
        let is_set = |name: &String| variables.get(name).is_some_and(|value| !value.is_empty());
        let wanted = file.if_set.as_ref().is_none_or(is_set)
            && !file.unless_set.as_ref().is_some_and(is_set);
        if wanted {
            fs::write(free_place(home, &file.to)?, &file.text)?;
        }
    }
    // Programs expect folders that their variables name to exist.
    for value in &content.values {
        if let Some(below) = value.strip_prefix("{home}/") {
            fs::create_dir_all(inside(home, below)?)?;
        }
    }
    Ok(linked)
}

fn absolute(path: PathBuf) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// A path below the home. A file at this path is removed.
fn free_place(home: &Path, below: &str) -> io::Result<PathBuf> {
    let place = inside(home, below)?;
    match fs::remove_file(&place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(place),
    }
}

/// A path below the home. Creates its parent folders.
fn inside(home: &Path, below: &str) -> io::Result<PathBuf> {
    let below = Path::new(below);
    if !below.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::other(format!("{} leads out of the home", below.display())));
    }
    let place = home.join(below);
    fs::create_dir_all(place.parent().unwrap_or(home))?;
    Ok(place)
}
