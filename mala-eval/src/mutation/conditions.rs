//! An inverted condition.

use super::Mutation;
use super::bounds::comparison;
use super::site::{MutationContext, MutationDraft, has_word, statements, unwrapped};
use crate::plant::DefectKind;
use mala_domain::language::Language;
use mala_syntax::symbols::named_children;
use tree_sitter::Node;

/// Conditions about how the program is run, not about its behaviour.
const SETTINGS: [&str; 9] = [
    "__name__",
    "TYPE_CHECKING",
    "debug",
    "verbose",
    "version",
    "platform",
    "cfg!",
    "process.env",
    "__DEV__",
];

/// Calls that only log or print.
const TALK: [&str; 9] =
    ["log", "logger", "logging", "print", "println", "eprintln", "console", "warn", "debug"];

const OPPOSITES: [(&str, &str); 8] = [
    ("==", "!="),
    ("===", "!=="),
    ("is", "is not"),
    ("in", "not in"),
    ("<", ">="),
    (">", "<="),
    ("<=", ">"),
    (">=", "<"),
];

pub(super) fn inverted(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    if !site.dialect.ifs.contains(&node.kind()) {
        return None;
    }
    let condition =
        unwrapped(node.child_by_field_name("condition")?, &["parenthesized_expression"]);
    let body = node.child_by_field_name("consequence")?;
    let text = site.text(condition);
    let lower = text.to_ascii_lowercase();
    let is_setting = SETTINGS.iter().any(|word| lower.contains(&word.to_ascii_lowercase()));
    if is_setting || is_talk(site, body) {
        return None;
    }
    let is_checked = matches!(site.language(), Language::TypeScript | Language::Tsx);
    let has_binding = text.contains("instanceof") || text.contains(":=") || has_word(text, "let");
    if has_binding || (is_checked && narrows(site, condition)) {
        return None;
    }
    let opposite = opposite(site, condition)?;
    let draft = MutationDraft {
        kind: DefectKind::InvertedCondition,
        title: "A condition says the opposite",
    };
    Some(draft.replace(site, condition.byte_range(), opposite))
}

/// The opposite of a condition, if there is a simple form.
fn opposite(site: &MutationContext<'_>, condition: Node<'_>) -> Option<String> {
    let text = site.text(condition);
    if let Some((left, operator, right)) = comparison(condition) {
        let said = site.text(operator);
        let words: Vec<&str> = said.split_whitespace().collect();
        let said = words.join(" ");
        let other = OPPOSITES.iter().find_map(|(a, b)| match said.as_str() {
            same if same == *a => Some(*b),
            same if same == *b => Some(*a),
            _ => None,
        })?;
        let around = (
            site.slice(left.end_byte()..operator.start_byte()),
            site.slice(operator.end_byte()..right.start_byte()),
        );
        let (left, right) = (site.text(left), site.text(right));
        return Some(format!("{left}{}{other}{}{right}", around.0, around.1));
    }
    match condition.kind() {
        "not_operator" | "unary_expression" => {
            let [operand] = named_children(condition)[..] else { return None };
            let is_not = text.starts_with('!') || text.starts_with("not");
            is_not.then(|| site.text(operand.node).to_owned())
        }
        "identifier"
        | "call"
        | "call_expression"
        | "method_invocation"
        | "attribute"
        | "member_expression"
        | "field_expression"
        | "selector_expression"
        | "field_access" => {
            let is_constant = text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            (!is_constant).then(|| format!("{}{text}", site.dialect.not))
        }
        _ => None,
    }
}

/// Whether the statements only log or print.
fn is_talk(site: &MutationContext<'_>, body: Node<'_>) -> bool {
    statements(body).iter().all(|statement| {
        let text = site.text(*statement);
        let first: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        first == "pass" || TALK.contains(&first.as_str())
    })
}

/// Whether TypeScript narrows types by a condition.
pub(super) fn narrows(site: &MutationContext<'_>, condition: Node<'_>) -> bool {
    let text = site.text(condition);
    // A check of `a?.b` also narrows `a`.
    if text.contains("?.") {
        return true;
    }
    if let Some((left, operator, _)) = comparison(condition) {
        let is_order = matches!(site.text(operator), "<" | ">" | "<=" | ">=");
        return !is_order && !site.text(left).ends_with(".length");
    }
    let inner = match condition.kind() {
        "unary_expression" => named_children(condition).first().map(|step| step.node),
        _ => Some(condition),
    };
    let Some(inner) = inner else { return true };
    match inner.kind() {
        "call_expression" => {
            let callee = inner.child_by_field_name("function").map(|it| site.text(it));
            let name = callee.unwrap_or_default().rsplit('.').next().unwrap_or_default();
            ["is", "has", "assert"].iter().any(|start| name.starts_with(start))
        }
        "member_expression" => is_used_again(site, inner),
        _ => !text.is_empty(),
    }
}

/// Whether the function uses this or another property of the same object elsewhere. A check of one
/// property can narrow the type of the object, except for `this`.
fn is_used_again(site: &MutationContext<'_>, property: Node<'_>) -> bool {
    let function = site.function(property).map(|it| site.text(it)).unwrap_or_default();
    let function = function.replace("?.", ".").replace("!.", ".");
    let object = property.child_by_field_name("object").map(|it| site.text(it));
    let known = match object {
        Some(object) if object != "this" => format!("{object}."),
        _ => site.text(property).to_owned(),
    };
    function.matches(&known).count() > 1
}
