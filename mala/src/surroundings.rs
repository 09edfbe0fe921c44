//! What the program finds around itself when it starts: folder, environment, terminal. It is read
//! once and passed down, so that nothing below asks the process for it again.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The folder, environment and terminal that a command runs in.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The current folder.
    pub folder: PathBuf,
    /// The environment variables.
    pub environment: BTreeMap<OsString, OsString>,
    /// The columns of the terminal on stdout; `None` when it is not a terminal.
    pub columns: Option<usize>,
}

impl Surroundings {
    /// What is around this process.
    pub fn of_process() -> io::Result<Self> {
        let columns = io::stdout()
            .is_terminal()
            .then(|| terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)));
        Ok(Self {
            folder: std::env::current_dir()?,
            environment: std::env::vars_os().collect(),
            columns,
        })
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// A variable as text; `None` when it is unset, empty or no UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variable(name).and_then(OsStr::to_str)
    }

    /// The folder for this user's settings: `$XDG_CONFIG_HOME` or `~/.config`.
    pub fn user_config_folder(&self) -> Option<PathBuf> {
        let chosen = self.variable("XDG_CONFIG_HOME").map(Path::new).filter(|p| p.is_absolute());
        match chosen {
            Some(folder) => Some(folder.to_owned()),
            None => self.variable("HOME").map(|home| Path::new(home).join(".config")),
        }
    }

    /// The root of the work tree around the current folder; `None` outside of a repository.
    pub fn work_tree(&self) -> Option<&Path> {
        self.folder.ancestors().find(|folder| folder.join(".git").exists())
    }

    /// The root of the work tree, or the current folder when there is none.
    pub fn root(&self) -> &Path {
        self.work_tree().unwrap_or(&self.folder)
    }
}
