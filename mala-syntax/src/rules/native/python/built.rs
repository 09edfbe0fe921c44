//! Commands and queries put together from values: whoever chooses a value can add to the command.

use super::code::{arguments, callee, last_name, plain_text};
use super::module::{Module, found};
use super::names::Names;
use crate::rules::native::code::{bare, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const SQL: NativeCheck =
    NativeCheck { name: "python-built-query", captures: &["VALUE", "CALL"] };

/// A text put together: its fixed pieces and the values between them, in their order.
struct Built<'t> {
    pieces: Vec<Piece<'t>>,
}

enum Piece<'t> {
    Fixed(String),
    Value(Node<'t>),
}

impl<'t> Built<'t> {
    /// Reads an expression; `None` when it is no text put together.
    fn of(source: &'t Source, names: &Names<'t>, node: Node<'t>) -> Option<Self> {
        let node = names.value_of(node).map(bare)?;
        let mut pieces = Vec::new();
        match node.kind() {
            "string" | "concatenated_string" => read_text(source, node, &mut pieces),
            "binary_operator" => {
                let field = |name| node.child_by_field_name(name);
                match field("operator")?.kind() {
                    "+" => read_sum(source, node, &mut pieces),
                    "%" => {
                        let text = fixed_text(source, field("left")?)?;
                        let right = bare(field("right")?);
                        let values =
                            if right.kind() == "tuple" { parts(right) } else { vec![right] };
                        weave(&text, &["%s", "%r", "%d", "%("], values, &mut pieces);
                    }
                    _ => return None,
                }
            }
            "call" => {
                let target = node.child_by_field_name("function")?;
                let method = source.slice(target.child_by_field_name("attribute")?);
                let text = fixed_text(source, target.child_by_field_name("object")?)?;
                if method != "format" {
                    return None;
                }
                let values = arguments(node).into_iter();
                let values =
                    values.map(|it| it.child_by_field_name("value").unwrap_or(it)).collect();
                weave(&text, &["{"], values, &mut pieces);
            }
            _ => return None,
        }
        let has_fixed = pieces.iter().any(|it| matches!(it, Piece::Fixed(_)));
        let has_value = pieces.iter().any(|it| matches!(it, Piece::Value(_)));
        (has_fixed && has_value).then_some(Self { pieces })
    }

    fn start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Fixed(text)) => text,
            _ => "",
        }
    }

    /// The values with the fixed text before each.
    fn values(&self) -> Vec<(&str, Node<'t>)> {
        let mut before = "";
        let mut found = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Fixed(text) => before = text,
                Piece::Value(value) => {
                    found.push((before, *value));
                    before = "";
                }
            }
        }
        found
    }
}

fn read_text<'t>(source: &'t Source, node: Node<'t>, pieces: &mut Vec<Piece<'t>>) {
    let texts = if node.kind() == "concatenated_string" { parts(node) } else { vec![node] };
    for part in texts.into_iter().flat_map(parts) {
        match part.kind() {
            "string_content" => pieces.push(Piece::Fixed(source.slice(part).to_owned())),
            "interpolation" => {
                pieces.extend(part.child_by_field_name("expression").map(Piece::Value));
            }
            _ => {}
        }
    }
}

fn read_sum<'t>(source: &'t Source, node: Node<'t>, pieces: &mut Vec<Piece<'t>>) {
    let mut rest = vec![node];
    while let Some(node) = rest.pop().map(bare) {
        let field = |name| node.child_by_field_name(name);
        match node.kind() {
            "binary_operator" => {
                rest.extend(field("right"));
                rest.extend(field("left"));
            }
            "string" | "concatenated_string" => read_text(source, node, pieces),
            _ => pieces.push(Piece::Value(node)),
        }
    }
}

fn fixed_text(source: &Source, node: Node<'_>) -> Option<String> {
    let node = bare(node);
    match node.kind() {
        "string" => plain_text(source, node).map(str::to_owned),
        "concatenated_string" => parts(node).into_iter().map(|it| plain_text(source, it)).collect(),
        _ => None,
    }
}

/// Puts values at the marks of a text.
fn weave<'t>(text: &str, marks: &[&str], values: Vec<Node<'t>>, pieces: &mut Vec<Piece<'t>>) {
    let mut rest = text;
    let mut values = values.into_iter();
    loop {
        let at = marks.iter().filter_map(|mark| Some((rest.find(mark)?, mark.len()))).min();
        let (Some((at, length)), Some(value)) = (at, values.next()) else { break };
        pieces.push(Piece::Fixed(rest.get(..at).unwrap_or_default().to_owned()));
        pieces.push(Piece::Value(value));
        rest = rest.get(at + length..).unwrap_or_default();
    }
    pieces.push(Piece::Fixed(rest.to_owned()));
}

/// How deep a value is looked into for constants.
const MAX_DEPTH: usize = 8;

/// Whether a text or list is made of constants alone, whatever its length: `",".join("?" * n)`.
fn is_constant<'t>(source: &'t Source, names: &Names<'t>, value: Node<'t>, depth: usize) -> bool {
    let Some(value) = names.value_of(bare(value)).map(bare).filter(|_| depth < MAX_DEPTH) else {
        return false;
    };
    let constant = |it: Node<'t>| is_constant(source, names, it, depth + 1);
    let field = |name| value.child_by_field_name(name);
    match value.kind() {
        "integer" | "float" | "true" | "false" | "none" => true,
        "string" => parts(value).into_iter().all(|part| match part.kind() {
            "interpolation" => part.child_by_field_name("expression").is_some_and(constant),
            _ => true,
        }),
        "concatenated_string" | "list" | "tuple" => parts(value).into_iter().all(constant),
        "list_comprehension" | "generator_expression" => field("body").is_some_and(constant),
        "binary_operator" => {
            let (Some(left), Some(right)) = (field("left"), field("right")) else { return false };
            match field("operator").map(|it| it.kind()) {
                Some("+") => constant(left) && constant(right),
                Some("*") => constant(left) || constant(right),
                _ => false,
            }
        }
        "conditional_expression" => match parts(value).as_slice() {
            [yes, _, no] => constant(*yes) && constant(*no),
            _ => false,
        },
        "call" => {
            let joins = field("function").filter(|target| {
                target.child_by_field_name("attribute").map(|it| source.slice(it)) == Some("join")
            });
            let between = joins.and_then(|target| target.child_by_field_name("object"));
            // A lone generator stands in place of the list of arguments.
            let joined = field("arguments").filter(|it| it.kind() == "generator_expression");
            let joined = joined.map_or_else(|| arguments(value), |it| vec![it]);
            between.is_some_and(constant) && matches!(joined.as_slice(), [only] if constant(*only))
        }
        _ => false,
    }
}

/// Values that cannot add anything: numbers, constants, quoted ones.
fn is_harmless<'t>(source: &'t Source, names: &Names<'t>, value: Node<'t>) -> bool {
    is_constant(source, names, value, 0) || looks_harmless(source, value)
}

fn looks_harmless(source: &Source, value: Node<'_>) -> bool {
    let value = bare(value);
    let text = source.slice(value);
    let name = last_name(text);
    match value.kind() {
        "integer" | "float" | "string" | "true" | "false" | "none" => true,
        "identifier" | "attribute" => {
            let is_constant = !name.contains(char::is_lowercase);
            let is_fixed = [
                // What people choose for themselves.
                "editor",
                "pager",
                "browser",
                "executable",
                "python",
                "version",
                "table",
                "ident",
                "column",
                "schema",
                "placeholder",
            ];
            is_constant || is_fixed.iter().any(|it| name.contains(it)) || names_a_number(name)
        }
        "call" => {
            let name = last_name(callee(source, value)).to_lowercase();
            let is_quoting = ["quote", "escape", "int", "len", "getpid", "float", "literal", "hex"];
            is_quoting.iter().any(|it| name.contains(it))
                || name == "join" && arguments(value).iter().all(|it| is_harmless_list(source, *it))
        }
        _ => false,
    }
}

/// Whether a name says that its value is a number.
fn names_a_number(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default();
    ["pid", "port", "count", "number", "num", "size", "width", "height", "timeout", "seconds"]
        .contains(&last)
}

fn is_harmless_list(source: &Source, list: Node<'_>) -> bool {
    let text = source.slice(list);
    ["quote", "escape", "?", "%s", "placeholder"].iter().any(|it| text.contains(it))
}

pub(super) fn built_queries(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    const SINKS: [&str; 8] = [
        "execute",
        "executemany",
        "executescript",
        "raw",
        "read_sql",
        "read_sql_query",
        "sql",
        "mogrify",
    ];
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let target = callee(source, call);
        if !SINKS.contains(&last_name(target)) || !target.contains('.') {
            continue;
        }
        let Some(query) = arguments(call).first().copied() else { continue };
        let query = match query.kind() {
            "call" if last_name(callee(source, query)) == "text" => {
                arguments(query).first().copied()
            }
            _ => Some(query),
        };
        let Some(query) = query else { continue };
        let names = module.names();
        let Some(built) = Built::of(source, names, query).filter(|it| is_query(it.start())) else {
            continue;
        };
        let value = built
            .values()
            .into_iter()
            .find(|(before, value)| is_value_place(before) && !is_harmless(source, names, *value));
        if let Some((_, value)) = value {
            let captures =
                vec![("VALUE", source.slice(value).to_owned()), ("CALL", target.to_owned())];
            matches.push(found(call, captures));
        }
    }
    matches
}

fn is_query(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(8).collect::<String>().to_lowercase();
    ["select ", "insert ", "update ", "delete ", "replace ", "with ", "merge ", "call ", "select\n"]
        .iter()
        .any(|it| start.starts_with(it))
}

/// Whether a value stands where data belongs, and not a table or column: in quotes, or compared.
fn is_value_place(before: &str) -> bool {
    let before = before.trim_end();
    let lower = before.to_lowercase();
    before.ends_with(['\'', '"', '=', '<', '>', '%'])
        || lower.ends_with(" like")
        || lower.ends_with("values (")
        || lower.ends_with("values(")
        || lower.ends_with(" in (")
}
