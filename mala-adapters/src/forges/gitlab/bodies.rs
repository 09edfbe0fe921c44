//! GitLab's JSON: parses responses, and builds the requests of writes.

use super::KnownMergeRequest;
use crate::forges::client::ApiWrite;
use mala_domain::change::FilePath;
use mala_domain::forge::{
    CHECK_NAME, CheckConclusion, CheckDraft, CommentLine, ComparedCommits, ForgeAuthor, ForgeCheck,
    ForgeComment, ForgeWrite, InlineComment, InlineDraft, PullRequest, PullRequestRef,
    RepositoryName, ResolvedThread, is_gitlab_program,
};
use mala_domain::render::at_most;
use reqwest::Method;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::{Value, json};

/// A pushed state of a merge request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffVersion {
    /// The merge base.
    base: String,
    /// The tip of the target branch.
    start: String,
    /// The last commit.
    pub(super) head: String,
}

pub(super) fn version(body: &Value) -> Option<DiffVersion> {
    let text = |name: &str| body[name].as_str().map(str::to_owned);
    Some(DiffVersion {
        base: text("base_commit_sha")?,
        start: text("start_commit_sha")?,
        head: text("head_commit_sha")?,
    })
}

/// The repository of a merge request, as it is called today.
pub(super) fn repository(body: &Value) -> Option<RepositoryName> {
    let (path, _) = body["references"]["full"].as_str()?.rsplit_once('!')?;
    RepositoryName::in_group(path)
}

/// A merge request at its newest version.
pub(super) fn pull_request(
    body: &Value,
    at: &PullRequestRef,
    newest: &DiffVersion,
    web_url: &str,
) -> PullRequest {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let source = body["source_project_id"].as_u64();
    let is_fork = source.is_none() || source != body["target_project_id"].as_u64();
    PullRequest {
        number: at.number,
        repository: at.repository.clone(),
        repository_id: body["target_project_id"].as_u64(),
        title: text(&body["title"]),
        body: text(&body["description"]),
        author: text(&body["author"]["username"]),
        base_branch: text(&body["target_branch"]),
        base: newest.start.clone(),
        merge_base: newest.base.clone(),
        head: newest.head.clone(),
        head_repository: (!is_fork).then(|| at.repository.clone()),
        clone_url: format!("{web_url}.git"),
        web_url: web_url.to_owned(),
        files_url: format!("{web_url}/-/blob"),
        is_fork,
    }
}

/// A note of a discussion.
pub(super) struct GitLabNote {
    pub(super) id: u64,
    author: ForgeAuthor,
    body: String,
    pub(super) is_on_lines: bool,
    /// The last commit of the version that its lines are in.
    pub(super) at_head: Option<String>,
    is_resolved: bool,
    resolved_by: Option<String>,
    /// Its author and the user that resolved it, with their ids.
    pub(super) users: Vec<(String, u64)>,
}

/// A note of a person or a program; `None` for those that GitLab writes itself.
pub(super) fn note(body: &Value) -> Option<GitLabNote> {
    if body["system"] == true {
        return None;
    }
    let user = |user: &Value| Some((user["username"].as_str()?.to_owned(), user["id"].as_u64()?));
    let (author, resolver) = (&body["author"], &body["resolved_by"]);
    let login = author["username"].as_str().unwrap_or("ghost");
    Some(GitLabNote {
        id: body["id"].as_u64()?,
        author: ForgeAuthor { login: login.to_owned(), is_bot: is_gitlab_program(login) },
        body: body["body"].as_str().unwrap_or_default().replace("\r\n", "\n"),
        is_on_lines: body["type"] == "DiffNote",
        at_head: body["position"]["head_sha"].as_str().map(str::to_owned),
        is_resolved: body["resolved"] == true,
        resolved_by: resolver["username"].as_str().map(str::to_owned),
        users: [user(author), user(resolver)].into_iter().flatten().collect(),
    })
}

impl GitLabNote {
    pub(super) fn comment(self) -> ForgeComment {
        ForgeComment { id: self.id, author: self.author, body: self.body }
    }

    pub(super) fn inline_comment(
        self,
        first: u64,
        is_outdated: bool,
        url: String,
    ) -> InlineComment {
        InlineComment {
            id: self.id,
            reply_to: (self.id != first).then_some(first),
            author: self.author,
            body: self.body,
            is_outdated,
            url,
        }
    }

    /// That its thread is resolved.
    pub(super) fn resolution(&self) -> Option<ResolvedThread> {
        let by = self.resolved_by.clone();
        self.is_resolved.then_some(ResolvedThread { first: self.id, by })
    }
}

/// The most files that a comparison surely lists.
const MAX_COMPARED: usize = 1000;

/// A comparison; `None` when files may be missing.
pub(super) fn compared(body: &Value, is_ahead: bool) -> Option<ComparedCommits> {
    let files = body["diffs"].as_array()?;
    let names = files.iter().flat_map(|file| [&file["old_path"], &file["new_path"]]);
    let is_whole = body["compare_timeout"] != true && files.len() < MAX_COMPARED;
    is_whole.then(|| ComparedCommits {
        is_ahead,
        files: names.filter_map(Value::as_str).map(FilePath::from).collect(),
    })
}

/// A commit status as a check run, which has no annotations to add.
pub(super) fn status(body: &Value) -> Option<ForgeCheck> {
    let text = body["description"].as_str().unwrap_or_default();
    let id = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    let external_id = id.map_or("", |(_, id)| id);
    Some(ForgeCheck::new(body["id"].as_u64()?, external_id, usize::MAX))
}

/// The requests of a write, for the paths of the project and of the merge request.
pub(super) fn requests(
    (project, merge_request): (&str, &str),
    write: &ForgeWrite,
    known: &KnownMergeRequest,
) -> Vec<ApiWrite> {
    let note = |id: &u64| format!("{merge_request}/notes/{id}");
    let thread = |first: &u64| {
        let id = known.discussions.get(first).map_or("", String::as_str);
        format!("{merge_request}/discussions/{id}")
    };
    let discussion = |commit: &str, draft: &InlineDraft| {
        let version = known.versions.iter().find(|version| version.head == commit);
        (Method::POST, format!("{merge_request}/discussions"), Some(draft_body(draft, version)))
    };
    let text = |body: &str| Some(json!({"body": body}));
    let one = match write {
        ForgeWrite::CreateReview { commit, comments } => {
            return comments.iter().map(|draft| discussion(commit, draft)).collect();
        }
        ForgeWrite::CreateInlineComment { commit, comment } => discussion(commit, comment),
        ForgeWrite::CreateComment { body } => {
            (Method::POST, format!("{merge_request}/notes"), text(body))
        }
        ForgeWrite::UpdateComment { id, body } => (Method::PUT, note(id), text(body)),
        ForgeWrite::DeleteComment { id } | ForgeWrite::DeleteInlineComment { id } => {
            (Method::DELETE, note(id), None)
        }
        ForgeWrite::CreateCheck { check } | ForgeWrite::UpdateCheck { check, .. } => {
            (Method::POST, format!("{project}/statuses/{}", check.head), Some(status_body(check)))
        }
        ForgeWrite::ReplyToThread { to, body } => {
            (Method::POST, format!("{}/notes", thread(to)), text(body))
        }
        ForgeWrite::ResolveThread { id } => {
            (Method::PUT, thread(id), Some(json!({"resolved": true})))
        }
    };
    vec![one]
}

/// A comment on its last line, which shows the range of its lines.
fn draft_body(draft: &InlineDraft, version: Option<&DiffVersion>) -> Value {
    let path = draft.path.to_text();
    let old_path = draft.old_path.as_ref().map_or_else(|| path.clone(), FilePath::to_text);
    let mut position = json!({
        "position_type": "text", "new_path": path, "old_path": old_path,
        "new_line": draft.end.line,
    });
    if let Some(version) = version {
        position["base_sha"] = json!(version.base);
        position["start_sha"] = json!(version.start);
        position["head_sha"] = json!(version.head);
    }
    // A line that is not changed has a number on both sides.
    if !draft.end.is_added {
        position["old_line"] = json!(draft.end.old_line);
    }
    if let Some(start) = draft.start {
        let path = path.as_bytes();
        position["line_range"] =
            json!({"start": end_of_range(path, start), "end": end_of_range(path, draft.end)});
    }
    json!({"body": with_range(draft), "position": position})
}

/// The first or last line of a range. GitLab names a line of a diff by the hash of the file's path and two numbers.
fn end_of_range(path: &[u8], CommentLine { line, old_line, is_added }: CommentLine) -> Value {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, path);
    let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut body = json!({
        "line_code": format!("{hash}_{old_line}_{line}"),
        "type": if is_added { "new" } else { "old" },
        "new_line": line,
    });
    if !is_added {
        body["old_line"] = json!(old_line);
    }
    body
}

/// A suggestion replaces one line, unless it states a number of lines before it.
fn with_range(draft: &InlineDraft) -> String {
    let before = draft.start.map_or(0, |start| draft.end.line.saturating_sub(start.line));
    match before {
        0 => draft.body.clone(),
        before => {
            let fence = format!("\n```suggestion:-{before}+0\n");
            draft.body.replacen("\n```suggestion\n", &fence, 1)
        }
    }
}

/// A commit status. GitLab has no neutral one: a review that could not be done is canceled.
fn status_body(check: &CheckDraft) -> Value {
    let state = match check.conclusion {
        CheckConclusion::Success => "success",
        CheckConclusion::Failure => "failed",
        CheckConclusion::Neutral => "canceled",
    };
    let description = format!("{} ({})", at_most(&check.title, 150), check.external_id());
    json!({"name": CHECK_NAME, "state": state, "description": description})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_name_both_sides_of_unchanged_lines() {
        let version = DiffVersion { base: "b".into(), start: "s".into(), head: "h".into() };
        let draft = InlineDraft {
            path: FilePath::from("b.py"),
            old_path: Some(FilePath::from("a.py")),
            start: Some(CommentLine { line: 2, old_line: 2, is_added: true }),
            end: CommentLine { line: 4, old_line: 3, is_added: false },
            body: "x\n```suggestion\ny\n```\n".to_owned(),
        };
        let hash = "18225e7f6d29d67c5d6ea5d3bf7cf28301422980";
        assert_eq!(
            draft_body(&draft, Some(&version)),
            json!({"body": "x\n```suggestion:-2+0\ny\n```\n", "position": {
                "position_type": "text", "base_sha": "b", "start_sha": "s", "head_sha": "h",
                "old_path": "a.py", "new_path": "b.py", "old_line": 3, "new_line": 4,
                "line_range": {
                    "start": {"line_code": format!("{hash}_2_2"), "type": "new", "new_line": 2},
                    "end": {"line_code": format!("{hash}_3_4"), "type": "old", "old_line": 3,
                            "new_line": 4},
                },
            }})
        );
        let single = InlineDraft { start: None, ..draft };
        assert!(draft_body(&single, None)["position"]["line_range"].is_null());
    }

    #[test]
    fn notes_of_gitlab_itself_are_no_comments() {
        let user = |name: &str| json!({"id": 1, "username": name});
        for (body, expected) in [
            (json!({"id": 1, "system": true, "author": user("ada")}), None),
            (json!({"id": 1, "author": user("ada")}), Some(false)),
            (json!({"id": 1, "author": user("project_7_bot_1a")}), Some(true)),
            (json!({"id": 1, "author": null}), Some(false)),
        ] {
            assert_eq!(note(&body).map(|note| note.author.is_bot), expected, "{body}");
        }
    }
}
