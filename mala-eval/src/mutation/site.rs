//! The file that defects are planted into, with the queries that all kinds of defects share.

use super::bindings::LocalBindings;
use super::dialect::LanguageTraits;
use super::names::NameUses;
use super::{DefectMark, Mutation};
use crate::plant::DefectKind;
use mala_domain::change::AddedLines;
use mala_domain::language::Language;
use mala_syntax::source::Source;
use mala_syntax::symbols::named_children;
use std::ops::Range;
use tree_sitter::Node;

/// The maximum number of ancestors to visit.
const MAX_CLIMB: usize = 100;

/// A file, and the traits of its language.
pub(super) struct MutationContext<'s> {
    pub(super) source: &'s Source,
    pub(super) dialect: &'static LanguageTraits,
    /// The uses of names, for languages that reject unused names.
    pub(super) names: Option<NameUses<'s>>,
    /// The bindings of names, for languages with type checks.
    pub(super) bindings: Option<LocalBindings<'s>>,
    lines: Vec<usize>,
}

impl<'s> MutationContext<'s> {
    pub(super) fn new(source: &'s Source, dialect: &'static LanguageTraits) -> Self {
        let ends = source.text().match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        let names = (source.language() == Language::Go).then(|| NameUses::of(source));
        let bindings = dialect.is_typed.then(|| LocalBindings::of(source));
        Self { source, dialect, names, bindings, lines }
    }

    pub(super) fn language(&self) -> Language {
        self.source.language()
    }

    pub(super) fn is_ecmascript(&self) -> bool {
        matches!(self.language(), Language::JavaScript | Language::TypeScript | Language::Tsx)
    }

    /// The text of a node.
    pub(super) fn text(&self, node: Node<'_>) -> &'s str {
        self.source.slice(node)
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'s str {
        self.source.text().get(range).unwrap_or_default()
    }

    /// The 0-based line of a byte.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The bytes of a 0-based line, with its end.
    fn line_range(&self, line: usize) -> Option<Range<usize>> {
        let start = *self.lines.get(line)?;
        let end = self.lines.get(line + 1).copied().unwrap_or(self.source.text().len());
        Some(start..end)
    }

    /// Whether the change added every non-empty line of these bytes.
    pub(super) fn is_all_added(&self, bytes: &Range<usize>, added: &AddedLines) -> bool {
        let (first, last) = (self.line(bytes.start), self.line(bytes.end.max(1) - 1));
        (first..=last.max(first)).all(|line| {
            let is_blank =
                || self.line_range(line).is_some_and(|range| self.slice(range).trim().is_empty());
            added.contains(u32::try_from(line + 1).unwrap_or(u32::MAX)) || is_blank()
        })
    }

    /// The whole lines of a statement that is alone on them, with the comments directly above and
    /// the empty lines below.
    pub(super) fn whole_lines(&self, node: Node<'_>) -> Option<Range<usize>> {
        let mut first = self.line(node.start_byte());
        let last = self.line(node.end_byte().max(1) - 1);
        let start = self.line_range(first)?.start;
        let mut end = self.line_range(last)?.end;
        let around = (self.slice(start..node.start_byte()), self.slice(node.end_byte()..end));
        if !around.0.trim().is_empty() || !matches!(around.1.trim(), "" | ";") {
            return None;
        }
        let sign = if self.language() == Language::Python { "#" } else { "//" };
        let is_comment = |line: usize| {
            self.line_range(line)
                .is_some_and(|range| self.slice(range).trim_start().starts_with(sign))
        };
        while first > 0 && is_comment(first - 1) {
            first -= 1;
        }
        let mut next = last + 1;
        while let Some(range) = self.line_range(next)
            && !range.is_empty()
            && self.slice(range.clone()).trim().is_empty()
        {
            end = range.end;
            next += 1;
        }
        Some(self.line_range(first)?.start..end)
    }

    /// The indentation of the line of this node.
    pub(super) fn indent(&self, node: Node<'_>) -> &'s str {
        let line = self.line_range(self.line(node.start_byte())).unwrap_or_default();
        let text = self.slice(line);
        text.get(..text.len() - text.trim_start().len()).unwrap_or_default()
    }

    /// The nearest node around this one that has one of these kinds.
    pub(super) fn around<'t>(&self, node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
        let mut up = node.parent();
        for _ in 0..MAX_CLIMB {
            match up {
                Some(found) if kinds.contains(&found.kind()) => return Some(found),
                Some(other) => up = other.parent(),
                None => return None,
            }
        }
        None
    }

    /// The function around a node.
    pub(super) fn function<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.around(node, self.dialect.functions)
    }
}

/// The statements of a block; of a single statement, itself.
pub(super) fn statements(body: Node<'_>) -> Vec<Node<'_>> {
    if !body.kind().ends_with("block") && body.kind() != "statement_list" {
        return vec![body];
    }
    let children: Vec<Node<'_>> = named_children(body).into_iter().map(|step| step.node).collect();
    match children.as_slice() {
        [list] if list.kind() == "statement_list" => statements(*list),
        _ => children,
    }
}

/// The content of a statement or of parentheses.
pub(super) fn unwrapped<'t>(node: Node<'t>, kinds: &[&str]) -> Node<'t> {
    let mut inner = node;
    while kinds.contains(&inner.kind()) {
        match named_children(inner).as_slice() {
            [only] => inner = only.node,
            _ => return inner,
        }
    }
    inner
}

/// The next sibling that is no comment.
pub(super) fn next_statement(node: Node<'_>) -> Option<Node<'_>> {
    let mut next = node.next_named_sibling();
    while let Some(comment) = next.filter(Node::is_extra) {
        next = comment.next_named_sibling();
    }
    next
}

/// The previous sibling that is no comment.
pub(super) fn previous_statement(node: Node<'_>) -> Option<Node<'_>> {
    let mut previous = node.prev_named_sibling();
    while let Some(comment) = previous.filter(Node::is_extra) {
        previous = comment.prev_named_sibling();
    }
    previous
}

/// An edit that is being built.
pub(super) struct MutationDraft {
    pub(super) kind: DefectKind,
    pub(super) title: &'static str,
}

impl MutationDraft {
    /// Puts a text in place of these bytes.
    pub(super) fn replace(
        self,
        site: &MutationContext<'_>,
        edit: Range<usize>,
        text: String,
    ) -> Mutation {
        let description = format!(
            "`{}` stands where it was `{}`.",
            shown(&text),
            shown(site.slice(edit.clone()))
        );
        let (title, needs) = (self.title.to_owned(), edit.clone());
        Mutation { kind: self.kind, title, description, edit, text, mark: DefectMark::Edit, needs }
    }

    /// Removes these bytes; the following text must be part of the change too.
    pub(super) fn remove(
        self,
        site: &MutationContext<'_>,
        edit: Range<usize>,
        follows: Node<'_>,
    ) -> Mutation {
        let description = format!("`{}` is gone.", shown(site.slice(edit.clone())));
        let first_line = follows.start_byte()..follows.start_byte() + 1;
        let needs = edit.start.min(first_line.start)..edit.end.max(first_line.end);
        let (title, text) = (self.title.to_owned(), String::new());
        Mutation { kind: self.kind, title, description, edit, text, mark: DefectMark::Gap, needs }
    }
}

/// A text in one short line.
pub(super) fn shown(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Whether a text has this name as a whole word.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|it| it.chars().next());
        !word.is_empty() && !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
