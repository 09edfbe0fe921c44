//! Members of classes that do not do what they promise.

use super::found;
use crate::rules::ecmascript::binding::Declared;
use crate::rules::ecmascript::program::{is_class, is_function};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use std::collections::HashSet;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const MIXED_STATIC: ProgramCheck = ProgramCheck {
    name: "static-and-instance-mixed",
    captures: &["NAME", "WHY"],
    run: mixed_static,
};

pub(in crate::rules::ecmascript) const THIS_BEFORE_SUPER: ProgramCheck =
    ProgramCheck { name: "this-before-super", captures: &[], run: this_before_super };

pub(in crate::rules::ecmascript) const SETTER_IGNORES: ProgramCheck = ProgramCheck {
    name: "setter-ignores-value",
    captures: &["NAME", "PARAMETER"],
    run: setters_that_ignore,
};

pub(in crate::rules::ecmascript) const GETTER_WITHOUT_VALUE: ProgramCheck =
    ProgramCheck { name: "getter-without-value", captures: &["NAME"], run: getters_without_value };

pub(in crate::rules::ecmascript) const VUE_ARROW: ProgramCheck =
    ProgramCheck { name: "vue-arrow-function", captures: &["NAME"], run: vue_arrows };

/// Whether a member is marked `static`, `get` or `set`.
fn has_word(member: Node<'_>, word: &str) -> bool {
    let mut cursor = member.walk();
    member.children(&mut cursor).any(|it| it.kind() == word)
}

fn mixed_static(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for class in program.of_kinds(&["class_declaration", "class", "abstract_class_declaration"]) {
        let Some(chain) = class_chain(program, class) else { continue };
        let members: Vec<Node<'_>> =
            chain.iter().flat_map(|it| program.class_members(*it)).collect();
        let (of_class, of_objects) = names(program, &members);
        for member in program.class_members(class) {
            if member.kind() != "method_definition" {
                continue;
            }
            let in_static = has_word(member, "static");
            for (name, place) in reads_of_this(program, member) {
                let (here, there, why) = if in_static {
                    (&of_class, &of_objects, "it belongs to the objects, and `this` is the class")
                } else {
                    (&of_objects, &of_class, "it belongs to the class, and `this` is an object")
                };
                if there.contains(name) && !here.contains(name) && !is_put(program, name) {
                    let captures = vec![("NAME", name.to_owned()), ("WHY", why.to_owned())];
                    matches.push(found(place, captures));
                }
            }
        }
    }
    matches
}

/// A class with those that it extends; `None` when one of them is elsewhere.
fn class_chain<'t>(program: &Program<'t>, class: Node<'t>) -> Option<Vec<Node<'t>>> {
    let mut chain = vec![class];
    let mut current = class;
    while let Some(parent) = program.parent_class(current) {
        let known = program.variables().iter().find(|it| {
            it.name == parent && matches!(it.declared, Declared::Class) && it.writes.len() == 1
        })?;
        let next = known.only_value().filter(|it| is_class(*it))?;
        if chain.len() > 8 || next.id() == current.id() {
            return None;
        }
        chain.push(next);
        current = next;
    }
    Some(chain)
}

/// The names that a class has itself, and those that its objects have.
fn names<'t>(program: &Program<'t>, members: &[Node<'t>]) -> (HashSet<&'t str>, HashSet<&'t str>) {
    let (mut of_class, mut of_objects) = (HashSet::new(), HashSet::new());
    for member in members {
        if let Some(name) = program.member_name(*member) {
            if name == "constructor" {
                of_objects.extend(parameter_properties(program, *member));
            }
            if has_word(*member, "static") {
                of_class.insert(name);
            } else {
                of_objects.insert(name);
            }
        }
    }
    (of_class, of_objects)
}

/// `constructor(private name)` makes a member of the object.
fn parameter_properties<'t>(program: &Program<'t>, constructor: Node<'t>) -> Vec<&'t str> {
    let parameters = program.parameters(constructor).into_iter();
    parameters
        .filter(|it| {
            let mut cursor = it.walk();
            it.children(&mut cursor)
                .any(|word| matches!(word.kind(), "accessibility_modifier" | "readonly"))
        })
        .filter_map(|it| it.child_by_field_name("pattern"))
        .map(|name| program.text(name))
        .collect()
}

/// The members of `this` that a method reads.
fn reads_of_this<'t>(program: &Program<'t>, method: Node<'t>) -> Vec<(&'t str, Node<'t>)> {
    let Some(body) = method.child_by_field_name("body") else { return Vec::new() };
    program
        .own(body)
        .into_iter()
        .filter(|it| it.kind() == "member_expression")
        .filter_map(|it| {
            let object = it.child_by_field_name("object").filter(|it| it.kind() == "this")?;
            let property = it.child_by_field_name("property")?;
            (object.kind() == "this").then(|| (program.text(property), it))
        })
        .collect()
}

/// Whether anybody puts something under this name.
fn is_put(program: &Program<'_>, name: &str) -> bool {
    program.of_kind("assignment_expression").iter().any(|assignment| {
        let target = assignment.child_by_field_name("left");
        target
            .and_then(|it| it.child_by_field_name("property"))
            .is_some_and(|it| program.text(it) == name)
    })
}

fn this_before_super(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for class in program.of_kinds(&["class_declaration", "class"]) {
        if program.parent_class(class).is_none_or(|parent| parent == "null") {
            continue;
        }
        let constructor = program
            .class_members(class)
            .into_iter()
            .find(|member| program.member_name(*member) == Some("constructor"));
        let Some(body) = constructor.and_then(|it| it.child_by_field_name("body")) else {
            continue;
        };
        let calls_super =
            program.inside(body).iter().filter(|it| it.kind() == "call_expression").find(|it| {
                it.child_by_field_name("function").is_some_and(|it| it.kind() == "super")
            });
        let own = program.own(body);
        let first_this = own.iter().find(|it| it.kind() == "this");
        let returns =
            own.iter().any(|it| matches!(it.kind(), "return_statement" | "throw_statement"));
        match (calls_super, first_this) {
            (Some(call), Some(this)) if this.start_byte() < call.start_byte() => {
                matches.push(found(*this, Vec::new()));
            }
            (None, Some(this)) if !returns => matches.push(found(*this, Vec::new())),
            _ => {}
        }
    }
    matches
}

fn setters_that_ignore(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for method in program.of_kind("method_definition") {
        if !has_word(*method, "set") {
            continue;
        }
        let parameters = program.parameters(*method);
        let [parameter] = parameters.as_slice() else { continue };
        let name = parameter.child_by_field_name("pattern").unwrap_or(*parameter);
        let Some(body) = method.child_by_field_name("body") else { continue };
        let reads_other = program.inside(body).iter().any(|it| program.text(*it) == "arguments");
        let throws_only = program.inside(body).iter().any(|it| it.kind() == "throw_statement");
        let is_told = program.text(body).contains("//") || program.text(body).contains("/*");
        // An empty setter keeps others from setting the member.
        let is_ignored = name.kind() == "identifier"
            && program.own_statements(body) > 0
            && program.variable(name).is_some_and(|it| it.reads.is_empty());
        if is_ignored && !reads_other && !throws_only && !is_told {
            let captures = vec![
                ("NAME", program.member_name(*method).unwrap_or_default().to_owned()),
                ("PARAMETER", program.text(name).to_owned()),
            ];
            matches.push(found(*method, captures));
        }
    }
    matches
}

fn getters_without_value(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for method in program.of_kind("method_definition") {
        if !has_word(*method, "get") {
            continue;
        }
        let Some(body) = method.child_by_field_name("body") else { continue };
        let own = program.own(body);
        let gives = own.iter().any(|it| {
            it.kind() == "return_statement" && it.named_child(0).is_some()
                || it.kind() == "throw_statement"
        });
        if !gives && program.own_statements(body) > 0 {
            let name = program.member_name(*method).unwrap_or_default().to_owned();
            matches.push(found(*method, vec![("NAME", name)]));
        }
    }
    matches
}

impl<'t> Program<'t> {
    /// How many statements a block has, without comments.
    pub(super) fn own_statements(&self, block: Node<'t>) -> usize {
        let mut cursor = block.walk();
        block.named_children(&mut cursor).filter(|it| it.kind() != "comment").count()
    }
}

fn vue_arrows(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kinds(&["new_expression", "call_expression"]) {
        let is_vue = program.callee_origin(call).is_some_and(|path| {
            matches!(
                path.as_str(),
                "vue:"
                    | "Vue"
                    | "vue:extend"
                    | "Vue.extend"
                    | "vue:component"
                    | "Vue.component"
                    | "vue:defineComponent"
            )
        });
        let options = crate::rules::ecmascript::origin::arguments(call).last().copied();
        let Some(options) = options.filter(|it| is_vue && it.kind() == "object") else { continue };
        for arrow in program.inside(options).iter().filter(|it| it.kind() == "arrow_function") {
            let Some(pair) = program.parent(*arrow).filter(|it| it.kind() == "pair") else {
                continue;
            };
            let direct = program.function_around(pair).map(|it| it.id())
                == program.function_around(options).map(|it| it.id());
            let uses_this = arrow.child_by_field_name("body").is_some_and(|body| {
                body.kind() == "this" || program.own(body).iter().any(|it| it.kind() == "this")
            });
            if direct && uses_this && !is_function(options) {
                let name = program.member_name(pair).unwrap_or_default().to_owned();
                matches.push(found(pair, vec![("NAME", name)]));
            }
        }
    }
    matches
}
