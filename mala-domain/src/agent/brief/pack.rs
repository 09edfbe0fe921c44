//! Packs a change into briefs: one if it fits, else several with related files each, and only whole groups
//! of hunks. The result lists the hunks that do not fit.

use super::excerpt::{self, HunkGroup};
use super::sections::{self, BriefOpening, FileList, FileMark, has_no_hunks};
use super::{BriefMaterial, BriefStyle, PromptBrief, related};
use crate::agent::redacted_file::RedactedFile;
use crate::change::{ChangedFile, FilePath, LineSpan};
use crate::finding::ReviewClaim;

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
    /// The number of groups of hunks that are shown without surrounding lines.
    pub n_narrow: usize,
    /// Hunks with an added line that is redacted as a secret although no built-in check reports one.
    /// They count as not reviewed.
    pub unread: Vec<(FilePath, usize)>,
    /// A warning for each file with redacted lines.
    pub hidden: Vec<String>,
    /// Warnings about text that was cut.
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
    /// Its hunks, as indices.
    pub hunks: Vec<usize>,
}

/// The briefs of a change.
pub fn briefs(material: &BriefMaterial<'_>, style: &BriefStyle<'_>) -> PromptBriefs {
    // A list of files is redundant if one brief shows all of them.
    let is_told = |file: &ChangedFile| is_shown(file) || has_no_hunks(file);
    let all = material.change.files.iter().all(is_told).then(|| one(material, style, FileList::No));
    let may_narrow = style.max_briefs <= 1;
    let fits = |all: &PromptBriefs| all.left_out.is_empty() && (may_narrow || all.n_narrow == 0);
    all.filter(fits)
        .or_else(|| Some(one(material, style, FileList::Yes(&[]))).filter(fits))
        .unwrap_or_else(|| several(material, style))
}

/// All files in one brief, as far as they fit.
fn one(material: &BriefMaterial<'_>, style: &BriefStyle<'_>, list: FileList<'_>) -> PromptBriefs {
    let mut files = shown_files(material);
    related::by_importance(&mut files);
    let opening = sections::opening(material, style, list);
    pack(material, &BriefStyle { max_briefs: 1, ..*style }, opening, vec![files])
}

/// Splits the change into several briefs that keep related files together. The list of files is
/// written last, because it names the brief that shows each file.
fn several(material: &BriefMaterial<'_>, style: &BriefStyle<'_>) -> PromptBriefs {
    let groups = || related::groups(shown_files(material));
    let unknown: Vec<FileMark> = material.change.files.iter().map(|_| FileMark::Unshown).collect();
    let draft = sections::opening(material, style, FileList::Yes(&unknown));
    let room = draft.text.len();
    let packed = pack(material, style, draft, groups());
    let marks: Vec<FileMark> = material.change.files.iter().map(|it| mark(it, &packed)).collect();
    let opening = sections::opening(material, style, FileList::Yes(&marks));
    // The final marks are never longer. Bytes that they save stay unused, so that they stay true.
    let n_saved = room.saturating_sub(opening.text.len());
    let style = BriefStyle { max_bytes: style.max_bytes.saturating_sub(n_saved), ..*style };
    pack(material, &style, opening, groups())
}

fn mark(file: &ChangedFile, packed: &PromptBriefs) -> FileMark {
    let shows = |brief: &PromptBrief| brief.shown.iter().any(|(path, _)| *path == file.path);
    let is_left_out = packed.left_out.iter().any(|left| left.file == file.path);
    match packed.briefs.iter().position(shows) {
        Some(_) if is_left_out => FileMark::Partly,
        Some(at) if packed.briefs.len() > 1 => FileMark::Part(at + 1),
        Some(_) => FileMark::None,
        None => FileMark::Unshown,
    }
}

fn pack(
    material: &BriefMaterial<'_>,
    style: &BriefStyle<'_>,
    opening: BriefOpening,
    groups: Vec<Vec<&ChangedFile>>,
) -> PromptBriefs {
    let BriefOpening { text: opening, warnings } = opening;
    let mut packer =
        BriefPacker { opening: &opening, style, briefs: Vec::new(), left: Vec::new(), n_narrow: 0 };
    let (mut hidden, mut unread) = (Vec::new(), Vec::new());
    for group in groups {
        let files: Vec<(&ChangedFile, RedactedFile)> =
            group.into_iter().map(|file| (file, RedactedFile::of(file, material.texts))).collect();
        unread.extend(self::unread(&files, material.hints, &mut hidden));
        let pieces = files
            .iter()
            .map(|(file, clean)| (*file, excerpt::pieces(file, clean, material, style.width)));
        packer.add_group(pieces.collect());
    }
    let BriefPacker { mut briefs, left, n_narrow, .. } = packer;
    briefs.retain(|brief| !brief.shown.is_empty());
    if left.is_empty() && briefs.is_empty() && material.change.files.iter().any(has_no_hunks) {
        briefs.push(PromptBrief { text: opening.clone(), shown: Vec::new() });
    }
    PromptBriefs { briefs, opening, left_out: left, n_narrow, unread, hidden, warnings }
}

fn shown_files<'c>(material: &BriefMaterial<'c>) -> Vec<&'c ChangedFile> {
    material.change.files.iter().filter(|file| is_shown(file)).collect()
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

type PendingFile<'c> = (&'c ChangedFile, Vec<HunkGroup>);

/// Fills one brief after the other.
struct BriefPacker<'p> {
    opening: &'p str,
    style: &'p BriefStyle<'p>,
    briefs: Vec<PromptBrief>,
    left: Vec<UnshownHunks>,
    n_narrow: usize,
}

impl BriefPacker<'_> {
    /// Adds related files. If they do not fit into the current brief, they start a new one.
    fn add_group(&mut self, files: Vec<PendingFile<'_>>) {
        let bytes: usize = files.iter().map(|(file, pieces)| self.n_bytes(file, pieces)).sum();
        let whole = self.style.max_bytes.saturating_sub(self.opening.len());
        if self.room().is_some_and(|room| room < bytes && room < whole / 2) && self.may_open() {
            self.open();
        }
        for (file, pieces) in files {
            self.add_file(file, pieces);
        }
    }

    fn add_file(&mut self, file: &ChangedFile, mut pieces: Vec<HunkGroup>) {
        let mut may_narrow = false;
        while !pieces.is_empty() {
            if self.briefs.is_empty() {
                self.open();
            }
            let n_before = pieces.len();
            pieces = self.show(file, pieces, may_narrow || !self.may_open());
            let is_empty = self.briefs.last().is_some_and(|brief| brief.shown.is_empty());
            match (is_empty && pieces.len() == n_before, self.may_open()) {
                // A hunk that fits into no brief with its surroundings may fit without them.
                (true, _) if !may_narrow => may_narrow = true,
                (true, _) | (_, false) => break,
                (false, true) if !pieces.is_empty() => self.open(),
                (false, true) => {}
            }
        }
        let hunks: Vec<usize> = pieces.into_iter().flat_map(|piece| piece.hunks).collect();
        if !hunks.is_empty() {
            self.left.push(UnshownHunks { file: file.path.clone(), hunks });
        }
    }

    /// Adds as many hunks of a file as fit into the last brief, and returns the rest. A hunk is
    /// shown without its surroundings only if it does not fit otherwise.
    fn show(
        &mut self,
        file: &ChangedFile,
        pieces: Vec<HunkGroup>,
        may_narrow: bool,
    ) -> Vec<HunkGroup> {
        let fence = self.style.fence;
        let name = sections::name(file);
        let frame = fence.wrap_redacted(&name, "").len();
        let mut room = self.room().unwrap_or_default().saturating_sub(frame);
        let (mut shown, mut unshown) = (FileExcerpt::default(), Vec::new());
        for piece in pieces {
            let narrow = Some(&piece.narrow).filter(|_| may_narrow);
            let fits = std::iter::once(&piece.wide)
                .chain(narrow)
                .find(|text| text.len() <= room && fence.break_imitations(text).len() <= room);
            match fits {
                Some(text) => {
                    room -= fence.break_imitations(text).len();
                    self.n_narrow += usize::from(*text != piece.wide);
                    shown.push(text, &piece.hunks);
                }
                None => unshown.push(piece),
            }
        }
        if let Some(brief) = self.briefs.last_mut().filter(|_| !shown.hunks.is_empty()) {
            brief.text.push_str(&fence.wrap_redacted(&name, &shown.text));
            match brief.shown.iter_mut().find(|(path, _)| *path == file.path) {
                Some((_, hunks)) => hunks.extend(shown.hunks),
                None => brief.shown.push((file.path.clone(), shown.hunks)),
            }
        }
        unshown
    }

    fn n_bytes(&self, file: &ChangedFile, pieces: &[HunkGroup]) -> usize {
        let frame = self.style.fence.wrap_redacted(&sections::name(file), "").len();
        frame + pieces.iter().map(|piece| piece.wide.len()).sum::<usize>()
    }

    /// The bytes that are left in the last brief.
    fn room(&self) -> Option<usize> {
        self.briefs.last().map(|brief| self.style.max_bytes.saturating_sub(brief.text.len()))
    }

    fn may_open(&self) -> bool {
        self.briefs.len() < self.style.max_briefs.max(1)
    }

    fn open(&mut self) {
        self.briefs.push(PromptBrief { text: self.opening.to_owned(), shown: Vec::new() });
    }
}

/// The part of a file that one brief shows.
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
