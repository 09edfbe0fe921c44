//! HumanEvalPack: functions with an inserted bug, one JSON object per line. Each gives two cases that add a
//! file: one with the bug, and one with the correct function, which is clean.

use super::draft::{CaseDraft, DraftCode, DraftLocation, DraftProblem};
use super::{ImportFile, ImportedDrafts, RecordLocation, outline};
use crate::case::CaseMeta;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Severity};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Prefixes of task names; the language, the file extension, and the text that a file needs before
/// the function.
const LANGUAGES: &[(&str, &str, &str, &str)] = &[
    ("Python", "python", "py", ""),
    ("JavaScript", "javascript", "js", ""),
    ("Java", "java", "java", ""),
    ("Go", "go", "go", "package main\n\n"),
    ("CPP", "cpp", "cpp", ""),
    ("C++", "cpp", "cpp", ""),
    ("Rust", "rust", "rs", ""),
];

#[derive(Deserialize)]
struct HumanEvalTask {
    task_id: String,
    prompt: String,
    canonical_solution: String,
    buggy_solution: String,
    #[serde(default)]
    bug_type: String,
    #[serde(default)]
    failure_symptoms: String,
    #[serde(default)]
    entry_point: String,
}

pub(super) fn read(files: &[ImportFile]) -> ImportedDrafts {
    let mut imported = ImportedDrafts::default();
    for file in files {
        let lines = file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (at, line) in lines {
            let location = RecordLocation::new(file, at + 1);
            match outline::parse(line).and_then(|task: HumanEvalTask| drafts(&location, &task)) {
                Ok(drafts) => imported.drafts.extend(drafts),
                Err(why) => imported.skip(&location, why),
            }
        }
    }
    imported
}

fn drafts(location: &RecordLocation, task: &HumanEvalTask) -> Result<[CaseDraft; 2], String> {
    let (name, number) = task.task_id.split_once('/').ok_or("task_id has no number")?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) || number.is_empty() {
        return Err(format!("task_id ends with {number:?}, which is no number"));
    }
    let found = LANGUAGES.iter().find(|(known, ..)| *known == name);
    let (_, language, ending, before) =
        found.ok_or_else(|| format!("the language {name:?} is not known"))?;
    let before = format!("{before}{}", task.prompt);
    let span = differing(&task.canonical_solution, &task.buggy_solution)
        .ok_or("the two solutions are the same")?;
    let skipped = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
    let span =
        LineSpan::between(span.start().saturating_add(skipped), span.end().saturating_add(skipped));
    let path = FilePath::from(format!("src/task_{number}.{ending}").as_str());
    let draft = |suffix: &str, solution: &str| {
        let text = format!("{before}{solution}");
        let code = DraftCode::Added(BTreeMap::from([(path.clone(), text)]));
        let mut draft =
            CaseDraft::new(location.clone(), format!("hep-{language}-{number}{suffix}"), code);
        draft.repo = "bigcode/humanevalpack".to_owned();
        draft.language = (*language).to_owned();
        draft.title = format!("Add {}", task.entry_point);
        draft.meta = CaseMeta::default()
            .with("source", "HumanEvalPack of bigcode-project/octopack")
            .with("licence", "MIT")
            .with("task", task.task_id.as_str());
        draft
    };
    let mut buggy = draft("", &task.buggy_solution);
    buggy.truths.push(DraftProblem {
        location: location.clone(),
        place: DraftLocation::Lines(path.clone(), span),
        category: Category::Logic,
        severity: Some(Severity::High),
        description: format!("{}: {} ({})", task.entry_point, task.bug_type, task.failure_symptoms),
        kind: Some(task.bug_type.clone()),
    });
    Ok([buggy, draft("-right", &task.canonical_solution)])
}

/// The lines of `wrong` that differ from `right`, without common lines at both ends; if lines are
/// only removed, the following line. `None` if nothing differs.
fn differing(right: &str, wrong: &str) -> Option<LineSpan> {
    let lines = |text: &'_ str| -> Vec<String> {
        text.trim_end().split('\n').map(|line| line.trim_end().to_owned()).collect()
    };
    let (right, wrong) = (lines(right), lines(wrong));
    let same_start = right.iter().zip(&wrong).take_while(|(a, b)| a == b).count();
    let rests = (right.get(same_start..)?, wrong.get(same_start..)?);
    if rests.0.is_empty() && rests.1.is_empty() {
        return None;
    }
    let same_end = rests.0.iter().rev().zip(rests.1.iter().rev()).take_while(|(a, b)| a == b);
    let n_wrong = rests.1.len() - same_end.count();
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let start = (same_start + 1).min(wrong.len());
    Some(LineSpan::between(number(start), number((same_start + n_wrong.max(1)).min(wrong.len()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_differ_are_the_problem() {
        for (right, wrong, expected) in [
            ("a\nb\nc\n", "a\nX\nc\n", Some("2")),
            ("a\nb\nc\n", "a\nX\nY\nc\n", Some("2-3")),
            ("a\nb\nc\n", "a\nc\n", Some("2")),
            ("a\nb\n", "a\n", Some("1")),
            ("a\n", "a\nb\n", Some("2")),
            ("a\nb  \n", "a\nb\n\n", None),
            ("", "x", Some("1")),
        ] {
            let found = differing(right, wrong).map(|span| span.to_string());
            assert_eq!(found.as_deref(), expected, "{right:?} {wrong:?}");
        }
    }
}
