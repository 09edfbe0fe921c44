//! What stands before the dot.

use super::call::Call;
use crate::source::Source;
use tree_sitter::Node;

/// A receiver's text beyond this many bytes says nothing.
const MAX_BYTES: usize = 200;

/// The receiver with dots between its parts and without what does not name anything.
pub(super) fn normalised(text: &str) -> String {
    if text.len() > MAX_BYTES {
        return String::from("?");
    }
    let text: String = text.split_whitespace().collect();
    let text = text.trim_start_matches(['&', '*', '$', '\\']);
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_u32;
    for c in text.replace("::", ".").replace("->", ".").replace('\\', ".").chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '?' | '!' => {}
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    let out = out.trim_end_matches('.').replace("..", ".");
    if out.is_empty() { String::from("?") } else { out }
}

/// What a path has before this part of it.
pub(super) fn before_in_path(source: &Source, path: Node<'_>, part: Node<'_>) -> Option<String> {
    let before = source.text().get(path.start_byte()..part.start_byte()).unwrap_or_default();
    let before = before.trim_end_matches(['.', ':', '\\', ' ', '\n', '\t']);
    (!before.is_empty()).then(|| normalised(before))
}

/// The receiver and the call of a name between the tokens of a macro, which has no tree of its own.
pub(super) fn before_in_tokens(source: &Source, name: Node<'_>) -> (Option<String>, Option<Call>) {
    let text = source.text();
    let before = text.get(..name.start_byte()).unwrap_or_default().trim_end();
    let after = text.get(name.end_byte()..).unwrap_or_default().trim_start();
    let receiver = if let Some(path) = before.strip_suffix("::") {
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let start = path
            .char_indices()
            .rev()
            .take(MAX_BYTES)
            .take_while(|(_, c)| is_path(*c))
            .last()
            .map_or(path.len(), |(at, _)| at);
        Some(normalised(path.get(start..).unwrap_or_default()))
    } else if before.ends_with('.') && !before.ends_with("..") {
        Some(name_before_dot(before))
    } else {
        None
    };
    let call = after.starts_with('(').then(|| match name.next_sibling() {
        Some(list) if list.kind() == "token_tree" => Call::in_tokens(source, name, list),
        _ => Call::unread(name),
    });
    (receiver, call)
}

/// The lone name before a dot; `?` when there is more than a name.
fn name_before_dot(before: &str) -> String {
    let before = before.trim_end_matches('.');
    let start = before
        .char_indices()
        .rev()
        .take(MAX_BYTES)
        .take_while(|(_, c)| c.is_alphanumeric() || *c == '_')
        .last()
        .map_or(before.len(), |(at, _)| at);
    let (rest, name) = before.split_at(start);
    let stands_alone = !rest.trim_end().ends_with(['.', ':', ')', ']', '}', '?']);
    if name.is_empty() || !stands_alone { String::from("?") } else { name.to_owned() }
}
