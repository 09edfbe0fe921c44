//! Golden comments of Factory's review benchmark: bugs by repository and pull request, with file and line.
//! The commits of a pull request are in `manifest.json`, under the same title.

use super::draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem, DraftRevisions};
use super::mapping;
use super::outline::JsonPart;
use super::{ImportFile, ImportedDrafts, RecordLocation};
use crate::case::CaseMeta;
use mala_domain::change::{FilePath, LineSpan};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct FactoryRequest {
    pr_number: u64,
    pr_title: String,
}

#[derive(Deserialize)]
struct FactoryBug {
    file: String,
    line: u32,
    description: String,
    #[serde(default)]
    severity: String,
    bug_type: String,
}

/// A project of the manifest.
#[derive(Deserialize)]
struct FactoryProject {
    source_repo: String,
    destination_repo: String,
    prs: Vec<FactoryEntry>,
}

impl FactoryProject {
    /// Sorts by title, for binary search.
    fn sort(&mut self) {
        self.prs.sort_by(|a, b| a.title.cmp(&b.title));
    }
}

#[derive(Deserialize)]
struct FactoryEntry {
    title: String,
    #[serde(rename = "headRefOid")]
    head: String,
    #[serde(rename = "baseRefName")]
    base: String,
}

#[derive(Deserialize)]
struct FactoryManifest {
    destination_org: String,
    projects: BTreeMap<String, FactoryProject>,
}

pub(super) fn read(files: &[ImportFile]) -> ImportedDrafts {
    let mut imported = ImportedDrafts::default();
    let mut manifest = None;
    let mut golden = Vec::new();
    for file in files {
        let whole = match JsonPart::whole(file) {
            Ok(whole) => whole,
            Err((line, why)) => {
                imported.skip(&RecordLocation::new(file, line), why);
                continue;
            }
        };
        if whole.field("projects").is_some() {
            match whole.read::<FactoryManifest>() {
                Ok(mut found) => {
                    found.projects.values_mut().for_each(FactoryProject::sort);
                    manifest = Some(found);
                }
                Err(why) => imported.skip(&RecordLocation::new(file, 1), why),
            }
        } else if let Some(repos) = whole.field("repos").and_then(JsonPart::fields) {
            golden.push((file, repos));
        } else {
            let why = "it has neither golden comments nor a manifest";
            imported.skip(&RecordLocation::new(file, 1), why);
        }
    }
    for (file, repos) in golden {
        for (name, repo) in repos {
            let requests = repo.field("prs").and_then(JsonPart::items).unwrap_or_default();
            for request in requests {
                take(&mut imported, file, manifest.as_ref(), (&name, request));
            }
        }
    }
    imported
}

fn take(
    imported: &mut ImportedDrafts,
    file: &ImportFile,
    manifest: Option<&FactoryManifest>,
    (project, part): (&str, JsonPart<'_>),
) {
    let location = RecordLocation::new(file, part.line);
    let request: FactoryRequest = match part.read() {
        Ok(request) => request,
        Err(why) => return imported.skip(&location, why),
    };
    let Some(manifest) = manifest else {
        return imported.skip(&location, "no manifest.json says which commits it is made of");
    };
    let known = manifest.projects.get(project);
    let entry = known.and_then(|known| {
        let at = known.prs.binary_search_by(|entry| entry.title.cmp(&request.pr_title)).ok()?;
        Some((known, known.prs.get(at)?))
    });
    let Some((known, entry)) = entry else {
        return imported.skip(&location, "the manifest has no pull request of this title");
    };
    let mut draft = empty(location, manifest, (project, known), entry);
    draft.id = format!("factory-{project}-{}", request.pr_number);
    draft.title = request.pr_title;
    let bugs = part.field("bugs").and_then(JsonPart::items).unwrap_or_default();
    for bug in bugs {
        let location = RecordLocation::new(file, bug.line);
        match bug.read().and_then(|bug| claim(&location, bug)) {
            Ok(claim) => draft.truths.push(claim),
            Err(why) => imported.skip(&location, why),
        }
    }
    imported.drafts.push(draft);
}

fn empty(
    location: RecordLocation,
    manifest: &FactoryManifest,
    (project, known): (&str, &FactoryProject),
    entry: &FactoryEntry,
) -> CaseDraft {
    let revisions =
        DraftRevisions::SinceMergeBase { base: entry.base.clone(), head: entry.head.clone() };
    let theirs = format!("{}/{}", manifest.destination_org, known.destination_repo);
    let source = known.source_repo.trim_end_matches('/').trim_end_matches(".git");
    let source = source.strip_prefix("https://github.com/").unwrap_or(project);
    let choices = [theirs.clone(), source.to_owned()];
    let choices = choices.into_iter().map(|repo| (repo, revisions.clone())).collect();
    let mut draft = CaseDraft::new(location, "", DraftCode::Clone(choices));
    draft.repo = theirs;
    draft.meta = CaseMeta::default()
        .with("source", "golden comments of droid-code-review-evals/review-droid-benchmark")
        .with("licence", "none is given (comments); code: that of its repository");
    draft
}

fn claim(location: &RecordLocation, bug: FactoryBug) -> Result<DraftProblem, String> {
    let category = mapping::category(&bug.bug_type)
        .ok_or_else(|| format!("the bug_type {:?} is not known", bug.bug_type))?;
    let span = LineSpan::new(bug.line, bug.line).ok_or("no line given")?;
    Ok(DraftProblem {
        location: location.clone(),
        place: DraftLocation::Lines(FilePath::from(bug.file.as_str()), span),
        category,
        severity: mapping::severity(&bug.severity),
        description: bug.description,
        kind: Some(bug.bug_type),
    })
}
