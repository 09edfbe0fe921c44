//! Creates a repository from two states of a tree, with one `git fast-import`. The same files give
//! the same commits on every machine.

use super::call::stderr_line;
use super::open::PINNED;
use super::{GitError, ObjectId};
use crate::process::{
    FinishedProcess, ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec, run,
};
use mala_domain::change::FilePath;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const TIME: Duration = Duration::from_secs(120);
pub(super) const WHO: &str = "mala <mala@localhost> 1700000000 +0000";

/// Paths and contents.
pub(super) type ImportedFiles = BTreeMap<FilePath, Vec<u8>>;

/// The two commits of an imported repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedCommits {
    /// The first state.
    pub base: String,
    /// The second, which is checked out.
    pub head: String,
}

/// Creates a repository in this folder, which must be empty.
pub async fn import(
    folder: &Path,
    (base, head): (&ImportedFiles, &ImportedFiles),
    environment: &ProcessEnvironment,
) -> Result<ImportedCommits, GitError> {
    let maker = RepositoryImporter { folder, environment: sealed(environment) };
    let init = ["init", "--quiet", "--template=", "--initial-branch=mala", "--object-format=sha1"];
    maker.git(&init, Vec::new()).await?;
    let fill = ["fast-import", "--quiet", "--done", "--date-format=raw"];
    let printed = maker.git(&fill, stream(base, head)).await?;
    let mut ids = printed.split(|byte| *byte == b'\n').map(ObjectId::parse);
    let mut next = || ids.next().flatten().map(|id| id.0);
    let (Some(base), Some(head)) = (next(), next()) else {
        return Err(GitError::Unexpected { command: "fast-import".to_owned() });
    };
    maker.git(&["reset", "--quiet", "--hard", &head], Vec::new()).await?;
    Ok(ImportedCommits { base, head })
}

/// An environment without configuration of the user or the system, without hooks and without
/// fsync: the repository is temporary.
fn sealed(environment: &ProcessEnvironment) -> ProcessEnvironment {
    let pinned =
        PINNED.iter().fold(environment.clone(), |all, (name, value)| all.with(name, value));
    pinned
        .without("GIT_INDEX_FILE")
        .with("GIT_CONFIG_GLOBAL", "/dev/null")
        .with("GIT_CONFIG_SYSTEM", "/dev/null")
        .with("GIT_CONFIG_COUNT", "2")
        .with("GIT_CONFIG_KEY_0", "core.fsync")
        .with("GIT_CONFIG_VALUE_0", "none")
        .with("GIT_CONFIG_KEY_1", "gc.auto")
        .with("GIT_CONFIG_VALUE_1", "0")
}

struct RepositoryImporter<'a> {
    folder: &'a Path,
    environment: ProcessEnvironment,
}

impl RepositoryImporter<'_> {
    async fn git(&self, args: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let spec = ProcessSpec::new("git", self.folder, self.environment.clone());
        finish(spec.args(args.iter().copied()).stdin(stdin), args).await
    }
}

/// Runs git in a folder that mala created. The environment overrides the fixed options of every
/// call.
pub(crate) async fn run_sealed(
    folder: &Path,
    environment: &ProcessEnvironment,
    args: &[&str],
) -> Result<Vec<u8>, GitError> {
    let pinned = PINNED.iter().filter(|(name, _)| environment.get(name).is_none());
    let environment = pinned.fold(environment.clone(), |all, (name, value)| all.with(name, value));
    let spec = ProcessSpec::new("git", folder, environment.without("GIT_INDEX_FILE"));
    finish(spec.args(args.iter().copied()), args).await
}

async fn finish(spec: ProcessSpec, args: &[&str]) -> Result<Vec<u8>, GitError> {
    let finished = run(spec, ProcessLimits::within(TIME)).await.map_err(|error| match error {
        ProcessError::NotFound { .. } => GitError::Missing,
        other => other.into(),
    })?;
    match finished.code() {
        Some(0) => Ok(finished.output.stdout),
        _ => Err(failed(args, &finished)),
    }
}

fn failed(args: &[&str], finished: &FinishedProcess) -> GitError {
    let command = args.first().copied().unwrap_or_default().to_owned();
    GitError::Failed { command, message: stderr_line(finished) }
}

/// The input of `git fast-import`.
fn stream(base: &ImportedFiles, head: &ImportedFiles) -> Vec<u8> {
    let mut out = Vec::new();
    for (mark, name, files) in [(1, "base", base), (2, "mala", head)] {
        put(&mut out, &format!("commit refs/heads/{name}\nmark :{mark}\n"));
        put(&mut out, &format!("author {WHO}\ncommitter {WHO}\ndata {}\n{name}\n", name.len()));
        put(&mut out, if mark == 2 { "from :1\ndeleteall\n" } else { "deleteall\n" });
        for (path, bytes) in files {
            put_file(&mut out, "100644", path, bytes);
        }
        put(&mut out, &format!("\nget-mark :{mark}\n"));
    }
    put(&mut out, "done\n");
    out
}

pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// A file of a commit.
pub(super) fn put_file(out: &mut Vec<u8>, mode: &str, path: &FilePath, bytes: &[u8]) {
    put(out, &format!("M {mode} inline {}\ndata {}\n", quoted(path), bytes.len()));
    out.extend_from_slice(bytes);
    out.push(b'\n');
}

/// A path in the quoting of the stream: special bytes become octal escapes.
fn quoted(path: &FilePath) -> String {
    let inner: String = path
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' | 0..=31 | 127..=255 => format!("\\{byte:03o}"),
            other => char::from(*other).to_string(),
        })
        .collect();
    format!("\"{inner}\"")
}
