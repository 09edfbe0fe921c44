//! The hooks in and out of a file of settings. Claude Code and Codex write them the same way: groups
//! under `hooks.<event>`, each with a list of commands.

use super::tree::{Kind, Node, after_blank, parse};
use std::ops::Range;

/// A command that a host runs at an event.
struct Hook {
    event: &'static str,
    /// What `mala hook` is told.
    word: &'static str,
    /// In seconds: more than the command takes.
    timeout: &'static str,
}

/// In the order in which they are put in.
const HOOKS: [Hook; 2] = [
    Hook { event: "SessionStart", word: "start", timeout: "30" },
    Hook { event: "Stop", word: "stop", timeout: "600" },
];

/// The file with the hooks in it; `None` when they are there already.
pub(super) fn installed(text: &str) -> Result<Option<String>, String> {
    let mut new = None;
    for hook in &HOOKS {
        let now = new.as_deref().unwrap_or(text);
        new = hook.installed(now)?.or(new);
    }
    Ok(new)
}

/// Whether one of the hooks is in the file, whoever wrote it.
pub(super) fn has_hook(text: &str) -> Result<bool, String> {
    let root = parse(text)?;
    Ok(HOOKS.iter().any(|hook| hook.is_in(&root)))
}

/// The file without the hooks as `installed` writes them; `None` when none of that is there.
pub(super) fn removed(text: &str) -> Result<Option<String>, String> {
    let mut new: Option<String> = None;
    for hook in HOOKS.iter().rev() {
        loop {
            let now = new.as_deref().unwrap_or(text);
            let root = parse(now)?;
            let Some((container, part)) = hook.own(&root, now) else { break };
            new = Some(without(now, container, part)?);
        }
    }
    Ok(new)
}

impl Hook {
    fn command(&self) -> String {
        format!("mala hook {}", self.word)
    }

    /// A group with the hook, in lines that are indented by two spaces.
    fn group(&self) -> String {
        let (command, timeout) = (self.command(), self.timeout);
        let fields = [
            keyed("type", "\"command\""),
            keyed("command", &format!("\"{command}\"")),
            keyed("timeout", timeout),
        ];
        object(&keyed("hooks", &list(&object(&fields.join(",\n")))))
    }

    fn installed(&self, text: &str) -> Result<Option<String>, String> {
        let (event, group) = (self.event, self.group());
        let member = keyed(event, &list(&group));
        if text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() {
            return Ok(Some(format!("{}\n", object(&keyed("hooks", &object(&member))))));
        }
        let root = parse(text)?;
        if !matches!(root.kind, Kind::Object(_)) {
            return Err("it is not an object".to_owned());
        }
        refuse_twice(&root, "hooks")?;
        let Some(hooks) = root.get("hooks") else {
            return added(text, &root, &keyed("hooks", &object(&member))).map(Some);
        };
        if !matches!(hooks.kind, Kind::Object(_)) {
            return Err("`hooks` is not an object".to_owned());
        }
        refuse_twice(hooks, event)?;
        let Some(groups) = hooks.get(event) else { return added(text, hooks, &member).map(Some) };
        if !matches!(groups.kind, Kind::Array(_)) {
            return Err(format!("`hooks.{event}` is not a list"));
        }
        match self.is_in(&root) {
            true => Ok(None),
            false => added(text, groups, &group).map(Some),
        }
    }

    /// Whether the hook is in the file, wherever the program is and whatever it is told.
    fn is_in(&self, root: &Node) -> bool {
        let groups = root.get("hooks").and_then(|hooks| hooks.get(self.event));
        let groups = groups.map(Node::items).unwrap_or_default().iter();
        let mut commands = groups.filter_map(|group| group.get("hooks")).flat_map(Node::items);
        commands.any(|command| {
            let text = command.get("command").and_then(Node::text).unwrap_or_default();
            let words: Vec<&str> = text.split_whitespace().collect();
            words.windows(3).any(|words| match words {
                [program, "hook", word] => {
                    program.rsplit('/').next() == Some("mala") && *word == self.word
                }
                _ => false,
            })
        })
    }

    /// The first part that is there only for the hook, and what it is in: the command, or the group, list
    /// or block that has nothing else.
    fn own<'n>(&self, root: &'n Node, text: &str) -> Option<(&'n Node, usize)> {
        let hooks = root.get("hooks")?;
        let groups = hooks.get(self.event)?;
        let (group_at, group, at) = groups.items().iter().enumerate().find_map(|(at, group)| {
            let commands = group.get("hooks")?.items();
            Some((at, group, commands.iter().position(|command| self.is_own(command, text))?))
        })?;
        let commands = group.get("hooks")?;
        if commands.items().len() > 1 {
            return Some((commands, at));
        }
        if groups.items().len() > 1 {
            return Some((groups, group_at));
        }
        let place = |node: &Node, key: &str| node.members().iter().position(|it| it.key == key);
        if hooks.members().len() > 1 {
            return Some((hooks, place(hooks, self.event)?));
        }
        Some((root, place(root, "hooks")?))
    }

    /// Whether a command is the one that `installed` writes.
    fn is_own(&self, command: &Node, text: &str) -> bool {
        let words = |key: &str| command.get(key).and_then(Node::text);
        let time = command.get("timeout").and_then(|node| text.get(node.span.clone()));
        command.members().len() == 3
            && words("type") == Some("command")
            && words("command") == Some(&self.command())
            && time == Some(self.timeout)
    }
}

/// Nobody knows which of two a host reads.
fn refuse_twice(node: &Node, key: &str) -> Result<(), String> {
    match node.members().iter().filter(|member| member.key == key).count() {
        0 | 1 => Ok(()),
        _ => Err(format!("`{key}` is there twice")),
    }
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

fn object(members: &str) -> String {
    format!("{{\n  {}\n}}", deeper(members))
}

fn list(item: &str) -> String {
    format!("[\n  {}\n]", deeper(item))
}

#[cfg(test)]
mod tests;
