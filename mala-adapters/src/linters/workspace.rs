//! The folder in which a linter runs: the user's work tree, or a copy of the changed files with the
//! linter's configuration.

use super::LinterRun;
use super::call::LinterError;
use super::registry::LinterInput;
use super::setup::LinterSetup;
use mala_domain::change::{AddedLines, ChangedFile, FilePath};
use mala_domain::scope::HeadState;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::fs;

/// A folder that is ready for a linter.
pub(super) struct LintWorkspace {
    /// The root of the tree or of the copy, without symbolic links.
    pub(super) root: PathBuf,
    /// The folder below the root where the linter runs; empty for the root.
    pub(super) folder: String,
    /// The files to check, by their path from the root.
    pub(super) targets: BTreeMap<String, LintTarget>,
    /// A temporary folder for the linter's own files.
    pub(super) scratch: TempDir,
}

/// A file that a linter checks.
pub(super) struct LintTarget {
    pub(super) path: FilePath,
    pub(super) added: AddedLines,
}

impl LintWorkspace {
    pub(super) async fn prepare(
        run: &LinterRun<'_>,
        files: &[&ChangedFile],
        setup: &LinterSetup,
    ) -> Result<Self, LinterError> {
        let scratch = TempDir::new()?;
        let in_project = run.linter.reach == LinterInput::Project;
        let in_place = in_project || run.request.scope.head == HeadState::WorkingTree;
        let (root, targets) = match &run.context.folder {
            Some(folder) if in_place => (folder.clone(), same_on_disk(run, files, folder).await),
            _ => {
                let root = scratch.path().join("tree");
                (root.clone(), copy(run, files, setup, &root).await?)
            }
        };
        let folder = if in_project { setup.folder() } else { String::new() };
        Ok(Self { root: fs::canonicalize(root).await?, folder, targets, scratch })
    }

    /// The folder where the linter runs.
    pub(super) fn dir(&self) -> PathBuf {
        self.root.join(&self.folder)
    }

    /// The file that a linter names, by its absolute path or relative to where it runs.
    pub(super) fn target(&self, named: &str) -> Option<&LintTarget> {
        let path = self.dir().join(named);
        let inside = path.strip_prefix(&self.root).ok()?;
        let parts = inside.components().filter(|part| part.as_os_str() != ".");
        self.targets.get(parts.collect::<PathBuf>().to_str()?)
    }
}

/// The files whose text on disk is the reviewed one. Line numbers of another text would be wrong.
async fn same_on_disk(
    run: &LinterRun<'_>,
    files: &[&ChangedFile],
    folder: &Path,
) -> BTreeMap<String, LintTarget> {
    let mut same = BTreeMap::new();
    for file in files {
        let name = file.path.to_text().into_owned();
        let path = folder.join(&name);
        let is_file = fs::symlink_metadata(&path).await.is_ok_and(|meta| meta.is_file());
        let on_disk = if is_file { fs::read(&path).await.ok() } else { None };
        let (Some(bytes), Some(text)) = (on_disk, run.request.texts.at_head(&file.path)) else {
            continue;
        };
        if String::from_utf8_lossy(&bytes).lines().eq(text.lines()) {
            same.insert(name, LintTarget::of(file));
        }
    }
    same
}

/// Writes the changed files and the configuration into a new folder.
async fn copy(
    run: &LinterRun<'_>,
    files: &[&ChangedFile],
    setup: &LinterSetup,
    root: &Path,
) -> Result<BTreeMap<String, LintTarget>, LinterError> {
    fs::create_dir_all(root).await?;
    let mut targets = BTreeMap::new();
    for file in files.iter().filter(|file| !configures(run, &file.path)) {
        let name = file.path.to_text().into_owned();
        write(root, &name, run.request.texts.at_head(&file.path).unwrap_or_default()).await?;
        targets.insert(name, LintTarget::of(file));
    }
    for (path, text) in setup.configs.iter().chain(&setup.mentions) {
        write(root, &path.to_text(), text).await?;
    }
    Ok(targets)
}

/// Whether a changed file configures the linter. Tools run `x.config.ts` as a program.
fn configures(run: &LinterRun<'_>, path: &FilePath) -> bool {
    let name = path.file_name();
    let text = path.to_text();
    name.contains(".config.")
        || run.linter.configs.contains(&name)
        || run.linter.mentions.iter().any(|(mention, _)| *mention == name)
        || run
            .linter
            .config_folders
            .iter()
            .any(|folder| text.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

async fn write(root: &Path, name: &str, text: &str) -> Result<(), LinterError> {
    let path = root.join(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).await?;
    }
    Ok(fs::write(path, text).await?)
}

impl LintTarget {
    fn of(file: &ChangedFile) -> Self {
        Self { path: file.path.clone(), added: AddedLines::of(file) }
    }
}
