//! A dropped `await`: the result of an asynchronous call is not awaited.

use super::Mutation;
use super::site::{MutationContext, MutationDraft, next_statement, previous_statement, unwrapped};
use crate::plant::DefectKind;
use mala_domain::language::Language;
use mala_syntax::symbols::named_children;
use tree_sitter::Node;

/// Not awaiting a pause makes no difference.
const PAUSES: [&str; 4] = ["sleep", "delay", "nextTick", "yield_now"];

fn draft() -> MutationDraft {
    MutationDraft { kind: DefectKind::DroppedAwait, title: "The result is not awaited" }
}

pub(super) fn dropped(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    if site.language() == Language::Go {
        return go(site, node);
    }
    if !matches!(node.kind(), "await" | "await_expression") {
        return None;
    }
    let [operand] = named_children(node)[..] else { return None };
    let text = site.text(operand.node);
    let is_pause = PAUSES.iter().any(|word| text.contains(word));
    // Awaiting a stored promise does not start anything.
    let starts = matches!(operand.node.kind(), "call" | "call_expression");
    if is_pause || !starts || !is_missed(site, node) {
        return None;
    }
    Some(draft().replace(site, node.byte_range(), text.to_owned()))
}

/// Whether the missing `await` changes behaviour and still compiles.
fn is_missed(site: &MutationContext<'_>, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    match (site.language(), parent.kind()) {
        (_, "expression_statement") => true,
        (Language::Python, "assignment" | "return_statement") => true,
        (Language::JavaScript, "variable_declarator") => true,
        // Outside of `try`, the caller awaits the returned promise.
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "return_statement") => {
            let body = site.around(node, &["statement_block"]);
            body.and_then(|body| body.parent()).is_some_and(|it| it.kind() == "try_statement")
        }
        (Language::Rust, "let_declaration") => parent
            .child_by_field_name("pattern")
            .is_some_and(|pattern| site.text(pattern).starts_with('_')),
        _ => false,
    }
}

/// `group.Wait()`, which has to be used elsewhere so that the file compiles.
fn go(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    if node.kind() != "expression_statement" {
        return None;
    }
    let call = unwrapped(node, &["expression_statement"]);
    let is_wait = call.kind() == "call_expression" && site.text(call).ends_with(".Wait()");
    let edit = site.whole_lines(node)?;
    let follows = next_statement(node).or(previous_statement(node))?;
    (is_wait && site.can_lose(&edit, node)).then(|| draft().remove(site, edit, follows))
}
