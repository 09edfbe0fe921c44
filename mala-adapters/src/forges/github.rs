//! GitHub over REST, with a client of our own on the HTTP crate that models use. Threads are resolved over
//! GraphQL, because REST cannot.

mod app;
mod bodies;

pub use app::AppAccount;

use crate::forges::cache::ResponseCache;
use crate::forges::client::{ApiClient, ApiRequest, ApiService, ApiWrite, WaitNotice, in_url};
use crate::forges::port::{AsyncForge, ForgePort, if_allowed};
use crate::models::{HttpClient, Secret};
use mala_domain::forge::{
    CHECK_NAME, ComparedCommits, Discussion, DiscussionParts, ForgeService, ForgeWrite,
    PullRequest, PullRequestBranch, PullRequestRef, RepositoryName, ResolvedThread, web_host,
};
use mala_domain::ports::{Forge, ForgeError};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const READ_PULLS: &str = "Pull requests: read";
const READ_CONTENTS: &str = "Contents: read";
const WRITE_PULLS: &str = "Pull requests: write";
const READ_CHECKS: &str = "Checks: read";
const WRITE_CHECKS: &str = "Checks: write";
const WRITE_ISSUES: &str = "Issues: write";
/// GitHub also requires `Contents: write`, although no content is written.
const RESOLVE_THREADS: &str = "Pull requests: write` and `Contents: write";

const SERVICE: ApiService = ApiService {
    name: "GitHub",
    headers: &[("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")],
    token_hint: "GITHUB_TOKEN, GH_TOKEN or the key of the app",
};

/// GitHub, or a server with the same API, at the URL of its API, with a folder for cached responses and the
/// name of the account that may read them, unless that is the token.
pub fn connect(
    (http, api): (HttpClient, &str),
    token: Secret,
    (cache, account): (PathBuf, Option<&str>),
    notice: WaitNotice,
) -> Arc<dyn Forge> {
    let cache = ResponseCache::new(cache, account.unwrap_or(token.expose()));
    let api = ApiClient::new(&SERVICE, (http, api), token, (cache, notice));
    Arc::new(ForgePort(GitHub { api }))
}

struct GitHub {
    api: ApiClient,
}

impl AsyncForge for GitHub {
    async fn pull_request(&self, at: &PullRequestRef) -> Result<PullRequest, ForgeError> {
        let found = self.api.get(&pull_path(at), READ_PULLS).await?;
        let mut pull =
            bodies::pull_request(&found, at).ok_or_else(|| self.api.unreadable("pull request"))?;
        let repository = pull.repository.clone();
        // By the name of the branch: the commit in the pull request may be an older tip. After the merge the branch
        // has the change.
        let is_merged = found["merged"] == true;
        let base = if is_merged { pull.base.clone() } else { in_url(&pull.base_branch) };
        let range = format!("{base}...{}", pull.head);
        let compared = format!("/repos/{repository}/compare/{range}?per_page=1");
        let compared = self.api.get(&compared, READ_CONTENTS).await?;
        let commit = |name: &str| {
            let sha = compared[name]["sha"].as_str().map(str::to_owned);
            sha.ok_or_else(|| self.api.unreadable("comparison"))
        };
        pull.base = commit("base_commit")?;
        pull.merge_base = commit("merge_base_commit")?;
        if is_merged && pull.merge_base == pull.head {
            let what = "the pull request is merged, and its base has the change already";
            return Err(ForgeError::Rejected(what.to_owned()));
        }
        pull.clone_url = self.clone_url(&repository);
        Ok(pull)
    }

    async fn pull_request_of(
        &self,
        branch: &PullRequestBranch,
    ) -> Result<Option<PullRequestRef>, ForgeError> {
        let repository = branch.repository.clone();
        let (owner, branch) = (in_url(&branch.owner), in_url(&branch.name));
        let path = format!("/repos/{repository}/pulls?state=open&head={owner}:{branch}");
        let found = self.api.items(self.api.get(&path, READ_PULLS).await?)?;
        let number = found.first().and_then(|one| one["number"].as_u64());
        let service = ForgeService::GitHub;
        Ok(number.map(|number| PullRequestRef { service, repository, number }))
    }

    async fn discussion(
        &self,
        at: &PullRequestRef,
        parts: &DiscussionParts,
    ) -> Result<Discussion, ForgeError> {
        let repository = &at.repository;
        let mut found = Discussion::default();
        if let Some(commit) = &parts.checks_of {
            let path = format!("/repos/{repository}/commits/{commit}/check-runs");
            let path = format!("{path}?check_name={CHECK_NAME}&filter=all&per_page=100");
            let mut checks = self.api.get(&path, READ_CHECKS).await?;
            let checks = self.api.items(checks["check_runs"].take())?;
            found.checks = checks.iter().filter_map(bodies::check).collect();
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
        let has_news = parts.all_threads || self.api.has_news();
        if found.marked_threads().next().is_some() && has_news {
            let resolved = self.resolved_threads(at).await.map(Some);
            let resolved = if_allowed(resolved)?;
            found.has_resolved = resolved.is_some();
            found.resolved = resolved.unwrap_or_default();
        }
        Ok(found)
    }

    async fn may_write(&self, at: &PullRequestRef, login: &str) -> Result<bool, ForgeError> {
        let (repository, login) = (&at.repository, in_url(login));
        let path = format!("/repos/{repository}/collaborators/{login}/permission");
        let found = self.api.get(&path, "Metadata: read").await?;
        Ok(matches!(found["permission"].as_str(), Some("admin" | "write")))
    }

    async fn compare(
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

    async fn requests(
        &self,
        at: &PullRequestRef,
        write: &ForgeWrite,
    ) -> Result<Vec<ApiWrite>, ForgeError> {
        match write {
            ForgeWrite::ResolveThread { id } => {
                Ok(self.resolution(at, *id).await?.into_iter().collect())
            }
            write => Ok(bodies::requests(at, write)),
        }
    }

    async fn write(&self, at: &PullRequestRef, write: &ForgeWrite) -> Result<(), ForgeError> {
        let permission = match write {
            ForgeWrite::ResolveThread { .. } => RESOLVE_THREADS,
            ForgeWrite::CreateComment { .. }
            | ForgeWrite::UpdateComment { .. }
            | ForgeWrite::DeleteComment { .. } => WRITE_ISSUES,
            ForgeWrite::CreateCheck { .. } | ForgeWrite::UpdateCheck { .. } => WRITE_CHECKS,
            _ => WRITE_PULLS,
        };
        let mut new_check = String::new();
        for (method, path, body) in self.requests(at, write).await? {
            let path = path.replace(bodies::NEW_CHECK, &new_check);
            let answer = self.api.write((method, path, body), permission).await;
            new_check = graphql_answer(answer, permission)?["id"].to_string();
        }
        Ok(())
    }
}

impl GitHub {
    /// The address of a repository for git: always on the host of the web pages, independent of the
    /// API's responses.
    fn clone_url(&self, repository: &RepositoryName) -> String {
        let scheme = self.api.base.split_once("://").map_or("https", |(scheme, _)| scheme);
        format!("{scheme}://{}/{repository}.git", web_host(&self.api.base))
    }

    /// The threads that are resolved.
    async fn resolved_threads(
        &self,
        at: &PullRequestRef,
    ) -> Result<Vec<ResolvedThread>, ForgeError> {
        let threads = self.review_threads(at).await?;
        let resolved = threads.iter().filter(|thread| thread["isResolved"] == true);
        let resolved = resolved.filter_map(|thread| {
            let by = thread["resolvedBy"]["login"].as_str().map(str::to_owned);
            Some(ResolvedThread { first: bodies::first_comment(thread)?, by })
        });
        Ok(resolved.collect())
    }

    /// The login of the token. Tokens of apps cannot read `/user`, but GraphQL returns theirs.
    async fn viewer(&self) -> Result<Option<String>, ForgeError> {
        let mut user = if_allowed(self.api.get("/user", "Metadata: read").await)?;
        if user.is_null() {
            let query = self.graphql_request("query{viewer{login}}", json!({}), "Metadata: read");
            let answer = graphql_answer(self.api.ask(&query).await, query.permission);
            let answer = if_allowed(answer)?;
            user = answer["data"]["viewer"].clone();
        }
        Ok(user["login"].as_str().map(str::to_owned))
    }

    fn graphql_request(
        &self,
        query: &str,
        variables: Value,
        permission: &'static str,
    ) -> ApiRequest {
        // GitHub Enterprise has `/api/v3` and `/api/graphql`.
        let path = match self.api.base.ends_with("/api/v3") {
            true => "/../graphql",
            false => "/graphql",
        };
        let body = Some(json!({"query": query, "variables": variables}));
        let (method, is_repeatable) = (Method::POST, !query.starts_with("mutation"));
        ApiRequest { method, path: path.to_owned(), body, permission, is_repeatable }
    }

    /// All threads on lines.
    async fn review_threads(&self, at: &PullRequestRef) -> Result<Vec<Value>, ForgeError> {
        let (mut all, mut after) = (Vec::new(), Value::Null);
        loop {
            let variables = json!({
                "owner": at.repository.owner, "repo": at.repository.repo, "number": at.number,
                "after": after,
            });
            let query = self.graphql_request(bodies::THREADS, variables, READ_PULLS);
            let answer = graphql_answer(self.api.ask(&query).await, READ_PULLS)?;
            let threads = &answer["data"]["repository"]["pullRequest"]["reviewThreads"];
            all.extend(self.api.items(threads["nodes"].clone())?);
            if threads["pageInfo"]["hasNextPage"] != true {
                return Ok(all);
            }
            after = threads["pageInfo"]["endCursor"].clone();
        }
    }

    /// The request that resolves the thread that starts with this comment, unless it is resolved.
    async fn resolution(
        &self,
        at: &PullRequestRef,
        comment: u64,
    ) -> Result<Option<ApiWrite>, ForgeError> {
        let threads = self.review_threads(at).await?;
        let thread = threads.iter().find(|it| bodies::first_comment(it) == Some(comment));
        let open = thread.filter(|thread| thread["isResolved"] != true);
        Ok(open.map(|thread| {
            let variables = json!({"thread": thread["id"]});
            let mutation = self.graphql_request(bodies::RESOLVE, variables, RESOLVE_THREADS);
            (mutation.method, mutation.path, mutation.body)
        }))
    }
}

/// GraphQL answers errors with the status of a success.
fn graphql_answer(
    answer: Result<Value, ForgeError>,
    permission: &str,
) -> Result<Value, ForgeError> {
    let answer = answer?;
    match answer["errors"].as_array().and_then(|errors| errors.first()) {
        Some(error) => Err(ForgeError::Forbidden {
            what: format!("GitHub answers: {}", error["message"].as_str().unwrap_or("error")),
            hint: format!("the token needs the permission `{permission}`"),
        }),
        None => Ok(answer),
    }
}

fn pull_path(at: &PullRequestRef) -> String {
    format!("/repos/{}/pulls/{}", at.repository, at.number)
}
