//! The current folder, environment variables and terminal of the process. They are read once and
//! passed down.

use mala_domain::render::terminal::TerminalOptions;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The folder, environment variables and terminal that a command runs in.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The current folder.
    pub folder: PathBuf,
    /// The environment variables.
    pub variables: BTreeMap<OsString, OsString>,
    /// The columns of the terminal on stdout; `None` when it is not a terminal.
    pub columns: Option<usize>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> io::Result<Self> {
        let columns = io::stdout()
            .is_terminal()
            .then(|| terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)));
        Ok(Self {
            folder: std::env::current_dir()?,
            variables: std::env::vars_os().collect(),
            columns,
        })
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// A variable as text; `None` when it is unset, empty or not UTF-8.
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

    /// The folder for files that can be made again: `$XDG_CACHE_HOME` or `~/.cache`.
    pub fn user_cache_folder(&self) -> Option<PathBuf> {
        let chosen = self.variable("XDG_CACHE_HOME").map(Path::new).filter(|p| p.is_absolute());
        match chosen {
            Some(folder) => Some(folder.to_owned()),
            None => self.variable("HOME").map(|home| Path::new(home).join(".cache")),
        }
    }

    /// The root of the work tree around the current folder; `None` outside of a repository.
    pub fn work_tree(&self) -> Option<&Path> {
        self.folder.ancestors().find(|folder| folder.join(".git").exists())
    }

    /// The root of the work tree, the folder of a bare repository, or the current folder when there
    /// is neither.
    pub fn root(&self) -> &Path {
        let is_root = |folder: &&Path| folder.join(".git").exists() || is_bare(folder);
        self.folder.ancestors().find(is_root).unwrap_or(&self.folder)
    }

    /// The options to render for the terminal on stdout. Colors are removed on output if it
    /// supports none.
    pub fn terminal(&self) -> TerminalOptions {
        let width = self.columns.unwrap_or(80).clamp(40, 160);
        TerminalOptions {
            width,
            color: true,
            unicode: self.shows_unicode(),
            ..TerminalOptions::default()
        }
    }

    fn shows_unicode(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| self.text(name));
        locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
    }
}

/// Whether the folder is a repository without a work tree.
fn is_bare(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name != ".git")
        && folder.join("HEAD").is_file()
        && folder.join("objects").is_dir()
        && folder.join("refs").is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        Environment { folder: "/".into(), variables: variables.collect(), columns: None }
    }

    #[test]
    fn the_first_locale_that_is_set_decides_on_unicode() {
        for (variables, expected) in [
            (&[("LANG", "en_US.UTF-8")][..], true),
            (&[("LANG", "en_US.utf8"), ("LC_ALL", "")], true),
            (&[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], false),
            (&[], false),
        ] {
            assert_eq!(environment(variables).terminal().unicode, expected, "{variables:?}");
        }
    }

    #[test]
    fn the_user_has_a_folder_for_settings() {
        for (variables, expected) in [
            (&[("HOME", "/h")][..], Some("/h/.config")),
            (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], Some("/x")),
            (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")], Some("/h/.config")),
            (&[], None),
        ] {
            let folder = environment(variables).user_config_folder();
            assert_eq!(folder, expected.map(PathBuf::from), "{variables:?}");
        }
    }
}
