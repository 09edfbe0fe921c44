//! The REST and GraphQL API: one pull request with its comments, reviews and threads. Requests that GitHub
//! refuses with 422 are refused here too.

use super::VIEWER;
use crate::forge_server::{ApiAnswer, ForgeApi, ForgeRequest, PageStyle, ServedRepository, answer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What the tokens of an app's installation start with.
pub const INSTALLATION_TOKEN: &str = "ghs_dummydummydummydummydummydummydumm";

/// What the repository is called at first.
const FIRST_NAME: &str = "o/r";

/// A comment on the pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHubComment {
    /// Its number.
    pub id: u64,
    /// Its author.
    pub login: String,
    /// Its text.
    pub body: String,
}

/// A comment on lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHubThreadComment {
    /// Its number.
    pub id: u64,
    /// The first comment of its thread.
    pub reply_to: Option<u64>,
    /// Its author.
    pub login: String,
    /// Its text.
    pub body: String,
    /// The commit that contains the lines.
    pub commit: String,
    /// The file.
    pub path: String,
    /// The first line, when there are several.
    pub start_line: Option<u64>,
    /// The last line.
    pub line: u64,
}

/// The state of the server.
pub struct GitHubState {
    pub(super) repository: ServedRepository,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) comments: Vec<GitHubComment>,
    pub(super) inline: Vec<GitHubThreadComment>,
    pub(super) resolved: BTreeMap<u64, String>,
    /// The logins with write access.
    pub(super) writers: BTreeSet<String>,
    pub(super) checks: Vec<Value>,
    pub(super) is_fork: bool,
    /// Whether the token may resolve threads.
    pub(super) may_resolve: bool,
    /// The login of the token.
    pub(super) viewer: String,
    /// Whether the token may change comments of other users.
    pub(super) may_change_others: bool,
    /// The owner and the name of the repository.
    pub(super) name: String,
    n_ids: u64,
    n_tokens: u64,
    port: u16,
}

fn unprocessable(message: &str) -> ApiAnswer {
    answer(422, json!({"message": "Unprocessable Entity", "errors": [message]}))
}

impl ForgeApi for GitHubState {
    fn answer(&mut self, request: &ForgeRequest) -> ApiAnswer {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let path = request.resource().to_owned();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        // GitHub Enterprise has its API in a folder.
        let parts = match parts.as_slice() {
            ["api", "v3", rest @ ..] => rest,
            ["api", rest @ ..] => rest,
            parts => parts,
        };
        let token = request.header("authorization").unwrap_or_default();
        let token = token.trim_start_matches("Bearer ");
        let is_statement = token.starts_with("eyJ") && token.split('.').count() == 3;
        match (request.method.as_str(), parts) {
            // The token of an app cannot read its user.
            ("GET", ["user"]) if token.starts_with(INSTALLATION_TOKEN) => forbidden(),
            ("GET", ["repos", "o", "r", "installation"]) if is_statement => {
                answer(200, json!({"id": 42}))
            }
            ("POST", ["app", "installations", "42", "access_tokens"])
                if is_statement && body["repositories"] == json!(["r"]) =>
            {
                self.n_tokens += 1;
                answer(201, json!({"token": format!("{INSTALLATION_TOKEN}{}", self.n_tokens)}))
            }
            ("GET", ["user"]) => answer(200, json!({"login": self.viewer, "type": "User"})),
            ("POST", ["graphql"]) => self.graphql(&body),
            (method, ["repositories", "1", rest @ ..]) => self.repository(method, rest, &body),
            (method, ["repos", owner, repo, rest @ ..]) => match format!("{owner}/{repo}") {
                name if name == self.name => self.repository(method, rest, &body),
                name if name == FIRST_NAME => self.moved(request, &format!("/repos/{name}")),
                _ => not_found(),
            },
            _ => not_found(),
        }
    }

    fn folder(&self) -> std::path::PathBuf {
        self.repository.folder.clone()
    }

    const PAGES: PageStyle = PageStyle {
        max_items: 100,
        next: |page| ("Link", format!("<http://127.0.0.1/?page={page}>; rel=\"next\"")),
    };
}

impl GitHubState {
    pub(super) fn new(repository: ServedRepository, port: u16) -> Self {
        Self {
            repository,
            title: "A title".to_owned(),
            body: String::new(),
            comments: Vec::new(),
            inline: Vec::new(),
            resolved: BTreeMap::new(),
            writers: BTreeSet::new(),
            checks: Vec::new(),
            is_fork: false,
            may_resolve: true,
            viewer: VIEWER.to_owned(),
            may_change_others: true,
            name: FIRST_NAME.to_owned(),
            n_ids: 100,
            n_tokens: 0,
            port,
        }
    }

    /// The answer under an old name: the address by number.
    fn moved(&self, request: &ForgeRequest, old: &str) -> ApiAnswer {
        let rest = request.path.strip_prefix(old).unwrap_or_default();
        let status = if request.method == "GET" { 301 } else { 307 };
        ApiAnswer {
            location: Some(format!("http://127.0.0.1:{}/repositories/1{rest}", self.port)),
            ..answer(status, json!({"message": "Moved Permanently"}))
        }
    }

    pub(super) fn add_comment(&mut self, login: &str, body: &str) -> u64 {
        self.n_ids += 1;
        let (id, login, body) = (self.n_ids, login.to_owned(), body.to_owned());
        self.comments.push(GitHubComment { id, login, body });
        id
    }

    pub(super) fn add_inline(&mut self, login: &str, (path, line): (&str, u64), body: &str) {
        self.n_ids += 1;
        self.inline.push(GitHubThreadComment {
            id: self.n_ids,
            reply_to: None,
            login: login.to_owned(),
            body: body.to_owned(),
            commit: self.repository.commit("topic"),
            path: path.to_owned(),
            start_line: None,
            line,
        });
    }

    pub(super) fn add_reply(&mut self, to: u64, login: &str, body: &str) {
        self.n_ids += 1;
        let first = self.inline.iter().find(|comment| comment.id == to).unwrap().clone();
        self.inline.push(GitHubThreadComment {
            id: self.n_ids,
            reply_to: Some(to),
            login: login.to_owned(),
            body: body.to_owned(),
            ..first
        });
    }

    pub(super) fn add_check(&mut self, external_id: &str, conclusion: &str) {
        self.n_ids += 1;
        self.checks.push(json!({
            "id": self.n_ids, "external_id": external_id, "conclusion": conclusion,
            "output": {"annotations_count": 0},
        }));
    }

    fn repository(&mut self, method: &str, path: &[&str], body: &Value) -> ApiAnswer {
        match (method, path) {
            ("GET", ["pulls", "7" | "8"]) => self.pull(),
            ("GET", ["pulls"]) => answer(200, json!([{"number": 7}])),
            ("GET", ["compare", range]) => {
                let (base, head) = range.split_once("...").unwrap();
                self.compare(base, head)
            }
            ("GET", ["issues", "7" | "8", "comments"]) => {
                answer(200, self.comments.iter().map(comment).collect())
            }
            ("POST", ["issues", "7" | "8", "comments"]) => match body["body"].as_str() {
                Some(text) if !text.is_empty() && text.len() <= 65_536 => {
                    let id = self.add_comment(&self.viewer.clone(), text);
                    answer(201, json!({"id": id}))
                }
                _ => unprocessable("body is missing or too long"),
            },
            ("PATCH" | "DELETE", ["issues", "comments", id]) => self.change_comment(id, body),
            ("GET", ["pulls", "7" | "8", "comments"]) => {
                answer(200, self.inline.iter().map(|one| self.inline_comment(one)).collect())
            }
            ("POST", ["pulls", "7" | "8", "comments"]) => {
                let comments = [body.clone()];
                self.review(&body["commit_id"], &comments)
            }
            ("POST", ["pulls", "7" | "8", "reviews"]) => {
                if body["event"] != "COMMENT" {
                    return unprocessable("event is not COMMENT");
                }
                let comments = body["comments"].as_array().cloned().unwrap_or_default();
                self.review(&body["commit_id"], &comments)
            }
            ("POST", ["pulls", "7" | "8", "comments", id, "replies"]) => {
                match (id.parse(), body["body"].as_str()) {
                    (Ok(id), Some(text)) if self.inline.iter().any(|one| one.id == id) => {
                        self.add_reply(id, &self.viewer.clone(), text);
                        answer(201, json!({"id": self.n_ids}))
                    }
                    _ => not_found(),
                }
            }
            ("GET", ["collaborators", login, "permission"]) => {
                let can_write = self.writers.contains(*login);
                let permission = if can_write { "write" } else { "read" };
                answer(200, json!({"permission": permission, "user": user(login)}))
            }
            ("DELETE", ["pulls", "comments", id]) => {
                let author = self.inline.iter().find(|one| Some(one.id) == id.parse().ok());
                if author.is_some_and(|one| !self.may_change(&one.login)) {
                    return forbidden();
                }
                let before = self.inline.len();
                self.inline.retain(|one| Some(one.id) != id.parse().ok());
                if self.inline.len() < before { answer(204, Value::Null) } else { not_found() }
            }
            _ => self.check_runs(method, path, body),
        }
    }

    fn check_runs(&mut self, method: &str, path: &[&str], body: &Value) -> ApiAnswer {
        match (method, path) {
            ("GET", ["commits", _, "check-runs"]) => {
                answer(200, json!({"check_runs": self.checks}))
            }
            ("POST", ["check-runs"]) => {
                self.n_ids += 1;
                let mut check = body.clone();
                check["id"] = json!(self.n_ids);
                check["output"]["annotations"] = json!([]);
                self.checks.push(check);
                self.annotate(self.checks.len() - 1, body)
            }
            ("PATCH", ["check-runs", id]) => {
                let at =
                    self.checks.iter().position(|check| check["id"].as_u64() == id.parse().ok());
                at.map_or_else(not_found, |at| self.annotate(at, body))
            }
            _ => not_found(),
        }
    }

    fn compare(&self, base: &str, head: &str) -> ApiAnswer {
        if !self.repository.exists(base) || !self.repository.exists(head) {
            return not_found();
        }
        let sha = self.repository.merge_base(base, head);
        let status = match (sha == base, sha == head) {
            (true, true) => "identical",
            (true, false) => "ahead",
            (false, true) => "behind",
            (false, false) => "diverged",
        };
        let files: Vec<Value> = self
            .repository
            .changed_files(&sha, head)
            .into_iter()
            .take(300)
            .map(|name| json!({"filename": name}))
            .collect();
        let base = self.repository.commit(base);
        answer(
            200,
            json!({
                "base_commit": {"sha": base}, "merge_base_commit": {"sha": sha}, "status": status,
                "files": files,
            }),
        )
    }

    fn pull(&self) -> ApiAnswer {
        let (tip, head) = (self.repository.commit("main"), self.repository.commit("topic"));
        // A pull request keeps the base that it was merged into.
        let is_merged = self.repository.merge_base(&tip, &head) == head && tip != head;
        let base = if is_merged { self.repository.commit("main^1") } else { tip };
        let web = format!("http://127.0.0.1:{}/{}", self.port, self.name);
        let repo = json!({"id": 1, "full_name": self.name, "html_url": web});
        let fork = json!({"id": 2, "full_name": "eve/r", "html_url": web});
        let head_repo = if self.is_fork { &fork } else { &repo };
        answer(
            200,
            json!({
                "number": 7, "title": self.title, "body": self.body, "user": {"login": "ada"}, "merged": is_merged,
                "base": {"sha": base, "ref": "main", "repo": repo},
                "head": {"sha": head, "ref": "topic", "repo": head_repo},
            }),
        )
    }

    fn change_comment(&mut self, id: &str, body: &Value) -> ApiAnswer {
        let Some(at) = self.comments.iter().position(|one| Some(one.id) == id.parse().ok()) else {
            return not_found();
        };
        if !self.may_change(&self.comments[at].login) {
            return forbidden();
        }
        match body["body"].as_str() {
            Some(text) => {
                self.comments[at].body = text.to_owned();
                answer(200, json!({"id": self.comments[at].id}))
            }
            None => {
                self.comments.remove(at);
                answer(204, Value::Null)
            }
        }
    }

    fn may_change(&self, login: &str) -> bool {
        self.may_change_others || self.viewer == login
    }

    /// Adds the annotations of a request to a check run.
    fn annotate(&mut self, at: usize, body: &Value) -> ApiAnswer {
        let more = body["output"]["annotations"].as_array().cloned().unwrap_or_default();
        if more.len() > 50 || body["output"]["summary"].as_str().is_none_or(str::is_empty) {
            return unprocessable("more than 50 annotations, or no summary");
        }
        let output = &mut self.checks[at]["output"];
        let mut all = output["annotations"].as_array().cloned().unwrap_or_default();
        all.extend(more);
        output["annotations_count"] = json!(all.len());
        output["annotations"] = json!(all);
        answer(200, json!({"id": self.checks[at]["id"]}))
    }

    /// Adds comments on lines, all or none.
    fn review(&mut self, commit: &Value, comments: &[Value]) -> ApiAnswer {
        let head = self.repository.commit("topic");
        let base = self.repository.merge_base("main", &head);
        if commit.as_str() != Some(&head) {
            return unprocessable("commit_id is not part of the pull request");
        }
        for one in comments {
            let line = one["line"].as_u64().unwrap_or(0);
            let start = one["start_line"].as_u64().unwrap_or(line);
            let path = one["path"].as_str().unwrap_or_default();
            let has_sides = one["side"] == "RIGHT"
                && (one["start_line"].is_null() || (one["start_side"] == "RIGHT" && start < line));
            let is_valid = has_sides && one["body"].as_str().is_some_and(|text| !text.is_empty());
            if !is_valid || !self.repository.is_in_diff((&base, &head), path, (start, line)) {
                return unprocessable("Pull request review thread line must be part of the diff");
            }
        }
        for one in comments {
            self.n_ids += 1;
            self.inline.push(GitHubThreadComment {
                id: self.n_ids,
                reply_to: None,
                login: self.viewer.clone(),
                body: one["body"].as_str().unwrap_or_default().to_owned(),
                commit: head.clone(),
                path: one["path"].as_str().unwrap_or_default().to_owned(),
                start_line: one["start_line"].as_u64(),
                line: one["line"].as_u64().unwrap_or(0),
            });
        }
        answer(200, json!({"id": self.n_ids}))
    }

    /// A comment on lines. It is outdated when its line is gone at head.
    fn inline_comment(&self, one: &GitHubThreadComment) -> Value {
        let head = self.repository.commit("topic");
        let at = |commit: &str| self.repository.file(commit, &one.path);
        let index = usize::try_from(one.line).unwrap_or(0).saturating_sub(1);
        let text = at(&one.commit).lines().nth(index).map(str::to_owned);
        let is_there = text.is_some_and(|text| at(&head).lines().any(|line| line == text));
        json!({
            "id": one.id, "in_reply_to_id": one.reply_to, "path": one.path, "body": one.body,
            "user": user(&one.login), "line": is_there.then_some(one.line), "side": "RIGHT",
            "html_url": format!(
                "http://127.0.0.1:{}/{}/pull/7#discussion_r{}", self.port, self.name, one.id
            ),
        })
    }

    fn graphql(&mut self, body: &Value) -> ApiAnswer {
        let query = body["query"].as_str().unwrap_or_default();
        if query.contains("resolveReviewThread") && !self.may_resolve {
            let error =
                json!({"type": "FORBIDDEN", "message": "Resource not accessible by integration"});
            return answer(200, json!({"data": null, "errors": [error]}));
        }
        if query.contains("resolveReviewThread") {
            let thread = body["variables"]["thread"].as_str().unwrap_or_default();
            let id = thread.strip_prefix("T").and_then(|id| id.parse::<u64>().ok());
            self.resolved.extend(id.map(|id| (id, self.viewer.clone())));
            return answer(200, json!({"data": {}}));
        }
        let first = self.inline.iter().filter(|one| one.reply_to.is_none());
        let nodes: Vec<Value> = first
            .map(|one| {
                json!({
                    "id": format!("T{}", one.id), "isResolved": self.resolved.contains_key(&one.id),
                    "resolvedBy": self.resolved.get(&one.id).map(|by| json!({"login": by})),
                    "comments": {"nodes": [{"databaseId": one.id}]},
                })
            })
            .collect();
        let threads = json!({"pageInfo": {"hasNextPage": false}, "nodes": nodes});
        let pull = json!({"pullRequest": {"reviewThreads": threads}});
        answer(200, json!({"data": {"repository": pull, "viewer": {"login": self.viewer}}}))
    }
}

fn comment(one: &GitHubComment) -> Value {
    json!({"id": one.id, "user": user(&one.login), "body": one.body})
}

fn user(login: &str) -> Value {
    json!({"login": login, "type": if login.ends_with("[bot]") { "Bot" } else { "User" }})
}

fn forbidden() -> ApiAnswer {
    answer(403, json!({"message": "Resource not accessible by integration"}))
}

fn not_found() -> ApiAnswer {
    answer(404, json!({"message": "Not Found"}))
}
