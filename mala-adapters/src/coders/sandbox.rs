//! Confines a session with bubblewrap where it is installed and works: the session writes only to its worktree,
//! its home and the objects of the repository, and all of its processes end with it.

use crate::process::{ProcessEnvironment, ProcessLimits, ProcessSpec, run};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long bubblewrap may take to show that it works.
const PROBE: Duration = Duration::from_secs(10);

/// The arguments for every sandboxed process: its own process namespace, and everything else
/// read-only.
const READ_ONLY: [&str; 9] = [
    "--unshare-pid",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
];

/// Whether sessions are confined.
pub(super) struct Sandbox {
    program: Option<PathBuf>,
    description: String,
}

impl Sandbox {
    /// Looks for bubblewrap and tries it.
    pub(super) async fn find(variables: &ProcessEnvironment) -> Self {
        let Some(program) = variables.find("bwrap") else {
            let description = "not confined: bubblewrap is not installed".to_owned();
            return Self { program: None, description };
        };
        let environment = ProcessEnvironment::filtered(
            variables.iter().map(|(name, value)| (name.clone(), value.clone())),
        );
        let probe =
            ProcessSpec::new(&program, "/", environment).args(READ_ONLY).args(["--", "true"]);
        let why = match run(probe, ProcessLimits::within(PROBE)).await {
            Ok(finished) if finished.code() == Some(0) => {
                return Self { program: Some(program), description: "bubblewrap".to_owned() };
            }
            Ok(finished) => finished.output.stderr_text(),
            Err(error) => error.to_string(),
        };
        let line = why.lines().next().unwrap_or_default().to_owned();
        let description = format!("not confined: bubblewrap does not work here: {line}");
        Self { program: None, description }
    }

    pub(super) fn is_usable(&self) -> bool {
        self.program.is_some()
    }

    pub(super) fn description(&self) -> &str {
        &self.description
    }

    /// The process in the sandbox. The folders in `outside` are writable except the paths in `protected`; those in
    /// `writable` are writable even inside of a protected path.
    pub(super) fn confine(
        &self,
        spec: ProcessSpec,
        outside: &[PathBuf],
        protected: &[PathBuf],
        writable: &[PathBuf],
    ) -> ProcessSpec {
        let Some(program) = &self.program else { return spec };
        let mut args: Vec<OsString> = READ_ONLY.iter().map(OsString::from).collect();
        let mut bind = |how: &str, path: &Path| {
            if path.exists() {
                args.extend([OsString::from(how), path.into(), path.into()]);
            }
        };
        outside.iter().for_each(|path| bind("--bind", path));
        protected.iter().for_each(|path| bind("--ro-bind", path));
        writable.iter().for_each(|path| bind("--bind", path));
        args.extend(["--chdir".into(), spec.dir.clone().into(), "--".into(), spec.program]);
        args.extend(spec.args);
        ProcessSpec { program: program.into(), args, ..spec }
    }
}

/// The folders that a command of the user may write beside its worktree: the user's home and
/// temporary files.
pub(super) fn folders_of_user(variables: &ProcessEnvironment) -> Vec<PathBuf> {
    let own = ["HOME", "TMPDIR"].into_iter().filter_map(|name| variables.get(name));
    own.map(PathBuf::from).chain([PathBuf::from("/tmp")]).collect()
}
