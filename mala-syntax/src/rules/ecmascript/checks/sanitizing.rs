//! Incomplete escaping by `replace`: it misses later occurrences, the escape character, or
//! characters that an earlier step inserted.

use super::found;
use crate::rules::ecmascript::replacement::Replacement;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const ONLY_FIRST: ScriptCheck =
    ScriptCheck { name: "replaces-only-first", captures: &["PATTERN"], run: only_first };

pub(in crate::rules::ecmascript) const BACKSLASH: ScriptCheck =
    ScriptCheck { name: "backslash-not-escaped", captures: &["CHARACTER"], run: backslashes };

pub(in crate::rules::ecmascript) const TWICE: ScriptCheck =
    ScriptCheck { name: "escapes-twice", captures: &["CHARACTER", "EFFECT"], run: escapes_twice };

/// Characters with a special meaning in markup, quotes, shells and patterns.
const META: &str = "'\"\\<>&\n*|{}[]%$";

fn replacements<'t>(program: &ScriptFile<'t>) -> Vec<Replacement<'t>> {
    program
        .of_kind("call_expression")
        .iter()
        .filter_map(|call| program.replacement(*call))
        .collect()
}

fn only_first(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for replacement in replacements(program) {
        let pattern = &replacement.pattern;
        if pattern.is_global || pattern.is_anchored() {
            continue;
        }
        let is_meta = pattern
            .characters()
            .is_some_and(|all| !all.is_empty() && all.iter().all(|c| META.contains(*c)));
        let is_path =
            pattern.text().is_some_and(|text| matches!(text.as_str(), "../" | "..\\" | ".."));
        let escapes = replacement.with.as_deref().is_some_and(|with| escapes(with, pattern.text()));
        if (is_meta && escapes) || (is_path && replacement.with.as_deref() == Some("")) {
            if is_unwrapping(program, &replacement) || is_once(program, &replacement) {
                continue;
            }
            let text = pattern.text().unwrap_or_else(|| pattern.source.clone());
            matches.push(last_part(&replacement, vec![("PATTERN", shown(&text))]));
        }
    }
    matches
}

fn shown(text: &str) -> String {
    text.replace('\n', "\\n")
}

/// Whether the replacement makes the character harmless: an escape, an entity, or the empty text.
fn escapes(with: &str, text: Option<String>) -> bool {
    let text = text.unwrap_or_default();
    with.is_empty() && matches!(text.as_str(), "'" | "\"" | "<" | ">" | "&" | "\\")
        || with.starts_with('\\') && with != text
        || with.starts_with('&') && with.ends_with(';')
        || with.starts_with('%')
        || (with == "''" && text == "'")
        || (with == "\"\"" && text == "\"")
}

/// `s.replace("[", "").replace("]", "")` removes brackets around a text.
fn is_unwrapping<'t>(program: &ScriptFile<'t>, replacement: &Replacement<'t>) -> bool {
    if replacement.with.as_deref() != Some("") {
        return false;
    }
    let next = |node: Node<'t>| {
        let member = program.parent(node)?;
        program.replacement(program.parent(member)?)
    };
    let partner = next(replacement.call).or_else(|| {
        (replacement.receiver.kind() == "call_expression")
            .then(|| program.replacement(replacement.receiver))
            .flatten()
    });
    partner.is_some_and(|other| !other.pattern.is_global && other.with.as_deref() == Some(""))
}

/// Whether replacing once is enough: the text is a constant, or the call is repeated in a loop.
fn is_once<'t>(program: &ScriptFile<'t>, replacement: &Replacement<'t>) -> bool {
    program.constant_text(replacement.receiver).is_some()
        || program
            .ancestors(replacement.call)
            .take(8)
            .any(|around| matches!(around.kind(), "while_statement" | "do_statement"))
}

fn backslashes(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for replacement in replacements(program) {
        let Some(with) = replacement.with.as_deref() else { continue };
        let Some(characters) = replacement.pattern.characters() else { continue };
        if !replacement.pattern.is_global || characters.contains(&'\\') {
            continue;
        }
        let [only] = characters.as_slice() else { continue };
        let is_quote = matches!(only, '\'' | '"' | '`');
        let puts_backslash = with == format!("\\{only}") || with == "\\$&";
        let handled = program.earlier(&replacement).iter().any(handles_backslash)
            || later(program, &replacement).iter().any(handles_backslash)
            || program.text(replacement.receiver).contains("JSON.stringify");
        if is_quote && puts_backslash && !handled {
            matches.push(last_part(&replacement, vec![("CHARACTER", only.to_string())]));
        }
    }
    matches
}

fn handles_backslash(replacement: &Replacement<'_>) -> bool {
    replacement.pattern.source.contains('\\')
}

/// The replacements that are chained behind this one.
fn later<'t>(program: &ScriptFile<'t>, replacement: &Replacement<'t>) -> Vec<Replacement<'t>> {
    let mut found = Vec::new();
    let mut call = replacement.call;
    while found.len() < 32 {
        let member = program.parent(call).filter(|it| it.kind() == "member_expression");
        let next = member.and_then(|it| program.parent(it));
        let Some(next) = next.and_then(|it| program.replacement(it)) else { break };
        call = next.call;
        found.push(next);
    }
    found
}

fn escapes_twice(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for replacement in replacements(program).into_iter().filter(|it| it.pattern.is_global) {
        let earlier: Vec<_> =
            program.earlier(&replacement).into_iter().filter(|it| it.pattern.is_global).collect();
        if let Some(escape) = escaped_character(&replacement)
            && earlier.iter().any(|it| puts_in(program, it, escape))
        {
            let effect = "what the replacements before it have put in is escaped once more";
            matches.push(twice(&replacement, escape, effect));
        }
        for first in &earlier {
            if let Some(escape) = unescaped_character(first)
                && let Some(text) = replacement.pattern.text()
                && text.starts_with(escape)
                && text.chars().count() > 1
                && !matches.iter().any(|it: &NativeMatch| it.bytes.end == first.call.end_byte())
            {
                let effect = "what it gives is unescaped once more by the replacements behind it";
                matches.push(twice(first, escape, effect));
            }
        }
    }
    matches
}

fn twice(replacement: &Replacement<'_>, escape: char, effect: &str) -> NativeMatch {
    let captures = vec![("CHARACTER", escape.to_string()), ("EFFECT", effect.to_owned())];
    last_part(replacement, captures)
}

/// A match of the last call of a chain only: the node of the call starts with the whole chain.
fn last_part(replacement: &Replacement<'_>, captures: Vec<(&'static str, String)>) -> NativeMatch {
    let mut reported = found(replacement.call, captures);
    let method = replacement.call.child_by_field_name("function");
    let name = method.and_then(|it| it.child_by_field_name("property"));
    reported.bytes.start = name.map_or(reported.bytes.start, |it| it.start_byte());
    reported
}

/// The character that introduces the escapes which a replacement writes: `&` in `&amp;`.
fn escaped_character(replacement: &Replacement<'_>) -> Option<char> {
    if replacement.pattern.source.contains("(?") {
        return None;
    }
    let text = replacement.pattern.text()?;
    let with = replacement.with.as_deref()?;
    let mut characters = text.chars();
    let escape = characters.next().filter(|_| characters.next().is_none())?;
    (matches!(escape, '&' | '%' | '\\') && with.starts_with(escape) && with.len() > 1)
        .then_some(escape)
}

/// The character that a replacement restores: `&` of `&amp;`.
fn unescaped_character(replacement: &Replacement<'_>) -> Option<char> {
    let text = replacement.pattern.text()?;
    let with = replacement.with.as_deref()?;
    let mut characters = with.chars();
    let escape = characters.next().filter(|_| characters.next().is_none())?;
    (matches!(escape, '&' | '%' | '\\') && text.starts_with(escape) && text.chars().count() > 1)
        .then_some(escape)
}

/// Whether a replacement writes the character, other than for the character itself.
fn puts_in<'t>(program: &ScriptFile<'t>, replacement: &Replacement<'t>, escape: char) -> bool {
    let own = replacement.pattern.characters().is_some_and(|all| all.contains(&escape));
    let unescapes = replacement.pattern.text().is_some_and(|it| it.starts_with(escape));
    if own || unescapes {
        return false;
    }
    match &replacement.with {
        Some(with) => with.contains(escape) && with.chars().count() > 1,
        // A function that looks its answers up in a table of escapes.
        None => table_puts_in(program, replacement, escape),
    }
}

fn table_puts_in<'t>(
    program: &ScriptFile<'t>,
    replacement: &Replacement<'t>,
    escape: char,
) -> bool {
    let function = crate::rules::ecmascript::origin::arguments(replacement.call).get(1).copied();
    let Some(function) = function else { return false };
    program.inside(function).iter().filter(|it| it.kind() == "subscript_expression").any(|lookup| {
        let table = lookup.child_by_field_name("object").and_then(|it| program.object_value(it));
        table.is_some_and(|table| {
            program.inside(table).iter().any(|it| {
                it.kind() == "string"
                    && program
                        .constant_text(*it)
                        .is_some_and(|text| text.starts_with(escape) && text.chars().count() > 1)
            })
        })
    })
}
