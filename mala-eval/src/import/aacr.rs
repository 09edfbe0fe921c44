//! AACR-Bench: a list of pull requests with comments that experts judged, the right ones in
//! `positive_samples.json` and the wrong ones in `negative_samples.json`.

use super::draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem, DraftRevisions};
use super::mapping;
use super::martian::{PullRequestLink, link};
use super::outline::JsonPart;
use super::{ImportFile, ImportedDrafts, RecordLocation};
use crate::case::CaseMeta;
use mala_domain::change::{FilePath, LineSpan};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct AacrRequest {
    #[serde(rename = "githubPrUrl")]
    url: String,
    source_commit: String,
    target_commit: String,
    #[serde(default)]
    project_main_language: String,
}

#[derive(Deserialize)]
struct AacrComment {
    note: String,
    path: String,
    #[serde(default)]
    side: String,
    from_line: u32,
    to_line: u32,
    category: String,
}

pub(super) fn read(files: &[ImportFile]) -> ImportedDrafts {
    let mut imported = ImportedDrafts::default();
    let mut drafts: BTreeMap<String, CaseDraft> = BTreeMap::new();
    for file in files {
        for item in imported.items(file, "pull requests") {
            take(&mut imported, &mut drafts, file, item);
        }
    }
    imported.drafts = drafts.into_values().collect();
    imported
}

fn take(
    imported: &mut ImportedDrafts,
    drafts: &mut BTreeMap<String, CaseDraft>,
    file: &ImportFile,
    item: JsonPart<'_>,
) {
    let location = RecordLocation::new(file, item.line);
    let request: AacrRequest = match item.read() {
        Ok(request) => request,
        Err(why) => return imported.skip(&location, why),
    };
    let Some((repo, PullRequestLink::PullRequest(number))) = link(&request.url) else {
        return imported.skip(&location, format!("{:?} is not a pull request", request.url));
    };
    let draft = drafts
        .entry(request.url.clone())
        .or_insert_with(|| empty(location.clone(), &request, &repo, number));
    let are_wrong = file.path.file_name().contains("negative");
    let comments = item.field("comments").and_then(JsonPart::items).unwrap_or_default();
    for comment in comments {
        let location = RecordLocation::new(file, comment.line);
        match comment.read().and_then(|comment| claim(&location, comment)) {
            Ok(claim) if are_wrong => draft.rejected.push(claim),
            Ok(claim) => draft.truths.push(claim),
            Err(why) => imported.skip(&location, why),
        }
    }
}

fn empty(location: RecordLocation, request: &AacrRequest, repo: &str, number: u64) -> CaseDraft {
    // The "source" of this benchmark is the branch that the "target" is merged into.
    let revisions = DraftRevisions::SinceMergeBase {
        base: request.source_commit.clone(),
        head: request.target_commit.clone(),
    };
    let id = format!("aacr-{}-{number}", repo.replace('/', "_"));
    let mut draft =
        CaseDraft::new(location, id, DraftCode::Clone(vec![(repo.to_owned(), revisions)]));
    draft.repo = repo.to_owned();
    draft.language = language(&request.project_main_language);
    draft.meta = CaseMeta::default()
        .with("source", "AACR-Bench of alibaba/aacr-bench")
        .with("licence", "Apache-2.0 (comments); code: that of its repository")
        .with("pr_url", request.url.as_str());
    draft
}

fn claim(location: &RecordLocation, comment: AacrComment) -> Result<DraftProblem, String> {
    if comment.side.eq_ignore_ascii_case("left") {
        return Err("it is about removed lines".to_owned());
    }
    let category = mapping::category(&comment.category)
        .ok_or_else(|| format!("unknown category {:?}", comment.category))?;
    if comment.from_line == 0 || comment.to_line == 0 {
        return Err("no line given".to_owned());
    }
    let span = LineSpan::between(comment.from_line, comment.to_line);
    Ok(DraftProblem {
        location: location.clone(),
        place: DraftLocation::Lines(FilePath::from(comment.path.as_str()), span),
        category,
        severity: None,
        description: comment.note,
        kind: Some(comment.category),
    })
}

fn language(name: &str) -> String {
    match name.trim().to_ascii_lowercase().as_str() {
        "c++" => "cpp".to_owned(),
        "c#" => "csharp".to_owned(),
        other => other.to_owned(),
    }
}
