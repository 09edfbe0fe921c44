//! Programs that are started for what the language can do itself.

use super::{found, path_matches, short};
use crate::rules::ecmascript::origin::arguments;
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const CAT: ProgramCheck =
    ProgramCheck { name: "useless-cat", captures: &["CALL"], run: useless_cats };

/// Functions that take a command line.
const LINES: [&str; 6] = [
    "child_process:exec",
    "child_process:execSync",
    "shelljs:exec",
    "exec:",
    "execa:command",
    "execa:commandSync",
];

/// Functions that take a program and its arguments.
const PROGRAMS: [&str; 5] = [
    "child_process:execFile",
    "child_process:execFileSync",
    "cross-spawn:",
    "cross-spawn:sync",
    "child_process:spawnSync",
];

fn useless_cats(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(path) = program.callee_origin(*call) else { continue };
        let is_one_of = |list: &[&str]| list.iter().any(|it| path_matches(it, &path));
        let reads = if is_one_of(&LINES) {
            is_cat_line(program, *call)
        } else {
            is_one_of(&PROGRAMS) && is_cat_program(program, *call)
        };
        let returns_child = !path.ends_with("Sync") && !path.ends_with("sync");
        if reads
            && has_plain_options(program, *call)
            && !reads_errors(program, *call)
            && !(returns_child && is_kept(program, *call))
        {
            matches.push(found(*call, vec![("CALL", short(program.text(*call)))]));
        }
    }
    matches
}

/// `cat file`, with one file and nothing that only a shell can do.
fn is_cat_line<'t>(program: &Program<'t>, call: Node<'t>) -> bool {
    let Some(line) = arguments(call).first().copied() else { return false };
    let Some(text) = line_with_holes(program, line) else { return false };
    let text = text.trim();
    let Some(file) = text.strip_prefix("cat ").or_else(|| text.strip_prefix("/bin/cat ")) else {
        return false;
    };
    let is_special = |c: char| "*|><&;,$`\"'(){}[]?\\!\n".contains(c);
    let is_list = program.text(line).contains(".join(");
    let file = file.trim();
    !file.is_empty() && !file.contains(' ') && !file.contains(is_special) && !is_list
}

/// A command line with `_` where a value comes in.
fn line_with_holes<'t>(program: &Program<'t>, node: Node<'t>) -> Option<String> {
    if let Some(text) = program.constant_text(node) {
        return Some(text.into_owned());
    }
    match node.kind() {
        "template_string" => {
            let mut line = String::new();
            let mut cursor = node.walk();
            for part in node.named_children(&mut cursor) {
                match part.kind() {
                    "template_substitution" => line.push('_'),
                    _ => line.push_str(program.text(part)),
                }
            }
            Some(line)
        }
        "binary_expression" if program.operator(node) == "+" => {
            let left = line_with_holes(program, node.child_by_field_name("left")?);
            let right = line_with_holes(program, node.child_by_field_name("right")?);
            Some(left.unwrap_or_else(|| "_".to_owned()) + &right.unwrap_or_else(|| "_".to_owned()))
        }
        _ => None,
    }
}

fn is_cat_program<'t>(program: &Program<'t>, call: Node<'t>) -> bool {
    let arguments = arguments(call);
    let [name, files, ..] = arguments.as_slice() else { return false };
    let is_cat = program
        .constant_text(*name)
        .is_some_and(|name| matches!(name.as_ref(), "cat" | "/bin/cat"));
    is_cat && files.kind() == "array" && files.named_child_count() == 1
}

/// Options other than the encoding need a process.
fn has_plain_options<'t>(program: &Program<'t>, call: Node<'t>) -> bool {
    arguments(call).into_iter().skip(1).all(|argument| {
        let Some(value) = program.value_of(argument) else { return false };
        match value.kind() {
            "array" => true,
            "object" => {
                let mut cursor = value.walk();
                value
                    .named_children(&mut cursor)
                    .all(|entry| program.member_name(entry) == Some("encoding"))
            }
            _ => is_function(value),
        }
    })
}

/// Whether the callback looks at what `cat` says about errors.
fn reads_errors<'t>(program: &Program<'t>, call: Node<'t>) -> bool {
    let callback = arguments(call).into_iter().find(|it| is_function(*it));
    let errors = callback.and_then(|it| program.parameters(it).get(2).copied());
    errors.and_then(|it| program.parameter_variable(it)).is_some_and(|it| !it.reads.is_empty())
}

/// Whether somebody gets hold of the process.
fn is_kept<'t>(program: &Program<'t>, call: Node<'t>) -> bool {
    match program.parent(call) {
        Some(parent) if parent.kind() == "expression_statement" => false,
        Some(parent) if parent.kind() == "variable_declarator" => parent
            .child_by_field_name("name")
            .and_then(|name| program.variable(name))
            .is_none_or(|variable| !variable.reads.is_empty()),
        _ => true,
    }
}
