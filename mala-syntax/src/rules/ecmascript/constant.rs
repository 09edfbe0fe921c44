//! Values that are known without running the code: texts, numbers and booleans, also in variables
//! that never change.

use super::program::ScriptFile;
use std::borrow::Cow;
use tree_sitter::Node;

/// Longer chains of variables and concatenations are not followed.
const MAX_DEPTH: usize = 12;

impl<'t> ScriptFile<'t> {
    /// The constant text of an expression.
    pub(super) fn constant_text(&self, node: Node<'t>) -> Option<Cow<'t, str>> {
        self.text_within(node, MAX_DEPTH)
    }

    /// The constant number of an expression.
    pub(super) fn constant_number(&self, node: Node<'t>) -> Option<f64> {
        let node = self.value_of(node)?;
        match node.kind() {
            "number" => number(self.text(node)),
            "unary_expression" => {
                let argument = self.value_of(node.child_by_field_name("argument")?)?;
                let value = number(self.text(argument)).filter(|_| argument.kind() == "number")?;
                self.text(node).starts_with('-').then_some(-value)
            }
            _ => None,
        }
    }

    /// The constant truth value of an expression.
    pub(super) fn constant_truth(&self, node: Node<'t>) -> Option<bool> {
        let mut node = self.value_of(node)?;
        let mut turned = false;
        for _ in 0..MAX_DEPTH {
            match node.kind() {
                "true" => return Some(!turned),
                "false" => return Some(turned),
                "unary_expression" if self.text(node).starts_with('!') => {
                    turned = !turned;
                    node = self.value_of(node.child_by_field_name("argument")?)?;
                }
                _ => return None,
            }
        }
        None
    }

    /// The expression that a name always refers to; other expressions are returned unchanged.
    pub(super) fn value_of(&self, node: Node<'t>) -> Option<Node<'t>> {
        let mut node = node;
        for _ in 0..MAX_DEPTH {
            node = match node.kind() {
                "parenthesized_expression"
                | "as_expression"
                | "non_null_expression"
                | "satisfies_expression" => node.named_child(0)?,
                "identifier" | "shorthand_property_identifier" => {
                    match self.variable(node).filter(|it| !it.is_outside()) {
                        Some(variable) => match variable.only_value() {
                            Some(value) if value.id() != node.id() => value,
                            _ => return Some(node),
                        },
                        None => return Some(node),
                    }
                }
                _ => return Some(node),
            };
        }
        None
    }

    fn text_within(&self, node: Node<'t>, depth: usize) -> Option<Cow<'t, str>> {
        if depth == 0 {
            return None;
        }
        let node = self.value_of(node)?;
        match node.kind() {
            "string" => Some(literal(self, node)),
            "template_string" => {
                let mut text = String::new();
                let mut cursor = node.walk();
                for part in node.named_children(&mut cursor) {
                    match part.kind() {
                        "template_substitution" => {
                            text.push_str(&self.text_within(part.named_child(0)?, depth - 1)?);
                        }
                        "escape_sequence" => text.push_str(&unescape(self.text(part))),
                        _ => text.push_str(self.text(part)),
                    }
                }
                Some(Cow::Owned(text))
            }
            "binary_expression" => {
                let operator = node.child_by_field_name("operator")?;
                let left = node.child_by_field_name("left")?;
                let right = node.child_by_field_name("right")?;
                if self.text(operator) != "+" {
                    return None;
                }
                let left = self.text_within(left, depth - 1)?;
                Some(left + self.text_within(right, depth - 1)?)
            }
            _ => None,
        }
    }
}

fn literal<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> Cow<'t, str> {
    let inner = super::origin::unquoted(program.text(node));
    if inner.contains('\\') { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) }
}

/// A text with its escapes resolved; unknown escapes stay.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('x') => out.extend(code_point(&mut characters, 2)),
            Some('u') => out.extend(code_point(&mut characters, 4)),
            Some('\n') | None => {}
            Some(other) => out.push(other),
        }
    }
    out
}

fn code_point(characters: &mut std::str::Chars<'_>, n_digits: usize) -> Option<char> {
    let rest = characters.as_str();
    let digits = match rest.strip_prefix('{') {
        Some(inner) => inner.split('}').next()?,
        None => rest.get(..n_digits)?,
    };
    let skipped = if rest.starts_with('{') { digits.len() + 2 } else { n_digits };
    let value = u32::from_str_radix(digits, 16).ok()?;
    *characters = rest.get(skipped..).unwrap_or_default().chars();
    char::from_u32(value)
}

/// The value of a number as it is written.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.replace('_', "").to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).ok().map(|value| value as f64);
        }
    }
    text.parse().ok()
}
