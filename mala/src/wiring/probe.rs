//! Short questions to programs on this machine: is it there, which version is it, what does git say.

use crate::surroundings::Surroundings;
use mala_adapters::process::{self, Environment, Limits, ProcessError, Spec};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const PATIENCE: Duration = Duration::from_secs(10);
const MAX_BYTES: usize = 4 << 20;

/// ModelAccess programs on the path, from one folder.
pub struct Probe {
    environment: Environment,
    folder: PathBuf,
    runtime: Runtime,
}

/// What a program says when it ends well; `None` when it ends with an error.
pub type Answer = Result<Option<Vec<u8>>, ProcessError>;

impl Probe {
    /// A probe that asks from this folder.
    pub fn new(here: &Surroundings, folder: &Path) -> io::Result<Self> {
        let variables = here.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
        let environment = Environment::kept(variables)
            .with("LC_ALL", "C.UTF-8")
            .with("GIT_OPTIONAL_LOCKS", "0")
            .with("GIT_TERMINAL_PROMPT", "0");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { environment, folder: folder.to_owned(), runtime })
    }

    /// Where a program is.
    pub fn find(&self, program: impl AsRef<std::ffi::OsStr>) -> Option<PathBuf> {
        self.environment.find(program)
    }

    /// Runs one program.
    pub fn ask(&self, program: &str, args: &[&str]) -> Answer {
        let spec = self.spec(program, args);
        self.runtime.block_on(answer(spec))
    }

    /// Runs several programs side by side; the answers come in the same order.
    pub fn ask_all(&self, questions: &[(OsString, Vec<&str>)]) -> Vec<Answer> {
        self.runtime.block_on(async {
            let mut running = JoinSet::new();
            for (index, (program, args)) in questions.iter().enumerate() {
                let spec = self.spec(program, args);
                running.spawn(async move { (index, answer(spec).await) });
            }
            let mut answers: Vec<Answer> = questions.iter().map(|_| Ok(None)).collect();
            for (index, answer) in running.join_all().await {
                if let Some(slot) = answers.get_mut(index) {
                    *slot = answer;
                }
            }
            answers
        })
    }

    /// A file as it is committed at a revision; `None` when it is not there, or no repository is.
    pub fn committed(&self, revision: &str, path: &str) -> Answer {
        self.ask("git", &["cat-file", "blob", &format!("{revision}:{path}")])
    }

    fn spec(&self, program: impl Into<OsString>, args: &[&str]) -> Spec {
        Spec::new(program, &self.folder, self.environment.clone()).args(args.iter().copied())
    }
}

async fn answer(spec: Spec) -> Answer {
    let finished = process::run(spec, Limits::within(PATIENCE).stdout(MAX_BYTES)).await?;
    Ok(finished.status.success().then_some(finished.output.stdout))
}
