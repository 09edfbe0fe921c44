//! GitLab over REST (v4). A merge request is a pull request here: its notes are comments, its discussions on
//! the diff are threads, and a commit status is a check run without annotations.

mod bodies;

use crate::forges::cache::ResponseCache;
use crate::forges::client::{ApiClient, ApiService, ApiWrite, WaitNotice, in_url};
use crate::forges::port::{AsyncForge, ForgePort};
use crate::models::{HttpClient, Secret};
use bodies::{DiffVersion, GitLabNote};
use mala_domain::forge::{
    CHECK_NAME, ComparedCommits, Discussion, DiscussionParts, ForgeService, ForgeWrite,
    PullRequest, PullRequestBranch, PullRequestRef, RepositoryName,
};
use mala_domain::ports::{Forge, ForgeError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SERVICE: ApiService = ApiService {
    name: "GitLab",
    headers: &[("accept", "application/json")],
    token_hint: "GITLAB_TOKEN; the token of a job (CI_JOB_TOKEN) is not enough",
};

const READ: &str = "read_api";
const WRITE: &str = "api, and at least the role Developer";
/// The access level of the role Developer.
const DEVELOPER: u64 = 30;

/// GitLab, or a server with the same API, at the URL of its API, which ends in `/api/v4`, with a folder for cached
/// responses and the name of the account that may read them, unless that is the token.
pub fn connect(
    (http, api): (HttpClient, &str),
    token: Secret,
    (cache, account): (PathBuf, Option<&str>),
    notice: WaitNotice,
) -> Arc<dyn Forge> {
    let cache = ResponseCache::new(cache, account.unwrap_or(token.expose()));
    let api = ApiClient::new(&SERVICE, (http, api), token, (cache, notice));
    Arc::new(ForgePort(GitLab { api, known: Mutex::default() }))
}

struct GitLab {
    api: ApiClient,
    known: Mutex<KnownMergeRequest>,
}

/// Data of a merge request that later requests need, as last read.
#[derive(Default)]
struct KnownMergeRequest {
    /// The pushed states, newest first.
    versions: Vec<DiffVersion>,
    /// The ids of discussions by their first notes.
    discussions: BTreeMap<u64, String>,
    /// The ids of users by their names.
    users: BTreeMap<String, u64>,
}

impl AsyncForge for GitLab {
    async fn pull_request(&self, at: &PullRequestRef) -> Result<PullRequest, ForgeError> {
        let found = self.api.get(&merge_request(at), READ).await?;
        let repository = bodies::repository(&found).unwrap_or_else(|| at.repository.clone());
        let at = &PullRequestRef { repository, ..at.clone() };
        let versions = self.api.list(&format!("{}/versions", merge_request(at)), READ).await?;
        let versions: Vec<DiffVersion> = versions.iter().filter_map(bodies::version).collect();
        let newest = versions.first().ok_or_else(|| {
            ForgeError::Unavailable("GitLab has not prepared the diff of the merge request".into())
        })?;
        let mut pull = bodies::pull_request(&found, at, newest, &self.web_url(&at.repository));
        // A version has the tip of the target branch at the time of the push, which may be
        // outdated.
        let branches = format!("{}/repository/branches", project(&at.repository));
        let branch = format!("{branches}/{}", in_url(&pull.base_branch));
        let tip = self.api.get(&branch, READ).await?;
        let tip = tip["commit"]["id"].as_str().ok_or_else(|| self.api.unreadable("branch"))?;
        pull.base = tip.to_owned();
        self.known().versions = versions;
        Ok(pull)
    }

    async fn pull_request_of(
        &self,
        branch: &PullRequestBranch,
    ) -> Result<Option<PullRequestRef>, ForgeError> {
        let repository = branch.repository.clone();
        let query = format!("state=opened&source_branch={}", in_url(&branch.name));
        let path = format!("{}/merge_requests?{query}", project(&repository));
        let found = self.api.items(self.api.get(&path, READ).await?)?;
        // Forks may have branches of the same name.
        let is_own = |one: &&Value| one["source_project_id"] == one["target_project_id"];
        let number = found.iter().find(is_own).and_then(|one| one["iid"].as_u64());
        let service = ForgeService::GitLab;
        Ok(number.map(|number| PullRequestRef { service, repository, number }))
    }

    async fn discussion(
        &self,
        at: &PullRequestRef,
        parts: &DiscussionParts,
    ) -> Result<Discussion, ForgeError> {
        let mut found = Discussion::default();
        if let Some(commit) = &parts.checks_of {
            let path = format!("{}/repository/commits/{commit}/statuses", project(&at.repository));
            let path = format!("{path}?name={CHECK_NAME}&all=true&per_page=100");
            let statuses = self.api.items(self.api.get(&path, READ).await?)?;
            found.checks = statuses.iter().filter_map(bodies::status).collect();
        }
        if !parts.comments {
            return Ok(found);
        }
        let viewer = self.api.get("/user", READ).await?;
        found.viewer = viewer["username"].as_str().map(str::to_owned);
        let threads = self.api.list(&format!("{}/discussions", merge_request(at)), READ).await?;
        self.sort_notes(&threads, &mut found, at);
        found.has_resolved = parts.inline;
        if !parts.inline {
            (found.inline, found.resolved) = (Vec::new(), Vec::new());
        }
        Ok(found)
    }

    async fn may_write(&self, at: &PullRequestRef, login: &str) -> Result<bool, ForgeError> {
        let Some(id) = self.known().users.get(login).copied() else { return Ok(false) };
        let path = format!("{}/members/all/{id}", project(&at.repository));
        let member = self.api.get(&path, READ).await?;
        Ok(member["access_level"].as_u64() >= Some(DEVELOPER))
    }

    async fn compare(
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

    async fn requests(
        &self,
        at: &PullRequestRef,
        write: &ForgeWrite,
    ) -> Result<Vec<ApiWrite>, ForgeError> {
        let paths = (project(&at.repository), merge_request(at));
        Ok(bodies::requests((&paths.0, &paths.1), write, &self.known()))
    }

    async fn write(&self, at: &PullRequestRef, write: &ForgeWrite) -> Result<(), ForgeError> {
        if let ForgeWrite::CreateReview { .. } = write {
            // Nothing is sent: the comments follow one by one.
            let why = "GitLab cannot add several discussions at once";
            return Err(ForgeError::Rejected(why.to_owned()));
        }
        for request in self.requests(at, write).await? {
            self.api.write(request, WRITE).await?;
        }
        Ok(())
    }
}

impl GitLab {
    fn known(&self) -> MutexGuard<'_, KnownMergeRequest> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of a project's web page: always on the server of the API, independent of its
    /// responses.
    fn web_url(&self, repository: &RepositoryName) -> String {
        let root = self.api.base.strip_suffix("/api/v4").unwrap_or(&self.api.base);
        format!("{root}/{repository}")
    }

    /// Sorts the notes into comments and threads.
    fn sort_notes(&self, threads: &[Value], found: &mut Discussion, at: &PullRequestRef) {
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
        (known.discussions, known.users) = (discussions, users);
    }
}

fn project(repository: &RepositoryName) -> String {
    format!("/projects/{}", in_url(&repository.to_string()))
}

fn merge_request(at: &PullRequestRef) -> String {
    format!("{}/merge_requests/{}", project(&at.repository), at.number)
}
