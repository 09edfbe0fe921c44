//! The stop hook in and out of a file of settings. Claude Code and Codex write it the same way: groups
//! under `hooks.Stop`, each with a list of commands.

use super::tree::{Kind, Node, after_blank, parse};
use std::ops::Range;

/// A group with the hook, in lines that are indented by two spaces. The time is a minute more than the
/// hook takes.
const GROUP: &str = r#"{
  "hooks": [
    {
      "type": "command",
      "command": "mala hook stop",
      "timeout": 600
    }
  ]
}"#;

/// The file with the hook in it; `None` when it is there already.
pub(super) fn installed(text: &str) -> Result<Option<String>, String> {
    if text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() {
        return Ok(Some(format!("{}\n", object("hooks", &object("Stop", &list(GROUP))))));
    }
    let root = parse(text)?;
    if !matches!(root.kind, Kind::Object(_)) {
        return Err("it is not an object".to_owned());
    }
    let Some(hooks) = root.get("hooks") else {
        let member = keyed("hooks", &object("Stop", &list(GROUP)));
        return added(text, &root, &member).map(Some);
    };
    if !matches!(hooks.kind, Kind::Object(_)) {
        return Err("`hooks` is not an object".to_owned());
    }
    let Some(stop) = hooks.get("Stop") else {
        return added(text, hooks, &keyed("Stop", &list(GROUP))).map(Some);
    };
    if !matches!(stop.kind, Kind::Array(_)) {
        return Err("`hooks.Stop` is not a list".to_owned());
    }
    match is_in(&root, is_hook) {
        true => Ok(None),
        false => added(text, stop, GROUP).map(Some),
    }
}

/// Whether the hook is in the file, whoever wrote it.
pub(super) fn has_hook(text: &str) -> Result<bool, String> {
    Ok(is_in(&parse(text)?, is_hook))
}

/// The file without the hook as `installed` writes it; `None` when that is not there.
pub(super) fn removed(text: &str) -> Result<Option<String>, String> {
    let mut current: Option<String> = None;
    loop {
        let now = current.as_deref().unwrap_or(text);
        let root = parse(now)?;
        let Some((container, part)) = own(&root, now) else { return Ok(current) };
        current = Some(without(now, container, part)?);
    }
}

/// Whether a command like this is in the file.
fn is_in(root: &Node, fits: impl Fn(&Node) -> bool) -> bool {
    let stop = root.get("hooks").and_then(|hooks| hooks.get("Stop"));
    let groups = stop.map(Node::items).unwrap_or_default().iter();
    let commands = groups.filter_map(|group| group.get("hooks")).flat_map(Node::items);
    commands.into_iter().any(fits)
}

/// The first part that is there only for the hook, and what it is in: the command, or the group, list or
/// block that has nothing else.
fn own<'n>(root: &'n Node, text: &str) -> Option<(&'n Node, usize)> {
    let hooks = root.get("hooks")?;
    let stop = hooks.get("Stop")?;
    let (group_at, group, at) = stop.items().iter().enumerate().find_map(|(group_at, group)| {
        let commands = group.get("hooks")?.items();
        Some((group_at, group, commands.iter().position(|command| is_own(command, text))?))
    })?;
    let commands = group.get("hooks")?;
    if commands.items().len() > 1 {
        return Some((commands, at));
    }
    if stop.items().len() > 1 {
        return Some((stop, group_at));
    }
    let place = |node: &Node, key: &str| node.members().iter().position(|it| it.key == key);
    if hooks.members().len() > 1 {
        return Some((hooks, place(hooks, "Stop")?));
    }
    Some((root, place(root, "hooks")?))
}

/// Whether a command is the one that `installed` writes.
fn is_own(command: &Node, text: &str) -> bool {
    let words = |key: &str| command.get(key).and_then(Node::text);
    let time = command.get("timeout").and_then(|node| text.get(node.span.clone()));
    let parts = (command.members().len(), words("type"), words("command"), time);
    parts == (3, Some("command"), Some("mala hook stop"), Some("600"))
}

/// Whether a command is the hook, wherever the program is and whatever it is told.
fn is_hook(command: &Node) -> bool {
    let Some(text) = command.get("command").and_then(Node::text) else { return false };
    let mut words = text.split_whitespace();
    let program = words.next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    name == "mala" && words.next() == Some("hook") && words.next() == Some("stop")
}

/// The text with one more part at the end of a list or block.
fn added(text: &str, container: &Node, part: &str) -> Result<String, String> {
    let inside = container.inside();
    let content = text.get(inside.clone()).unwrap_or_default();
    // After the last comment: what it is about comes before it.
    let end = inside.start + content.trim_end().len();
    let (ending, unit) = (line_ending(text), unit(text));
    let own_indent = indent(text, container.span.start);
    let Some(last) = container.parts().pop() else {
        let part = indented(part, unit, &format!("{own_indent}{unit}"), ending);
        let new = format!("{ending}{own_indent}{unit}{part}{ending}{own_indent}");
        return Ok(replaced(text, &[(end..inside.end, &new)]));
    };
    let has_comma = text.as_bytes().get(after_blank(text, last.end)?) == Some(&b',');
    let comma = if has_comma { "" } else { "," };
    if !content.contains('\n') {
        let part: String = part.lines().map(str::trim_start).collect::<Vec<_>>().join(" ");
        return Ok(replaced(text, &[(last.end..last.end, comma), (end..end, &format!(" {part}"))]));
    }
    let first = container.parts().first().map_or(last.start, |first| first.start);
    let indent = indent(text, first);
    let part = indented(part, unit, &indent, ending);
    let new = format!("{ending}{indent}{part}");
    Ok(replaced(text, &[(last.end..last.end, comma), (end..end, &new)]))
}

/// The text without one part of a list or block.
fn without(text: &str, container: &Node, at: usize) -> Result<String, String> {
    let parts = container.parts();
    let Some(part) = parts.get(at).cloned() else { return Err("it is not there".to_owned()) };
    let inside = container.inside();
    let comma_after = after_blank(text, part.end)?;
    let has_comma = text.as_bytes().get(comma_after) == Some(&b',');
    let blank = |range: Range<usize>| text.get(range).unwrap_or_default();
    if at + 1 < parts.len() {
        // Up to the next word, which takes its place.
        let after = comma_after + 1;
        let rest = blank(after..inside.end);
        let next = after + (rest.len() - rest.trim_start().len());
        return Ok(replaced(text, &[(part.start..next, "")]));
    }
    let end = if has_comma { comma_after + 1 } else { part.end };
    let before = match at.checked_sub(1).and_then(|before| parts.get(before)) {
        Some(before) => before.end,
        None => {
            let is_alone = blank(inside.start..part.start).trim().is_empty()
                && blank(end..inside.end).trim().is_empty();
            let range = if is_alone { inside } else { part.start..end };
            return Ok(replaced(text, &[(range, "")]));
        }
    };
    let comma = after_blank(text, before)?;
    let from = comma + 1 + blank(comma + 1..part.start).trim_end().len();
    Ok(replaced(text, &[(comma..comma + 1, ""), (from..end, "")]))
}

/// The text with these ranges replaced; they are in order.
fn replaced(text: &str, changes: &[(Range<usize>, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in changes {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(new);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn line_ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// By what the file indents: what its first indented line starts with.
fn unit(text: &str) -> &str {
    let blank = |line: &'_ str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let line = text.lines().find(|line| blank(line) > 0 && !line.trim().is_empty());
    line.and_then(|line| line.get(..blank(line))).unwrap_or("  ")
}

/// What the line with this place starts with.
fn indent(text: &str, at: usize) -> String {
    let line = text.get(..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// Lines that are indented by two spaces, in the way of a file; the first stands where it is put.
fn indented(part: &str, unit: &str, indent: &str, ending: &str) -> String {
    let mut lines = part.lines().map(|line| {
        let depth = (line.len() - line.trim_start().len()) / 2;
        format!("{}{}", unit.repeat(depth), line.trim_start())
    });
    let mut out = lines.next().unwrap_or_default();
    for line in lines {
        out.push_str(&format!("{ending}{indent}{line}"));
    }
    out
}

fn deeper(part: &str) -> String {
    part.replace('\n', "\n  ")
}

fn keyed(key: &str, value: &str) -> String {
    format!("\"{key}\": {value}")
}

fn object(key: &str, value: &str) -> String {
    format!("{{\n  {}\n}}", deeper(&keyed(key, value)))
}

fn list(item: &str) -> String {
    format!("[\n  {}\n]", deeper(item))
}

#[cfg(test)]
mod tests;
