//! A stateful GitLab on loopback, for tests: one merge request of a real repository over REST, with versions, notes,
//! discussions and commit statuses. Positions that GitLab refuses with 400 are refused here too.

use crate::forge_server::{
    ApiAnswer, ForgeApi, ForgeRequest, ForgeServer, PageStyle, ServedRepository, answer,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The username of the token.
const VIEWER: &str = "mala-bot";

/// The server. It stops when it is dropped.
pub type GitLabServer = ForgeServer<GitLabState>;

/// A note.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredNote {
    /// Its number.
    pub id: u64,
    /// The first note of its discussion.
    pub first: u64,
    /// Its author.
    pub login: String,
    /// Its text.
    pub body: String,
    /// Its position in the diff; null for a note on the whole merge request.
    pub position: Value,
    /// The user that resolved its discussion.
    pub resolved_by: Option<String>,
}

/// The state of the server.
pub struct GitLabState {
    repository: ServedRepository,
    notes: Vec<StoredNote>,
    statuses: Vec<Value>,
    /// The usernames; a user's number is its place.
    users: Vec<String>,
    developers: Vec<String>,
    is_fork: bool,
}

impl GitLabServer {
    /// A server for the repository `g/sub/p`, which is in this folder. Merge request 7 goes from the branch `topic` to
    /// `main`.
    pub fn new(repository: &Path) -> Self {
        Self::start(|_| GitLabState {
            repository: ServedRepository::new(repository),
            notes: Vec::new(),
            statuses: Vec::new(),
            users: Vec::new(),
            developers: Vec::new(),
            is_fork: false,
        })
    }

    /// The notes.
    pub fn notes(&self) -> Vec<StoredNote> {
        self.api().notes.clone()
    }

    /// The commit statuses.
    pub fn statuses(&self) -> Vec<Value> {
        self.api().statuses.clone()
    }

    /// Adds a note of another user to a discussion.
    pub fn reply(&self, first: u64, login: &str, body: &str) {
        self.api().add_note(Some(first), login, body, Value::Null);
    }

    /// Adds a note of another user on the whole merge request.
    pub fn add_note(&self, login: &str, body: &str) {
        self.api().add_note(None, login, body, Value::Null);
    }

    /// Resolves a discussion, as another user.
    pub fn resolve(&self, first: u64, login: &str) {
        self.api().resolve(first, login);
    }

    /// Gives a user the role Developer.
    pub fn add_developer(&self, login: &str) {
        self.api().developers.push(login.to_owned());
    }

    /// Whether the branch of the merge request is in a fork.
    pub fn set_source_fork(&self, is_fork: bool) {
        self.api().is_fork = is_fork;
    }
}

impl ForgeApi for GitLabState {
    fn answer(&mut self, request: &ForgeRequest) -> ApiAnswer {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let path = request.resource().to_owned();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["api", "v4", "user"]) => answer(200, self.user(VIEWER)),
            (method, ["api", "v4", "projects", "g%2Fsub%2Fp" | "1", rest @ ..]) => match rest {
                ["merge_requests", "7", rest @ ..] => self.merge_request(method, rest, &body),
                _ => self.project(request, rest, &body),
            },
            _ => not_found(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.repository.folder.clone()
    }

    // Fewer than a client asks for, so that only the header says that there are more.
    const PAGES: PageStyle =
        PageStyle { max_items: 20, next: |page| ("X-Next-Page", page.to_string()) };
}

impl GitLabState {
    fn project(&mut self, request: &ForgeRequest, path: &[&str], body: &Value) -> ApiAnswer {
        let query = request.path.split_once('?').map_or("", |(_, query)| query);
        let values: Vec<&str> =
            query.split('&').filter_map(|pair| Some(pair.split_once('=')?.1)).collect();
        match (request.method.as_str(), path) {
            // A fork may have a branch of the same name.
            ("GET", ["merge_requests"]) => answer(
                200,
                json!([
                    {"iid": 9, "source_project_id": 2, "target_project_id": 1},
                    {"iid": 7, "source_project_id": 1, "target_project_id": 1},
                ]),
            ),
            ("GET", ["members", "all", id]) => {
                let login = id.parse().ok().and_then(|id: usize| self.users.get(id));
                let is_developer = login.is_some_and(|login| self.developers.contains(login));
                answer(200, json!({"access_level": if is_developer { 30 } else { 20 }}))
            }
            ("GET", ["repository", "branches", name]) => {
                answer(200, json!({"commit": {"id": self.repository.commit(name)}}))
            }
            ("GET", ["repository", "merge_base"]) => match self.repository.exists(values[0]) {
                true => {
                    let id = self.repository.merge_base(values[0], values[1]);
                    answer(200, json!({"id": id}))
                }
                false => not_found(),
            },
            ("GET", ["repository", "compare"]) => {
                let files = self.repository.changed_files(values[0], values[1]);
                let files = files.iter().map(|name| json!({"old_path": name, "new_path": name}));
                answer(200, json!({"diffs": files.collect::<Vec<_>>(), "compare_timeout": false}))
            }
            ("GET", ["repository", "commits", sha, "statuses"]) => {
                let of_commit = self.statuses.iter().filter(|one| one["sha"] == **sha);
                answer(200, of_commit.cloned().collect())
            }
            ("POST", ["statuses", sha]) => {
                let mut status = body.clone();
                status["id"] = json!(self.statuses.len() + 1);
                status["sha"] = json!(sha);
                self.statuses.push(status);
                answer(201, json!({}))
            }
            _ => not_found(),
        }
    }

    fn merge_request(&mut self, method: &str, path: &[&str], body: &Value) -> ApiAnswer {
        let text = body["body"].as_str().unwrap_or_default();
        let number = |id: &str| id.parse::<u64>().unwrap_or(0);
        let first = |id: &str| number(id.trim_start_matches('d'));
        match (method, path) {
            ("GET", []) => answer(
                200,
                json!({
                    "iid": 7, "references": {"full": "g/sub/p!7"}, "title": "A title", "description": null, "target_branch": "main",
                    "author": {"id": 1, "username": "ada"}, "target_project_id": 1,
                    "source_project_id": if self.is_fork { 2 } else { 1 },
                }),
            ),
            ("GET", ["versions"]) => {
                let (base, start, head) = self.version();
                let version = json!({
                    "id": 1, "base_commit_sha": base, "start_commit_sha": start,
                    "head_commit_sha": head,
                });
                answer(200, json!([version]))
            }
            ("GET", ["discussions"]) => self.discussions(),
            ("POST", ["discussions"]) => match self.is_valid(&body["position"]) {
                true => {
                    self.add_note(None, VIEWER, text, body["position"].clone());
                    answer(201, json!({}))
                }
                false => answer(400, json!({"message": {"line_code": ["must be valid"]}})),
            },
            ("POST", ["notes"]) if !text.is_empty() => {
                self.add_note(None, VIEWER, text, Value::Null);
                answer(201, json!({}))
            }
            ("POST", ["discussions", id, "notes"]) => {
                self.add_note(Some(first(id)), VIEWER, text, Value::Null);
                answer(201, json!({}))
            }
            ("PUT", ["discussions", id]) if body["resolved"] == true => {
                self.resolve(first(id), VIEWER);
                answer(200, json!({}))
            }
            ("PUT", ["notes", id]) => {
                let note = self.notes.iter_mut().find(|note| note.id == number(id));
                note.map_or_else(not_found, |note| {
                    note.body = text.to_owned();
                    answer(200, json!({}))
                })
            }
            ("DELETE", ["notes", id]) => {
                self.notes.retain(|note| note.id != number(id));
                answer(204, Value::Null)
            }
            _ => not_found(),
        }
    }

    /// The merge base, the tip of the target branch, and the last commit.
    fn version(&self) -> (String, String, String) {
        let (start, head) = (self.repository.commit("main"), self.repository.commit("topic"));
        (self.repository.merge_base(&start, &head), start, head)
    }

    fn is_valid(&self, position: &Value) -> bool {
        let (base, start, head) = self.version();
        let is_current = position["base_sha"] == *base
            && position["start_sha"] == *start
            && position["head_sha"] == *head
            && position["position_type"] == "text";
        let path = position["new_path"].as_str().unwrap_or_default();
        let line = position["new_line"].as_u64().unwrap_or(0);
        let old = self.repository.old_line((&base, &head), path, line);
        let range = &position["line_range"];
        let is_range = |name: &str| {
            let line = range[name]["new_line"].as_u64().unwrap_or(0);
            let old = self.repository.old_line((&base, &head), path, line);
            let kind = if old == Some(None) { "new" } else { "old" };
            let code = range[name]["line_code"].as_str().unwrap_or_default();
            old.is_some_and(|old| range[name]["old_line"].as_u64() == old)
                && range[name]["type"] == kind
                && code.split('_').next().is_some_and(|hash| hash.len() == 40)
                && code.ends_with(&format!("_{line}"))
        };
        let has_range = range.is_null()
            || (is_range("start") && is_range("end") && range["end"]["new_line"] == line);
        is_current && has_range && old.is_some_and(|old| position["old_line"].as_u64() == old)
    }

    fn add_note(&mut self, first: Option<u64>, login: &str, body: &str, position: Value) {
        let id = self.notes.iter().map(|note| note.id).max().unwrap_or(100) + 1;
        let (login, body) = (login.to_owned(), body.to_owned());
        let first = first.unwrap_or(id);
        self.notes.push(StoredNote { id, first, login, body, position, resolved_by: None });
    }

    fn resolve(&mut self, first: u64, login: &str) {
        for note in self.notes.iter_mut().filter(|note| note.first == first) {
            note.resolved_by = Some(login.to_owned());
        }
    }

    fn discussions(&mut self) -> ApiAnswer {
        let notes = self.notes.clone();
        let firsts = notes.iter().filter(|note| note.id == note.first);
        let all: Vec<Value> = firsts
            .map(|first| {
                let thread = notes.iter().filter(|note| note.first == first.id);
                let thread: Vec<Value> = thread.map(|note| self.note(note, first)).collect();
                json!({"id": format!("d{}", first.id), "notes": thread})
            })
            .collect();
        answer(200, json!(all))
    }

    /// A note. Its position moves to the newest version while its line is there.
    fn note(&mut self, note: &StoredNote, first: &StoredNote) -> Value {
        let mut position = first.position.clone();
        let path = position["new_path"].as_str().unwrap_or_default();
        let head = self.repository.commit("topic");
        let index = position["new_line"].as_u64().unwrap_or(1) - 1;
        let before = self.repository.file(position["head_sha"].as_str().unwrap_or("none"), path);
        let text = before.lines().nth(usize::try_from(index).unwrap());
        let now = self.repository.file(&head, path);
        if text.is_some_and(|text| now.lines().any(|line| line == text)) {
            position["head_sha"] = json!(head);
        }
        let is_on_lines = !first.position.is_null();
        json!({
            "id": note.id, "body": note.body, "author": self.user(&note.login), "system": false,
            "type": is_on_lines.then_some("DiffNote"), "position": position,
            "resolved": note.resolved_by.is_some(),
            "resolved_by": note.resolved_by.as_ref().map(|login| self.user(login)),
        })
    }

    fn user(&mut self, login: &str) -> Value {
        let known = self.users.iter().position(|user| user == login);
        let id = known.unwrap_or_else(|| {
            self.users.push(login.to_owned());
            self.users.len() - 1
        });
        json!({"id": id, "username": login})
    }
}

fn not_found() -> ApiAnswer {
    answer(404, json!({"message": "404 Not Found"}))
}
