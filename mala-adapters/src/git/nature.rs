//! Marks the files of a change that nobody wrote.

use super::tree::{Content, Contents};
use super::{Git, GitError};
use mala_domain::change::{Attributes, ChangedFile, EntryKind, FilePath, FileStatus, Nature};
use mala_domain::language::Language;
use mala_domain::ports::Side;
use std::collections::HashMap;

/// Endings of text files that may grow to any size.
const TEXT_KINDS: &[&str] = &[
    "csv", "html", "json", "jsonl", "log", "md", "sql", "svg", "tsv", "txt", "xml", "yaml", "yml",
];

impl Git {
    /// Sets the nature of every file, by its name, its attributes and how it starts, and the language
    /// of scripts.
    pub(super) async fn mark_natures(
        &self,
        tree: &impl Contents,
        files: &mut [ChangedFile],
    ) -> Result<(), GitError> {
        let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        let attributes = self.attributes(&paths).await?;
        for file in files.iter_mut().filter(|file| file.nature == Nature::Source) {
            file.nature = Nature::of(&file.path, of_file(&attributes, file), None);
        }
        for side in [Side::Base, Side::Head] {
            self.mark_by_content(tree, files, &attributes, side).await?;
        }
        Ok(())
    }

    /// New files show themselves only at head; all others are judged by what they were at base, so
    /// that a change cannot put itself out of review.
    async fn mark_by_content(
        &self,
        tree: &impl Contents,
        files: &mut [ChangedFile],
        attributes: &HashMap<FilePath, Attributes>,
        side: Side,
    ) -> Result<(), GitError> {
        let is_asked = |file: &&mut ChangedFile| {
            let is_new = file.status == FileStatus::Added;
            let is_text = file.nature == Nature::Source || may_be_large_text(file);
            is_text && file.kind == EntryKind::File && is_new == (side == Side::Head)
        };
        let mut asked: Vec<_> = files.iter_mut().filter(is_asked).collect();
        let path_of = |file: &&mut ChangedFile| match side {
            Side::Base => file.base_path().clone(),
            Side::Head => file.path.clone(),
        };
        let paths: Vec<_> = asked.iter().map(path_of).collect();
        let contents = tree.contents(side, &paths).await?;
        for (file, content) in asked.iter_mut().zip(contents) {
            match content {
                Content::File(bytes) if file.nature == Nature::Source => {
                    let text = String::from_utf8_lossy(&bytes);
                    let first = text.lines().next().unwrap_or_default();
                    file.script = file.script.or_else(|| Language::of_first_line(first));
                    file.nature = Nature::of(&file.path, of_file(attributes, file), Some(&text));
                }
                Content::TooLarge { is_text: true, .. } if file.nature == Nature::Binary => {
                    file.nature = Nature::TooLarge;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Git shows files over a limit as if they were binary. Their names tell which of those to look at.
fn may_be_large_text(file: &ChangedFile) -> bool {
    let name = file.path.file_name();
    let kind = name.rsplit('.').next().unwrap_or_default();
    let is_text = file.language().is_some() || TEXT_KINDS.contains(&kind);
    file.nature == Nature::Binary && is_text
}

fn of_file(attributes: &HashMap<FilePath, Attributes>, file: &ChangedFile) -> Attributes {
    attributes.get(&file.path).copied().unwrap_or_default()
}
