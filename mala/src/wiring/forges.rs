//! Pull requests on GitHub and GitLab: the token, the API, and the commits of a pull request from the clone around the
//! current folder or from the network.

use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::{RepositoryFileChoice, UserSettings};
use crate::wiring::ledger::{LedgerPlace, ledger_path};
use crate::wiring::{changes, models};
use mala_adapters::forges::github::AppAccount;
use mala_adapters::forges::{
    CommitSource, ForgeHistory, WaitNotice, fetch_commits, github, gitlab,
};
use mala_adapters::git::Git;
use mala_adapters::models::{Endpoint, Secret};
use mala_adapters::process::{ProcessEnvironment, ProcessLimits, ProcessSpec, run};
use mala_domain::config::Config;
use mala_domain::forge::{
    Discussion, DiscussionParts, ForgeService, PullRequest, PullRequestBranch, PullRequestRef,
    RepositoryName, ci_service, remote_repository, web_host,
};
use mala_domain::ports::{ChangeSource, Forge, ForgeError, ReviewScope, ScopeError, TrustedTree};
use mala_domain::scope::ReviewTarget;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const GITHUB_API: &str = "https://api.github.com";
const GITLAB_API: &str = "https://gitlab.com/api/v4";

/// The source of pull requests and their commits.
pub struct PullRequestSource {
    forge: Arc<dyn Forge>,
    api: String,
    token: Secret,
    /// The repository around the current folder.
    clone: Option<Git>,
    /// Whether this is a CI job, whose clone is thrown away.
    is_ci_job: bool,
    cache: PathBuf,
    environment: ProcessEnvironment,
}

impl PullRequestSource {
    /// Finds the token and the repository. Sends nothing.
    pub async fn open(
        here: &Environment,
        user: &UserSettings,
        word: Option<&str>,
    ) -> Result<Self, Failure> {
        let environment = changes::child_environment(here);
        let clone = Git::open(&here.folder, &environment).await.ok();
        let gitlab = api_url(ForgeService::GitLab, here, user)?;
        let is_on_gitlab = |git: &Git| {
            git.url().is_some_and(|url| remote_repository(url, web_host(&gitlab)).is_some())
        };
        let service = match word {
            Some(word) => ForgeService::of_name(word),
            None if clone.as_ref().is_some_and(is_on_gitlab) => ForgeService::GitLab,
            None => ForgeService::GitHub,
        };
        let api = match service {
            ForgeService::GitLab => gitlab,
            ForgeService::GitHub => api_url(service, here, user)?,
        };
        let named = word.map(|word| named(word, web_host(&api))).transpose()?;
        let remote =
            || clone.as_ref()?.url().and_then(|url| remote_repository(url, web_host(&api)));
        let repository = named.map(|at| at.repository).or_else(remote);
        let http = models::connections(here)?;
        let cache = here.user_cache_folder().map(|folder| folder.join("mala"));
        let cache = cache.unwrap_or_else(|| here.root().join(".mala")).join("forges");
        let responses = cache.join("responses");
        let notice: WaitNotice = Arc::new(|text: &str| console::say(text));
        let (variable, app) = (token_of_variable(service, here), app_account(here));
        // Tokens of an app change with every run.
        let account = match (&variable, &app, &repository) {
            (None, Some(app), Some(repository)) => Some(format!("app {} {repository}", app.id)),
            _ => None,
        };
        let token = match (variable, app, repository) {
            (Some(token), ..) => token,
            (None, ..) if service == ForgeService::GitLab => return Err(no_gitlab_token()),
            (None, Some(app), Some(repository)) => app
                .installation_token(
                    (http.clone(), &api),
                    &repository,
                    (responses.clone(), notice.clone()),
                )
                .await
                .map_err(forge_failure)?,
            (None, ..) => token_of_program(here, &api, &environment).await?,
        };
        let connect = match service {
            ForgeService::GitHub => github::connect,
            ForgeService::GitLab => gitlab::connect,
        };
        let cached = (responses, account.as_deref());
        let forge = connect((http, &api), token.clone(), cached, notice);
        let is_ci_job = ci_service(&|name| here.text(name).map(str::to_owned)).is_ok();
        Ok(Self { forge, clone, is_ci_job, api, token, cache, environment })
    }

    /// The open pull request of a branch, which may be in a fork, at this commit.
    pub async fn find_branch(
        here: &Environment,
        user: &UserSettings,
        branch: &PullRequestBranch,
    ) -> Result<PullRequestRef, Failure> {
        let word = format!("{}#1", branch.repository);
        let source = Self::open(here, user, Some(&word)).await?;
        let found = source.forge.pull_request_of(branch).await.map_err(forge_failure)?;
        let (owner, name) = (&branch.owner, &branch.name);
        let found = found.ok_or_else(|| {
            let what = format!("no open pull request for the branch {owner}:{name}");
            Failure::new(FailureKind::CouldNotReview, what)
        })?;
        let head = source.pull_request(&found).await?.head;
        if head != branch.head {
            let what = "the pull request has a newer head than the reviewed one";
            return Err(Failure::new(FailureKind::CouldNotReview, what));
        }
        Ok(found)
    }

    /// The forge.
    pub fn forge(&self) -> &dyn Forge {
        self.forge.as_ref()
    }

    /// The pull request with this reference, or that of the current branch.
    pub async fn find(&self, word: Option<&str>) -> Result<PullRequestRef, Failure> {
        let host = web_host(&self.api);
        if let Some(word) = word {
            return named(word, host);
        }
        let unknown = |what: &str| {
            Failure::usage(what)
                .hint("run `mala pr OWNER/REPO#N`, or `mala pr GROUP/PROJECT!N` on GitLab")
        };
        let clone = self.clone.as_ref().ok_or_else(|| unknown("not in a git repository"))?;
        let repository = clone.url().and_then(|url| remote_repository(url, host));
        let repository =
            repository.ok_or_else(|| unknown("the remote is not on GitHub or GitLab"))?;
        let branch = clone.branch().await.ok().flatten();
        let name = branch.ok_or_else(|| unknown("HEAD is not on a branch"))?;
        let owner = repository.owner.clone();
        let branch = PullRequestBranch { repository, owner, name, head: String::new() };
        let found = self.forge.pull_request_of(&branch).await.map_err(forge_failure)?;
        let name = &branch.name;
        found.ok_or_else(|| unknown(&format!("no open pull request for the branch {name}")))
    }

    /// The pull request as it is.
    pub async fn pull_request(&self, at: &PullRequestRef) -> Result<PullRequest, Failure> {
        self.forge.pull_request(at).await.map_err(forge_failure)
    }

    /// The discussion of a pull request: comments on lines with the commands in them, and the
    /// requested parts.
    pub async fn discussion(
        &self,
        at: &PullRequestRef,
        parts: &DiscussionParts,
    ) -> Result<Discussion, Failure> {
        let parts = DiscussionParts { comments: true, inline: true, ..parts.clone() };
        let found = self.forge.discussion(at, &parts).await.map_err(forge_failure)?;
        warn_of_unknown_access(&found);
        Ok(found)
    }

    /// The ledger of the pull request's repository: that of its clone around the current folder,
    /// unless the clone is temporary, else one in the cache of the user. `named` is the requested
    /// name of the repository, which may be an old one.
    pub fn ledger(
        &self,
        pull: &PullRequest,
        named: &RepositoryName,
        discussion: Discussion,
    ) -> LedgerPlace {
        let host = web_host(&self.api);
        let is_clone_of = |git: &&Git| {
            let remote = git.url().and_then(|url| remote_repository(url, host));
            !self.is_ci_job && remote.is_some_and(|name| name == pull.repository || name == *named)
        };
        let RepositoryName { owner, repo } = &pull.repository;
        let path = match self.clone.as_ref().filter(is_clone_of) {
            Some(git) => ledger_path(git),
            None => {
                let host =
                    host.replace(|byte: char| !byte.is_ascii_alphanumeric() && byte != '.', "_");
                let folder = self.cache.join("ledgers").join(host);
                match pull.repository_id {
                    Some(id) => folder.join(format!("{id}.db")),
                    None => folder.join(owner).join(format!("{repo}.db")),
                }
            }
        };
        LedgerPlace {
            path,
            history: Arc::new(ForgeHistory {
                forge: Arc::clone(&self.forge),
                repository: pull.repository.clone(),
            }),
            branch: None,
            pull_request: Some((pull.number, discussion)),
        }
    }

    /// The change of a pull request: from the local clone if it has all commits, else fetched. The tip of the base
    /// branch decides about the review, so that an old branch has no old configuration.
    pub async fn scope(&self, pull: &PullRequest) -> Result<ReviewScope, Failure> {
        let local = match &self.clone {
            Some(git) => scope_in(git, pull).await.ok(),
            None => None,
        };
        let mut scoped = match local {
            Some(scoped) => scoped,
            None => scope_in(&self.fetched(pull).await?, pull).await.map_err(changes::failure)?,
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
            tip: &pull.base,
        };
        let failed = |what: String| {
            Failure::new(FailureKind::CouldNotReview, what)
                .hint("the token must be able to read the repository (`Contents: read` on GitHub, `read_repository` on GitLab)")
        };
        let folder = fetch_commits(&source, &self.cache.join("commits"), &self.environment)
            .await
            .map_err(|error| failed(error.to_string()))?;
        Git::open(&folder, &self.environment).await.map_err(|error| failed(error.to_string()))
    }
}

/// Warns about accounts whose comments do not count because the token cannot read their access.
fn warn_of_unknown_access(discussion: &Discussion) {
    let names: Vec<&str> = discussion.unknown_access.iter().map(String::as_str).collect();
    if !names.is_empty() {
        console::say(&format!(
            "warning: cannot read who may write to the repository: what these accounts say does not count: {}",
            names.join(", ")
        ));
    }
}

/// The change of a pull request in a repository with its commits.
async fn scope_in(git: &Git, pull: &PullRequest) -> Result<ReviewScope, ScopeError> {
    let range = |base: &str, head: &str| ReviewTarget::Range {
        base: base.to_owned(),
        head: head.to_owned(),
    };
    let mut scoped = git.scope(&range(&pull.merge_base, &pull.head), &[]).await?;
    if pull.base != pull.merge_base {
        let tree = git.scope(&range(&pull.base, &pull.base), &[]).await?.tree;
        scoped.trusted = Some(TrustedTree { commit: pull.base.clone(), tree });
    }
    Ok(scoped)
}

/// The address of the API: from the environment, or from the user's own file. A repository cannot set it.
fn api_url(
    service: ForgeService,
    here: &Environment,
    user: &UserSettings,
) -> Result<String, Failure> {
    let no_file = RepositoryFileChoice { file: None, notice: None };
    let policy = user.with_file(no_file, Config::default())?.policy;
    let (names, default): (&[&'static str], _) = match service {
        ForgeService::GitHub => (&["GITHUB_API_URL"], GITHUB_API),
        ForgeService::GitLab => (&["GITLAB_API_URL", "CI_API_V4_URL"], GITLAB_API),
    };
    let is_gitlab = |url: &str| url.trim_end_matches('/').ends_with("/api/v4");
    let set = names.iter().find_map(|name| Some((*name, here.text(name)?.to_owned())));
    let configured =
        policy.forge_api.value.filter(|url| is_gitlab(url) == (service == ForgeService::GitLab));
    let configured = || configured.map(|url| ("pull_requests.api_url", url));
    let (name, url) =
        set.or_else(configured).unwrap_or_else(|| ("pull_requests.api_url", default.to_owned()));
    let url = url.trim_end_matches('/').to_owned();
    Endpoint::new(&url, None)
        .map_err(|error| Failure::new(FailureKind::Configuration, format!("{name}: {error}")))?;
    Ok(url)
}

/// Parses a reference to a pull request.
fn named(word: &str, host: &str) -> Result<PullRequestRef, Failure> {
    PullRequestRef::parse(word, host).map_err(|error| {
        Failure::usage(error.to_string())
            .hint("use OWNER/REPO#N, GROUP/PROJECT!N or a URL; GITHUB_API_URL and GITLAB_API_URL set the host")
    })
}

fn token_of_variable(service: ForgeService, here: &Environment) -> Option<Secret> {
    let names: &[&str] = match service {
        ForgeService::GitHub => &["GITHUB_TOKEN", "GH_TOKEN"],
        ForgeService::GitLab => &["GITLAB_TOKEN"],
    };
    names.iter().find_map(|name| here.text(name)).map(Secret::new)
}

fn no_gitlab_token() -> Failure {
    Failure::new(FailureKind::Configuration, "no GitLab token: GITLAB_TOKEN is not set")
        .hint("set GITLAB_TOKEN to a token with the scope 'api' and the role Developer; CI_JOB_TOKEN cannot read or write discussions")
}

/// The account of a GitHub App.
fn app_account(here: &Environment) -> Option<AppAccount> {
    let (id, key) = (here.text("GITHUB_APP_ID")?, here.text("GITHUB_APP_PRIVATE_KEY")?);
    Some(AppAccount { id: id.to_owned(), key: Secret::new(key) })
}

/// The token of the GitHub CLI.
async fn token_of_program(
    here: &Environment,
    api: &str,
    environment: &ProcessEnvironment,
) -> Result<Secret, Failure> {
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
        .hint("set GITHUB_TOKEN or GH_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, or run `gh auth login`; the token needs `Pull requests: read`, `Contents: read` and, to post, `Issues: write`"))
}

/// An error of a forge as an error of the command.
pub fn forge_failure(error: ForgeError) -> Failure {
    let failure = Failure::new(FailureKind::CouldNotReview, error.to_string());
    match error {
        ForgeError::Forbidden { hint, .. } => failure.hint(hint),
        _ => failure,
    }
}
