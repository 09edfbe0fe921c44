//! GitHub's JSON: parses responses, and builds the requests of writes.

use crate::forges::client::ApiWrite;
use mala_domain::change::FilePath;
use mala_domain::forge::{
    CHECK_NAME, CheckAnnotation, CheckConclusion, CheckDraft, ComparedCommits, ForgeAuthor,
    ForgeCheck, ForgeComment, ForgeWrite, InlineComment, InlineDraft, PullRequest, PullRequestRef,
    RepositoryName,
};
use reqwest::Method;
use serde_json::{Value, json};

/// The threads of a pull request.
pub(super) const THREADS: &str = "query($owner:String!,$repo:String!,$number:Int!,$after:String){\
repository(owner:$owner,name:$repo){pullRequest(number:$number){\
reviewThreads(first:100,after:$after){pageInfo{hasNextPage endCursor}\
nodes{id isResolved resolvedBy{login} comments(first:1){nodes{databaseId}}}}}}}";

/// Resolves a thread.
pub(super) const RESOLVE: &str =
    "mutation($thread:ID!){resolveReviewThread(input:{threadId:$thread}){thread{id}}}";

/// A pull request, without its merge base and address for git.
pub(super) fn pull_request(body: &Value, at: &PullRequestRef) -> Option<PullRequest> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (base, head) = (&body["base"], &body["head"]);
    let name = |repo: &Value| {
        let (owner, repo) = repo["full_name"].as_str()?.split_once('/')?;
        RepositoryName::new(owner, repo)
    };
    let head_repository = name(&head["repo"]);
    let repository = name(&base["repo"]).unwrap_or_else(|| at.repository.clone());
    let is_same =
        |name: &RepositoryName| name.to_string().eq_ignore_ascii_case(&repository.to_string());
    Some(PullRequest {
        number: at.number,
        repository_id: base["repo"]["id"].as_u64(),
        title: text(&body["title"]),
        body: text(&body["body"]),
        author: text(&body["user"]["login"]),
        base_branch: text(&base["ref"]),
        base: base["sha"].as_str()?.to_owned(),
        merge_base: String::new(),
        head: head["sha"].as_str()?.to_owned(),
        is_fork: !head_repository.as_ref().is_some_and(is_same),
        head_repository,
        repository,
        clone_url: String::new(),
        files_url: format!("{}/blob", text(&base["repo"]["html_url"])),
        web_url: text(&base["repo"]["html_url"]),
    })
}

/// A comment on the pull request.
pub(super) fn comment(body: &Value) -> Option<ForgeComment> {
    let text = body["body"].as_str().unwrap_or_default().replace("\r\n", "\n");
    Some(ForgeComment { id: body["id"].as_u64()?, author: author(&body["user"]), body: text })
}

/// A comment on lines. GitHub keeps no line for one whose lines changed.
pub(super) fn inline_comment(body: &Value) -> Option<InlineComment> {
    let ForgeComment { id, author, body: text } = comment(body)?;
    let is_outdated = body["line"].is_null() && body["subject_type"] != "file";
    Some(InlineComment {
        id,
        reply_to: body["in_reply_to_id"].as_u64(),
        author,
        body: text,
        is_outdated,
        url: body["html_url"].as_str().unwrap_or_default().to_owned(),
    })
}

/// A token of an installation.
pub(super) fn token(body: &Value) -> Option<&str> {
    body["token"].as_str()
}

/// The first comment of a thread, as GraphQL lists threads.
pub(super) fn first_comment(thread: &Value) -> Option<u64> {
    thread["comments"]["nodes"][0]["databaseId"].as_u64()
}

/// The most files that a comparison lists.
const MAX_COMPARED: usize = 300;

/// A comparison; `None` when files may be missing.
pub(super) fn compared(body: &Value) -> Option<ComparedCommits> {
    let files = body["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = files.iter().flat_map(|file| [&file["filename"], &file["previous_filename"]]);
    (files.len() < MAX_COMPARED).then(|| ComparedCommits {
        is_ahead: matches!(body["status"].as_str(), Some("ahead" | "identical")),
        files: names.filter_map(Value::as_str).map(FilePath::from).collect(),
    })
}

fn author(user: &Value) -> ForgeAuthor {
    // A deleted account is null.
    let login = user["login"].as_str().unwrap_or("ghost").to_owned();
    ForgeAuthor { is_bot: user["type"] == "Bot" || login.ends_with("[bot]"), login }
}

/// The most annotations of one request.
const MAX_ANNOTATIONS: usize = 50;

/// Stands in a path for the number of the check run that the request before creates.
pub(super) const NEW_CHECK: &str = "{check_run_id}";

/// The requests of a write, in order, except those that resolve a thread: its id must be looked up first.
pub(super) fn requests(at: &PullRequestRef, write: &ForgeWrite) -> Vec<ApiWrite> {
    let repo = format!("/repos/{}", at.repository);
    let pull = format!("{repo}/pulls/{}", at.number);
    let one = match write {
        ForgeWrite::CreateComment { body } => {
            let path = format!("{repo}/issues/{}/comments", at.number);
            (Method::POST, path, Some(json!({"body": body})))
        }
        ForgeWrite::UpdateComment { id, body } => {
            (Method::PATCH, format!("{repo}/issues/comments/{id}"), Some(json!({"body": body})))
        }
        ForgeWrite::DeleteComment { id } => {
            (Method::DELETE, format!("{repo}/issues/comments/{id}"), None)
        }
        ForgeWrite::CreateReview { commit, comments } => {
            let comments: Vec<Value> = comments.iter().map(draft).collect();
            let body = json!({"commit_id": commit, "event": "COMMENT", "comments": comments});
            (Method::POST, format!("{pull}/reviews"), Some(body))
        }
        ForgeWrite::CreateInlineComment { commit, comment } => {
            let mut body = draft(comment);
            body["commit_id"] = json!(commit);
            (Method::POST, format!("{pull}/comments"), Some(body))
        }
        ForgeWrite::CreateCheck { check } => return check_requests(&repo, None, check),
        ForgeWrite::UpdateCheck { id, check } => return check_requests(&repo, Some(*id), check),
        ForgeWrite::ReplyToThread { to, body } => {
            let path = format!("{pull}/comments/{to}/replies");
            (Method::POST, path, Some(json!({"body": body})))
        }
        ForgeWrite::DeleteInlineComment { id } => {
            (Method::DELETE, format!("{repo}/pulls/comments/{id}"), None)
        }
        ForgeWrite::ResolveThread { .. } => return Vec::new(),
    };
    vec![one]
}

/// The requests that create a check run or add to a known one.
fn check_requests(repo: &str, known: Option<u64>, check: &CheckDraft) -> Vec<ApiWrite> {
    let id = known.map_or_else(|| NEW_CHECK.to_owned(), |id| id.to_string());
    let (first, rest) = check.annotations.split_at(check.annotations.len().min(MAX_ANNOTATIONS));
    let chunks = [first].into_iter().chain(rest.chunks(MAX_ANNOTATIONS));
    let requests = chunks.enumerate().map(|(index, annotations)| {
        let mut body = check_body(check, annotations);
        if index == 0 && known.is_none() {
            return (Method::POST, format!("{repo}/check-runs"), Some(body));
        }
        // A check run stays at its commit.
        body.as_object_mut().map(|body| body.remove("head_sha"));
        (Method::PATCH, format!("{repo}/check-runs/{id}"), Some(body))
    });
    requests.collect()
}

/// A check run.
pub(super) fn check(body: &Value) -> Option<ForgeCheck> {
    let n_annotations = body["output"]["annotations_count"].as_u64().unwrap_or(0);
    let external_id = body["external_id"].as_str().unwrap_or_default();
    let n_annotations = usize::try_from(n_annotations).ok()?;
    Some(ForgeCheck::new(body["id"].as_u64()?, external_id, n_annotations))
}

fn check_body(check: &CheckDraft, annotations: &[CheckAnnotation]) -> Value {
    let annotations = annotations.iter().map(|one| {
        json!({
            "path": one.path.to_text(), "start_line": one.start_line, "end_line": one.end_line,
            "annotation_level": one.level, "title": one.title, "message": one.message,
        })
    });
    json!({
        "name": CHECK_NAME, "head_sha": check.head, "external_id": check.external_id(),
        "status": "completed",
        "conclusion": match check.conclusion {
            CheckConclusion::Success => "success",
            CheckConclusion::Failure => "failure",
            CheckConclusion::Neutral => "neutral",
        },
        "output": {
            "title": check.title, "summary": check.summary,
            "annotations": annotations.collect::<Vec<_>>(),
        },
    })
}

fn draft(comment: &InlineDraft) -> Value {
    let mut body = json!({
        "path": comment.path.to_text(), "line": comment.end.line, "side": "RIGHT",
        "body": comment.body,
    });
    if let Some(start) = comment.start {
        body["start_line"] = json!(start.line);
        body["start_side"] = json!("RIGHT");
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::forge::CommentLine;

    #[test]
    fn lines_of_a_review_have_a_side() {
        let at = PullRequestRef::parse("o/r#7", "github.com").unwrap();
        let one = InlineDraft {
            path: FilePath::from("a.py"),
            old_path: None,
            start: None,
            end: CommentLine { line: 3, old_line: 3, is_added: true },
            body: "x".to_owned(),
        };
        let start = Some(CommentLine { line: 2, old_line: 2, is_added: false });
        let many = InlineDraft { start, ..one.clone() };
        let review = ForgeWrite::CreateReview { commit: "c".to_owned(), comments: vec![one, many] };
        let (method, path, body) = requests(&at, &review).remove(0);
        assert_eq!((method.as_str(), path.as_str()), ("POST", "/repos/o/r/pulls/7/reviews"));
        assert_eq!(
            body.unwrap(),
            json!({"commit_id": "c", "event": "COMMENT", "comments": [
                {"path": "a.py", "line": 3, "side": "RIGHT", "body": "x"},
                {"path": "a.py", "line": 3, "side": "RIGHT", "body": "x",
                 "start_line": 2, "start_side": "RIGHT"},
            ]})
        );
    }

    #[test]
    fn deleted_accounts_and_forks_are_read() {
        let at = PullRequestRef::parse("o/r#7", "github.com").unwrap();
        for (head, is_fork) in [
            (json!({"full_name": "O/R"}), false),
            (json!({"full_name": "x/r"}), true),
            (Value::Null, true),
        ] {
            let body = json!({
                "base": {"sha": "b", "ref": "main"}, "head": {"sha": "h", "repo": head},
                "user": null, "title": "t", "body": null,
            });
            assert_eq!(pull_request(&body, &at).unwrap().is_fork, is_fork, "{head}");
        }
        let comment = inline_comment(&json!({"id": 1, "user": null, "line": null})).unwrap();
        assert_eq!((comment.author.login.as_str(), comment.is_outdated), ("ghost", true));
        assert_eq!(crate::forges::client::in_url("topic/ä&x"), "topic%2F%C3%A4%26x");
    }
}
