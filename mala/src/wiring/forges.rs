//! Pull requests on GitHub: the token, the API, and the commits of a pull request from the clone around the
//! current folder or from the network.

use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::wiring::{changes, models};
use mala_adapters::forges::github::GitHub;
use mala_adapters::forges::{CommitSource, fetch_commits};
use mala_adapters::git::Git;
use mala_adapters::models::{Endpoint, Secret};
use mala_adapters::process::{ProcessEnvironment, ProcessLimits, ProcessSpec, run};
use mala_domain::forge::{PullRequest, PullRequestRef, remote_repository, web_host};
use mala_domain::ports::{ChangeSource, Forge, ForgeError, ReviewScope};
use mala_domain::scope::ReviewTarget;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const API: &str = "https://api.github.com";

/// Where pull requests and their commits come from.
pub struct PullRequestSource {
    github: GitHub,
    api: String,
    token: Secret,
    /// The repository around the current folder.
    clone: Option<Git>,
    cache: PathBuf,
    environment: ProcessEnvironment,
}

impl PullRequestSource {
    /// Finds the token and the repository. Sends nothing.
    pub async fn open(here: &Environment) -> Result<Self, Failure> {
        let api = api_url(here);
        Endpoint::new(&api, None).map_err(|error| {
            Failure::new(FailureKind::Configuration, format!("GITHUB_API_URL: {error}"))
        })?;
        let environment = changes::child_environment(here);
        let token = token(here, &api, &environment).await?;
        let http = models::connections(here)?;
        let cache = here.user_cache_folder().map(|folder| folder.join("mala"));
        let cache = cache.unwrap_or_else(|| here.root().join(".mala")).join("forges");
        let notice = Arc::new(|text: &str| console::say(text));
        let responses = cache.join("responses");
        Ok(Self {
            github: GitHub::new(http, &api, token.clone(), responses, notice),
            clone: Git::open(&here.folder, &environment).await.ok(),
            api,
            token,
            cache,
            environment,
        })
    }

    /// The forge.
    pub fn forge(&self) -> &dyn Forge {
        &self.github
    }

    /// The named pull request, or that of the current branch.
    pub async fn find(&self, named: Option<PullRequestRef>) -> Result<PullRequestRef, Failure> {
        let host = web_host(&self.api);
        if let Some(named) = named {
            return Ok(named);
        }
        let unknown = |what: &str| Failure::usage(what).hint("name it: mala pr OWNER/REPO#N");
        let clone = self.clone.as_ref().ok_or_else(|| unknown("not in a git repository"))?;
        let repository = clone.url().and_then(|url| remote_repository(url, host));
        let repository = repository.ok_or_else(|| unknown("the remote is not on GitHub"))?;
        let branch = clone.branch().await.ok().flatten();
        let branch = branch.ok_or_else(|| unknown("HEAD is not on a branch"))?;
        let found =
            self.github.pull_request_of(&repository, &branch).await.map_err(forge_failure)?;
        found.ok_or_else(|| unknown(&format!("no open pull request for the branch {branch}")))
    }

    /// The pull request as it is.
    pub async fn pull_request(&self, at: &PullRequestRef) -> Result<PullRequest, Failure> {
        self.github.pull_request(at).await.map_err(forge_failure)
    }

    /// The change of a pull request: from the local clone if it has both commits, else fetched.
    pub async fn scope(&self, pull: &PullRequest) -> Result<ReviewScope, Failure> {
        let target = ReviewTarget::Range { base: pull.merge_base.clone(), head: pull.head.clone() };
        let local = match &self.clone {
            Some(git) => git.scope(&target, &[]).await.ok(),
            None => None,
        };
        let mut scoped = match local {
            Some(scoped) => scoped,
            None => {
                self.fetched(pull).await?.scope(&target, &[]).await.map_err(changes::failure)?
            }
        };
        scoped.scope.repository = Some(pull.web_url.clone());
        scoped.scope.target = format!("pull request {}", pull.number);
        Ok(scoped)
    }

    async fn fetched(&self, pull: &PullRequest) -> Result<Git, Failure> {
        let source = CommitSource {
            url: &pull.clone_url,
            token: &self.token,
            base: &pull.merge_base,
            head: &pull.head,
        };
        let failed = |what: String| {
            Failure::new(FailureKind::CouldNotReview, what)
                .hint("the token needs the permission 'Contents: read'")
        };
        let folder = fetch_commits(&source, &self.cache.join("commits"), &self.environment)
            .await
            .map_err(|error| failed(error.to_string()))?;
        Git::open(&folder, &self.environment).await.map_err(|error| failed(error.to_string()))
    }
}

fn api_url(here: &Environment) -> String {
    here.text("GITHUB_API_URL").unwrap_or(API).trim_end_matches('/').to_owned()
}

/// The pull request that a word names.
pub fn named_pull_request(word: &str, here: &Environment) -> Result<PullRequestRef, Failure> {
    PullRequestRef::parse(word, web_host(&api_url(here))).map_err(|error| {
        let hint = "use OWNER/REPO#N or the URL of a pull request; GITHUB_API_URL sets the host";
        Failure::usage(error.to_string()).hint(hint)
    })
}

/// The token: from a variable, or from the GitHub CLI.
async fn token(
    here: &Environment,
    api: &str,
    environment: &ProcessEnvironment,
) -> Result<Secret, Failure> {
    if let Some(token) = here.text("GITHUB_TOKEN").or_else(|| here.text("GH_TOKEN")) {
        return Ok(Secret::new(token));
    }
    let host = web_host(api);
    let spec = ProcessSpec::new("gh", &here.folder, environment.clone()).args([
        "auth",
        "token",
        "--hostname",
        host,
    ]);
    let limits = ProcessLimits::within(Duration::from_secs(20));
    if let Ok(finished) = run(spec, limits).await
        && finished.code() == Some(0)
        && let Ok(token) = String::from_utf8(finished.output.stdout)
        && !token.trim().is_empty()
    {
        return Ok(Secret::new(&token));
    }
    Err(Failure::new(FailureKind::Configuration, "no GitHub token: neither GITHUB_TOKEN nor GH_TOKEN is set")
        .hint("set GITHUB_TOKEN or GH_TOKEN, or run gh auth login; the token needs 'Pull requests: read', 'Contents: read' and, to post, 'Issues: write'"))
}

/// An error of a forge as an error of the command.
pub fn forge_failure(error: ForgeError) -> Failure {
    let failure = Failure::new(FailureKind::CouldNotReview, error.to_string());
    match error {
        ForgeError::Forbidden { hint, .. } => failure.hint(hint),
        _ => failure,
    }
}
