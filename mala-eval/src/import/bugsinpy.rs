//! BugsInPy: a folder per bug, with the commits before and after its fix (`bug.info`) and the fix
//! (`bug_patch.txt`). The lines that the fix removes are the bug; the change to review is the commit that
//! added most of them.

use super::draft::{CaseDraft, DraftCode};
use super::{ImportFile, ImportedDrafts, RecordLocation};
use crate::case::CaseMeta;
use mala_domain::change::{FileDiff, FilePath, FileStatus, LineKind};
use std::collections::BTreeMap;

pub(super) fn read(files: &[ImportFile]) -> ImportedDrafts {
    let mut imported = ImportedDrafts::default();
    let by_name: BTreeMap<&str, &ImportFile> =
        files.iter().map(|file| (file.name.as_str(), file)).collect();
    for file in files.iter().filter(|file| file.path.file_name() == "bug.info") {
        match draft(file, &by_name) {
            Ok(draft) => imported.drafts.push(draft),
            Err((location, why)) => imported.skip(&location, why),
        }
    }
    if imported.drafts.is_empty() && imported.passed_over.is_empty() {
        let others = files.iter().map(|file| RecordLocation::new(file, 1));
        others.for_each(|location| imported.skip(&location, "no bug.info found for it"));
    }
    imported
}

fn draft(
    file: &ImportFile,
    by_name: &BTreeMap<&str, &ImportFile>,
) -> Result<CaseDraft, (RecordLocation, String)> {
    let location = RecordLocation::new(file, 1);
    let wrong = |why: &str| (location.clone(), why.to_owned());
    let bug = file.name.strip_suffix("/bug.info").ok_or_else(|| wrong("not in a folder"))?;
    let (project, number) =
        bug.rsplit_once("/bugs/").ok_or_else(|| wrong("not in a folder bugs/N"))?;
    let name = project.rsplit('/').next().unwrap_or(project);
    let about = by_name.get(format!("{project}/project.info").as_str());
    let url = about.and_then(|about| setting(&about.text, "github_url"));
    let url = url.ok_or_else(|| wrong("no project.info with the project's URL"))?;
    let repo = url.trim_end_matches('/').trim_end_matches(".git");
    let repo = repo.strip_prefix("https://github.com/").ok_or_else(|| wrong("not on GitHub"))?;
    let commit = |key: &str| {
        let found = setting(&file.text, key).filter(|id| is_commit(id));
        found.ok_or_else(|| wrong(&format!("it has no {key}")))
    };
    let (at, fix) = (commit("buggy_commit_id")?, commit("fixed_commit_id")?);
    let patch = by_name.get(format!("{bug}/bug_patch.txt").as_str());
    let patch = patch.ok_or_else(|| wrong("bug_patch.txt not found beside it"))?;
    let lines = taken_away(patch)?;
    if lines.is_empty() {
        return Err((RecordLocation::new(patch, 1), "the fix only adds lines".to_owned()));
    }
    let repository = repo.to_owned();
    let code = DraftCode::Introduced { repository, at, fix: fix.clone(), lines };
    let mut draft = CaseDraft::new(location, format!("bip-{name}-{number}"), code);
    draft.repo = repo.to_owned();
    draft.language = "python".to_owned();
    draft.meta = CaseMeta::default()
        .with("source", "BugsInPy of soarsmu/BugsInPy, by blame of the lines that the fix removes")
        .with("licence", "none is given (bugs); code: that of its repository")
        .with("bug", format!("{name}-{number}"))
        .with("fix", fix);
    Ok(draft)
}

/// The value of `KEY="value"`.
fn setting(text: &str, key: &str) -> Option<String> {
    let mut settings = text.lines().filter_map(|line| line.split_once('='));
    let (_, value) = settings.find(|(name, _)| name.trim() == key)?;
    let value = value.trim().trim_matches(['"', '\'']).trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn is_commit(id: &str) -> bool {
    (7..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A file, and lines of it.
type PatchedLines = (FilePath, Vec<u32>);

/// The lines of code that a patch removes, by file.
fn taken_away(patch: &ImportFile) -> Result<Vec<PatchedLines>, (RecordLocation, String)> {
    let files = mala_domain::change::read(patch.text.as_bytes())
        .map_err(|error| (RecordLocation::new(patch, error.line), error.to_string()))?;
    let code = files.iter().filter(|file| {
        file.status != FileStatus::Added && file.base_path().extension() == Some("py")
    });
    let lines = code.map(|file| (file.base_path().clone(), removed(file)));
    Ok(lines.filter(|(path, lines)| path.stays_inside() && !lines.is_empty()).collect())
}

/// The numbers of the lines that a file loses, without empty lines and comments.
fn removed(file: &FileDiff<'_>) -> Vec<u32> {
    let mut numbers = Vec::new();
    for hunk in &file.hunks {
        let mut number = hunk.old_start;
        for line in &hunk.lines {
            let text = line.text.trim_ascii();
            if line.kind == LineKind::Removed && !text.is_empty() && !text.starts_with(b"#") {
                numbers.push(number);
            }
            number = number.saturating_add(u32::from(line.kind != LineKind::Added));
        }
    }
    numbers
}
