//! Texts with places for values, and the values given: `%`, `format`, and log calls.

use super::code::{
    arguments, callee, last_name, named_argument, plain_text, spreads_arguments, text_prefix,
};
use super::module::{Module, found};
use super::placeholders::{Fields, Percents};
use crate::rules::native::code::{bare, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const PERCENT: NativeCheck =
    NativeCheck { name: "python-percent-format", captures: &["PROBLEM"] };

pub(super) const FORMAT: NativeCheck =
    NativeCheck { name: "python-format-call", captures: &["PROBLEM"] };

pub(super) const UNUSED_VALUE: NativeCheck =
    NativeCheck { name: "python-format-unused-value", captures: &["VALUE"] };

pub(super) const LOGGING: NativeCheck =
    NativeCheck { name: "python-log-arguments", captures: &["PROBLEM"] };

/// A text that may be written in several pieces.
fn whole_text(source: &Source, node: Node<'_>) -> Option<String> {
    let node = bare(node);
    match node.kind() {
        "string" => plain_text(source, node).map(str::to_owned),
        "concatenated_string" => parts(node).into_iter().map(|it| plain_text(source, it)).collect(),
        _ => None,
    }
}

pub(super) fn percent_formats(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for node in module.nodes(&["binary_operator"]) {
        let field = |name| node.child_by_field_name(name);
        let (Some(left), Some(operator), Some(right)) =
            (field("left"), field("operator"), field("right"))
        else {
            continue;
        };
        let Some(text) = whole_text(source, left).filter(|_| operator.kind() == "%") else {
            continue;
        };
        let names = module.names();
        let right = bare(right);
        // A dictionary with a name may get further entries.
        let value = names.value_of(right).map(bare).filter(|it| it.kind() == "tuple");
        let value = value.unwrap_or(right);
        let problem = match Percents::read(&text) {
            Err(problem) => Some(problem),
            Ok(percents) => percent_problem(source, &percents, value),
        };
        if let Some(problem) = problem {
            matches.push(found(node, vec![("PROBLEM", problem)]));
        }
    }
    matches
}

fn percent_problem(source: &Source, percents: &Percents, value: Node<'_>) -> Option<String> {
    match (percents, value.kind()) {
        (Percents::Named(names), "dictionary") => {
            let entries = parts(value);
            let keys: Option<Vec<_>> = entries
                .iter()
                .map(|it| plain_text(source, it.child_by_field_name("key")?))
                .collect();
            let missing =
                names.iter().find(|it| keys.as_ref().is_some_and(|k| !k.contains(&it.as_str())))?;
            Some(format!("the text asks for `{missing}`, which the dictionary does not have"))
        }
        (Percents::Named(_), "tuple" | "list" | "string" | "integer" | "float") => {
            Some("the text asks for values by name and gets no dictionary".to_owned())
        }
        (Percents::Placed(n_wanted), "tuple") => {
            let values = parts(value);
            let is_open = values.iter().any(|it| it.kind() == "list_splat");
            let n_given = values.len();
            (!is_open && n_given != *n_wanted)
                .then(|| format!("the text has {n_wanted} places and gets {n_given} values"))
        }
        (
            Percents::Placed(n_wanted),
            "string" | "integer" | "float" | "list" | "list_comprehension" | "true" | "false",
        ) => (*n_wanted != 1).then(|| format!("the text has {n_wanted} places and gets 1 value")),
        _ => None,
    }
}

/// `"…".format(…)` with its text and fields.
struct FormatCall<'t> {
    node: Node<'t>,
    fields: Fields,
}

fn read_format_calls<'t>(module: &Module<'t>) -> Vec<FormatCall<'t>> {
    let source = module.source;
    let calls = module.nodes(&["call"]).into_iter();
    calls
        .filter_map(|node| {
            let target = node.child_by_field_name("function")?;
            let method = target.child_by_field_name("attribute")?;
            let is_format = target.kind() == "attribute" && source.slice(method) == "format";
            let object = target.child_by_field_name("object").filter(|_| is_format)?;
            let text = whole_text(source, object)?;
            let is_list = node.child_by_field_name("arguments")?.kind() == "argument_list";
            let fields = Fields::read(&text).filter(|_| is_list)?;
            Some(FormatCall { node, fields })
        })
        .collect()
}

pub(super) fn format_calls(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in read_format_calls(module) {
        if spreads_arguments(call.node) {
            continue;
        }
        let n_placed = n_placed(call.node);
        let missing_place = call.fields.highest.filter(|it| *it >= n_placed);
        let missing_name =
            call.fields.names.iter().find(|it| named_argument(source, call.node, it).is_none());
        let problem = match (missing_place, missing_name) {
            (Some(place), _) => {
                format!("the text asks for value number {} and gets {n_placed} by place", place + 1)
            }
            (None, Some(name)) => format!("the text asks for `{name}`, which is not given"),
            (None, None) => continue,
        };
        matches.push(found(call.node, vec![("PROBLEM", problem)]));
    }
    matches
}

fn n_placed(call: Node<'_>) -> usize {
    arguments(call).iter().filter(|it| it.kind() != "keyword_argument").count()
}

pub(super) fn unused_values(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in read_format_calls(module) {
        if call.fields.is_nested || spreads_arguments(call.node) {
            continue;
        }
        let mut place = 0;
        for argument in arguments(call.node) {
            let name = argument
                .child_by_field_name("name")
                .filter(|_| argument.kind() == "keyword_argument");
            let is_used = match name {
                Some(name) => call.fields.names.iter().any(|it| it == source.slice(name)),
                None => {
                    place += 1;
                    call.fields.places.contains(&(place - 1))
                }
            };
            if !is_used {
                let value = source.slice(argument).to_owned();
                matches.push(found(call.node, vec![("VALUE", value)]));
                break;
            }
        }
    }
    matches
}

pub(super) fn log_calls(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let Some(values) = log_values(source, call) else { continue };
        let [text, values @ ..] = values.as_slice() else { continue };
        let is_plain = matches!(text.kind(), "string" | "concatenated_string");
        let Some(text) = whole_text(source, *text).filter(|_| is_plain) else { continue };
        let problem = match Percents::read(&text) {
            // Without values, the text is written as it is.
            _ if values.is_empty() => continue,
            // Other libraries fill in braces.
            _ if text.contains('{') => continue,
            Err(problem) => problem,
            Ok(Percents::Placed(n_wanted)) if n_wanted != values.len() => {
                // A dictionary alone is taken apart by name.
                format!("the text has {n_wanted} places and gets {} values", values.len())
            }
            Ok(Percents::Named(_)) if values.len() > 1 => {
                format!("the text asks for values by name and gets {} by place", values.len())
            }
            Ok(_) => continue,
        };
        matches.push(found(call, vec![("PROBLEM", problem)]));
    }
    matches
}

/// The text and the values of a call of a logger from the standard library.
fn log_values<'t>(source: &Source, call: Node<'t>) -> Option<Vec<Node<'t>>> {
    const METHODS: [&str; 8] =
        ["debug", "info", "warning", "warn", "error", "critical", "exception", "fatal"];
    const LOGGERS: [&str; 5] = ["logger", "log", "logging", "_logger", "_log"];
    let (logger, method) = callee(source, call).rsplit_once('.')?;
    let logger = last_name(logger).to_lowercase();
    if !LOGGERS.contains(&logger.as_str()) || !METHODS.contains(&method) {
        return None;
    }
    let given = arguments(call);
    let is_known = |it: &Node<'_>| match it.kind() {
        "keyword_argument" => it.child_by_field_name("name").is_some_and(|name| {
            matches!(source.slice(name), "exc_info" | "extra" | "stack_info" | "stacklevel")
        }),
        kind => kind != "list_splat" && kind != "dictionary_splat",
    };
    let is_text =
        given.first().is_some_and(|it| text_prefix(source, *it).find(['f', 'b']).is_none());
    (is_text && given.iter().all(is_known))
        .then(|| given.into_iter().filter(|it| it.kind() != "keyword_argument").collect())
}
