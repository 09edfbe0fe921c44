//! GitHub over REST, with a client of our own on the HTTP crate that models use. Threads are resolved over
//! GraphQL, because REST cannot.

mod app;
mod bodies;

pub use app::AppAccount;

use crate::forges::cache::ResponseCache;
use crate::forges::client::{ApiClient, ApiRequest, ApiService, WaitNotice, in_url};
use crate::models::{HttpClient, Secret};
use mala_domain::forge::{
    CHECK_NAME, ComparedCommits, Discussion, DiscussionParts, ForgeWrite, PullRequest,
    PullRequestBranch, PullRequestRef, RepositoryName, ResolvedThread, web_host,
};
use mala_domain::ports::{BoxFuture, Forge, ForgeError};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::PathBuf;

const READ_PULLS: &str = "Pull requests: read";
const READ_CONTENTS: &str = "Contents: read";
const WRITE_PULLS: &str = "Pull requests: write";
const READ_CHECKS: &str = "Checks: read";
const WRITE_CHECKS: &str = "Checks: write";
const WRITE_ISSUES: &str = "Issues: write";

const SERVICE: ApiService = ApiService {
    name: "GitHub",
    headers: &[("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")],
    token_hint: "GITHUB_TOKEN, GH_TOKEN or the key of the app",
};

/// GitHub, or a server with the same API.
pub struct GitHub {
    api: ApiClient,
}

impl GitHub {
    /// GitHub at the URL of its API, with a folder for cached responses.
    pub fn new(
        http: HttpClient,
        api: &str,
        token: Secret,
        cache: PathBuf,
        notice: WaitNotice,
    ) -> Self {
        let cache = ResponseCache::new(cache, token.expose());
        Self { api: ApiClient::new(&SERVICE, (http, api), token, (cache, notice)) }
    }

    /// The address of a repository for git: on the host of the API's web pages, whatever the API answers.
    pub fn clone_url(&self, repository: &RepositoryName) -> String {
        let scheme = self.api.base.split_once("://").map_or("https", |(scheme, _)| scheme);
        format!("{scheme}://{}/{repository}.git", web_host(&self.api.base))
    }

    async fn read_pull_request(&self, at: &PullRequestRef) -> Result<PullRequest, ForgeError> {
        let found = self.api.get(&pull_path(at), READ_PULLS).await?;
        let mut pull =
            bodies::pull_request(&found, at).ok_or_else(|| unreadable("pull request"))?;
        let repository = &at.repository;
        let range = format!("{}...{}", pull.base, pull.head);
        let compared = format!("/repos/{repository}/compare/{range}?per_page=1");
        let compared = self.api.get(&compared, READ_CONTENTS).await?;
        let merge_base = compared["merge_base_commit"]["sha"].as_str();
        pull.merge_base = merge_base.ok_or_else(|| unreadable("comparison"))?.to_owned();
        pull.clone_url = self.clone_url(repository);
        Ok(pull)
    }

    async fn find_pull_request(
        &self,
        branch: &PullRequestBranch,
    ) -> Result<Option<PullRequestRef>, ForgeError> {
        let repository = &branch.repository;
        let (owner, branch) = (in_url(&branch.owner), in_url(&branch.name));
        let query = format!("state=open&head={owner}:{branch}");
        let found = self.api.get(&format!("/repos/{repository}/pulls?{query}"), READ_PULLS).await?;
        let number =
            found.as_array().and_then(|all| all.first()).and_then(|one| one["number"].as_u64());
        Ok(number.map(|number| PullRequestRef { repository: repository.clone(), number }))
    }

    async fn read_discussion(
        &self,
        at: &PullRequestRef,
        parts: &DiscussionParts,
    ) -> Result<Discussion, ForgeError> {
        let repository = &at.repository;
        let mut found = Discussion::default();
        if let Some(commit) = &parts.checks_of {
            let path = format!("/repos/{repository}/commits/{commit}/check-runs");
            let path = format!("{path}?check_name={CHECK_NAME}&filter=all&per_page=100");
            let checks = self.api.get(&path, READ_CHECKS).await?;
            let checks = checks["check_runs"].as_array().into_iter().flatten();
            found.checks = checks.filter_map(bodies::check).collect();
        }
        if !parts.comments {
            return Ok(found);
        }
        let viewer = self.viewer().await?;
        let path = format!("/repos/{repository}/issues/{}/comments", at.number);
        let comments = self.api.list(&path, READ_PULLS).await?;
        let inline = match parts.inline {
            true => self.api.list(&format!("{}/comments", pull_path(at)), READ_PULLS).await?,
            false => Vec::new(),
        };
        found = Discussion {
            viewer,
            comments: comments.iter().filter_map(bodies::comment).collect(),
            inline: inline.iter().filter_map(bodies::inline_comment).collect(),
            ..found
        };
        if found.threads().next().is_some() && self.api.has_news() {
            found.resolved = self.resolved_threads(at).await?;
        }
        for login in found.speakers() {
            if self.can_write(repository, &login).await? {
                found.writers.insert(login);
            }
        }
        Ok(found)
    }

    /// The threads that are resolved. The token may not be allowed to read them.
    async fn resolved_threads(
        &self,
        at: &PullRequestRef,
    ) -> Result<Vec<ResolvedThread>, ForgeError> {
        let threads = match self.review_threads(at).await {
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => Vec::new(),
            threads => threads?,
        };
        let resolved = threads.iter().filter(|thread| thread["isResolved"] == true);
        let resolved = resolved.filter_map(|thread| {
            let by = thread["resolvedBy"]["login"].as_str().map(str::to_owned);
            Some(ResolvedThread { first: bodies::first_comment(thread)?, by })
        });
        Ok(resolved.collect())
    }

    /// Whether an account may write to the repository.
    async fn can_write(
        &self,
        repository: &RepositoryName,
        login: &str,
    ) -> Result<bool, ForgeError> {
        let login = in_url(login);
        let path = format!("/repos/{repository}/collaborators/{login}/permission");
        match self.api.get(&path, "Metadata: read").await {
            Ok(found) => Ok(matches!(found["permission"].as_str(), Some("admin" | "write"))),
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn compare_commits(
        &self,
        repository: &RepositoryName,
        (old, new): (&str, &str),
    ) -> Result<Option<ComparedCommits>, ForgeError> {
        let path = format!("/repos/{repository}/compare/{old}...{new}?per_page=1");
        match self.api.get(&path, READ_CONTENTS).await {
            Ok(found) => Ok(bodies::compared(&found)),
            Err(ForgeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The login of the token. Tokens of apps cannot read `/user`, but GraphQL tells theirs.
    async fn viewer(&self) -> Result<Option<String>, ForgeError> {
        let user = match self.api.get("/user", "Metadata: read").await {
            Ok(user) => user,
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => {
                match self.graphql("query{viewer{login}}", json!({}), "Metadata: read").await {
                    Ok(answer) => answer["data"]["viewer"].clone(),
                    Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => Value::Null,
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
        Ok(user["login"].as_str().map(str::to_owned))
    }

    async fn graphql(
        &self,
        query: &str,
        variables: Value,
        permission: &'static str,
    ) -> Result<Value, ForgeError> {
        // GitHub Enterprise has `/api/v3` and `/api/graphql`.
        let path = match self.api.base.ends_with("/api/v3") {
            true => "/../graphql",
            false => "/graphql",
        };
        let body = Some(json!({"query": query, "variables": variables}));
        let request = ApiRequest { method: Method::POST, path: path.to_owned(), body, permission };
        let answer = self.api.write(&request).await?;
        match answer["errors"].as_array().and_then(|errors| errors.first()) {
            Some(error) => Err(ForgeError::Forbidden {
                what: format!("GitHub answers: {}", error["message"].as_str().unwrap_or("error")),
                hint: format!("the token needs the permission `{permission}`"),
            }),
            None => Ok(answer),
        }
    }

    /// All threads on lines.
    async fn review_threads(&self, at: &PullRequestRef) -> Result<Vec<Value>, ForgeError> {
        let (mut all, mut after) = (Vec::new(), Value::Null);
        loop {
            let variables = json!({
                "owner": at.repository.owner, "repo": at.repository.repo, "number": at.number,
                "after": after,
            });
            let answer = self.graphql(bodies::THREADS, variables, READ_PULLS).await?;
            let threads = &answer["data"]["repository"]["pullRequest"]["reviewThreads"];
            all.extend(threads["nodes"].as_array().into_iter().flatten().cloned());
            if threads["pageInfo"]["hasNextPage"] != true {
                return Ok(all);
            }
            after = threads["pageInfo"]["endCursor"].clone();
        }
    }

    /// Resolves the thread that starts with this comment, unless it is resolved.
    async fn resolve(&self, at: &PullRequestRef, comment: u64) -> Result<(), ForgeError> {
        let threads = self.review_threads(at).await?;
        let thread = threads.iter().find(|it| bodies::first_comment(it) == Some(comment));
        if let Some(thread) = thread.filter(|thread| thread["isResolved"] != true) {
            let variables = json!({"thread": thread["id"]});
            self.graphql(bodies::RESOLVE, variables, WRITE_PULLS).await?;
        }
        Ok(())
    }

    async fn apply(&self, at: &PullRequestRef, write: &ForgeWrite) -> Result<(), ForgeError> {
        if let ForgeWrite::ResolveThread { id } = write {
            return self.resolve(at, *id).await;
        }
        let (method, path, body) = bodies::request(at, write);
        let permission = match write {
            ForgeWrite::CreateComment { .. }
            | ForgeWrite::UpdateComment { .. }
            | ForgeWrite::DeleteComment { .. } => WRITE_ISSUES,
            ForgeWrite::CreateCheck { .. } | ForgeWrite::UpdateCheck { .. } => WRITE_CHECKS,
            _ => WRITE_PULLS,
        };
        let is_delete = method == Method::DELETE;
        match self.api.write(&ApiRequest { method, path, body, permission }).await {
            // Another run deleted it.
            Err(ForgeError::NotFound { .. }) if is_delete => Ok(()),
            written => written.map(|_| ()),
        }
    }
}

impl Forge for GitHub {
    fn pull_request<'a>(
        &'a self,
        at: &'a PullRequestRef,
    ) -> BoxFuture<'a, Result<PullRequest, ForgeError>> {
        Box::pin(self.read_pull_request(at))
    }

    fn pull_request_of<'a>(
        &'a self,
        branch: &'a PullRequestBranch,
    ) -> BoxFuture<'a, Result<Option<PullRequestRef>, ForgeError>> {
        Box::pin(self.find_pull_request(branch))
    }

    fn compare<'a>(
        &'a self,
        repository: &'a RepositoryName,
        commits: (&'a str, &'a str),
    ) -> BoxFuture<'a, Result<Option<ComparedCommits>, ForgeError>> {
        Box::pin(self.compare_commits(repository, commits))
    }

    fn discussion<'a>(
        &'a self,
        at: &'a PullRequestRef,
        parts: &'a DiscussionParts,
    ) -> BoxFuture<'a, Result<Discussion, ForgeError>> {
        Box::pin(self.read_discussion(at, parts))
    }

    fn preview(&self, at: &PullRequestRef, write: &ForgeWrite) -> String {
        if let ForgeWrite::ResolveThread { id } = write {
            return format!("POST /graphql\nresolve the thread of comment {id}\n");
        }
        let (method, path, body) = bodies::request(at, write);
        let body = body.map(|body| format!("{body:#}\n")).unwrap_or_default();
        format!("{method} {path}\n{body}")
    }

    fn write<'a>(
        &'a self,
        at: &'a PullRequestRef,
        write: &'a ForgeWrite,
    ) -> BoxFuture<'a, Result<(), ForgeError>> {
        Box::pin(self.apply(at, write))
    }
}

fn pull_path(at: &PullRequestRef) -> String {
    format!("/repos/{}/pulls/{}", at.repository, at.number)
}

fn unreadable(what: &str) -> ForgeError {
    ForgeError::Unavailable(format!("cannot read the {what} that GitHub sent"))
}
