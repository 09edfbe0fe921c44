//! Golden comments of Martian's code review benchmark: a list of pull requests, each with comments that have
//! a text and a severity but no line. The line is found by their words.

use super::draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem, DraftRevisions};
use super::mapping;
use super::outline::JsonPart;
use super::{ImportFile, ImportedDrafts, RecordLocation};
use crate::case::CaseMeta;
use mala_domain::finding::Category;
use serde::Deserialize;

#[derive(Deserialize)]
struct MartianRequest {
    pr_title: String,
    url: String,
    #[serde(default)]
    original_url: Option<String>,
}

#[derive(Deserialize)]
struct MartianComment {
    comment: String,
    #[serde(default)]
    severity: String,
}

pub(super) fn read(files: &[ImportFile]) -> ImportedDrafts {
    let mut imported = ImportedDrafts::default();
    for file in files {
        for item in imported.items(file, "pull requests") {
            take(&mut imported, file, item);
        }
    }
    imported
}

fn take(imported: &mut ImportedDrafts, file: &ImportFile, item: JsonPart<'_>) {
    let location = RecordLocation::new(file, item.line);
    let request: MartianRequest = match item.read() {
        Ok(request) => request,
        Err(why) => return imported.skip(&location, why),
    };
    let Some(comments) = item.field("comments").and_then(JsonPart::items) else {
        return imported.skip(&location, "it has no list of comments");
    };
    let urls = [Some(&request.url), request.original_url.as_ref()];
    let links = urls.into_iter().flatten().filter_map(|url| link(url));
    let choices: Vec<(String, DraftRevisions)> = links
        .map(|(repo, link)| match link {
            PullRequestLink::PullRequest(number) => (repo, DraftRevisions::PullRequest(number)),
            PullRequestLink::Commit(id) => (repo, DraftRevisions::Commit(id)),
        })
        .collect();
    let Some((repo, link)) = link(&request.url) else {
        return imported.skip(&location, format!("{:?} is not a pull request", request.url));
    };
    let name = match link {
        PullRequestLink::PullRequest(number) => number.to_string(),
        PullRequestLink::Commit(id) => id.chars().take(12).collect(),
    };
    let mut draft = CaseDraft::new(
        location,
        format!("martian-{}-{name}", repo.replace('/', "_")),
        DraftCode::Clone(choices),
    );
    draft.repo = repo;
    draft.title = request.pr_title;
    draft.meta = CaseMeta::default()
        .with("source", "golden comments of withmartian/code-review-benchmark")
        .with("licence", "MIT (comments); code: that of its repository")
        .with("places", "by the words of the comments")
        .with("pr_url", request.url.as_str());
    for comment in comments {
        let location = RecordLocation::new(file, comment.line);
        match comment.read::<MartianComment>() {
            Ok(comment) => draft.truths.push(DraftProblem {
                location,
                place: DraftLocation::Untold,
                category: Category::Bug,
                severity: mapping::severity(&comment.severity),
                description: comment.comment,
                kind: None,
            }),
            Err(why) => imported.skip(&location, why),
        }
    }
    imported.drafts.push(draft);
}

/// The target of a GitHub address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PullRequestLink {
    PullRequest(u64),
    Commit(String),
}

/// The repository of a GitHub address, and the target of the address in it.
pub(super) fn link(url: &str) -> Option<(String, PullRequestLink)> {
    let path = url.trim().strip_prefix("https://github.com/")?;
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    let mut parts = path.split('/');
    let (owner, name) = (parts.next()?, parts.next()?);
    let is_name = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if !is_name(owner) || !is_name(name) {
        return None;
    }
    let link = match (parts.next()?, parts.next()?) {
        ("pull", number) => PullRequestLink::PullRequest(number.parse().ok()?),
        ("commit", id) if id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            PullRequestLink::Commit(id.to_owned())
        }
        _ => return None,
    };
    Some((format!("{owner}/{name}"), link))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_requests_and_commits() {
        for (url, expected) in [
            ("https://github.com/a/b.c/pull/7", Some(("a/b.c", PullRequestLink::PullRequest(7)))),
            (
                "https://github.com/a/b/pull/7/files?x#y",
                Some(("a/b", PullRequestLink::PullRequest(7))),
            ),
            (
                "https://github.com/a/b/commit/0123abc",
                Some(("a/b", PullRequestLink::Commit("0123abc".into()))),
            ),
            ("https://github.com/../b/pull/7", None),
            ("https://github.com/a/b/pull/x", None),
            ("https://example.org/a/b/pull/7", None),
            ("", None),
        ] {
            let expected = expected.map(|(repo, link)| (repo.to_owned(), link));
            assert_eq!(link(url), expected, "{url}");
        }
    }
}
