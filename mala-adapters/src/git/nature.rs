//! Marks the files of a change that nobody wrote.

use super::tree::{Content, Contents};
use super::{Git, GitError};
use mala_domain::change::{Attributes, ChangedFile, EntryKind, FilePath, FileStatus, Nature};
use mala_domain::language::Language;
use mala_domain::ports::Side;
use std::collections::HashMap;

/// Endings of files that are not worth opening to see that they are no text.
const BINARY_KINDS: &[&str] = &[
    "7z", "a", "bin", "bmp", "bz2", "class", "dll", "dylib", "exe", "gif", "gz", "ico", "jar",
    "jpeg", "jpg", "mov", "mp3", "mp4", "o", "otf", "pdf", "png", "pyc", "so", "tar", "tgz", "ttf",
    "wasm", "webm", "webp", "woff", "woff2", "xz", "zip", "zst",
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

    /// New files show themselves only at head, where a header is the change's own word; all others
    /// are judged by what they were at base. So a change cannot put itself out of review.
    async fn mark_by_content(
        &self,
        tree: &impl Contents,
        files: &mut [ChangedFile],
        attributes: &HashMap<FilePath, Attributes>,
        side: Side,
    ) -> Result<(), GitError> {
        let is_asked = |file: &&mut ChangedFile| {
            let is_new = file.status == FileStatus::Added;
            let shows_itself = file.nature == Nature::Source && is_new == (side == Side::Head);
            file.kind == EntryKind::File && (shows_itself || may_be_large_text(file))
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
                    let attributes = of_file(attributes, file);
                    file.nature = match side {
                        Side::Base => Nature::of(&file.path, attributes, Some(&text)),
                        Side::Head => Nature::of_new(&file.path, attributes, Some(&text)),
                    };
                }
                Content::File(bytes) if file.nature == Nature::Binary && file.exists_at_head() => {
                    file.nature = of_binary(file, of_file(attributes, file), side, &bytes);
                }
                Content::TooLarge { is_text: true, .. } if is_shown_as_binary(file) => {
                    file.nature = Nature::TooLarge;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What git takes for binary and was text at base, or is a source at head.
fn of_binary(file: &ChangedFile, attributes: Attributes, side: Side, bytes: &[u8]) -> Nature {
    let is_telling = match side {
        Side::Base => !bytes.is_empty() && !bytes.contains(&0),
        Side::Head => bytes.starts_with(b"#!"),
    };
    match is_telling {
        true => Nature::of_garbled(&file.path, attributes),
        false => Nature::of_binary(&file.path, attributes),
    }
}

/// Git shows a file as if it were binary when it is over a limit on either side.
fn may_be_large_text(file: &ChangedFile) -> bool {
    let kind = file.path.file_name().rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    is_shown_as_binary(file) && !BINARY_KINDS.contains(&kind.as_str())
}

fn is_shown_as_binary(file: &ChangedFile) -> bool {
    matches!(file.nature, Nature::Binary | Nature::Garbled)
}

fn of_file(attributes: &HashMap<FilePath, Attributes>, file: &ChangedFile) -> Attributes {
    attributes.get(&file.path).copied().unwrap_or_default()
}
