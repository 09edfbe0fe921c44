//! Files of the reviewed tree: `read_file`, `list_files`, and how tools read the text of a file.

mod listing;

use super::ToolRefusal;
use super::arguments::Arguments;
use super::catalogue::LANGUAGES;
use super::page::{n_fitting, n_lines, numbered};
use super::{ToolAnswer, ToolLimits, Toolbox};
use mala_domain::change::{EntryKind, FilePath, LineSpan};
use mala_domain::language::Language;
use mala_domain::ports::{Blob, Side};
use std::fmt::Write;

impl Toolbox {
    pub(super) async fn read_file(&self, arguments: &Arguments) -> ToolAnswer {
        let (path, side) = (arguments.file("path")?, arguments.side()?);
        let lines = arguments.lines()?;
        let text = self.text_of(side, &path).await?;
        let head = head_of(&path, &text);
        if text.is_empty() {
            return Ok(format!("{head}\nthe file is empty"));
        }
        let wanted = lines_of(&path, &text, lines)?;
        let page = self.page(side, &path, &text, wanted)?;
        Ok(format!("{head}\n{page}"))
    }

    pub(super) async fn list_files(&self, arguments: &Arguments) -> ToolAnswer {
        let folder = arguments.path("path")?.unwrap_or_else(|| FilePath::from(""));
        let language = arguments.choice("language", LANGUAGES)?;
        let Some(search) = self.request.tree.search() else { return Err(no_search()) };
        let entries = search.entries(Side::Head, &folder).await;
        let mut entries = entries.map_err(|error| ToolRefusal::broken(&error))?;
        if entries.is_empty() {
            return Err(ToolRefusal::new(
                format!("the reviewed tree has nothing at {folder} at head"),
                "pass a folder that list_files shows, or no path for the root",
            ));
        }
        let is_wanted = |path: &FilePath| Language::of_path(path).map(Language::name) == language;
        entries.retain(|entry| language.is_none() || is_wanted(&entry.path));
        Ok(listing::show(&folder, &entries, self.limits))
    }

    /// Lines of a file within the limits, and the next line to read.
    pub(super) fn page(
        &self,
        side: Side,
        path: &FilePath,
        text: &str,
        wanted: LineSpan,
    ) -> ToolAnswer {
        self.paged(side, path, wanted, numbered(text, self.one_page(wanted)))
    }

    /// The part of the wanted lines that fits into one answer.
    pub(super) fn one_page(&self, wanted: LineSpan) -> LineSpan {
        let max = u32::try_from(self.limits.max_lines).unwrap_or(u32::MAX).max(1);
        let end = wanted.end().min(wanted.start().saturating_add(max - 1));
        LineSpan::between(wanted.start(), end)
    }

    /// The part of these lines that fits and may be read; it starts where the wanted lines do.
    pub(super) fn paged(
        &self,
        side: Side,
        path: &FilePath,
        wanted: LineSpan,
        lines: Vec<String>,
    ) -> ToolAnswer {
        self.paged_within(side, path, wanted, (lines, self.limits))
    }

    /// The same with other limits.
    pub(super) fn paged_within(
        &self,
        side: Side,
        path: &FilePath,
        wanted: LineSpan,
        (lines, limits): (Vec<String>, ToolLimits),
    ) -> ToolAnswer {
        let n_fit = u32::try_from(n_fitting(&lines, limits)).unwrap_or(u32::MAX).max(1);
        let end = wanted.start().saturating_add(n_fit - 1).min(wanted.end());
        let fitting = LineSpan::between(wanted.start(), end);
        let shown = self.reading.claim(side, path, fitting)?;
        let n_shown = usize::try_from(shown.n_lines()).unwrap_or(usize::MAX);
        let mut page = format!("lines {shown}:");
        for line in lines.iter().take(n_shown) {
            page.push('\n');
            page.push_str(line);
        }
        if shown.end() < wanted.end() {
            let (from, to) = (shown.end() + 1, wanted.end());
            let n_more = to - shown.end();
            let hint = match shown == fitting {
                true => format!("ask for lines {from}-{to}"),
                false => "no more of this file may be read".to_owned(),
            };
            // Writing to a string cannot fail.
            write!(page, "\ncut: {n_more} more lines; {hint}").unwrap_or_default();
        }
        Ok(page)
    }

    /// The text of a file of the reviewed tree.
    pub(super) async fn text_of(&self, side: Side, path: &FilePath) -> Result<String, ToolRefusal> {
        self.require_file(side, path).await?;
        let tree = &self.request.tree;
        let blobs = tree.read(side, std::slice::from_ref(path)).await;
        let blob = blobs.map_err(|error| ToolRefusal::broken(&error))?.into_iter().next();
        match blob {
            Some(Blob::Text(text)) => Ok(text),
            Some(Blob::Binary) => {
                Err(ToolRefusal::new(format!("{path} is a binary file"), "read text files only"))
            }
            Some(Blob::TooLarge(size)) => Err(ToolRefusal::new(
                format!("{path} has {size} bytes, too many to read"),
                "search_code for the lines that matter",
            )),
            Some(Blob::Missing) | None => Err(absent(side, path)),
        }
    }

    /// Checks that the reviewed tree has this file. Ignored files are in the same folder, but not
    /// part of it.
    async fn require_file(&self, side: Side, path: &FilePath) -> Result<(), ToolRefusal> {
        if let Some(file) = self.request.change.files.iter().find(|file| match side {
            Side::Head => file.path == *path && file.exists_at_head(),
            Side::Base => *file.base_path() == *path && file.existed_at_base(),
        }) && file.kind == EntryKind::File
        {
            return Ok(());
        }
        let Some(search) = self.request.tree.search() else { return Ok(()) };
        let entries =
            search.entries(side, path).await.map_err(|error| ToolRefusal::broken(&error))?;
        match entries.iter().find(|entry| entry.path == *path).map(|entry| entry.kind) {
            Some(EntryKind::File) => Ok(()),
            Some(EntryKind::Symlink) => Err(ToolRefusal::new(
                format!("{path} is a symbolic link, and links are not followed"),
                "read the file that it should lead to, if that is in the tree",
            )),
            Some(EntryKind::Submodule) => Err(ToolRefusal::new(
                format!("{path} is another repository, and not part of this tree"),
                "go on without it",
            )),
            None if entries.is_empty() => Err(absent(side, path)),
            None => Err(ToolRefusal::new(
                format!("{path} is a folder"),
                "pass a file; list_files shows those in it",
            )),
        }
    }
}

/// Why a tree cannot be looked through.
pub(super) fn no_search() -> ToolRefusal {
    ToolRefusal::new("this tree cannot be searched", "read the changed files with read_file")
}

/// The requested lines, limited to those of the file.
pub(super) fn lines_of(
    path: &FilePath,
    text: &str,
    (start, end): (Option<u32>, Option<u32>),
) -> Result<LineSpan, ToolRefusal> {
    let (start, n) = (start.unwrap_or(1), n_lines(text));
    LineSpan::new(start, end.unwrap_or(u32::MAX).min(n)).ok_or_else(|| match n {
        0 => ToolRefusal::new(format!("{path} is empty"), "go on: it has no lines"),
        n => ToolRefusal::new(
            format!("{path} has {n} lines, and line {start} is after them"),
            format!("pass lines from 1 to {n}"),
        ),
    })
}

/// The header of an answer about one file.
pub(super) fn head_of(path: &FilePath, text: &str) -> String {
    let language = Language::of(path, text).map_or("unknown", Language::name);
    format!("path: {path}\nlanguage: {language}\nline_count: {}", n_lines(text))
}

fn absent(side: Side, path: &FilePath) -> ToolRefusal {
    let state = match side {
        Side::Head => "head",
        Side::Base => "base",
    };
    ToolRefusal::new(
        format!("the reviewed tree has no file {path} at {state}"),
        "look with list_files or search_code for the right path",
    )
}
