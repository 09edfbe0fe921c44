//! A removed check that rejected bad values.

use super::Mutation;
use super::conditions::narrows;
use super::site::{
    MutationContext, MutationDraft, has_word, next_statement, statements, unwrapped,
};
use crate::plant::DefectKind;
use mala_domain::language::Language;
use tree_sitter::Node;

/// A guard has no more statements than this.
const MAX_STATEMENTS: usize = 3;

/// Shortcuts: without them the result is the same, only slower.
const SHORTCUTS: [&str; 7] = ["cache", "memo", "seen", "visited", "debug", "verbose", "dry_run"];
/// An `if` that leaves the function or the loop.
pub(super) struct GuardStatement<'t> {
    /// The whole statement.
    pub(super) statement: Node<'t>,
    pub(super) condition: Node<'t>,
    /// The statement by which it leaves.
    pub(super) exit: Node<'t>,
}

/// The guard at a node, if there is one.
pub(super) fn guard<'t>(site: &MutationContext<'_>, node: Node<'t>) -> Option<GuardStatement<'t>> {
    let is_if = site.dialect.ifs.contains(&node.kind());
    let has = |field: &str| node.child_by_field_name(field).is_some();
    if !is_if || has("alternative") || has("initializer") {
        return None;
    }
    let condition =
        unwrapped(node.child_by_field_name("condition")?, &["parenthesized_expression"]);
    let body = statements(node.child_by_field_name("consequence")?);
    let exit = unwrapped(*body.last()?, &["expression_statement"]);
    let statement = node.parent().filter(|it| it.kind() == "expression_statement").unwrap_or(node);
    let outer = statement.parent()?;
    let is_free = outer.kind().ends_with("block")
        || matches!(outer.kind(), "statement_list" | "constructor_body");
    let fits = body.len() <= MAX_STATEMENTS && site.dialect.exits.contains(&exit.kind());
    (is_free && fits).then_some(GuardStatement { statement, condition, exit })
}

pub(super) fn removed(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let guard = guard(site, node)?;
    let follows = next_statement(guard.statement)?;
    let condition = site.text(guard.condition);
    let lower = condition.to_ascii_lowercase();
    let is_shortcut = SHORTCUTS.iter().any(|word| lower.contains(word));
    if is_shortcut || is_early_end(site, &guard) || !compiles(site, &guard) {
        return None;
    }
    // `exceptions` plants defects in error handling.
    if site.around(guard.statement, &["catch_clause", "except_clause"]).is_some() {
        return None;
    }
    let edit = site.whole_lines(guard.statement)?;
    if !site.can_lose(&edit, node) {
        return None;
    }
    let draft = MutationDraft { kind: DefectKind::RemovedCheck, title: "A check is missing" };
    let mutation = draft.remove(site, edit, follows);
    let description = format!("The check of `{condition}` is gone.");
    Some(Mutation { description: super::site::shown(&description), ..mutation })
}

/// Whether the check only skips empty input, which mostly gives the same result without it.
fn is_early_end(site: &MutationContext<'_>, guard: &GuardStatement<'_>) -> bool {
    let refuses = matches!(guard.exit.kind(), "raise_statement" | "throw_statement");
    let is_error = ["Err(", "err", "Error"].iter().any(|it| site.text(guard.exit).contains(it));
    !refuses && !is_error && is_emptiness(site, guard)
}

fn is_emptiness(site: &MutationContext<'_>, guard: &GuardStatement<'_>) -> bool {
    let text = site.text(guard.condition);
    let lower = text.to_ascii_lowercase();
    let is_negated = matches!(guard.condition.kind(), "not_operator" | "unary_expression");
    let signs = ["is_empty()", "isempty()", "== 0", "=== 0", "< 1"];
    is_negated || signs.iter().any(|sign| lower.contains(sign))
}

/// Whether the function still compiles without the check.
fn compiles(site: &MutationContext<'_>, guard: &GuardStatement<'_>) -> bool {
    let text = site.text(guard.condition);
    match site.language() {
        Language::TypeScript | Language::Tsx => !narrows(site, guard.condition),
        Language::Rust => !text.contains("let ") && !has_word(text, "matches!"),
        // An exception that nothing in a `try` throws must not be caught.
        Language::Java => {
            let throws = guard.exit.kind() == "throw_statement";
            let tries = ["try_statement", "try_with_resources_statement"];
            let is_caught = throws && site.around(guard.statement, &tries).is_some();
            !is_caught && !text.contains("instanceof")
        }
        _ => !text.contains(":="),
    }
}
