//! Texts that do not say what they should: templates in plain quotes, words without a space
//! between them, directives that nobody knows, misspelt members.

use super::found;
use crate::rules::ecmascript::binding::Declared;
use crate::rules::ecmascript::origin::{callee, unquoted};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const TEMPLATE_IN_QUOTES: ProgramCheck = ProgramCheck {
    name: "template-in-plain-quotes",
    captures: &["NAME"],
    run: templates_in_quotes,
};

pub(in crate::rules::ecmascript) const MISSING_SPACE: ProgramCheck = ProgramCheck {
    name: "missing-space-in-text",
    captures: &["LEFT", "RIGHT"],
    run: missing_spaces,
};

pub(in crate::rules::ecmascript) const UNKNOWN_DIRECTIVE: ProgramCheck =
    ProgramCheck { name: "unknown-directive", captures: &["DIRECTIVE"], run: unknown_directives };

pub(in crate::rules::ecmascript) const MISSPELT_MEMBER: ProgramCheck =
    ProgramCheck { name: "misspelt-member", captures: &["NAME", "RIGHT"], run: misspelt_members };

fn templates_in_quotes(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for text in program.of_kind("string") {
        let Some(name) = placeholder(program.text(*text)) else { continue };
        let is_argument_of_filler = program
            .ancestors(*text)
            .take(6)
            .filter(|it| it.kind() == "call_expression")
            .filter_map(callee)
            .any(|it| {
                let name = program.text(it).to_lowercase();
                ["replace", "template", "format", "t", "i18n", "compile", "render", "test", "it"]
                    .iter()
                    .any(|word| name.rsplit('.').next() == Some(word))
            });
        if program.is_in_scope(*text, name) && !is_argument_of_filler {
            matches.push(found(*text, vec![("NAME", name.to_owned())]));
        }
    }
    matches
}

/// The name in the first `${name}`.
fn placeholder(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once("${")?;
    let (inside, _) = behind.split_once('}')?;
    let name = inside.split(['.', '(', '[']).next()?.trim();
    let starts = name.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c == '_');
    (starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
}

impl<'t> Program<'t> {
    /// Whether a name is a variable, parameter or constant where a node stands.
    fn is_in_scope(&self, node: Node<'t>, name: &str) -> bool {
        self.variables().iter().any(|variable| {
            variable.name == name
                && matches!(
                    variable.declared,
                    Declared::Const | Declared::Let | Declared::Var | Declared::Parameter
                )
                && variable.scope.is_some_and(|scope| self.contains(scope, node))
        })
    }
}

fn missing_spaces(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        if program.operator(*node) != "+" || !is_plain(right) {
            continue;
        }
        let Some(before) = last_literal(program, left) else { continue };
        let (before, after) = (plain_text(program, before), plain_text(program, right));
        let (Some(before), Some(after)) = (before, after) else { continue };
        let is_word =
            first_word(&after).chars().all(|c| c.is_alphanumeric() || ".,!?'-".contains(c));
        if runs_together(&before, &after) && is_word && is_prose(program, left, &before) {
            let tail: String = last_word(&before).chars().take(30).collect();
            let head: String = first_word(&after).chars().take(30).collect();
            matches.push(found(right, vec![("LEFT", tail), ("RIGHT", head)]));
        }
    }
    matches
}

fn is_plain(node: Node<'_>) -> bool {
    matches!(node.kind(), "string" | "template_string")
}

/// The literal that ends an expression.
fn last_literal<'t>(program: &Program<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let mut node = node;
    loop {
        match node.kind() {
            "parenthesized_expression" => node = node.named_child(0)?,
            "binary_expression" if program.operator(node) == "+" => {
                node = node.child_by_field_name("right")?;
            }
            _ => return is_plain(node).then_some(node),
        }
    }
}

fn plain_text<'t>(program: &Program<'t>, node: Node<'t>) -> Option<String> {
    let has_holes = program.inside(node).iter().any(|it| it.kind() == "template_substitution");
    (!has_holes).then(|| unquoted(program.text(node)).to_owned())
}

/// `"this text" + "is"` gives `textis`.
fn runs_together(before: &str, after: &str) -> bool {
    let last = before.chars().last();
    let ends = last.is_some_and(|c| c.is_alphanumeric() || ".?!".contains(c));
    let starts = after.chars().next().is_some_and(char::is_alphabetic);
    ends && starts && !before.ends_with('\\')
}

/// Whether the left side is words in a sentence, and not a path, a tag or an identifier.
fn is_prose<'t>(program: &Program<'t>, left: Node<'t>, before: &str) -> bool {
    let whole = std::iter::once(&left)
        .chain(program.inside(left))
        .filter(|it| is_plain(**it))
        .map(|it| unquoted(program.text(*it)))
        .collect::<Vec<_>>()
        .join("");
    let word = last_word(before);
    let has_words = whole.trim().contains(' ');
    let odd = ["http", "\\", "_", "=", "<", ">", "{", "}", "%", "#", "@", ":", "&", ";"];
    let is_name = odd.iter().any(|it| word.contains(it));
    let is_path = word.contains('/') && word.len() > 5;
    let is_split_word = word.len() > 20;
    has_words && !(is_split_word || is_name || is_path)
}

fn last_word(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or(text)
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

const DIRECTIVES: [&str; 14] = [
    "use strict",
    "use asm",
    "use babel",
    "use 6to5",
    "format cjs",
    "format esm",
    "format global",
    "format register",
    "ngInject",
    "ngNoInject",
    "use client",
    "use server",
    "use cache",
    "use no memo",
];

fn unknown_directives(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    // What is not quite JavaScript may give such a text a meaning.
    if program.source().tree().root_node().has_error() {
        return matches;
    }
    for statement in program.of_kind("expression_statement") {
        let Some(text) = statement.named_child(0).filter(|it| it.kind() == "string") else {
            continue;
        };
        if !is_directive(program, *statement) {
            continue;
        }
        let directive = unquoted(program.text(text));
        if !is_known(directive) {
            matches.push(found(*statement, vec![("DIRECTIVE", directive.to_owned())]));
        }
    }
    matches
}

/// Whether a text stands at the start of a file or function, where it is taken for a directive.
fn is_directive<'t>(program: &Program<'t>, statement: Node<'t>) -> bool {
    let Some(block) = program.parent(statement) else { return false };
    let is_body = block.kind() == "program"
        || (block.kind() == "statement_block"
            && program.parent(block).is_some_and(crate::rules::ecmascript::program::is_function));
    let mut cursor = block.walk();
    let all_before_are_texts = block
        .named_children(&mut cursor)
        .take_while(|it| it.id() != statement.id())
        .all(|it| match it.kind() {
            "comment" | "hash_bang_line" => true,
            "expression_statement" => it.named_child(0).is_some_and(|it| it.kind() == "string"),
            _ => false,
        });
    is_body && all_before_are_texts
}

fn is_known(directive: &str) -> bool {
    let munged = || {
        let mut parts = directive.split(',').map(str::trim);
        parts.all(|part| {
            part.strip_suffix(":nomunge").is_some_and(|name| {
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            })
        })
    };
    DIRECTIVES.contains(&directive)
        || directive.starts_with("use cache: ")
        || directive.starts_with("use memo")
        || directive.starts_with("deps ")
        || directive.starts_with("worklet")
        || directive.starts_with("@babel/")
        || directive.starts_with("__")
        || munged()
}

/// Members that are often misspelt, as they are written and as they are called.
const MISSPELT: [(&str, &str); 16] = [
    ("lenght", "length"),
    ("legnth", "length"),
    ("lengh", "length"),
    ("lenth", "length"),
    ("prototpye", "prototype"),
    ("protoype", "prototype"),
    ("toSring", "toString"),
    ("tostring", "toString"),
    ("addEventListner", "addEventListener"),
    ("getElementByID", "getElementById"),
    ("getElementsById", "getElementById"),
    ("getElementByClassName", "getElementsByClassName"),
    ("querySelectorALL", "querySelectorAll"),
    ("innerHtml", "innerHTML"),
    ("stringfy", "stringify"),
    ("substing", "substring"),
];

fn misspelt_members(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("member_expression") {
        let Some(property) = node.child_by_field_name("property") else { continue };
        let name = program.text(property);
        if let Some((_, right)) = MISSPELT.iter().find(|(wrong, _)| *wrong == name)
            && !is_defined(program, name)
        {
            let captures = vec![("NAME", name.to_owned()), ("RIGHT", (*right).to_owned())];
            matches.push(found(property, captures));
        }
    }
    matches
}

/// Whether the file has a member of this name after all.
fn is_defined(program: &Program<'_>, name: &str) -> bool {
    program
        .of_kinds(&[
            "pair",
            "method_definition",
            "public_field_definition",
            "property_signature",
            "field_definition",
            "method_signature",
        ])
        .any(|it| program.member_name(it) == Some(name))
}
