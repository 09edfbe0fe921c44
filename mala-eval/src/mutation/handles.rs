//! A leaked handle: an opened resource is not closed.

use super::site::{
    MutationContext, MutationDraft, has_word, next_statement, previous_statement, statements,
    unwrapped,
};
use super::{DefectMark, Mutation};
use crate::plant::DefectKind;
use mala_domain::language::Language;
use mala_syntax::symbols::{Descend, child_of_kind, named_children, walk_from};
use tree_sitter::Node;

/// Python calls whose result can be used with or without `with`.
const OPENERS: [&str; 8] = [
    "open",
    "urlopen",
    "ZipFile",
    "socket",
    "create_connection",
    "Session",
    "TarFile",
    "NamedTemporaryFile",
];

/// Calls that close something, by their last name.
const CLOSERS: [&str; 9] = [
    "close",
    "end",
    "release",
    "destroy",
    "disconnect",
    "dispose",
    "unsubscribe",
    "clearInterval",
    "clearTimeout",
];
const GO_CLOSERS: [&str; 5] = [".Close()", ".Unlock()", ".RUnlock()", ".Stop()", ".Release()"];

/// Resources whose opening throws the same exceptions as closing, so that a handler stays necessary.
const JAVA_OPENERS: [&str; 14] = [
    "FileInputStream",
    "FileOutputStream",
    "FileReader",
    "FileWriter",
    "RandomAccessFile",
    "Files.new",
    "Files.lines",
    "Files.list",
    "Files.walk",
    "getConnection",
    "prepareStatement",
    "createStatement",
    "executeQuery",
    "openStream",
];

fn draft() -> MutationDraft {
    MutationDraft { kind: DefectKind::LeakedHandle, title: "What is opened is not closed" }
}

/// Replaces `with` and `try (…)` by a plain statement.
pub(super) fn leaked(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let mutation = match (site.language(), node.kind()) {
        (Language::Python, "with_statement") => with(site, node)?,
        (Language::Java, "try_with_resources_statement") => resources(site, node)?,
        _ => return None,
    };
    Some(Mutation { mark: DefectMark::First, ..mutation })
}

fn with(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let clause = child_of_kind(node, &["with_clause"])?;
    let items = named_children(clause);
    let [item] = items.as_slice() else { return None };
    let pattern = item.node.child_by_field_name("value").filter(|it| it.kind() == "as_pattern")?;
    let (call, alias) =
        (named_children(pattern).first()?.node, pattern.child_by_field_name("alias")?);
    let callee = call.child_by_field_name("function").map(|it| site.text(it))?;
    let is_opener = OPENERS.contains(&callee.rsplit('.').next()?);
    let body = node.child_by_field_name("body")?;
    if !is_opener || !is_name(site.text(alias)) || site.text(node).starts_with("async") {
        return None;
    }
    let indent = site.indent(node);
    let text = dedented(site, body, indent)?;
    let first = draft().replace(
        site,
        node.byte_range(),
        format!("{} = {}\n{text}", site.text(alias), site.text(call)),
    );
    let description = format!("`{}` is opened and never closed.", site.text(alias));
    Some(Mutation { description, ..first })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The statements of a body, dedented by one level; `None` if a multi-line string would change.
fn dedented(site: &MutationContext<'_>, body: Node<'_>, outer: &str) -> Option<String> {
    let mut has_long_text = false;
    walk_from(body, |_, step| {
        let node = step.node;
        let is_long = node.start_position().row != node.end_position().row;
        has_long_text |= is_long && node.kind().contains("string");
        Descend::Into
    });
    let first = statements(body).first().copied()?;
    let inner = site.indent(first);
    if has_long_text || !inner.starts_with(outer) || inner.len() <= outer.len() {
        return None;
    }
    let start = first.start_byte().checked_sub(inner.len())?;
    let lines = site.slice(start..body.end_byte()).split('\n').map(|line| {
        match (line.strip_prefix(inner), line.trim().is_empty()) {
            (Some(rest), _) => Some(format!("{outer}{rest}")),
            (None, true) => Some(String::new()),
            (None, false) => None,
        }
    });
    Some(lines.collect::<Option<Vec<String>>>()?.join("\n"))
}

fn resources(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let specification = node.child_by_field_name("resources")?;
    let opened = named_children(specification);
    let body = node.child_by_field_name("body")?;
    let is_opener = |text: &str| JAVA_OPENERS.iter().any(|opener| text.contains(opener));
    let all = opened.iter().map(|step| site.text(step.node));
    let fits = opened.iter().all(|step| step.node.child_by_field_name("value").is_some());
    if !fits || !all.clone().any(is_opener) {
        return None;
    }
    let has_more = child_of_kind(node, &["catch_clause", "finally_clause"]).is_some();
    let indent = site.indent(*statements(body).first()?);
    let opened: Vec<String> =
        all.map(|text| format!("{indent}{};\n", text.trim_end_matches(';'))).collect();
    let head = if has_more { "try {" } else { "{" };
    let rest = site.slice(body.start_byte() + 1..node.end_byte());
    let text = format!("{head}\n{}{}", opened.concat(), rest.trim_start_matches('\n'));
    let mutation = draft().replace(site, node.byte_range(), text);
    let description = "The resources of the `try` are opened and never closed.".to_owned();
    Some(Mutation { description, ..mutation })
}

/// Removes `defer file.Close()` and `handle.close()`.
pub(super) fn unclosed(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let closes = match (site.language(), node.kind()) {
        (Language::Go, "defer_statement") => {
            GO_CLOSERS.iter().any(|closer| site.text(node).ends_with(closer))
        }
        (_, "expression_statement") if site.is_ecmascript() => closes_own(site, node),
        _ => false,
    };
    if !closes {
        return None;
    }
    let follows = previous_statement(node).or(next_statement(node))?;
    let edit = site.whole_lines(node)?;
    site.can_lose(&edit, node).then(|| draft().remove(site, edit, follows))
}

/// Whether a statement closes something that the function around it opened.
fn closes_own(site: &MutationContext<'_>, node: Node<'_>) -> bool {
    let call = unwrapped(node, &["expression_statement", "await_expression"]);
    let Some(callee) = call.child_by_field_name("function").map(|it| site.text(it)) else {
        return false;
    };
    let (object, name) = match callee.rsplit_once('.') {
        Some((object, name)) => (object.to_owned(), name),
        None => {
            let arguments = call.child_by_field_name("arguments").map(|it| site.text(it));
            let argument = arguments.unwrap_or_default().trim_matches(['(', ')']).to_owned();
            (argument, callee)
        }
    };
    let Some(function) = site.function(node).filter(|_| CLOSERS.contains(&name)) else {
        return false;
    };
    let mut is_own = false;
    walk_from(function, |_, step| {
        let is_declared = step.node.kind() == "variable_declarator";
        let named = step.node.child_by_field_name("name").filter(|_| is_declared);
        is_own |= is_name(&object) && named.is_some_and(|it| has_word(site.text(it), &object));
        if is_own { Descend::Past } else { Descend::Into }
    });
    is_own
}
