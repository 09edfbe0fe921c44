//! Calls of `replace`: their patterns, their order, and their replacements.

use super::origin::arguments;
use super::program::ScriptFile;
use crate::symbols::WrittenValue;
use std::borrow::Cow;
use tree_sitter::Node;

/// A call of `replace` or `replaceAll` with a pattern that is known.
#[derive(Debug, Clone)]
pub(super) struct Replacement<'t> {
    pub(super) call: Node<'t>,
    /// The receiver.
    pub(super) receiver: Node<'t>,
    pub(super) pattern: ReplacedPattern,
    /// The replacement; `None` if it is a function or unknown.
    pub(super) with: Option<String>,
}

/// The pattern.
#[derive(Debug, Clone)]
pub(super) struct ReplacedPattern {
    /// The text, or the source of the regular expression.
    pub(super) source: String,
    pub(super) is_regex: bool,
    /// Whether all occurrences are replaced.
    pub(super) is_global: bool,
}

impl<'t> ScriptFile<'t> {
    /// A call as a replacement.
    pub(super) fn replacement(&self, call: Node<'t>) -> Option<Replacement<'t>> {
        let callee = call.child_by_field_name("function")?;
        let method = self.text(callee.child_by_field_name("property")?);
        let receiver = callee.child_by_field_name("object")?;
        let arguments = arguments(call);
        let [pattern, with] = arguments.as_slice() else { return None };
        let mut pattern = self.pattern(*pattern)?;
        match method {
            "replace" => {}
            "replaceAll" => pattern.is_global = true,
            _ => return None,
        }
        let with = self.constant_text(*with).map(Cow::into_owned);
        Some(Replacement { call, receiver, pattern, with })
    }

    /// The replacements that the text of this one went through before, the latest first.
    pub(super) fn earlier(&self, replacement: &Replacement<'t>) -> Vec<Replacement<'t>> {
        let mut found: Vec<Replacement<'t>> = Vec::new();
        let mut receiver = replacement.receiver;
        let mut before = replacement.call;
        while found.len() < 32 {
            let call = match receiver.kind() {
                "call_expression" => Some(receiver),
                "identifier" => self.last_value(receiver, before),
                _ => None,
            };
            let Some(next) = call.and_then(|call| self.replacement(call)) else { break };
            before = next.call;
            receiver = next.receiver;
            found.push(next);
        }
        found
    }

    /// The value that was put into a variable last before a place, in the text of one function.
    fn last_value(&self, name: Node<'t>, before: Node<'t>) -> Option<Node<'t>> {
        let around = self.function_around(before).map(|it| it.id());
        let write = self
            .variable(name)?
            .writes
            .iter()
            .filter(|write| write.target.start_byte() < before.start_byte())
            .filter(|write| self.function_around(write.target).map(|it| it.id()) == around)
            .filter(|write| !contains(write.target, before))
            .max_by_key(|write| write.target.start_byte())?;
        match write.value {
            // The assignment that contains the replacement itself happens after it.
            WrittenValue::Exactly(value) if !contains(value, before) => Some(value),
            WrittenValue::Exactly(_) => {
                let earlier = self
                    .variable(name)?
                    .writes
                    .iter()
                    .filter(|other| other.target.start_byte() < write.target.start_byte())
                    .filter(|it| self.function_around(it.target).map(|it| it.id()) == around)
                    .max_by_key(|other| other.target.start_byte())?;
                match earlier.value {
                    WrittenValue::Exactly(value) => Some(value),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A text or a regular expression that is known.
    fn pattern(&self, node: Node<'t>) -> Option<ReplacedPattern> {
        let value = self.value_of(node)?;
        if let Some(text) = self.constant_text(value) {
            let source = text.into_owned();
            return Some(ReplacedPattern { source, is_regex: false, is_global: false });
        }
        let (source, flags) = match value.kind() {
            "regex" => {
                let source = self.text(value.child_by_field_name("pattern")?);
                let flags = value.child_by_field_name("flags").map_or("", |it| self.text(it));
                (source.to_owned(), flags.to_owned())
            }
            "new_expression" | "call_expression" => {
                let is_regexp = self.callee_origin(value).is_some_and(|path| path == "RegExp");
                let arguments = arguments(value);
                let source = arguments.first().filter(|_| is_regexp)?;
                let flags = match arguments.get(1) {
                    Some(flags) => self.constant_text(*flags)?.into_owned(),
                    None => String::new(),
                };
                (self.constant_text(*source)?.into_owned(), flags)
            }
            _ => return None,
        };
        Some(ReplacedPattern { source, is_regex: true, is_global: flags.contains('g') })
    }
}

fn contains(outer: Node<'_>, inner: Node<'_>) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}

impl ReplacedPattern {
    /// The only text that it matches, ignoring its surroundings.
    pub(super) fn text(&self) -> Option<String> {
        if !self.is_regex {
            return Some(self.source.clone());
        }
        literal(&without_assertions(&self.source)?)
    }

    /// Whether it only matches at an end of the text.
    pub(super) fn is_anchored(&self) -> bool {
        let source = &self.source;
        self.is_regex
            && (source.starts_with('^') || (source.ends_with('$') && !source.ends_with("\\$")))
    }

    /// The single characters that it matches, one at a time.
    pub(super) fn characters(&self) -> Option<Vec<char>> {
        if let Some(text) = self.text() {
            let mut characters = text.chars();
            return match (characters.next(), characters.next()) {
                (Some(only), None) => Some(vec![only]),
                _ => None,
            };
        }
        let source = self.source.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let source = source.unwrap_or(&self.source);
        if let Some(class) = source.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            return class_characters(class);
        }
        let parts: Option<Vec<String>> = source.split('|').map(literal).collect();
        parts?.into_iter().map(|part| only_character(&part)).collect()
    }
}

fn only_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// The characters of a class without ranges and shorthands.
fn class_characters(class: &str) -> Option<Vec<char>> {
    let inner = literal_with(class, |c| matches!(c, '[' | ']' | '^' | '-'))?;
    Some(inner.chars().collect())
}

/// The text of a regular expression without special characters.
fn literal(source: &str) -> Option<String> {
    literal_with(source, |c| ".*+?()[]{}|^$".contains(c))
}

fn literal_with(source: &str, is_special: impl Fn(char) -> bool) -> Option<String> {
    let mut text = String::new();
    let mut characters = source.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next()? {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                other if other.is_alphanumeric() => return None,
                other => text.push(other),
            },
            _ if is_special(c) => return None,
            _ => text.push(c),
        }
    }
    Some(text)
}

/// A regular expression without assertions, and without needless brackets.
fn without_assertions(source: &str) -> Option<String> {
    let mut rest = source.strip_prefix('^').unwrap_or(source).to_owned();
    if rest.ends_with('$') && !rest.ends_with("\\$") {
        rest.pop();
    }
    for mark in ["\\b", "\\B"] {
        if let Some(inner) = rest.strip_prefix(mark) {
            rest = inner.to_owned();
        }
    }
    for opening in ["(?<!", "(?<="] {
        if rest.starts_with(opening) {
            let end = rest.find(')')?;
            rest = rest.get(end + 1..)?.to_owned();
        }
    }
    for opening in ["(?!", "(?="] {
        if let Some(start) = rest.find(opening)
            && rest.ends_with(')')
        {
            rest.truncate(start);
        }
    }
    if let Some(inner) = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')'))
        && !inner.starts_with('?')
    {
        rest = inner.to_owned();
    }
    if let Some(inner) = rest.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        let only = class_characters(inner)?;
        let [only] = only.as_slice() else { return None };
        let special = ".*+?()[]{}|^$\\".contains(*only);
        rest = if special { format!("\\{only}") } else { only.to_string() };
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::ReplacedPattern;

    fn regex(source: &str) -> ReplacedPattern {
        ReplacedPattern { source: source.to_owned(), is_regex: true, is_global: true }
    }

    #[test]
    fn patterns_that_match_one_text_say_which() {
        for (source, expected) in [
            ("foo", Some("foo")),
            ("^\\\\", Some("\\")),
            ("\\b\\\\", Some("\\")),
            ("[\"]", Some("\"")),
            ("(\\\\)", Some("\\")),
            ("\\\\(?!\\\\)", Some("\\")),
            ("(?<!\\\\)\\\\", Some("\\")),
            ("^", Some("")),
            ("a+", None),
            ("\\d", None),
            ("[ab]", None),
        ] {
            assert_eq!(regex(source).text().as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn patterns_that_match_single_characters_list_them() {
        for (source, expected) in [
            ("[<>]", Some(vec!['<', '>'])),
            ("'|\"", Some(vec!['\'', '"'])),
            ("&", Some(vec!['&'])),
            ("[a-z]", None),
            ("ab", None),
        ] {
            assert_eq!(regex(source).characters(), expected, "{source}");
        }
    }
}
