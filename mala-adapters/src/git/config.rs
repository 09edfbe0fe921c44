//! Git configuration. Harmless settings are inherited from the user's and the clone's
//! configuration. Settings of the repository that name commands are overridden.

use crate::process::ProcessEnvironment;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Settings that decide what is ignored, how lines end and what counts as changed. They are
/// inherited, because a review must see the same change as the user's own `git status`, also in a
/// copy of the repository.
const INHERITED: &[&[u8]] =
    &[EXCLUDES, b"core.autocrlf", b"core.eol", b"core.filemode", b"core.symlinks"];

const EXCLUDES: &[u8] = b"core.excludesfile";

/// Overrides for every call: settings that start a program, hide a change or alter the output.
const PINNED: &[(&str, &str)] = &[
    ("blame.ignoreRevsFile", ""),
    ("color.ui", "false"),
    ("core.attributesFile", "/dev/null"),
    // Larger files are not read: see MAX_FILE.
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
    // Only for a copy that is read once and deleted.
    ("index.skipHash", "true"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    // Git has already checked the user's own configuration, when the repository was opened.
    ("safe.directory", "*"),
    ("submodule.recurse", "false"),
];

/// One line of `git config --list`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GitSetting {
    key: Vec<u8>,
    value: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct GitConfig {
    settings: Vec<GitSetting>,
}

impl GitConfig {
    /// From `key LF value NUL ...`.
    pub(super) fn parse(listed: &[u8]) -> Self {
        let mut settings = Vec::new();
        for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let (key, value) = match entry.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&entry[..end], &entry[end + 1..]),
                None => (entry, &b"true"[..]),
            };
            settings.push(GitSetting { key: key.to_vec(), value: value.to_vec() });
        }
        Self { settings }
    }

    /// The URL of the remote `origin`, or else of another remote.
    pub(super) fn remote_url(&self) -> Option<&str> {
        let url_of = |wanted: &dyn Fn(&[u8]) -> bool| {
            let found = self.settings.iter().find(|setting| wanted(&setting.key))?;
            std::str::from_utf8(&found.value).ok()
        };
        let is_url = |key: &[u8]| key.starts_with(b"remote.") && key.ends_with(b".url");
        url_of(&|key| key == b"remote.origin.url").or_else(|| url_of(&is_url))
    }

    /// The email addresses that the user commits with, in lower case.
    pub(super) fn users(&self, environment: &ProcessEnvironment) -> BTreeSet<String> {
        let of_key = |key: &[u8]| self.settings.iter().rev().find(|it| it.key == key);
        let configured = [&b"user.email"[..], b"committer.email"].into_iter().filter_map(of_key);
        let configured = configured.map(|it| String::from_utf8_lossy(&it.value).into_owned());
        let named = environment.get("GIT_COMMITTER_EMAIL");
        configured
            .chain(named.map(|email| email.to_string_lossy().into_owned()))
            .map(|email| email.trim().to_ascii_lowercase())
            .filter(|email| !email.is_empty())
            .collect()
    }

    /// The environment in which git reads only the repository's configuration, and nothing in it
    /// starts a program.
    pub(super) fn seal(&self, environment: ProcessEnvironment) -> ProcessEnvironment {
        let mut pairs: Vec<(OsString, OsString)> =
            PINNED.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        pairs.extend(self.default_excludes(&environment));
        pairs.extend(self.inherited());
        pairs.extend(self.disabled_filters());
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

    /// Git's default file of ignore patterns, if none is configured.
    fn default_excludes(&self, environment: &ProcessEnvironment) -> Option<(OsString, OsString)> {
        if self.settings.iter().any(|setting| setting.key == EXCLUDES) {
            return None;
        }
        let folder = match environment.get("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => PathBuf::from(environment.get("HOME")?).join(".config"),
        };
        Some((OsStr::from_bytes(EXCLUDES).into(), folder.join("git/ignore").into()))
    }

    fn inherited(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        INHERITED.iter().filter_map(|wanted| {
            let last = self.settings.iter().rev().find(|setting| setting.key == *wanted)?;
            Some((OsStr::from_bytes(wanted).into(), OsString::from_vec(last.value.clone())))
        })
    }

    /// Filters run commands on files of the work tree as soon as git reads them.
    fn disabled_filters(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
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

/// The name of a filter, from `filter.NAME.clean`. It may contain dots.
fn filter_driver(key: &[u8]) -> Option<&[u8]> {
    let rest = key.strip_prefix(b"filter.")?;
    let end = rest.iter().rposition(|byte| *byte == b'.')?;
    Some(&rest[..end])
}

/// The URL of a remote without credentials: `https://host/path` or `ssh://host/path`; `None` for a
/// local folder.
pub(super) fn public_url(remote: &str) -> Option<String> {
    let is_clean = !remote.chars().any(|c| c.is_control() || c.is_whitespace());
    if let Some((scheme, rest)) = remote.split_once("://") {
        let is_public = ["https", "http", "ssh", "git"].contains(&scheme) && is_clean;
        let (authority, path) = rest.split_once('/')?;
        let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        return is_public.then(|| format!("{scheme}://{host}/{path}"));
    }
    // git@host:path
    let (authority, path) = remote.split_once(':')?;
    let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
    let is_address = is_clean && !authority.contains('/') && host.len() > 1;
    is_address.then(|| format!("ssh://{host}/{}", path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(listed: &str) -> Vec<String> {
        let environment = GitConfig::parse(listed.as_bytes()).seal(ProcessEnvironment::default());
        (PINNED.len()..)
            .map_while(|number| {
                let key = environment.get(format!("GIT_CONFIG_KEY_{number}"))?;
                let value = environment.get(format!("GIT_CONFIG_VALUE_{number}"))?;
                Some(format!("{}={}", key.to_string_lossy(), value.to_string_lossy()))
            })
            .collect()
    }

    #[test]
    fn line_endings_and_ignore_files_are_inherited() {
        let listed = "core.autocrlf\ninput\0core.eol\nlf\0core.eol\ncrlf\0";
        assert_eq!(sealed(listed), ["core.autocrlf=input", "core.eol=crlf"]);
    }

    #[test]
    fn the_default_ignore_file_is_used() {
        let key = format!("GIT_CONFIG_KEY_{}", PINNED.len());
        let value = format!("GIT_CONFIG_VALUE_{}", PINNED.len());
        let home = ProcessEnvironment::default().with("HOME", "/h");
        for (environment, listed, expected) in [
            (home.clone(), "", "/h/.config/git/ignore"),
            (home.clone().with("XDG_CONFIG_HOME", "/x"), "", "/x/git/ignore"),
            (home, "core.excludesfile\n/mine\0", "/mine"),
        ] {
            let sealed = GitConfig::parse(listed.as_bytes()).seal(environment);
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
        assert_eq!(GitConfig::parse(both.as_bytes()).remote_url(), Some("y"));
        assert_eq!(GitConfig::parse(b"remote.a.url\nx\0").remote_url(), Some("x"));
        assert_eq!(GitConfig::parse(b"").remote_url(), None);
    }

    #[test]
    fn urls_have_no_credentials() {
        let rows = [
            ("https://example.org/a/b.git", Some("https://example.org/a/b.git")),
            ("https://me:secret@example.org/a/b", Some("https://example.org/a/b")),
            ("https://example.org/a?token=x", Some("https://example.org/a")),
            ("ssh://git@example.org:22/a/b.git", Some("ssh://example.org:22/a/b.git")),
            ("git@example.org:a/b.git", Some("ssh://example.org/a/b.git")),
            ("/srv/git/a.git", None),
            ("../a", None),
            ("file:///srv/a.git", None),
            ("ext::sh -c x", None),
            ("C:\\repos\\a", None),
            ("", None),
        ];
        for (remote, url) in rows {
            assert_eq!(public_url(remote).as_deref(), url, "{remote}");
        }
    }
}
