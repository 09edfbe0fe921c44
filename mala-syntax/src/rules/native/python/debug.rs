//! Web applications that are started with their debugger on.

use super::code::{arguments, callee, last_name, named_argument, placed_arguments};
use super::module::{Module, found};
use super::names::Names;
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const FLASK_DEBUG: NativeCheck =
    NativeCheck { name: "python-flask-debug", captures: &["APP"] };

/// Where `debug` stands among the arguments of `run`.
const DEBUG_PLACE: usize = 2;

pub(super) fn flask_debug(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    if !source.text().contains("Flask(") && !source.text().contains("import Flask") {
        return Vec::new();
    }
    let names = module.names();
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let Some(app) = app_of(source, names, call) else { continue };
        let debug = named_argument(source, call, "debug")
            .or_else(|| placed_arguments(call).get(DEBUG_PLACE).copied());
        let is_on = debug.is_some_and(|it| is_true(source, names, it));
        if is_on && !is_dead(source, call) {
            matches.push(found(call, vec![("APP", app.to_owned())]));
        }
    }
    matches
}

/// The application whose `run` is called, directly or through a name for it.
fn app_of<'t>(source: &'t Source, names: &Names<'t>, call: Node<'t>) -> Option<&'t str> {
    let function = call.child_by_field_name("function")?;
    let method = names.value_of(function).filter(|it| it.kind() == "attribute")?;
    let app = method.child_by_field_name("object")?;
    let is_run = source.slice(method.child_by_field_name("attribute")?) == "run";
    let made = names.value_of(app).filter(|it| it.kind() == "call");
    let is_flask = made.is_some_and(|it| last_name(callee(source, it)) == "Flask");
    let is_named_so = matches!(source.slice(app), "app" | "application" | "flask_app");
    (is_run && (is_flask || is_named_so)).then(|| source.slice(app))
}

fn is_true<'t>(source: &'t Source, names: &Names<'t>, value: Node<'t>) -> bool {
    names.value_of(value).is_some_and(|it| match it.kind() {
        "true" => true,
        "integer" => source.slice(it) != "0",
        _ => false,
    })
}

/// Whether a call stands under `if False:`.
fn is_dead(source: &Source, call: Node<'_>) -> bool {
    super::code::ancestors(call).filter(|it| it.kind() == "if_statement").any(|it| {
        it.child_by_field_name("condition")
            .is_some_and(|condition| matches!(source.slice(condition), "False" | "0"))
    }) || arguments(call).is_empty()
}
