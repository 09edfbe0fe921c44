//! Fetches the commits of a pull request with git, without their history, into a folder of their own.
//! A folder is complete or does not exist, so that concurrent runs and crashes leave no half of one. Folders that were
//! not used for a while are removed.

use super::cache::remove_old;
use crate::git::{GitError, run_sealed};
use crate::models::Secret;
use crate::process::ProcessEnvironment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// How long fetched commits are kept after their last use.
const KEPT_UNUSED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The repository and the commits of a pull request.
pub struct CommitSource<'a> {
    /// The address for git.
    pub url: &'a str,
    /// The token, sent to this address only.
    pub token: &'a Secret,
    /// The base.
    pub base: &'a str,
    /// The last commit.
    pub head: &'a str,
    /// The tip of the branch that it changes.
    pub tip: &'a str,
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
        source: io::Error,
    },
}

/// Returns the folder below `cache` with a repository of these commits. Fetches them if it does not
/// exist.
pub async fn fetch_commits(
    source: &CommitSource<'_>,
    cache: &Path,
    environment: &ProcessEnvironment,
) -> Result<PathBuf, FetchError> {
    let is_id = |id: &str| matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit());
    if ![source.base, source.head, source.tip].into_iter().all(is_id) {
        return Err(FetchError::Git("the forge named no commits".to_owned()));
    }
    let folder = cache.join(format!("{}-{}-{}", source.base, source.head, source.tip));
    if let Ok(known) = File::open(&folder) {
        if let Err(error) = known.set_modified(SystemTime::now()) {
            tracing::debug!(%error, "cannot note that fetched commits are used");
        }
        return Ok(folder);
    }
    let failed = |source| FetchError::Folder { folder: folder.clone(), source };
    std::fs::create_dir_all(cache).map_err(failed)?;
    remove_old(cache, KEPT_UNUSED);
    let draft = tempfile::Builder::new().prefix(".fetching-").tempdir_in(cache).map_err(failed)?;
    let environment = with_network(environment, source.token);
    let redacted = |error: GitError| FetchError::Git(source.token.redact(&error.to_string()));
    // Not bare: a bare repository inside a work tree, such as a home under git, is refused.
    let init = ["init", "--quiet", "--template=", "--initial-branch=mala"];
    run_sealed(draft.path(), &environment, &init).await.map_err(redacted)?;
    let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"];
    let what = ["--no-recurse-submodules", "--", source.url, source.base, source.head, source.tip];
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
    let login = STANDARD.encode(format!("x-access-token:{}", token.expose()));
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
