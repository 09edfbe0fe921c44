//! Classifies the files of a change: source, generated, vendored, binary or too large.

use super::call::GitCall;
use super::tree::{ContentSource, FileContent};
use super::{Git, GitError, GitVersion};
use mala_domain::change::{
    AttributeState, ChangedFile, EntryKind, FileClass, FilePath, FileStatus, GitAttributes,
};
use mala_domain::language::Language;
use mala_domain::ports::Side;
use std::collections::HashMap;

/// Extensions of files that are never opened, because they are always binary.
const BINARY_KINDS: &[&str] = &[
    "7z", "a", "bin", "bmp", "bz2", "class", "dll", "dylib", "exe", "gif", "gz", "ico", "jar",
    "jpeg", "jpg", "mov", "mp3", "mp4", "o", "otf", "pdf", "png", "pyc", "so", "tar", "tgz", "ttf",
    "wasm", "webm", "webp", "woff", "woff2", "xz", "zip", "zst",
];

impl Git {
    /// Sets the nature of every file by its name, its attributes and its start, and the language
    /// of scripts.
    pub(super) async fn mark_natures(
        &self,
        tree: &impl ContentSource,
        files: &mut [ChangedFile],
    ) -> Result<(), GitError> {
        let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        let attributes = self.attributes(&paths).await?;
        for file in files.iter_mut().filter(|file| file.class == FileClass::Source) {
            file.class = FileClass::of(&file.path, of_file(&attributes, file), None);
        }
        for side in [Side::Base, Side::Head] {
            self.mark_by_content(tree, files, &attributes, side).await?;
        }
        Ok(())
    }

    /// A new file is judged by its content at head, where a header is part of the change. All
    /// others are judged by their content at base, so that a change cannot exclude itself from
    /// review.
    async fn mark_by_content(
        &self,
        tree: &impl ContentSource,
        files: &mut [ChangedFile],
        attributes: &HashMap<FilePath, GitAttributes>,
        side: Side,
    ) -> Result<(), GitError> {
        let is_asked = |file: &&mut ChangedFile| {
            let is_new = file.status == FileStatus::Added;
            let shows_itself = file.class == FileClass::Source && is_new == (side == Side::Head);
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
                FileContent::File(bytes) if file.class == FileClass::Source => {
                    let text = String::from_utf8_lossy(&bytes);
                    let first = text.lines().next().unwrap_or_default();
                    file.script = file.script.or_else(|| Language::of_first_line(first));
                    let attributes = of_file(attributes, file);
                    file.class = match side {
                        Side::Base => FileClass::of(&file.path, attributes, Some(&text)),
                        Side::Head => FileClass::of_new(&file.path, attributes, Some(&text)),
                    };
                }
                FileContent::File(bytes)
                    if file.class == FileClass::Binary && file.exists_at_head() =>
                {
                    file.class = of_binary(file, of_file(attributes, file), side, &bytes);
                }
                FileContent::TooLarge { is_text: true, .. } if is_shown_as_binary(file) => {
                    file.class = FileClass::TooLarge;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The nature of a file that git shows as binary: it was text at base, or it is a script at head.
fn of_binary(file: &ChangedFile, attributes: GitAttributes, side: Side, bytes: &[u8]) -> FileClass {
    let is_telling = match side {
        Side::Base => !bytes.is_empty() && !bytes.contains(&0),
        Side::Head => bytes.starts_with(b"#!"),
    };
    match is_telling {
        true => FileClass::of_garbled(&file.path, attributes),
        false => FileClass::of_binary(&file.path, attributes),
    }
}

/// Git shows a file as binary if it is over a size limit on either side.
fn may_be_large_text(file: &ChangedFile) -> bool {
    let kind = file.path.file_name().rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    is_shown_as_binary(file) && !BINARY_KINDS.contains(&kind.as_str())
}

fn is_shown_as_binary(file: &ChangedFile) -> bool {
    matches!(file.class, FileClass::Binary | FileClass::Garbled)
}

fn of_file(attributes: &HashMap<FilePath, GitAttributes>, file: &ChangedFile) -> GitAttributes {
    attributes.get(&file.path).copied().unwrap_or_default()
}

impl Git {
    /// The attributes of these paths, from the trusted side of the change. An old git reads
    /// attributes only from the files on disk, which may be the reviewed ones; then there are
    /// none.
    pub(super) async fn attributes(
        &self,
        paths: &[FilePath],
    ) -> Result<HashMap<FilePath, GitAttributes>, GitError> {
        if paths.is_empty() || self.inner.version < GitVersion::ATTRIBUTES_OF_TREES {
            return Ok(HashMap::new());
        }
        let mut asked = Vec::new();
        for path in paths {
            asked.extend_from_slice(path.as_bytes());
            asked.push(0);
        }
        let args =
            ["check-attr", "--stdin", "-z", "linguist-generated", "linguist-vendored", "diff"];
        let call = GitCall::new(args).stdin(asked);
        let printed = self.output(&call).await?;
        let fields: Vec<_> = printed.split(|byte| *byte == 0).collect();
        let mut found: HashMap<FilePath, GitAttributes> = HashMap::new();
        for fields in fields.chunks_exact(3) {
            let mark = AttributeState::parse(fields[2]);
            if mark == AttributeState::Unspecified {
                continue;
            }
            let attributes = found.entry(FilePath::from_bytes(fields[0])).or_default();
            match fields[1] {
                b"linguist-generated" => attributes.generated = mark,
                b"linguist-vendored" => attributes.vendored = mark,
                _ => attributes.diff = mark,
            }
        }
        Ok(found)
    }
}
