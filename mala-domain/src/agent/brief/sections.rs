//! The part of a brief before the change itself: files, tasks, rules, references and hints, each within
//! its share of the size limit.

use super::{BriefMaterial, BriefStyle};
use crate::change::{ChangedFile, EntryKind, FileStatus, LineKind};
use crate::finding::ReviewClaim;
use std::fmt::Write;

const MAX_FILES: usize = 100;
const MAX_REFERENCES: usize = 40;
/// The maximum number of built-in findings that a brief shows.
pub const MAX_HINTS: usize = 30;

/// The label of the section for changes that have no changed lines.
const CHANGES_WITHOUT_LINES: &str = "changes that no line shows";

/// Only part of the prompt if there are hints.
const ABOUT_HINTS: &str =
    "Of each hint say whether it stands and why; do not repeat it as a finding.\n";

/// The text before the change, and warnings about cut texts.
pub(super) struct BriefOpening {
    pub(super) text: String,
    pub(super) warnings: Vec<String>,
}

/// Whether the changed files are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileList<'m> {
    /// With a mark for each file, where it is known.
    Yes(&'m [FileMark]),
    No,
}

/// Where a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileMark {
    /// Here.
    None,
    /// In this part.
    Part(usize),
    /// Some of its hunks are in no part.
    Partly,
    /// In no part.
    Unshown,
}

impl FileMark {
    /// The suffix after the name of a file. The one of an unshown file is the longest.
    fn words(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Part(number) => format!(" (part {number})"),
            Self::Partly => " (partly shown; git_diff has it)".to_owned(),
            Self::Unshown => " (not shown here; git_diff has it)".to_owned(),
        }
    }
}

pub(super) fn opening(
    material: &BriefMaterial<'_>,
    style: &BriefStyle<'_>,
    list: FileList<'_>,
) -> BriefOpening {
    let fence = style.fence;
    let mut opening = BriefOpening { text: String::new(), warnings: Vec::new() };
    let id = fence.nonce().as_str();
    opening.text.push_str(&format!("This run's ID and your nonce: {id}\n"));
    if let FileList::Yes(marks) = list {
        opening.text.push_str(&fence.wrap("changed files", &files(material, marks)));
    }
    opening.without_lines(material, style);
    // A quarter of the room each, so that most of it is left for the change.
    let share = style.max_bytes / 4;
    opening.shared(
        "task",
        material.tasks.iter().map(|(name, text)| (name.clone(), text)),
        share,
        style,
    );
    let rules = material.rules.iter().map(|(file, text)| (file.to_string(), text));
    opening.shared("project rules", rules, share, style);
    if !material.references.is_empty() {
        let shown: Vec<&str> =
            material.references.iter().take(MAX_REFERENCES).map(String::as_str).collect();
        opening.text.push_str(&fence.wrap("uses of what changed, elsewhere", &shown.join("\n")));
    }
    if !material.hints.is_empty() {
        opening.text.push_str(ABOUT_HINTS);
        opening.text.push_str(&fence.wrap("hints of the built-in checks", &hints(material.hints)));
    }
    opening
}

impl BriefOpening {
    /// Adds the changes that no line shows.
    fn without_lines(&mut self, material: &BriefMaterial<'_>, style: &BriefStyle<'_>) {
        let lines: Vec<String> = material.change.files.iter().filter_map(without_lines).collect();
        if lines.is_empty() {
            return;
        }
        let all = lines.join("\n");
        let mut told = lines_within(&all, style.max_bytes / 8).to_owned();
        match lines.len() - told.lines().count() {
            0 => {}
            n => {
                let more = format!("and {n} more files whose name, mode or kind changes\n");
                self.warnings.push(format!("the prompt does not name {}", more.trim_end()));
                told.push_str(&more);
            }
        }
        self.text.push_str(&style.fence.wrap(CHANGES_WITHOUT_LINES, &told));
    }

    /// Adds texts of one kind within one share of the room, cut at a line.
    fn shared<'t>(
        &mut self,
        kind: &str,
        texts: impl Iterator<Item = (String, &'t String)>,
        share: usize,
        style: &BriefStyle<'_>,
    ) {
        let mut left = share;
        for (name, text) in texts.filter(|(_, text)| !text.trim().is_empty()) {
            let clean = crate::secrets::redact(text);
            let kept = lines_within(&clean, left);
            if kept.len() < clean.len() {
                self.warnings.push(format!("{kind}: only the start of {name} fits the prompt"));
            }
            left -= kept.len();
            if !kept.is_empty() {
                let what = format!("{kind}: {name}");
                self.text.push_str(&style.fence.wrap_redacted(&what, kept));
            }
        }
    }
}

/// The first lines of a text that fit.
fn lines_within(text: &str, n_bytes: usize) -> &str {
    if text.len() <= n_bytes {
        return text;
    }
    let start = text.get(..text.floor_char_boundary(n_bytes)).unwrap_or_default();
    start.rfind('\n').and_then(|at| start.get(..=at)).unwrap_or_default()
}

fn files(material: &BriefMaterial<'_>, marks: &[FileMark]) -> String {
    let mut text = format!("{}\n", material.target);
    // Files without changed lines are listed separately.
    let all = material.change.files.iter().enumerate();
    let files: Vec<_> = all.filter(|(_, file)| !has_no_hunks(file)).collect();
    for (at, file) in files.iter().take(MAX_FILES) {
        let count = |kind| {
            let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.filter(|line| line.kind == kind).count()
        };
        let (added, removed) = (count(LineKind::Added), count(LineKind::Removed));
        let skipped = match file.is_reviewable() {
            true => marks.get(*at).map(|mark| mark.words()).unwrap_or_default(),
            false => " (not shown)".to_owned(),
        };
        // Writing to a string cannot fail.
        writeln!(text, "{} +{added} -{removed}{skipped}", name(file)).unwrap_or_default();
    }
    if files.len() > MAX_FILES {
        writeln!(text, "and {} more files", files.len() - MAX_FILES).unwrap_or_default();
    }
    text
}

/// A changed file in one line: its path and its status.
pub(super) fn name(file: &ChangedFile) -> String {
    let status = match file.status {
        FileStatus::Added => "added",
        FileStatus::Deleted => "deleted",
        FileStatus::Modified => "modified",
        FileStatus::Renamed => "renamed",
        FileStatus::Copied => "copied",
        FileStatus::TypeChanged => "of another kind",
    };
    match &file.old_path {
        Some(old) => format!("{}, {status} from {old}", file.path),
        None => format!("{}, {status}", file.path),
    }
}

fn hints(hints: &[ReviewClaim]) -> String {
    let lines = hints.iter().take(MAX_HINTS).enumerate().map(|(index, hint)| {
        let priority = hint.priority.map(|priority| priority.to_string()).unwrap_or_default();
        let rule = hint.rule.as_deref().unwrap_or("built-in");
        let (file, line) = (&hint.file, hint.span.start());
        format!("{} {priority} {file}:{line} {rule}: {}", hint_id(index), hint.title)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The id of a hint in prompts and answers.
pub fn hint_id(index: usize) -> String {
    format!("h{}", index + 1)
}

/// Whether a file is reviewed and has no changed lines, such as a rename, a mode change or an empty file.
pub fn has_no_hunks(file: &ChangedFile) -> bool {
    file.is_reviewable() && file.hunks.is_empty()
}

/// A change of a file outside of its lines, such as its mode; `None` if there is none.
pub fn without_lines(file: &ChangedFile) -> Option<String> {
    let is_link = file.kind == EntryKind::Symlink && file.exists_at_head() && file.is_reviewable();
    if !(has_no_hunks(file) || is_link || file.mode_change.is_some()) {
        return None;
    }
    let mut line = name(file);
    if let Some((old, new)) = &file.mode_change {
        line.push_str(&format!(", mode {old} -> {new}"));
    }
    if is_link {
        line.push_str(", a symbolic link");
    }
    if has_no_hunks(file) {
        line.push_str(match file.status {
            FileStatus::Added | FileStatus::Deleted => ", empty",
            _ => ", no line changed",
        });
    }
    Some(line)
}
