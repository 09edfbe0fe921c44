//! Runs short commands: to find programs and their versions, and to query git.

use crate::environment::Environment;
use mala_adapters::process::{self, ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BYTES: usize = 4 << 20;

/// Runs programs in one folder.
pub struct Probe {
    environment: ProcessEnvironment,
    folder: PathBuf,
    runtime: Runtime,
}

/// The output of a program; `None` when it exits with an error.
pub type ProbeOutput = Result<Option<Vec<u8>>, ProcessError>;

impl Probe {
    /// A probe in this folder.
    pub fn new(here: &Environment, folder: &Path) -> io::Result<Self> {
        let variables = here.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        let environment = ProcessEnvironment::filtered(variables)
            .with("LC_ALL", "C.UTF-8")
            .with("GIT_OPTIONAL_LOCKS", "0")
            .with("GIT_TERMINAL_PROMPT", "0");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { environment, folder: folder.to_owned(), runtime })
    }

    /// The path of a program.
    pub fn find(&self, program: impl AsRef<std::ffi::OsStr>) -> Option<PathBuf> {
        self.environment.find(program)
    }

    /// Runs one program.
    pub fn ask(&self, program: &str, args: &[&str]) -> ProbeOutput {
        let spec = self.spec(program, args);
        self.runtime.block_on(answer(spec))
    }

    /// Runs programs in parallel; the outputs have the same order.
    pub fn ask_all(&self, questions: &[(OsString, Vec<&str>)]) -> Vec<ProbeOutput> {
        self.runtime.block_on(async {
            let mut running = JoinSet::new();
            for (index, (program, args)) in questions.iter().enumerate() {
                let spec = self.spec(program, args);
                running.spawn(async move { (index, answer(spec).await) });
            }
            let mut answers: Vec<ProbeOutput> = questions.iter().map(|_| Ok(None)).collect();
            for (index, answer) in running.join_all().await {
                if let Some(slot) = answers.get_mut(index) {
                    *slot = answer;
                }
            }
            answers
        })
    }

    /// A file at a revision; `None` without the file or a repository.
    pub fn committed(&self, revision: &str, path: &str) -> ProbeOutput {
        self.ask("git", &["cat-file", "blob", &format!("{revision}:{path}")])
    }

    fn spec(&self, program: impl Into<OsString>, args: &[&str]) -> ProcessSpec {
        ProcessSpec::new(program, &self.folder, self.environment.clone()).args(args.iter().copied())
    }
}

async fn answer(spec: ProcessSpec) -> ProbeOutput {
    let finished = process::run(spec, ProcessLimits::within(TIMEOUT).stdout(MAX_BYTES)).await?;
    Ok(finished.status.success().then_some(finished.output.stdout))
}
