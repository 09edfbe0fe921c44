//! Linters that the user installed for the project: below `node_modules` or a virtual environment of
//! the work tree. Only what git ignores and does not track counts: no commit can bring it.

use super::LinterWorld;
use super::call::Program;
use super::setup::Setup;
use super::table::Linter;
use crate::process::{self, Environment, Limits, Spec};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where package managers put programs.
const FOLDERS: [&str; 3] = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/// How long git may take to say what it ignores.
const PATIENCE: Duration = Duration::from_secs(10);

/// The linter that is installed in the user's own work tree.
pub(super) async fn find(linter: &Linter, world: &LinterWorld, setup: &Setup) -> Option<Program> {
    let root = tokio::fs::canonicalize(world.folder.as_ref()?).await.ok()?;
    let outside = super::call::outside(world)?;
    for path in places(&root, &setup.folder(), linter.program) {
        if is_ignored(&root, &path, &outside).await {
            return Some(Program { path, environment: outside });
        }
    }
    None
}

/// The places of a program: beside the linter's configuration, then at the root.
fn places(root: &Path, folder: &str, program: &str) -> Vec<PathBuf> {
    let mut starts = vec![root.join(folder), root.to_owned()];
    starts.dedup();
    let inside = |start: &PathBuf| FOLDERS.map(|bin| start.join(bin).join(program));
    starts.iter().flat_map(inside).collect()
}

/// Whether git ignores a program and what it is a link to. What is tracked is not ignored.
async fn is_ignored(root: &Path, path: &Path, environment: &Environment) -> bool {
    let Ok(real) = tokio::fs::canonicalize(path).await else { return false };
    let is_file = tokio::fs::metadata(&real).await.is_ok_and(|meta| meta.is_file());
    let mut asked = vec![path.to_owned()];
    if real.starts_with(root) && real != path {
        asked.push(real);
    }
    for path in &asked {
        // A folder on the way that is a link leads elsewhere than git looks.
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return false };
        let spec = Spec::new("git", root, environment.clone()).args([
            "check-ignore",
            "--quiet",
            "--",
            name,
        ]);
        let answer = process::run(spec, Limits::within(PATIENCE)).await;
        if !answer.is_ok_and(|finished| finished.code() == Some(0)) {
            return false;
        }
    }
    is_file
}
