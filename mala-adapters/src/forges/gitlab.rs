//! GitLab over REST (v4). A merge request is a pull request here: its notes are comments, its discussions on
//! the diff are threads, and a commit status is a check run without annotations.

mod bodies;

use crate::forges::cache::ResponseCache;
use crate::forges::client::{ApiClient, ApiRequest, ApiService, WaitNotice, in_url};
use crate::models::{HttpClient, Secret};
use bodies::{DiffVersion, GitLabNote};
use mala_domain::forge::{
    CHECK_NAME, ComparedCommits, Discussion, DiscussionParts, ForgeWrite, PullRequest,
    PullRequestBranch, PullRequestRef, RepositoryName,
};
use mala_domain::ports::{BoxFuture, Forge, ForgeError};
use reqwest::Method;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SERVICE: ApiService = ApiService {
    name: "GitLab",
    headers: &[("accept", "application/json")],
    token_hint: "GITLAB_TOKEN; the token of a job (CI_JOB_TOKEN) is not enough",
};

const READ: &str = "read_api";
const WRITE: &str = "api, and at least the role Developer";
/// The access level of the role Developer.
const DEVELOPER: u64 = 30;

/// GitLab, or a server with the same API.
pub struct GitLab {
    api: ApiClient,
    known: Mutex<KnownMergeRequest>,
}

/// What requests need to name, as it was last read.
#[derive(Default)]
struct KnownMergeRequest {
    /// The pushed states, newest first.
    versions: Vec<DiffVersion>,
    /// The ids of discussions by their first notes.
    discussions: BTreeMap<u64, String>,
}

impl GitLab {
    /// GitLab at the URL of its API, which ends in `/api/v4`, with a folder for cached responses.
    pub fn new(
        http: HttpClient,
        api: &str,
        token: Secret,
        cache: PathBuf,
        notice: WaitNotice,
    ) -> Self {
        let cache = ResponseCache::new(cache, token.expose());
        let api = ApiClient::new(&SERVICE, (http, api), token, (cache, notice));
        Self { api, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, KnownMergeRequest> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of a project's web page: on the server of the API, whatever the API answers.
    fn web_url(&self, repository: &RepositoryName) -> String {
        let root = self.api.base.strip_suffix("/api/v4").unwrap_or(&self.api.base);
        format!("{root}/{repository}")
    }

    async fn read_pull_request(&self, at: &PullRequestRef) -> Result<PullRequest, ForgeError> {
        let path = merge_request(at);
        let found = self.api.get(&path, READ).await?;
        let versions = self.api.list(&format!("{path}/versions"), READ).await?;
        let versions: Vec<DiffVersion> = versions.iter().filter_map(bodies::version).collect();
        let newest = versions.first().ok_or_else(|| {
            ForgeError::Unavailable("GitLab has not prepared the diff of the merge request".into())
        })?;
        let web_url = self.web_url(&at.repository);
        let pull = bodies::pull_request(&found, at, newest, &web_url);
        self.known().versions = versions;
        Ok(pull)
    }

    async fn find_merge_request(
        &self,
        branch: &PullRequestBranch,
    ) -> Result<Option<PullRequestRef>, ForgeError> {
        let project = project(&branch.repository);
        let query = format!("state=opened&source_branch={}", in_url(&branch.name));
        let found = self.api.get(&format!("{project}/merge_requests?{query}"), READ).await?;
        let first = found.as_array().and_then(|all| all.first());
        let number = first.and_then(|one| one["iid"].as_u64());
        Ok(number.map(|number| PullRequestRef { repository: branch.repository.clone(), number }))
    }

    async fn compare_commits(
        &self,
        repository: &RepositoryName,
        (old, new): (&str, &str),
    ) -> Result<Option<ComparedCommits>, ForgeError> {
        let commits = format!("{}/repository", project(repository));
        let base = format!("{commits}/merge_base?refs[]={old}&refs[]={new}");
        let diff = format!("{commits}/compare?from={old}&to={new}&straight=true");
        let known = async {
            let base = self.api.get(&base, READ).await?;
            let is_ahead = base["id"].as_str() == Some(old);
            Ok(bodies::compared(&self.api.get(&diff, READ).await?, is_ahead))
        };
        match known.await {
            Err(ForgeError::NotFound { .. } | ForgeError::Rejected(_)) => Ok(None),
            known => known,
        }
    }

    async fn read_discussion(
        &self,
        at: &PullRequestRef,
        parts: &DiscussionParts,
    ) -> Result<Discussion, ForgeError> {
        let mut found = Discussion::default();
        if let Some(commit) = &parts.checks_of {
            let path = format!("{}/repository/commits/{commit}/statuses", project(&at.repository));
            let path = format!("{path}?name={CHECK_NAME}&all=true&per_page=100");
            let statuses = self.api.get(&path, READ).await?;
            let statuses = statuses.as_array().into_iter().flatten();
            found.checks = statuses.filter_map(bodies::status).collect();
        }
        if !parts.comments {
            return Ok(found);
        }
        let viewer = self.api.get("/user", READ).await?;
        found.viewer = viewer["username"].as_str().map(str::to_owned);
        let threads = self.api.list(&format!("{}/discussions", merge_request(at)), READ).await?;
        let users = self.sort_notes(&threads, &mut found, at);
        if !parts.inline {
            (found.inline, found.resolved) = (Vec::new(), Vec::new());
        }
        for login in found.speakers() {
            let Some(id) = users.get(&login) else { continue };
            if self.is_developer(&at.repository, *id).await? {
                found.writers.insert(login);
            }
        }
        Ok(found)
    }

    /// Sorts the notes into comments and threads. Returns the ids of the users.
    fn sort_notes(
        &self,
        threads: &[Value],
        found: &mut Discussion,
        at: &PullRequestRef,
    ) -> BTreeMap<String, u64> {
        let mut known = self.known();
        let head = known.versions.first().map(|version| version.head.clone());
        let page = format!("{}/-/merge_requests/{}", self.web_url(&at.repository), at.number);
        let (mut users, mut discussions) = (BTreeMap::new(), BTreeMap::new());
        for thread in threads {
            let notes = thread["notes"].as_array().into_iter().flatten();
            let notes: Vec<GitLabNote> = notes.filter_map(bodies::note).collect();
            let Some(first) = notes.first() else { continue };
            for note in &notes {
                users.extend(note.users.iter().cloned());
            }
            let id = thread["id"].as_str().unwrap_or_default().to_owned();
            discussions.insert(first.id, id);
            if !first.is_on_lines {
                found.comments.extend(notes.into_iter().map(GitLabNote::comment));
                continue;
            }
            found.resolved.extend(first.resolution());
            let (first, is_outdated) = (first.id, first.at_head != head);
            found.inline.extend(notes.into_iter().map(|note| {
                let url = format!("{page}#note_{}", note.id);
                note.inline_comment(first, is_outdated, url)
            }));
        }
        known.discussions = discussions;
        users
    }

    async fn is_developer(&self, repository: &RepositoryName, id: u64) -> Result<bool, ForgeError> {
        let path = format!("{}/members/all/{id}", project(repository));
        match self.api.get(&path, READ).await {
            Ok(member) => Ok(member["access_level"].as_u64() >= Some(DEVELOPER)),
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn apply(&self, at: &PullRequestRef, write: &ForgeWrite) -> Result<(), ForgeError> {
        if let ForgeWrite::CreateReview { .. } = write {
            // Nothing is sent: the comments follow one by one.
            let why = "GitLab cannot add several discussions at once";
            return Err(ForgeError::Rejected(why.to_owned()));
        }
        for (method, path, body) in self.requests(at, write) {
            let is_delete = method == Method::DELETE;
            let request = ApiRequest { method, path, body, permission: WRITE };
            match self.api.write(&request).await {
                // Another run deleted it.
                Err(ForgeError::NotFound { .. }) if is_delete => {}
                written => drop(written?),
            }
        }
        Ok(())
    }

    fn requests(
        &self,
        at: &PullRequestRef,
        write: &ForgeWrite,
    ) -> Vec<(Method, String, Option<Value>)> {
        let known = self.known();
        bodies::requests((&project(&at.repository), &merge_request(at)), write, &known)
    }
}

impl Forge for GitLab {
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
        Box::pin(self.find_merge_request(branch))
    }

    fn discussion<'a>(
        &'a self,
        at: &'a PullRequestRef,
        parts: &'a DiscussionParts,
    ) -> BoxFuture<'a, Result<Discussion, ForgeError>> {
        Box::pin(self.read_discussion(at, parts))
    }

    fn compare<'a>(
        &'a self,
        repository: &'a RepositoryName,
        commits: (&'a str, &'a str),
    ) -> BoxFuture<'a, Result<Option<ComparedCommits>, ForgeError>> {
        Box::pin(self.compare_commits(repository, commits))
    }

    fn preview(&self, at: &PullRequestRef, write: &ForgeWrite) -> String {
        let shown = self.requests(at, write).into_iter().map(|(method, path, body)| {
            let body = body.map(|body| format!("{body:#}\n")).unwrap_or_default();
            format!("{method} {path}\n{body}")
        });
        shown.collect()
    }

    fn write<'a>(
        &'a self,
        at: &'a PullRequestRef,
        write: &'a ForgeWrite,
    ) -> BoxFuture<'a, Result<(), ForgeError>> {
        Box::pin(self.apply(at, write))
    }
}

fn project(repository: &RepositoryName) -> String {
    format!("/projects/{}", in_url(&repository.to_string()))
}

fn merge_request(at: &PullRequestRef) -> String {
    format!("{}/merge_requests/{}", project(&at.repository), at.number)
}
