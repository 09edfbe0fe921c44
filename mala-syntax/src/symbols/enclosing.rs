//! The innermost function or class around a line.

use super::definition::{Definition, Kind};
use super::outline::Outline;
use crate::source::Source;
use mala_domain::change::LineSpan;

/// A function or class around a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosing {
    /// `Class.method`, or the bare name.
    pub symbol: String,
    /// Its lines, decorators included.
    pub span: LineSpan,
    /// What it is.
    pub kind: Kind,
}

/// The innermost function or class around a line; `None` at the top of a file.
pub fn enclosing(source: &Source, line: u32) -> Option<Enclosing> {
    Outline::of(source).enclosing(line)
}

impl Outline {
    /// The innermost function or class around a line.
    pub fn enclosing(&self, line: u32) -> Option<Enclosing> {
        self.definitions
            .iter()
            .filter(|definition| definition.span.contains(line) && has_lines_inside(definition))
            .min_by_key(|definition| definition.span.n_lines())
            .map(|definition| Enclosing {
                symbol: definition.qualified(),
                span: definition.span,
                kind: definition.kind,
            })
    }
}

fn has_lines_inside(definition: &Definition) -> bool {
    definition.kind.is_callable()
        || definition.kind.is_type() && definition.kind != Kind::Module
        || definition.kind == Kind::Macro
}
