//! A lane's own home: empty but for the files that its table gives it. The user's settings, hooks and
//! plugins are not there; what signs in is, as a link.

use super::detect::path;
use crate::process::ProcessEnvironment;
use mala_domain::gate::lane::Lane;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Makes the home of a lane in this folder.
pub(super) fn furnish(lane: &Lane, home: &Path, variables: &ProcessEnvironment) -> io::Result<()> {
    fs::create_dir_all(home.join("tmp"))?;
    for link in lane.settings.links.iter().flatten() {
        let place = inside(home, &link.to)?;
        let theirs = link.from.iter().filter_map(|from| path(from, variables));
        if let Some(theirs) = theirs.filter(|file| file.is_file()).find_map(absolute) {
            std::os::unix::fs::symlink(theirs, place)?;
        }
    }
    for file in lane.settings.files.iter().flatten() {
        let is_set = |name: &String| variables.get(name).is_some_and(|value| !value.is_empty());
        let wanted = file.if_set.as_ref().is_none_or(is_set)
            && !file.unless_set.as_ref().is_some_and(is_set);
        if wanted {
            fs::write(inside(home, &file.to)?, &file.text)?;
        }
    }
    // Programs that are told a folder in their home expect it to be there.
    for value in lane.settings.set.iter().flat_map(|set| set.values()) {
        if let Some(below) = value.strip_prefix("{home}/") {
            fs::create_dir_all(inside(home, below)?)?;
        }
    }
    Ok(())
}

fn absolute(path: PathBuf) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// A place below the home, with the folders above it.
fn inside(home: &Path, below: &str) -> io::Result<PathBuf> {
    let below = Path::new(below);
    if !below.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::other(format!("{} leads out of the home", below.display())));
    }
    let place = home.join(below);
    fs::create_dir_all(place.parent().unwrap_or(home))?;
    Ok(place)
}
