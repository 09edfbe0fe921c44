//! Packs a change into briefs: files with the most changed lines first, and only whole groups of hunks.
//! The result lists the hunks that do not fit.

use super::excerpt::{self, HunkGroup};
use super::sections::has_no_hunks;
use super::sections::{self, BriefOpening, FileList};
use super::{BriefMaterial, BriefStyle, PromptBrief};
use crate::agent::redacted_file::RedactedFile;
use crate::change::{ChangedFile, FilePath, LineKind, LineSpan};
use crate::finding::ReviewClaim;
use std::cmp::Reverse;

/// A change in one or several briefs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptBriefs {
    /// The briefs, all of which start with the same text. A change without lines to show has none, unless
    /// it changes names, modes or empty files.
    pub briefs: Vec<PromptBrief>,
    /// The text with which every brief starts.
    pub opening: String,
    /// The hunks that no brief shows.
    pub left_out: Vec<UnshownHunks>,
    /// Hunks with an added line that is redacted as a secret although no built-in check reports one.
    /// They count as not reviewed.
    pub unread: Vec<(FilePath, usize)>,
    /// A warning for each file with redacted lines.
    pub hidden: Vec<String>,
    /// What was cut.
    pub warnings: Vec<String>,
}

impl PromptBriefs {
    /// The text of all briefs, or only the opening if there are none.
    pub fn full_text(&self) -> String {
        match self.briefs.as_slice() {
            [] => self.opening.clone(),
            briefs => briefs.iter().map(|brief| brief.text.as_str()).collect(),
        }
    }
}

/// Hunks that no brief shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnshownHunks {
    /// The file.
    pub file: FilePath,
    /// How many of its hunks.
    pub hunks: usize,
}

/// The briefs of a change.
pub fn briefs(material: &BriefMaterial<'_>, style: &BriefStyle<'_>) -> PromptBriefs {
    // A list of files tells nothing when the one brief shows all of them.
    let is_told = |file: &ChangedFile| is_shown(file) || has_no_hunks(file);
    let all =
        material.change.files.iter().all(is_told).then(|| pack(material, style, FileList::No));
    all.filter(|all| all.briefs.len() == 1 && all.left_out.is_empty())
        .unwrap_or_else(|| pack(material, style, FileList::Yes))
}

fn pack(material: &BriefMaterial<'_>, style: &BriefStyle<'_>, list: FileList) -> PromptBriefs {
    let BriefOpening { text: opening, warnings } = sections::opening(material, style, list);
    let files = by_size(material);
    let mut hidden = Vec::new();
    let unread = unread(&files, material.hints, &mut hidden);
    let pieces = files
        .iter()
        .map(|(file, clean)| (*file, excerpt::pieces(file, clean, material, style.width)));
    let mut waiting: PendingFiles<'_> = pieces.collect();
    let mut briefs = Vec::new();
    while briefs.len() < style.max_briefs && !waiting.is_empty() {
        let (brief, left) = fill(&opening, waiting, style);
        waiting = left;
        match brief {
            Some(brief) => briefs.push(brief),
            None => break,
        }
    }
    if waiting.is_empty() && briefs.is_empty() && material.change.files.iter().any(has_no_hunks) {
        briefs.push(PromptBrief { text: opening.clone(), shown: Vec::new() });
    }
    let left_out = waiting
        .into_iter()
        .map(|(file, pieces)| UnshownHunks {
            file: file.path.clone(),
            hunks: pieces.iter().map(|piece| piece.hunks.len()).sum(),
        })
        .collect();
    PromptBriefs { briefs, opening, left_out, unread, hidden, warnings }
}

type PendingFiles<'c> = Vec<(&'c ChangedFile, Vec<HunkGroup>)>;

/// The files with lines to show, redacted, those with the most changed lines first.
fn by_size<'c>(material: &BriefMaterial<'c>) -> Vec<(&'c ChangedFile, RedactedFile)> {
    let mut files: Vec<&ChangedFile> =
        material.change.files.iter().filter(|file| is_shown(file)).collect();
    files.sort_by_key(|file| (Reverse(n_changed(file)), &file.path));
    files.into_iter().map(|file| (file, RedactedFile::of(file, material.texts))).collect()
}

/// The hunks with a redacted added line that no built-in finding covers. Adds a warning per file.
fn unread(
    files: &[(&ChangedFile, RedactedFile)],
    hints: &[ReviewClaim],
    said: &mut Vec<String>,
) -> Vec<(FilePath, usize)> {
    let mut unread = Vec::new();
    for (file, clean) in files {
        let own = hints.iter().filter(|hint| hint.file == file.path && is_of_secret(hint));
        let told: Vec<LineSpan> = own.map(|hint| hint.span).collect();
        let is_told = |line: u32| told.iter().any(|span| span.contains(line));
        let mut hidden = clean.hidden_lines(file);
        hidden.retain(|hidden| !hidden.line.is_some_and(is_told));
        let (path, n) = (&file.path, hidden.len());
        match n {
            0 => {}
            1 => said.push(format!("{path}: 1 changed line is {HIDDEN}")),
            _ => said.push(format!("{path}: {n} changed lines are {HIDDEN}")),
        }
        let added = hidden.iter().filter(|hidden| hidden.line.is_some());
        let mut hunks: Vec<usize> = added.map(|hidden| hidden.hunk).collect();
        hunks.dedup();
        unread.extend(hunks.into_iter().map(|hunk| (path.clone(), hunk)));
    }
    unread
}

const HIDDEN: &str = "hidden as a secret and not reviewed";

fn is_of_secret(hint: &ReviewClaim) -> bool {
    hint.rule.as_deref().is_some_and(|rule| rule.starts_with("secrets/"))
}

fn is_shown(file: &ChangedFile) -> bool {
    file.is_reviewable() && !file.hunks.is_empty()
}

fn n_changed(file: &ChangedFile) -> usize {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    lines.filter(|line| line.kind != LineKind::Context).count()
}

/// Fills one brief, and returns what is left for the next.
fn fill<'c>(
    opening: &str,
    waiting: PendingFiles<'c>,
    style: &BriefStyle<'_>,
) -> (Option<PromptBrief>, PendingFiles<'c>) {
    let mut brief = PromptBrief { text: opening.to_owned(), shown: Vec::new() };
    let mut left = PendingFiles::new();
    for (file, pieces) in waiting {
        let mut shown = FileExcerpt::default();
        let mut unshown = Vec::new();
        let name = sections::name(file);
        let taken = brief.text.len() + style.fence.wrap_redacted(&name, "").len();
        let mut room = style.max_bytes.saturating_sub(taken);
        for piece in pieces {
            let fits = [&piece.wide, &piece.narrow].into_iter().find(|text| {
                text.len() <= room && style.fence.break_imitations(text).len() <= room
            });
            match fits {
                Some(text) => {
                    room -= style.fence.break_imitations(text).len();
                    shown.push(text, &piece.hunks);
                }
                None => unshown.push(piece),
            }
        }
        if !shown.hunks.is_empty() {
            brief.text.push_str(&style.fence.wrap_redacted(&name, &shown.text));
            brief.shown.push((file.path.clone(), shown.hunks));
        }
        if !unshown.is_empty() {
            left.push((file, unshown));
        }
    }
    ((!brief.shown.is_empty()).then_some(brief), left)
}

/// What one brief shows of one file.
#[derive(Default)]
struct FileExcerpt {
    text: String,
    hunks: Vec<usize>,
}

impl FileExcerpt {
    fn push(&mut self, text: &str, hunks: &[usize]) {
        self.text.push_str(text);
        self.hunks.extend(hunks);
    }
}
