//! The environment of children: the variables that programs need to find their files, and no
//! others. Keys, tokens and git's own variables are not passed on.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Set in every child to the mala process that started it. Prevents recursion and identifies
/// leftover processes.
pub const MARKER: &str = "MALA_CHILD";

/// Locations of programs, homes, toolchains and caches. None of them is secret.
const KEPT: &[&str] = &[
    "APPDATA",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "CARGO_HOME",
    "COMPOSER_HOME",
    "GEM_HOME",
    "GEM_PATH",
    // Identifies the commits of the user.
    "GIT_COMMITTER_EMAIL",
    // In a hook, the index to be committed is not always the repository's own.
    "GIT_INDEX_FILE",
    "GOCACHE",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "MISE_DATA_DIR",
    "NVM_DIR",
    "PATH",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// The environment of a child.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessEnvironment {
    vars: BTreeMap<OsString, OsString>,
}

impl ProcessEnvironment {
    /// The variables that children may see, out of `vars`.
    ///
    /// Relative folders on the path are dropped: they would be looked up in the reviewed tree, and
    /// nothing there may run.
    pub fn filtered(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let vars = vars.into_iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| {
            let value = if name == "PATH" { absolute_folders(&value) } else { value };
            (name, value)
        });
        Self { vars: vars.collect() }
    }

    /// All of these variables, for a program of our own.
    pub fn unfiltered(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { vars: vars.into_iter().collect() }
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Removes a variable.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Self {
        self.vars.remove(name.as_ref());
        self
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.vars.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// The location of a program: on the path, or at an absolute path.
    pub fn find(&self, program: impl AsRef<OsStr>) -> Option<PathBuf> {
        let program = Path::new(program.as_ref());
        if program.is_absolute() {
            return is_program(program).then(|| program.to_owned());
        }
        let is_name = program.components().count() == 1 && program.file_name().is_some();
        let folders = std::env::split_paths(self.get("PATH")?).filter(|_| is_name);
        folders.map(|folder| folder.join(program)).find(|path| is_program(path))
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.vars.iter()
    }

    pub(super) fn vars(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.vars.iter()
    }
}

fn is_kept(name: &OsStr) -> bool {
    let locale = || name.to_str().is_some_and(|name| name.starts_with("LC_"));
    KEPT.iter().any(|kept| name == *kept) || locale()
}

fn absolute_folders(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(folders).unwrap_or_default()
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(vars: &[(&str, &str)]) -> ProcessEnvironment {
        ProcessEnvironment::filtered(vars.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn keys_and_what_redirects_programs_stay_behind() {
        let environment = kept(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("GIT_DIR", "/elsewhere"),
            ("LD_PRELOAD", "/tmp/x.so"),
        ]);
        let names: Vec<_> = environment.vars().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, ["LC_ALL", "PATH"]);
    }

    #[test]
    fn relative_folders_leave_the_path() {
        let environment = kept(&[("PATH", ".:/usr/bin::bin:/bin")]);
        assert_eq!(environment.get("PATH"), Some(OsStr::new("/usr/bin:/bin")));
    }

    #[test]
    fn finds_programs_by_name_and_by_absolute_path() {
        let environment = kept(&[("PATH", "/nowhere:/usr/bin:/bin")]);
        let sh = environment.find("sh").unwrap();
        assert_eq!(environment.find(&sh), Some(sh));
        for missing in ["", "no-such-program", "/etc/passwd", "../bin/sh", "./sh"] {
            assert_eq!(environment.find(missing), None, "{missing:?}");
        }
    }
}
