//! Adds the hooks to a settings file and removes them. Claude Code and Codex use the same format: groups
//! under `hooks.<event>`, each with a list of commands. Comments and formatting of the file are kept.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

/// A command that a host runs at an event.
struct InstalledHook {
    event: &'static str,
    /// The argument of `mala hook`.
    argument: &'static str,
    /// In seconds: longer than the command takes.
    timeout: &'static str,
}

/// In the order in which they are added.
const HOOKS: [InstalledHook; 2] = [
    InstalledHook { event: "SessionStart", argument: "start", timeout: "30" },
    InstalledHook { event: "Stop", argument: "stop", timeout: "600" },
];

/// The file with the hooks; `None` if it already has them.
pub(super) fn installed(text: &str) -> Result<Option<String>, String> {
    let (bom, root) = parse(text)?;
    let settings = match root.value() {
        None => {
            root.set_value(CstInputValue::Object(Vec::new()));
            root.object_value()
        }
        Some(value) => value.as_object(),
    };
    let settings = settings.ok_or("it is not an object")?;
    let mut is_changed = false;
    for hook in &HOOKS {
        is_changed |= hook.install(&settings)?;
    }
    Ok(is_changed.then(|| format!("{bom}{root}")))
}

/// Whether the file has one of the hooks, in any form.
pub(super) fn has_hook(text: &str) -> Result<bool, String> {
    let settings = parse(text)?.1.object_value();
    Ok(settings.is_some_and(|settings| HOOKS.iter().any(|hook| hook.is_in(&settings))))
}

/// The file without the hooks that `installed` writes; `None` if it contains none of them.
pub(super) fn removed(text: &str) -> Result<Option<String>, String> {
    let (bom, root) = parse(text)?;
    let Some(settings) = root.object_value() else { return Ok(None) };
    let mut is_changed = false;
    for hook in HOOKS.iter().rev() {
        while let Some(command) = hook.own_command(&settings) {
            remove_with_empty_parents(command);
            is_changed = true;
        }
    }
    Ok(is_changed.then(|| format!("{bom}{root}")))
}

/// Parses JSON with comments and trailing commas. Returns a byte order mark separately.
fn parse(text: &str) -> Result<(&str, CstRootNode), String> {
    let (bom, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text, &options).map_err(|error| {
        let mut message = error.to_string();
        message.get_mut(..1).map(str::make_ascii_lowercase);
        message
    })?;
    Ok((bom, root))
}

impl InstalledHook {
    fn command(&self) -> String {
        format!("mala hook {}", self.argument)
    }

    /// A group with the hook.
    fn group(&self) -> CstInputValue {
        let text = |text: &str| CstInputValue::String(text.to_owned());
        let command = CstInputValue::Object(vec![
            ("type".to_owned(), text("command")),
            ("command".to_owned(), text(&self.command())),
            ("timeout".to_owned(), CstInputValue::Number(self.timeout.to_owned())),
        ]);
        CstInputValue::Object(vec![("hooks".to_owned(), CstInputValue::Array(vec![command]))])
    }

    /// Adds the hook; false if it exists.
    fn install(&self, settings: &CstObject) -> Result<bool, String> {
        reject_duplicate(settings, "hooks")?;
        let hooks = settings.object_value_or_create("hooks").ok_or("`hooks` is not an object")?;
        reject_duplicate(&hooks, self.event)?;
        let groups = hooks
            .array_value_or_create(self.event)
            .ok_or_else(|| format!("`hooks.{}` is not a list", self.event))?;
        if self.is_in(settings) {
            return Ok(false);
        }
        if groups.elements().is_empty() {
            groups.ensure_multiline();
        }
        groups.append(self.group());
        Ok(true)
    }

    /// Whether the hook is in the file, with any path and any further arguments.
    fn is_in(&self, settings: &CstObject) -> bool {
        self.commands(settings).iter().any(|command| {
            let text = text_of(command, "command").unwrap_or_default();
            let words: Vec<&str> = text.split_whitespace().collect();
            words.windows(3).any(|words| match words {
                [program, "hook", argument] => {
                    program.rsplit('/').next() == Some("mala") && *argument == self.argument
                }
                _ => false,
            })
        })
    }

    /// The first command that `installed` writes for this hook.
    fn own_command(&self, settings: &CstObject) -> Option<CstObject> {
        let is_own = |command: &CstObject| {
            let timeout = command.get("timeout").and_then(|property| property.value());
            command.properties().len() == 3
                && text_of(command, "type").as_deref() == Some("command")
                && text_of(command, "command").as_deref() == Some(&*self.command())
                && timeout.is_some_and(|timeout| timeout.to_string() == self.timeout)
        };
        self.commands(settings).into_iter().find(is_own)
    }

    /// All commands of the event.
    fn commands(&self, settings: &CstObject) -> Vec<CstObject> {
        let groups = settings.object_value("hooks").and_then(|hooks| hooks.array_value(self.event));
        let groups = groups.iter().flat_map(CstArray::elements);
        let lists = groups.filter_map(|group| group.as_object()?.array_value("hooks"));
        lists.flat_map(|list| list.elements()).filter_map(|command| command.as_object()).collect()
    }
}

/// Removes a command, and its group, list and `hooks` if they have no other content.
fn remove_with_empty_parents(command: CstObject) {
    let mut last = CstNode::from(command);
    while let Some(parent) = last.parent() {
        let is_settings = parent.parent().is_some_and(|above| above.is_root());
        let n_children = parent.children_exclude_trivia_and_tokens().len();
        if is_settings || !(parent.is_object_prop() || n_children == 1) {
            break;
        }
        last = CstNode::from(parent);
    }
    last.remove();
}

/// Rejects a key that occurs twice: it is unclear which one the host reads.
fn reject_duplicate(object: &CstObject, key: &str) -> Result<(), String> {
    let names = object.properties().into_iter().filter_map(|property| property.decoded_name());
    match names.filter(|name| name == key).count() {
        0 | 1 => Ok(()),
        _ => Err(format!("duplicate key `{key}`")),
    }
}

fn text_of(object: &CstObject, key: &str) -> Option<String> {
    object.get(key)?.value()?.as_string_lit()?.decoded_value().ok()
}

#[cfg(test)]
mod tests;
