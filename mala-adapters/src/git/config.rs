//! What the configuration may say. The user's own is read for three harmless settings; the
//! repository's is read by git itself, so that everything in it that names a command is overridden.

use crate::process::Environment;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Settings that decide what is ignored, how lines end and what counts as changed. They are taken over from the user and from the
/// clone's own configuration, which a copy of the repository does not have, because a review must see the
/// same change as the user's own `git status`.
const TAKEN_OVER: &[&[u8]] =
    &[EXCLUDES, b"core.autocrlf", b"core.eol", b"core.filemode", b"core.symlinks"];

const EXCLUDES: &[u8] = b"core.excludesfile";

/// Overrides for every call: whatever starts a program, hides a change or alters what is printed.
const PINNED: &[(&str, &str)] = &[
    ("blame.ignoreRevsFile", ""),
    ("color.ui", "false"),
    ("core.attributesFile", "/dev/null"),
    // What is larger is not read at all: see MAX_FILE.
    ("core.bigFileThreshold", "16m"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("core.splitIndex", "false"),
    ("core.sshCommand", "false"),
    ("diff.orderFile", "/dev/null"),
    ("diff.suppressBlankEmpty", "false"),
    ("gc.auto", "0"),
    ("grep.column", "false"),
    ("grep.fullName", "true"),
    // Only ever for a copy that is read once and thrown away.
    ("index.skipHash", "true"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    // Git has asked the user's own configuration already, when the repository was opened.
    ("safe.directory", "*"),
    ("submodule.recurse", "false"),
];

/// One line of `git config --list`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    key: Vec<u8>,
    value: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct Config {
    settings: Vec<Setting>,
}

impl Config {
    /// From `key LF value NUL ...`.
    pub(super) fn parse(listed: &[u8]) -> Self {
        let mut settings = Vec::new();
        for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let (key, value) = match entry.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&entry[..end], &entry[end + 1..]),
                None => (entry, &b"true"[..]),
            };
            settings.push(Setting { key: key.to_vec(), value: value.to_vec() });
        }
        Self { settings }
    }

    /// Where the repository comes from: `origin`, or else its only other name.
    pub(super) fn remote_url(&self) -> Option<&str> {
        let url_of = |wanted: &dyn Fn(&[u8]) -> bool| {
            let found = self.settings.iter().find(|setting| wanted(&setting.key))?;
            std::str::from_utf8(&found.value).ok()
        };
        let is_url = |key: &[u8]| key.starts_with(b"remote.") && key.ends_with(b".url");
        url_of(&|key| key == b"remote.origin.url").or_else(|| url_of(&is_url))
    }

    /// The environment in which git reads no configuration but the repository's, and obeys nothing
    /// in it that starts a program.
    pub(super) fn seal(&self, environment: Environment) -> Environment {
        let mut pairs: Vec<(OsString, OsString)> =
            PINNED.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        pairs.extend(self.default_excludes(&environment));
        pairs.extend(self.taken_over());
        pairs.extend(self.filters_off());
        let mut sealed = environment
            .with("GIT_CONFIG_GLOBAL", "/dev/null")
            .with("GIT_CONFIG_SYSTEM", "/dev/null")
            .with("GIT_CONFIG_NOSYSTEM", "1")
            .with("GIT_CONFIG_COUNT", pairs.len().to_string());
        for (number, (key, value)) in pairs.into_iter().enumerate() {
            sealed = sealed
                .with(format!("GIT_CONFIG_KEY_{number}"), key)
                .with(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        sealed
    }

    /// Where git looks for what is ignored when nobody says where.
    fn default_excludes(&self, environment: &Environment) -> Option<(OsString, OsString)> {
        if self.settings.iter().any(|setting| setting.key == EXCLUDES) {
            return None;
        }
        let folder = match environment.get("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => PathBuf::from(environment.get("HOME")?).join(".config"),
        };
        Some((OsStr::from_bytes(EXCLUDES).into(), folder.join("git/ignore").into()))
    }

    fn taken_over(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        TAKEN_OVER.iter().filter_map(|wanted| {
            let last = self.settings.iter().rev().find(|setting| setting.key == *wanted)?;
            Some((OsStr::from_bytes(wanted).into(), OsString::from_vec(last.value.clone())))
        })
    }

    /// Filters run commands on files of the work tree as soon as git looks at them.
    fn filters_off(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        let drivers: std::collections::BTreeSet<_> =
            self.settings.iter().filter_map(|setting| filter_driver(&setting.key)).collect();
        drivers.into_iter().flat_map(|driver| {
            let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
            off.map(|(variable, value)| {
                let key = [b"filter.", driver, b".", variable.as_bytes()].concat();
                (OsString::from_vec(key), value.into())
            })
        })
    }
}

/// The name of a filter, from `filter.NAME.clean`; it may have dots of its own.
fn filter_driver(key: &[u8]) -> Option<&[u8]> {
    let rest = key.strip_prefix(b"filter.")?;
    let end = rest.iter().rposition(|byte| *byte == b'.')?;
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(listed: &str) -> Vec<String> {
        let environment = Config::parse(listed.as_bytes()).seal(Environment::default());
        (PINNED.len()..)
            .map_while(|number| {
                let key = environment.get(format!("GIT_CONFIG_KEY_{number}"))?;
                let value = environment.get(format!("GIT_CONFIG_VALUE_{number}"))?;
                Some(format!("{}={}", key.to_string_lossy(), value.to_string_lossy()))
            })
            .collect()
    }

    #[test]
    fn the_users_own_way_with_lines_and_ignored_files_is_taken_over() {
        let listed = "core.autocrlf\ninput\0core.eol\nlf\0core.eol\ncrlf\0";
        assert_eq!(sealed(listed), ["core.autocrlf=input", "core.eol=crlf"]);
    }

    #[test]
    fn what_is_ignored_is_known_without_a_setting() {
        let key = format!("GIT_CONFIG_KEY_{}", PINNED.len());
        let value = format!("GIT_CONFIG_VALUE_{}", PINNED.len());
        let home = Environment::default().with("HOME", "/h");
        for (environment, listed, expected) in [
            (home.clone(), "", "/h/.config/git/ignore"),
            (home.clone().with("XDG_CONFIG_HOME", "/x"), "", "/x/git/ignore"),
            (home, "core.excludesfile\n/mine\0", "/mine"),
        ] {
            let sealed = Config::parse(listed.as_bytes()).seal(environment);
            assert_eq!(sealed.get(&key).unwrap(), "core.excludesfile");
            assert_eq!(sealed.get(&value).unwrap(), expected);
        }
    }

    #[test]
    fn every_filter_is_turned_off_whatever_its_name() {
        let listed = "filter.a=b.c.clean\nrm -rf /\0filter.a=b.c.required\0";
        let expected = ["clean=", "smudge=", "process=", "required=false"];
        let expected: Vec<_> = expected.iter().map(|end| format!("filter.a=b.c.{end}")).collect();
        assert_eq!(sealed(listed), expected);
    }

    #[test]
    fn origin_is_where_a_repository_comes_from() {
        let both = "remote.a.url\nx\0remote.origin.url\ny\0";
        assert_eq!(Config::parse(both.as_bytes()).remote_url(), Some("y"));
        assert_eq!(Config::parse(b"remote.a.url\nx\0").remote_url(), Some("x"));
        assert_eq!(Config::parse(b"").remote_url(), None);
    }
}
