//! One call of git: its arguments, what it reads, and what its end means.

use super::{Git, GitError, Version};
use crate::process::{Environment, Finished, Limits, ProcessError, Spec, run};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long one call may take. Whoever waits for a review has a limit of their own.
const TIME: Duration = Duration::from_secs(600);

/// How much a call may print, unless it says otherwise.
const OUTPUT: usize = 64 << 20;

/// A call of git.
#[derive(Debug, Clone)]
pub(super) struct Call {
    args: Vec<OsString>,
    stdin: Vec<u8>,
    environment: Vec<(&'static str, OsString)>,
    dir: Option<PathBuf>,
    output: usize,
}

impl Call {
    pub(super) fn new<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        let (stdin, environment) = (Vec::new(), Vec::new());
        Self { args, stdin, environment, dir: None, output: OUTPUT }
    }

    pub(super) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub(super) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = bytes;
        self
    }

    pub(super) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Where it runs; otherwise at the root of the work tree.
    pub(super) fn dir(mut self, dir: PathBuf) -> Self {
        self.dir = Some(dir);
        self
    }

    pub(super) fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }

    fn command(&self) -> String {
        let command = self.args.iter().map(|arg| arg.to_string_lossy());
        command.into_iter().find(|arg| !arg.starts_with('-')).unwrap_or_default().into_owned()
    }

    pub(super) fn failed(&self, finished: &Finished) -> GitError {
        let complaint = complaint_of(finished);
        let complaint = match finished.signal() {
            Some(signal) if complaint.is_empty() => format!("killed by signal {signal}"),
            _ if complaint.is_empty() => format!("exit code {:?}", finished.code()),
            _ => complaint,
        };
        match damage(&complaint) {
            Some(complaint) => GitError::Corrupt { complaint },
            None => GitError::Failed { command: self.command(), complaint },
        }
    }

    pub(super) fn unexpected(&self) -> GitError {
        GitError::Unexpected { command: self.command() }
    }
}

impl Git {
    /// Runs a call to its end, whatever its exit code.
    pub(super) async fn finish(&self, call: &Call) -> Result<Finished, GitError> {
        let spec = self.spec(call);
        let limits = Limits::within(TIME).stdout(call.output);
        Ok(run(spec, limits).await?)
    }

    /// Runs a call that must succeed; gives its output.
    pub(super) async fn output(&self, call: &Call) -> Result<Vec<u8>, GitError> {
        let finished = self.finish(call).await?;
        if finished.output.stdout_cut {
            return Err(GitError::TooMuch { command: call.command(), limit: call.output });
        }
        match finished.code() {
            Some(0) => Ok(finished.output.stdout),
            _ => Err(call.failed(&finished)),
        }
    }

    pub(super) fn spec(&self, call: &Call) -> Spec {
        let mut environment = self.inner.environment.clone();
        if let Some(tree) = &self.attributes
            && self.inner.version >= Version::ATTRIBUTES_OF_TREES
        {
            environment = environment.with("GIT_ATTR_SOURCE", tree);
        }
        for (name, value) in &call.environment {
            environment = environment.with(*name, value);
        }
        let args = ["--no-pager", "--no-optional-locks"];
        Spec::new("git", call.dir.as_ref().unwrap_or(&self.inner.top), environment)
            .args(args)
            .args(call.args.clone())
            .stdin(call.stdin.clone())
    }
}

/// Runs git before anything is known of the repository, with the user's own configuration: only that
/// one says which folders of other users are safe.
pub(super) async fn probe(
    dir: &Path,
    environment: &Environment,
    args: &[&str],
) -> Result<Finished, GitError> {
    let spec = Spec::new("git", dir, environment.clone()).args(args.iter().copied());
    match run(spec, Limits::within(TIME)).await {
        Ok(finished) => Ok(finished),
        Err(ProcessError::NotFound { .. }) => Err(GitError::Missing),
        Err(ProcessError::NotStarted { .. }) if !dir.is_dir() => {
            let source = std::io::ErrorKind::NotFound.into();
            Err(GitError::Io { what: format!("no such folder: {}", dir.display()), source })
        }
        Err(error) => Err(error.into()),
    }
}

/// What git says of an object that it cannot read, the most telling part first; `None` when it
/// complains of something else.
fn damage(complaint: &str) -> Option<String> {
    let signs = ["is corrupt", "unable to unpack", "inflate: ", "hash mismatch", "garbage at end"];
    let parts = || complaint.split("; ");
    signs.iter().find_map(|sign| parts().find(|part| part.contains(sign))).map(str::to_owned)
}

/// What git says on stderr, as one line.
pub(super) fn complaint_of(finished: &Finished) -> String {
    let complaint = finished.output.complaint();
    let plain = |line: &str| {
        let line = line.strip_prefix("fatal: ").unwrap_or(line);
        line.strip_prefix("error: ").unwrap_or(line).to_owned()
    };
    let lines: Vec<_> = complaint.lines().filter(|line| !line.is_empty()).map(plain).collect();
    lines.join("; ")
}
