//! Fetches the two commits of a pull request with git, without their history, into a folder of their own.
//! A folder is complete or does not exist, so that concurrent runs and crashes leave no half of one.

use crate::git::{GitError, run_sealed};
use crate::models::Secret;
use crate::process::ProcessEnvironment;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where the commits of a pull request are.
pub struct CommitSource<'a> {
    /// The address for git.
    pub url: &'a str,
    /// The token, sent to this address only.
    pub token: &'a Secret,
    /// Where the change starts.
    pub base: &'a str,
    /// The last commit.
    pub head: &'a str,
}

/// Why commits cannot be fetched.
#[derive(Debug, Error)]
pub enum FetchError {
    /// Git fails.
    #[error("cannot fetch the commits of the pull request: {0}")]
    Git(String),
    /// The folder cannot be used.
    #[error("cannot fetch the commits of the pull request into {}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// Returns the folder below `cache` with a repository of these two commits. Fetches them unless they
/// are there already.
pub async fn fetch_commits(
    source: &CommitSource<'_>,
    cache: &Path,
    environment: &ProcessEnvironment,
) -> Result<PathBuf, FetchError> {
    let is_id = |id: &str| matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id(source.base) || !is_id(source.head) {
        return Err(FetchError::Git("the forge named no commits".to_owned()));
    }
    let folder = cache.join(format!("{}-{}", source.base, source.head));
    if folder.is_dir() {
        return Ok(folder);
    }
    let failed = |source| FetchError::Folder { folder: folder.clone(), source };
    std::fs::create_dir_all(cache).map_err(failed)?;
    let draft = tempfile::Builder::new().prefix(".fetching-").tempdir_in(cache).map_err(failed)?;
    let environment = with_network(environment, source.token);
    let redacted = |error: GitError| FetchError::Git(source.token.redact(&error.to_string()));
    // Not bare: a bare repository inside a work tree, such as a home under git, is refused.
    let init = ["init", "--quiet", "--template=", "--initial-branch=mala"];
    run_sealed(draft.path(), &environment, &init).await.map_err(redacted)?;
    let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"];
    let what = ["--no-recurse-submodules", "--", source.url, source.base, source.head];
    let fetch: Vec<&str> = fetch.into_iter().chain(what).collect();
    run_sealed(draft.path(), &environment, &fetch).await.map_err(redacted)?;
    match std::fs::rename(draft.path(), &folder) {
        // Another run was faster.
        Err(_) if folder.is_dir() => {}
        renamed => renamed.map_err(failed)?,
    }
    Ok(folder)
}

/// The environment of a fetch: HTTP only, no redirects, no configuration of the user, and the token in a
/// variable, which other users of the machine cannot see.
fn with_network(environment: &ProcessEnvironment, token: &Secret) -> ProcessEnvironment {
    let login = base64(format!("x-access-token:{}", token.expose()).as_bytes());
    let config = [
        ("http.extraHeader", format!("Authorization: Basic {login}")),
        ("http.followRedirects", "false".to_owned()),
        ("core.fsync", "none".to_owned()),
        ("gc.auto", "0".to_owned()),
    ];
    let mut environment = environment
        .clone()
        .with("GIT_ALLOW_PROTOCOL", "http:https")
        .with("GIT_CONFIG_GLOBAL", "/dev/null")
        .with("GIT_CONFIG_SYSTEM", "/dev/null")
        .with("GIT_CONFIG_COUNT", config.len().to_string());
    for (number, (key, value)) in config.into_iter().enumerate() {
        environment = environment
            .with(format!("GIT_CONFIG_KEY_{number}"), key)
            .with(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    environment
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4_usize {
            let value = group >> (18 - 6 * digit) & 63;
            let known = usize::try_from(value).ok().and_then(|value| DIGITS.get(value));
            out.push(match known {
                Some(known) if digit <= chunk.len() => char::from(*known),
                _ => '=',
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_encoded() {
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("a:b~", "YTpifg==")]
        {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }
}
