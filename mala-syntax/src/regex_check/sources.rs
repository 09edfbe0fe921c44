//! The patterns of a file: regular expression literals, and texts that are compiled.

use super::{RegexFlags, RegexFlavour};
use crate::source::Source;
use mala_domain::language::Language;
use std::ops::Range;
use tree_sitter::Node;

/// The kinds of nodes that may contain a pattern.
pub(crate) const PATTERN_KINDS: &[&str] =
    &["regex", "new_expression", "call_expression", "call", "method_invocation"];

const PYTHON_FUNCTIONS: [&str; 9] =
    ["compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"];
const JAVA_METHODS: [&str; 5] = ["compile", "matches", "replaceAll", "replaceFirst", "split"];

/// A pattern in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePattern {
    /// Its text, without the escapes of the language.
    pub pattern: String,
    /// The engine that it is for.
    pub flavour: RegexFlavour,
    /// Its flags.
    pub flags: RegexFlags,
    /// The bytes of the literal.
    pub bytes: Range<usize>,
}

/// The pattern in a node.
pub fn pattern_at(source: &Source, node: Node<'_>) -> Option<FilePattern> {
    match source.language() {
        Language::JavaScript | Language::TypeScript | Language::Tsx => javascript(source, node),
        Language::Python => python(source, node),
        Language::Java => java(source, node),
        _ => None,
    }
}

fn javascript(source: &Source, node: Node<'_>) -> Option<FilePattern> {
    let flags = |letters: &str| RegexFlags {
        ignore_case: letters.contains('i'),
        multi_line: letters.contains('m'),
        dot_all: letters.contains('s'),
        verbose: false,
    };
    let flavour = RegexFlavour::JavaScript;
    if node.kind() == "regex" {
        let pattern = source.slice(node.child_by_field_name("pattern")?).to_owned();
        let letters = node.child_by_field_name("flags").map_or("", |it| source.slice(it));
        return Some(FilePattern {
            pattern,
            flavour,
            flags: flags(letters),
            bytes: node.byte_range(),
        });
    }
    let callee = node.child_by_field_name("constructor").or(node.child_by_field_name("function"))?;
    if source.slice(callee) != "RegExp" {
        return None;
    }
    let arguments = node.child_by_field_name("arguments")?;
    let literal = arguments.named_child(0)?;
    let letters = arguments.named_child(1).map_or("", |flags| source.slice(flags));
    let pattern = constant(source, literal)?;
    Some(FilePattern { pattern, flavour, flags: flags(letters), bytes: literal.byte_range() })
}

fn python(source: &Source, node: Node<'_>) -> Option<FilePattern> {
    let function = source.slice(node.child_by_field_name("function")?);
    let name = function.strip_prefix("re.")?;
    if !PYTHON_FUNCTIONS.contains(&name) {
        return None;
    }
    let arguments = node.child_by_field_name("arguments")?;
    let literal = arguments.named_child(0)?;
    let after = source.text().get(literal.end_byte()..arguments.end_byte()).unwrap_or_default();
    let has = |names: [&str; 2]| {
        let mut words = after.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| names.contains(&word))
    };
    let flags = RegexFlags {
        ignore_case: has(["I", "IGNORECASE"]),
        multi_line: has(["M", "MULTILINE"]),
        dot_all: has(["S", "DOTALL"]),
        verbose: has(["X", "VERBOSE"]),
    };
    let pattern = constant(source, literal)?;
    let bytes = literal.byte_range();
    Some(FilePattern { pattern, flavour: RegexFlavour::Python, flags, bytes })
}

fn java(source: &Source, node: Node<'_>) -> Option<FilePattern> {
    let name = source.slice(node.child_by_field_name("name")?);
    let object = node.child_by_field_name("object").map_or("", |object| source.slice(object));
    if !JAVA_METHODS.contains(&name) || (name == "compile" && object != "Pattern") {
        return None;
    }
    let arguments = node.child_by_field_name("arguments")?;
    let literal = arguments.named_child(0)?;
    let others = arguments.named_child(1).map_or("", |flags| source.slice(flags));
    let flags = RegexFlags {
        ignore_case: others.contains("CASE_INSENSITIVE"),
        multi_line: others.contains("MULTILINE"),
        dot_all: others.contains("DOTALL"),
        verbose: others.contains("COMMENTS"),
    };
    let pattern = constant(source, literal)?;
    let bytes = literal.byte_range();
    Some(FilePattern { pattern, flavour: RegexFlavour::Java, flags, bytes })
}

/// The text of a string literal, or of several that are joined.
fn constant(source: &Source, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "string" | "string_literal" | "template_string" => literal(source.slice(node)),
        "concatenated_string" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).map(|part| constant(source, part)).collect()
        }
        "binary_expression" | "binary_operator" => {
            let left = constant(source, node.child_by_field_name("left")?)?;
            Some(left + &constant(source, node.child_by_field_name("right")?)?)
        }
        "parenthesized_expression" => constant(source, node.named_child(0)?),
        _ => None,
    }
}

fn literal(text: &str) -> Option<String> {
    let start = text.find(['"', '\'', '`'])?;
    let (prefix, quoted) = text.split_at(start);
    let quotes = ["\"\"\"", "'''", "\"", "'", "`"];
    let quote = quotes.into_iter().find(|quote| quoted.starts_with(quote))?;
    let inside = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    if prefix.contains(['f', 'F', 'b', 'B']) || (quote == "`" && inside.contains("${")) {
        return None;
    }
    if prefix.contains(['r', 'R']) { Some(inside.to_owned()) } else { Some(unescaped(inside)) }
}

/// The text with the escapes of string literals replaced; unknown ones stay, as in Python.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some(quoted @ ('\\' | '"' | '\'' | '`' | '/')) => plain.push(quoted),
            Some('\n') | None => {}
            // The escapes for codes mean the same in a pattern.
            Some(other) => plain.extend(['\\', other]),
        }
    }
    plain
}
