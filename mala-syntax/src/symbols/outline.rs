//! What a file defines, imports and exports, read off its tree in one walk.

mod build;
mod exports;
mod members;
mod refine;

pub use exports::Export;

use super::definition::{Definition, Visibility};
use super::imports::Import;
use crate::source::Source;
use mala_domain::language::Language;
use std::collections::HashSet;

/// What a file defines, imports and exports.
#[derive(Debug, Clone)]
pub struct Outline {
    /// Its language.
    pub language: Language,
    /// What it defines, in the order of the text.
    pub definitions: Vec<Definition>,
    /// What it imports, one entry a name.
    pub imports: Vec<Import>,
    /// What it exports by a statement of its own: JavaScript and TypeScript only.
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
    /// What is not listed is not there.
    Closed,
    /// It computes some of its names.
    Open,
}

impl Outline {
    /// The outline of a file.
    pub fn of(source: &Source) -> Self {
        build::outline(source)
    }

    /// The definitions with this qualified name.
    pub fn all<'a>(&'a self, qualified: &'a str) -> impl Iterator<Item = &'a Definition> {
        self.definitions.iter().filter(move |definition| definition.qualified() == qualified)
    }

    /// Whether the file itself has this name at its top: defined, imported, exported or in a macro.
    pub fn binds(&self, name: &str) -> bool {
        self.definitions.iter().any(|definition| {
            definition.name == name
                && definition.container.is_none()
                && definition.visibility != Visibility::Local
        }) || self.imports.iter().any(|import| import.local == name)
            || self.exports.iter().any(|export| export.name == name)
            || self.in_macros.contains(name)
    }
}

#[cfg(test)]
mod tests;
