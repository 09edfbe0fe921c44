//! Git behind the ports of evals, and cases checked out as repositories.

use crate::environment::Environment;
use crate::wiring::changes;
use mala_adapters::git::{Git, GitError, GitScopeError, ImportedCommits, OverlaidCommit, import};
use mala_adapters::process::ProcessEnvironment;
use mala_domain::change::FilePath;
use mala_domain::ports::{BoxFuture, ChangeSource, ReviewScope, ScopeError};
use mala_domain::scope::ReviewTarget;
use mala_eval::EvalCase;
use mala_eval::import::clone_paths;
use mala_eval::ports::{CaseGit, CaseRepository, FileContents, IntroducedLine};
use mala_eval::trees::CaseTrees;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use thiserror::Error;

/// Why a case could not be checked out.
#[derive(Debug, Error)]
pub(super) enum CheckoutError {
    /// No folder can be made.
    #[error("cannot create a folder: {0}")]
    Folder(#[from] std::io::Error),
    /// Git fails.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A repository with the two states of a case, deleted with this value.
#[derive(Debug)]
pub(super) struct CaseCheckout {
    _folder: TempDir,
    root: PathBuf,
    commits: ImportedCommits,
}

impl CaseCheckout {
    /// Writes both states into a repository below this folder.
    pub(super) async fn of(
        base: &FileContents,
        head: &FileContents,
        below: &Path,
        environment: &ProcessEnvironment,
    ) -> Result<Self, CheckoutError> {
        let (folder, root) = new_folder(below)?;
        std::fs::create_dir(&root)?;
        let commits = import(&root, (base, head), environment).await?;
        Ok(Self { _folder: folder, root, commits })
    }

    /// The root of the work tree, which has the second state.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// From the first state to the second.
    pub(super) fn target(&self) -> ReviewTarget {
        ReviewTarget::Range { base: self.commits.base.clone(), head: self.commits.head.clone() }
    }
}

fn new_folder(below: &Path) -> std::io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("case-").tempdir_in(below)?;
    let root = folder.path().canonicalize()?.join("repo");
    Ok((folder, root))
}

/// The repositories that may have the commits of cases: the one around the current folder, and clones.
pub struct CaseRepositories {
    environment: ProcessEnvironment,
    around: Option<Git>,
    clones: Option<PathBuf>,
}

impl CaseRepositories {
    /// The repository around the current folder, and the clones in this folder.
    pub async fn open(here: &Environment, clones: Option<&Path>) -> Self {
        let environment = changes::child_environment(here).without("GIT_INDEX_FILE");
        let around = Git::open(&here.folder, &environment).await.ok();
        Self { environment, around, clones: clones.map(|folder| here.folder.join(folder)) }
    }

    /// Checks a case out in the tree of its commit; `None` when no repository has that commit.
    pub(super) async fn check_out(
        &self,
        case: &EvalCase,
        trees: &CaseTrees,
        below: &Path,
    ) -> Result<Option<CaseCheckout>, CheckoutError> {
        let Some((base, head)) = case.meta.commits() else { return Ok(None) };
        let Some(git) = self.with_commits(&case.repo, base, head).await else { return Ok(None) };
        let (folder, root) = new_folder(below)?;
        let base = OverlaidCommit { commit: base, files: &trees.base };
        let head = OverlaidCommit { commit: Some(head), files: &trees.head };
        let commits = git.copy_overlaid(&root, base, head).await?;
        Ok(Some(CaseCheckout { _folder: folder, root, commits }))
    }

    async fn with_commits(&self, repo: &str, base: Option<&str>, head: &str) -> Option<Git> {
        let clones = self.clones.iter().flat_map(|folder| clone_paths(folder, repo));
        let mut found: Vec<Git> = self.around.iter().cloned().collect();
        for path in clones {
            found.extend(Git::open(&path, &self.environment).await);
        }
        for git in found {
            let mut has_all = true;
            for commit in base.into_iter().chain([head]) {
                // A case names a commit only by its id, never by an option or a branch.
                let is_id = commit.len() >= 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
                has_all &= is_id && git.commit_id(commit).await.is_ok();
            }
            if has_all {
                return Some(git);
            }
        }
        None
    }
}

/// A small repository to check a reviewer before the first case; deleted with this value.
pub struct SampleRepository {
    /// The environment of a program in it.
    pub inside: Environment,
    _checkout: CaseCheckout,
}

impl SampleRepository {
    /// Creates it.
    pub async fn create(here: &Environment) -> anyhow::Result<Self> {
        let files =
            |text: &str| FileContents::from([("sample.txt".into(), text.as_bytes().to_vec())]);
        let (base, head) = (files("one\n"), files("two\n"));
        let environment = changes::child_environment(here);
        let checkout = CaseCheckout::of(&base, &head, &std::env::temp_dir(), &environment).await?;
        let mut inside = Environment { folder: checkout.root().to_owned(), ..here.clone() };
        inside.variables.remove(std::ffi::OsStr::new("GIT_INDEX_FILE"));
        Ok(Self { inside, _checkout: checkout })
    }
}

/// Git for making cases.
pub struct EvalGit {
    environment: ProcessEnvironment,
}

impl EvalGit {
    /// Git with the environment of this program, but not its index.
    pub fn new(here: &Environment) -> Self {
        Self { environment: changes::child_environment(here).without("GIT_INDEX_FILE") }
    }

    /// The repository around a folder.
    pub async fn repository_around(&self, folder: &Path) -> Result<OpenedRepository, GitError> {
        Ok(OpenedRepository(Git::open(folder, &self.environment).await?))
    }
}

impl CaseGit for EvalGit {
    fn open<'a>(&'a self, folder: &'a Path) -> BoxFuture<'a, Option<Box<dyn CaseRepository>>> {
        Box::pin(async move {
            let real = folder.canonicalize().ok().filter(|path| path.is_dir())?;
            let git = Git::open(&real, &self.environment).await.ok()?;
            let is_top = git.top().canonicalize().ok()? == real;
            is_top.then(|| Box::new(OpenedRepository(git)) as Box<dyn CaseRepository>)
        })
    }

    fn diff<'a>(
        &'a self,
        base: &'a FileContents,
        head: &'a FileContents,
    ) -> BoxFuture<'a, Result<String, ScopeError>> {
        Box::pin(async move {
            let broken =
                |error: CheckoutError| ScopeError::Broken { what: error.to_string(), hint: None };
            let work = tempfile::tempdir().map_err(|error| broken(error.into()))?;
            let checkout = CaseCheckout::of(base, head, work.path(), &self.environment).await;
            let checkout = checkout.map_err(broken)?;
            let repository = self.repository_around(checkout.root()).await;
            let repository = repository.map_err(|error| broken(error.into()))?;
            let commits = &checkout.commits;
            repository.patch(Some(&commits.base), &commits.head).await
        })
    }
}

/// A repository that cases are made from.
pub struct OpenedRepository(Git);

impl CaseRepository for OpenedRepository {
    fn name(&self) -> String {
        let folder = || self.0.top().file_name().map(|name| name.to_string_lossy().into_owned());
        self.0.url().map(str::to_owned).or_else(folder).unwrap_or_default()
    }

    fn scope<'a>(
        &'a self,
        target: &'a ReviewTarget,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<ReviewScope, ScopeError>> {
        ChangeSource::scope(&self.0, target, paths)
    }

    fn patch<'a>(
        &'a self,
        base: Option<&'a str>,
        head: &'a str,
    ) -> BoxFuture<'a, Result<String, ScopeError>> {
        Box::pin(async move {
            let diff = self.0.patch_between(base, head).await?;
            Ok(String::from_utf8_lossy(&diff).into_owned())
        })
    }

    fn message<'a>(&'a self, revision: &'a str) -> BoxFuture<'a, Result<String, ScopeError>> {
        Box::pin(async move { Ok(self.0.message(revision).await?) })
    }

    fn has_commit<'a>(&'a self, revision: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move { self.0.commit_id(revision).await.is_ok() })
    }

    fn pull_request(&self, number: u64) -> BoxFuture<'_, Result<Option<ReviewTarget>, ScopeError>> {
        Box::pin(async move { Ok(self.0.pull_request(number).await?) })
    }

    fn line_origins<'a>(
        &'a self,
        revision: &'a str,
        file: &'a FilePath,
        lines: &'a [u32],
    ) -> BoxFuture<'a, Result<Vec<IntroducedLine>, ScopeError>> {
        Box::pin(async move {
            let origins = self.0.origins(revision, file, lines).await?;
            let lines = origins.into_iter().map(|origin| IntroducedLine {
                commit: origin.commit,
                time: origin.time,
                file: origin.file,
                line: origin.line,
            });
            Ok(lines.collect())
        })
    }

    fn newest_commits(&self, max: usize) -> BoxFuture<'_, Result<Vec<String>, ScopeError>> {
        Box::pin(
            async move { Ok(self.0.non_merge_commits(max).await.map_err(GitScopeError::from)?) },
        )
    }
}
