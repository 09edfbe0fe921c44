//! Makes a repository out of two states of a tree, in one stream. The same files give the same commits,
//! on every machine.

use super::call::complaint_of;
use super::open::PINNED;
use super::{GitError, ObjectId};
use crate::process::{Environment, Finished, Limits, ProcessError, Spec, run};
use mala_domain::change::FilePath;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const TIME: Duration = Duration::from_secs(120);
pub(super) const WHO: &str = "mala <mala@localhost> 1700000000 +0000";

/// Paths and contents.
pub(super) type ImportedFiles = BTreeMap<FilePath, Vec<u8>>;

/// The two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The first state.
    pub base: String,
    /// The second, which is checked out.
    pub head: String,
}

/// Makes a repository in this folder, which is there and empty.
pub async fn import(
    folder: &Path,
    (base, head): (&ImportedFiles, &ImportedFiles),
    environment: &Environment,
) -> Result<Imported, GitError> {
    let maker = Maker { folder, environment: sealed(environment) };
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
    Ok(Imported { base, head })
}

/// No configuration of the user or the machine, no hooks, and nothing that waits for the disk: the
/// repository is thrown away.
fn sealed(environment: &Environment) -> Environment {
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

struct Maker<'a> {
    folder: &'a Path,
    environment: Environment,
}

impl Maker<'_> {
    async fn git(&self, args: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let spec = Spec::new("git", self.folder, self.environment.clone())
            .args(args.iter().copied())
            .stdin(stdin);
        let finished = run(spec, Limits::within(TIME)).await.map_err(|error| match error {
            ProcessError::NotFound { .. } => GitError::Missing,
            other => other.into(),
        })?;
        match finished.code() {
            Some(0) => Ok(finished.output.stdout),
            _ => Err(failed(args, &finished)),
        }
    }
}

fn failed(args: &[&str], finished: &Finished) -> GitError {
    let command = args.first().copied().unwrap_or_default().to_owned();
    GitError::Failed { command, complaint: complaint_of(finished) }
}

/// What `git fast-import` reads.
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

/// A path as the stream quotes it: every byte that could mean something else is written as a number.
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
