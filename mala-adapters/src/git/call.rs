//! One call of git: its arguments, its input, and the meaning of its result.

use super::{Git, GitError, GitVersion};
use crate::process::{
    FinishedProcess, ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec, run,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of one call. A review has a limit of its own.
const TIME: Duration = Duration::from_secs(600);

/// The default limit of a call's output, in bytes.
const OUTPUT: usize = 64 << 20;

/// A call of git.
#[derive(Debug, Clone)]
pub(super) struct GitCall {
    args: Vec<OsString>,
    stdin: Vec<u8>,
    environment: Vec<(&'static str, OsString)>,
    dir: Option<PathBuf>,
    output: usize,
}

impl GitCall {
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

    /// Sets the folder in which it runs. The default is the root of the work tree.
    pub(super) fn dir(mut self, dir: PathBuf) -> Self {
        self.dir = Some(dir);
        self
    }

    pub(super) fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }

    fn command(&self) -> String {
        let mut args = self.args.iter().map(|arg| arg.to_string_lossy());
        while let Some(arg) = args.next() {
            match arg.as_ref() {
                // Its value comes next.
                "-c" => drop(args.next()),
                arg if arg.starts_with('-') => {}
                arg => return arg.to_owned(),
            }
        }
        String::new()
    }

    pub(super) fn failed(&self, finished: &FinishedProcess) -> GitError {
        let message = stderr_line(finished);
        let message = match finished.signal() {
            Some(signal) if message.is_empty() => format!("killed by signal {signal}"),
            _ if message.is_empty() => format!("exit code {:?}", finished.code()),
            _ => message,
        };
        match corruption(&message) {
            Some(message) => GitError::Corrupt { message },
            None => GitError::Failed { command: self.command(), message },
        }
    }

    pub(super) fn unexpected(&self) -> GitError {
        GitError::Unexpected { command: self.command() }
    }
}

impl Git {
    /// Runs a call, whatever its exit code.
    pub(super) async fn finish(&self, call: &GitCall) -> Result<FinishedProcess, GitError> {
        let spec = self.spec(call);
        let limits = ProcessLimits::within(TIME).stdout(call.output);
        Ok(run(spec, limits).await?)
    }

    /// Runs a call that must succeed, and returns its output.
    pub(super) async fn output(&self, call: &GitCall) -> Result<Vec<u8>, GitError> {
        let finished = self.finish(call).await?;
        if finished.output.stdout_cut {
            return Err(GitError::TooMuch { command: call.command(), limit: call.output });
        }
        match finished.code() {
            Some(0) => Ok(finished.output.stdout),
            _ => Err(call.failed(&finished)),
        }
    }

    pub(super) fn spec(&self, call: &GitCall) -> ProcessSpec {
        let mut environment = self.inner.environment.clone();
        if let Some(attributes) = &self.attributes
            && self.inner.version >= GitVersion::ATTRIBUTES_OF_TREES
        {
            environment = environment.with("GIT_ATTR_SOURCE", &attributes.tree);
        }
        let is_elsewhere = call.environment.iter().any(|(name, _)| *name == "GIT_DIR");
        let common = self.attributes.as_ref().and_then(|it| it.common.as_ref());
        if let (false, Some(common)) = (is_elsewhere, common) {
            environment = environment.with("GIT_COMMON_DIR", common.path());
        }
        for (name, value) in &call.environment {
            environment = environment.with(*name, value);
        }
        let args = ["--no-pager", "--no-optional-locks"];
        ProcessSpec::new("git", call.dir.as_ref().unwrap_or(&self.inner.top), environment)
            .args(args)
            .args(call.args.clone())
            .stdin(call.stdin.clone())
    }
}

/// Runs git before the repository is known, with the user's own configuration. Only that
/// configuration says which folders of other users are safe.
pub(super) async fn probe(
    dir: &Path,
    environment: &ProcessEnvironment,
    args: &[&str],
) -> Result<FinishedProcess, GitError> {
    let spec = ProcessSpec::new("git", dir, environment.clone()).args(args.iter().copied());
    match run(spec, ProcessLimits::within(TIME)).await {
        Ok(finished) => Ok(finished),
        Err(ProcessError::NotFound { .. }) => Err(GitError::Missing),
        Err(ProcessError::NotStarted { .. }) if !dir.is_dir() => {
            let source = std::io::ErrorKind::NotFound.into();
            Err(GitError::Io { what: format!("cannot open {}", dir.display()), source })
        }
        Err(error) => Err(error.into()),
    }
}

/// The most specific part of git's message about an object that it cannot read; `None` for other
/// messages.
fn corruption(message: &str) -> Option<String> {
    let signs = ["is corrupt", "unable to unpack", "inflate: ", "hash mismatch", "garbage at end"];
    let parts = || message.split("; ");
    signs.iter().find_map(|sign| parts().find(|part| part.contains(sign))).map(str::to_owned)
}

/// Git's stderr as one line.
pub(super) fn stderr_line(finished: &FinishedProcess) -> String {
    let message = finished.output.stderr_text();
    let plain = |line: &str| {
        let line = line.strip_prefix("fatal: ").unwrap_or(line);
        line.strip_prefix("error: ").unwrap_or(line).to_owned()
    };
    let lines: Vec<_> = message.lines().filter(|line| !line.is_empty()).map(plain).collect();
    lines.join("; ")
}
