//! The definitions, imports and exports of a file, collected in one walk over its tree.

mod build;
mod exports;
mod members;
mod refine;

pub use exports::Export;

use super::definition::{Definition, DefinitionKind};
use super::imports::Import;
use crate::source::Source;
use mala_domain::change::LineSpan;
use mala_domain::language::Language;
use std::collections::HashSet;

/// The definitions, imports and exports of a file.
#[derive(Debug, Clone)]
pub struct FileOutline {
    /// Its language.
    pub language: Language,
    /// The definitions, in the order of the text.
    pub definitions: Vec<Definition>,
    /// The imports, one entry per name.
    pub imports: Vec<Import>,
    /// The export statements: JavaScript and TypeScript only.
    pub exports: Vec<Export>,
    /// Its package or namespace, where the language has one.
    pub package: Option<String>,
    /// Whether all that it defines can be seen.
    pub openness: Openness,
    /// Names inside macros between the definitions: any of them may be defined there.
    pub in_macros: HashSet<String>,
}

/// Whether all that a file defines can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Openness {
    /// The outline is complete.
    Closed,
    /// It computes some of its names.
    Open,
}

impl FileOutline {
    /// The outline of a file.
    pub fn of(source: &Source) -> Self {
        build::outline(source)
    }

    /// The names that the file itself has at its top: defined, imported, exported or in a macro.
    pub fn bound(&self) -> HashSet<&str> {
        let defined = self.definitions.iter().filter(|definition| definition.is_top_level());
        defined
            .map(|definition| definition.name.as_str())
            .chain(self.imports.iter().map(|import| import.local.as_str()))
            .chain(self.exports.iter().map(|export| export.name.as_str()))
            .chain(self.in_macros.iter().map(String::as_str))
            .collect()
    }
}

/// A function or class around a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnclosingSymbol {
    /// `Class.method`, or the unqualified name.
    pub symbol: String,
    /// Its lines, decorators included.
    pub span: LineSpan,
    /// The kind of definition.
    pub kind: DefinitionKind,
}

/// The innermost function or class around a line; `None` at the top of a file.
pub fn enclosing(source: &Source, line: u32) -> Option<EnclosingSymbol> {
    FileOutline::of(source).enclosing(line)
}

impl FileOutline {
    /// The innermost function or class around a line.
    pub fn enclosing(&self, line: u32) -> Option<EnclosingSymbol> {
        self.definitions
            .iter()
            .filter(|definition| definition.span.contains(line) && has_lines_inside(definition))
            .min_by_key(|definition| definition.span.n_lines())
            .map(|definition| EnclosingSymbol {
                symbol: definition.qualified(),
                span: definition.span,
                kind: definition.kind,
            })
    }
}

fn has_lines_inside(definition: &Definition) -> bool {
    definition.kind.is_callable()
        || definition.kind.is_type() && definition.kind != DefinitionKind::Module
        || definition.kind == DefinitionKind::Macro
}

#[cfg(test)]
mod tests;
