//! Files of the reviewed tree: `read_file`, and how every tool comes to a file's text.

use super::arguments::Arguments;
use super::page::{n_fitting, n_lines, numbered};
use super::refusal::Refusal;
use super::{Answer, Toolbox};
use mala_domain::change::{EntryKind, FilePath, LineSpan};
use mala_domain::language::Language;
use mala_domain::ports::{Blob, Side};
use std::fmt::Write;

impl Toolbox {
    pub(super) async fn read_file(&self, arguments: &Arguments) -> Answer {
        let (path, side) = (arguments.file("path")?, arguments.side()?);
        let (start, end) = arguments.lines()?;
        let text = self.text_of(side, &path).await?;
        let head = head_of(&path, &text);
        let start = start.unwrap_or(1);
        let Some(wanted) = LineSpan::new(start, end.unwrap_or(u32::MAX).min(n_lines(&text))) else {
            return match n_lines(&text) {
                0 => Ok(format!("{head}\nthe file is empty")),
                n => Err(Refusal::new(
                    format!("{path} has {n} lines, and line {start} is after them"),
                    format!("pass lines from 1 to {n}"),
                )),
            };
        };
        self.page(side, &path, &text, wanted).map(|page| format!("{head}\n{page}"))
    }

    /// Lines of a file as far as they fit and may be read, and which come after them.
    pub(super) fn page(&self, side: Side, path: &FilePath, text: &str, wanted: LineSpan) -> Answer {
        let max = u32::try_from(self.limits.max_lines).unwrap_or(u32::MAX).max(1);
        let end = wanted.end().min(wanted.start().saturating_add(max - 1));
        let lines = numbered(text, LineSpan::between(wanted.start(), end));
        let n_fit = u32::try_from(n_fitting(&lines, self.limits).max(1)).unwrap_or(max);
        let fitting = LineSpan::between(wanted.start(), wanted.start() + n_fit - 1);
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
    pub(super) async fn text_of(&self, side: Side, path: &FilePath) -> Result<String, Refusal> {
        self.require_file(side, path).await?;
        let tree = &self.request.tree;
        let blobs = tree.read(side, std::slice::from_ref(path)).await;
        let blob = blobs.map_err(|error| Refusal::broken(&error))?.into_iter().next();
        match blob {
            Some(Blob::Text(text)) => Ok(text),
            Some(Blob::Binary) => {
                Err(Refusal::new(format!("{path} is a binary file"), "read text files only"))
            }
            Some(Blob::TooLarge(size)) => Err(Refusal::new(
                format!("{path} has {size} bytes, too many to read"),
                "search_code for the lines that matter",
            )),
            Some(Blob::Missing) | None => Err(absent(side, path)),
        }
    }

    /// Whether the reviewed tree has this file. What git ignores lies in the same folder and is not
    /// part of it.
    async fn require_file(&self, side: Side, path: &FilePath) -> Result<(), Refusal> {
        if let Some(file) = self.request.change.files.iter().find(|file| match side {
            Side::Head => file.path == *path && file.exists_at_head(),
            Side::Base => *file.base_path() == *path && file.existed_at_base(),
        }) && file.kind == EntryKind::File
        {
            return Ok(());
        }
        let Some(search) = self.request.tree.search() else { return Ok(()) };
        let entries = search.entries(side, path).await.map_err(|error| Refusal::broken(&error))?;
        match entries.iter().find(|entry| entry.path == *path).map(|entry| entry.kind) {
            Some(EntryKind::File) => Ok(()),
            Some(EntryKind::Symlink) => Err(Refusal::new(
                format!("{path} is a symbolic link, and links are not followed"),
                "read the file that it should lead to, if that is in the tree",
            )),
            Some(EntryKind::Submodule) => Err(Refusal::new(
                format!("{path} is another repository, and not part of this tree"),
                "go on without it",
            )),
            None if entries.is_empty() => Err(absent(side, path)),
            None => Err(Refusal::new(
                format!("{path} is a folder"),
                "pass a file; list_files shows those in it",
            )),
        }
    }
}

fn head_of(path: &FilePath, text: &str) -> String {
    let language = Language::of_path(path).map_or("unknown", Language::name);
    format!("path: {path}\nlanguage: {language}\nline_count: {}", n_lines(text))
}

fn absent(side: Side, path: &FilePath) -> Refusal {
    let state = match side {
        Side::Head => "head",
        Side::Base => "base",
    };
    Refusal::new(
        format!("the reviewed tree has no file {path} at {state}"),
        "look with list_files or search_code for the right path",
    )
}
