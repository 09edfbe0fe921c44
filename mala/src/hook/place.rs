//! The work tree of a stop: that of the project, even if its agent changed to another folder, or the linked
//! work tree of the same project that the agent works in.

use crate::environment::Environment;
use mala_domain::hook::Stop;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable in which Claude Code names the folder of the project.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// The folder and the environment of the work.
pub(super) fn environment(stop: &Stop) -> Environment {
    let variables: std::collections::BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let project = variables.get(std::ffi::OsStr::new(PROJECT)).map(PathBuf::from);
    let current = stop.folder.as_ref().map(PathBuf::from).filter(|folder| folder.is_dir());
    let process = std::env::current_dir().ok();
    let folder = choose(project, current.or(process)).unwrap_or_else(|| PathBuf::from("/"));
    Environment { folder, variables, columns: None }
}

fn choose(project: Option<PathBuf>, current: Option<PathBuf>) -> Option<PathBuf> {
    let Some(project) = project.filter(|folder| root(folder).is_some()) else { return current };
    let linked = current.filter(|folder| is_linked(folder, &project));
    Some(linked.unwrap_or(project))
}

fn root(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// Whether a folder is in a linked work tree of the project's repository.
fn is_linked(folder: &Path, project: &Path) -> bool {
    let (Some(own), Some(project)) = (root(folder), root(project)) else { return false };
    let link = std::fs::read_to_string(own.join(".git")).unwrap_or_default();
    let target = link.strip_prefix("gitdir:").map(|path| own.join(path.trim()));
    let target = target.and_then(|path| path.canonicalize().ok());
    let worktrees = project.join(".git").join("worktrees").canonicalize();
    matches!((target, worktrees), (Some(target), Ok(worktrees)) if target.starts_with(&worktrees))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_testkit::TestRepo;

    #[test]
    fn an_agent_that_walked_away_is_still_at_work_on_its_project() {
        let repo = TestRepo::with_files(&[("sub/a.py", "x = 1\n")]);
        let other = TestRepo::with_files(&[("b.py", "y = 1\n")]);
        let linked = repo.beside("linked");
        repo.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        let folder = |path: &Path| Some(path.to_owned());
        let top = repo.root();
        for (project, current, expected) in [
            (folder(top), folder(other.root()), folder(top)),
            (folder(top), folder(Path::new("/")), folder(top)),
            (folder(top), folder(&top.join("sub")), folder(top)),
            (folder(top), folder(&linked), folder(&linked)),
            (folder(top), None, folder(top)),
            (None, folder(&linked), folder(&linked)),
            (folder(Path::new("/no/such")), folder(&linked), folder(&linked)),
            (None, None, None),
        ] {
            assert_eq!(
                choose(project.clone(), current.clone()),
                expected,
                "{project:?} {current:?}"
            );
        }
    }
}
