//! A parsed source file. It is parsed once; symbols, rules and data flow all look at the same tree.

mod comments;

use crate::grammar::Grammar;
use ast_grep_core::AstGrep;
use ast_grep_core::tree_sitter::StrDoc;
use mala_domain::change::LineSpan;
use mala_domain::language::Language;
use std::borrow::Cow;

/// Files larger than this are not parsed: no person wrote them in one piece.
pub const MAX_BYTES: usize = 16 << 20;

/// A parsed source file.
pub struct Source {
    language: Language,
    root: AstGrep<StrDoc<Grammar>>,
    tree: tree_sitter::Tree,
}

impl Source {
    /// Parses `text`; `None` if it is too large, contains merge conflict markers, or the parser
    /// gives up.
    pub fn parse(language: Language, text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES || is_half_merged(text) {
            return None;
        }
        let text = match language {
            Language::Python => comments::without_long_runs(text),
            _ => Cow::Borrowed(text),
        };
        let document = StrDoc::try_new(&text, Grammar(language)).ok()?;
        let tree = document.tree.clone();
        Some(Self { language, root: AstGrep::doc(document), tree })
    }

    /// Its language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.root.source()
    }

    /// Its syntax tree.
    pub fn tree(&self) -> &tree_sitter::Tree {
        &self.tree
    }

    /// The same tree for rule patterns.
    pub fn ast(&self) -> &AstGrep<StrDoc<Grammar>> {
        &self.root
    }

    /// The text of a node; empty when the node is of another tree.
    pub fn slice(&self, node: tree_sitter::Node<'_>) -> &str {
        self.text().get(node.byte_range()).unwrap_or_default()
    }
}

/// The 1-based lines of a node.
pub fn lines_of(node: tree_sitter::Node<'_>) -> LineSpan {
    let end = node.end_position();
    let ends_before = end.column == 0 && end.row > node.start_position().row;
    let last = if ends_before { end.row } else { end.row + 1 };
    LineSpan::between(to_u32(node.start_position().row + 1), to_u32(last))
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether a text contains both sides of a merge conflict, so that its definitions and uses are
/// unknown.
fn is_half_merged(text: &str) -> bool {
    let opens = text.starts_with("<<<<<<< ") || text.contains("\n<<<<<<< ");
    opens && text.contains("\n>>>>>>> ") && text.contains("\n=======")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_merge_are_no_code() {
        let merge = "a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> theirs\n";
        assert!(Source::parse(Language::Python, merge).is_none());
        assert!(Source::parse(Language::Python, "a = 1\n# =======\n").is_some());
    }

    #[test]
    fn every_language_parses() {
        for language in Language::ALL {
            let source = Source::parse(language, "x").expect("parses");
            assert_eq!(source.text(), "x");
            assert_eq!(source.tree().root_node().byte_range(), 0..1, "{language}");
        }
    }
}
