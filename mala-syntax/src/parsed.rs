//! The changed files of a review, parsed once for each side: every stage and reviewer looks at the same
//! trees and outlines.

use crate::source::Source;
use crate::symbols::FileOutline;
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use mala_domain::ports::Side;
use mala_domain::review::ReviewContext;
use std::sync::{Arc, OnceLock};

/// A parsed file, with its outline.
pub struct ParsedFile {
    /// The syntax tree.
    pub source: Source,
    outline: OnceLock<FileOutline>,
}

impl ParsedFile {
    /// Parses a text.
    pub fn of(language: Language, text: &str) -> Option<Self> {
        let source = Source::parse(language, text)?;
        Some(Self { source, outline: OnceLock::new() })
    }

    /// Its definitions, imports and exports.
    pub fn outline(&self) -> &FileOutline {
        self.outline.get_or_init(|| FileOutline::of(&self.source))
    }
}

/// A changed file on one side; `None` when it has no text there, or cannot be parsed.
pub fn parsed(context: &ReviewContext, side: Side, file: &FilePath) -> Option<Arc<ParsedFile>> {
    let text = match side {
        Side::Base => context.texts.at_base(file)?,
        Side::Head => context.texts.at_head(file)?,
    };
    context.derived.get_or_compute(side, file, || {
        let changed = context.change.file(file).filter(|_| side == Side::Head);
        let language = match changed {
            Some(changed) => changed.language(),
            None => Language::of(file, text),
        };
        ParsedFile::of(language?, text)
    })
}
