//! The role of a name at its place: declaration, write, read, or none.

use super::DeclarationKind;
use super::language_roles::{ecmascript, python};
use crate::source::Source;
use crate::symbols::table::LanguageTable;
use crate::symbols::walk::{AncestorTrail, WalkStep, named_children};
use mala_domain::language::Language;
use tree_sitter::Node;

/// The value that a variable receives.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WrittenValue<'t> {
    /// The value of this expression; the function or class itself for a declaration.
    Exactly(Node<'t>),
    /// A property of this expression's value; the second node is the property's name.
    Member(Node<'t>, Node<'t>),
    /// The value of an operation with the former value.
    Updated(Node<'t>),
    /// An element or a key of the value that this loop iterates.
    Iterated(Node<'t>),
    /// Nothing is known.
    Unknown,
}

/// The role of a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum NameRole<'t> {
    /// It is a key, a label or a member.
    Ignored,
    /// It reads a value.
    Reads,
    /// It names a type.
    ReadsType,
    /// It puts a value into a variable that is declared elsewhere.
    Writes { value: WrittenValue<'t>, is_read: bool },
    /// It declares a variable, perhaps with a value.
    Declares {
        kind: DeclarationKind,
        scope: DeclaringScope,
        value: Option<WrittenValue<'t>>,
        is_read: bool,
    },
    /// Python's `global`.
    Global,
    /// Python's `nonlocal`.
    Nonlocal,
}

/// The scope that a declaration belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclaringScope {
    /// The innermost one.
    Here,
    /// The innermost one that is no comprehension.
    Assignment,
    /// The function around.
    Function,
    /// The one around the node at this depth; for hoisted names, the function around that.
    Around { depth: usize, hoisted: bool },
}

/// Names of members, which are no variables.
const MEMBER_NAMES: [&str; 3] =
    ["property_identifier", "private_property_identifier", "field_identifier"];

/// Whether the names in imports have places in the language's table.
pub(super) fn has_import_places(language: Language) -> bool {
    super::is_ecmascript(language) || language == Language::Python
}

/// The role of the name at `step`; `in_annotation` says whether a type annotation is around it.
pub(super) fn role_of<'t>(
    source: &Source,
    table: &LanguageTable,
    (trail, step): (&AncestorTrail<'t>, WalkStep<'t>),
    in_annotation: bool,
) -> NameRole<'t> {
    let Some(parent) = trail.parent() else { return NameRole::Reads };
    let kind = parent.node.kind();
    if MEMBER_NAMES.contains(&step.node.kind())
        || table.ignored.contains(&(kind, step.field))
        || (kind, parent.field) == ("literal_element", "key")
        || is_html_tag(source, kind, step)
    {
        return NameRole::Ignored;
    }
    if kind == "token_tree" {
        return NameRole::Reads;
    }
    let own = match source.language() {
        Language::Python => python(trail, step, in_annotation),
        language if super::is_ecmascript(language) => ecmascript(source, trail, step),
        _ => None,
    };
    if let Some(role) = own {
        return role;
    }
    if let Some(binder) = binder_of(source, table, trail, step) {
        return binder.role(source, trail);
    }
    let is_member = table.members.iter().any(|(node, object, member)| {
        *node == kind && *member == step.field && parent.node.child_by_field_name(object).is_some()
    });
    let is_inner_part = table.paths.contains(&kind)
        && parent.node.named_child(0).is_some_and(|first| first != step.node);
    if is_member || is_inner_part {
        return NameRole::Ignored;
    }
    if step.node.kind() == "type_identifier" || in_annotation {
        return NameRole::ReadsType;
    }
    NameRole::Reads
}

/// Whether a name is the tag of an HTML element, such as `html` in `<html>`; components have capital letters.
pub(in crate::symbols) fn is_html_tag(source: &Source, parent: &str, step: WalkStep<'_>) -> bool {
    let is_tag = step.field == "name"
        && matches!(
            parent,
            "jsx_opening_element" | "jsx_closing_element" | "jsx_self_closing_element"
        );
    is_tag && source.slice(step.node).starts_with(|c: char| c.is_ascii_lowercase())
}

/// The kind of declaration, its scope, and its first value.
type Declaration<'t> = (DeclarationKind, DeclaringScope, Option<WrittenValue<'t>>);

/// The node that binds a name, perhaps through a pattern.
struct BindingPlace<'t> {
    /// The name.
    name: Node<'t>,
    /// The node that binds it.
    node: Node<'t>,
    /// How many ancestors the binding node has.
    depth: usize,
    /// The nodes of the pattern around the name, the innermost first.
    around: Vec<Node<'t>>,
}

/// The node that binds or writes a name; `None` if there is none.
fn binder_of<'t>(
    source: &Source,
    table: &LanguageTable,
    trail: &AncestorTrail<'t>,
    step: WalkStep<'t>,
) -> Option<BindingPlace<'t>> {
    // A capitalised name in a pattern of Rust is a constant or a variant.
    let is_constant = source.language() == Language::Rust
        && source.slice(step.node).starts_with(char::is_uppercase);
    let mut child = step;
    let mut around = Vec::new();
    for (climbed, ancestor) in trail.up().enumerate() {
        let place = (ancestor.node.kind(), child.field);
        if table.binders.contains(&place) || table.writers.contains(&place) {
            let depth = trail.depth() - 1 - climbed;
            let binds = !(is_constant && (climbed > 0 || place.0 == "match_arm"));
            let found = BindingPlace { name: step.node, node: ancestor.node, depth, around };
            return binds.then_some(found);
        }
        let is_lone_path = place.0 == "dotted_name" && ancestor.node.named_child_count() == 1;
        if !table.patterns.contains(&place) && !is_lone_path {
            return None;
        }
        around.push(ancestor.node);
        child = ancestor;
    }
    None
}

/// Whether the name is in a place that declares it, or assigns to it as a whole.
pub(in crate::symbols) fn binds(
    source: &Source,
    table: &LanguageTable,
    trail: &AncestorTrail<'_>,
    step: WalkStep<'_>,
) -> bool {
    let is_binder =
        |place: &BindingPlace<'_>| table.binders.iter().any(|(node, _)| *node == place.node.kind());
    binder_of(source, table, trail, step).is_some_and(|place| is_binder(&place))
}

impl<'t> BindingPlace<'t> {
    fn role(&self, source: &Source, trail: &AncestorTrail<'t>) -> NameRole<'t> {
        let is_python = source.language() == Language::Python;
        let scope = if is_python { DeclaringScope::Assignment } else { DeclaringScope::Here };
        let (kind, scope, value) = match self.node.kind() {
            "variable_declarator" if super::is_ecmascript(source.language()) => {
                return self.declarator(source, trail);
            }
            "for_in_statement" => return self.loop_head(source),
            "assignment_expression" | "assignment_statement" => return self.assignment(source),
            "augmented_assignment_expression"
            | "update_expression"
            | "inc_statement"
            | "dec_statement"
            | "compound_assignment_expr" => {
                return NameRole::Writes { value: WrittenValue::Updated(self.node), is_read: true };
            }
            "augmented_assignment" | "operator_assignment" => {
                let (kind, value) = (DeclarationKind::Let, Some(WrittenValue::Updated(self.node)));
                return NameRole::Declares { kind, scope, value, is_read: true };
            }
            "function_declarator" => {
                let climbed = trail.up().position(|it| it.node.kind() == "function_definition");
                let depth = climbed.map(|climbed| trail.depth() - 1 - climbed);
                let around = depth.map(|depth| DeclaringScope::Around { depth, hoisted: false });
                (DeclarationKind::Function, around.unwrap_or(scope), None)
            }
            _ => self.definition(source).unwrap_or_else(|| self.variable(scope)),
        };
        NameRole::Declares { kind, scope, value, is_read: false }
    }

    /// The declaration of a function, a class, a type or a constant; `None` for other nodes.
    fn definition(&self, source: &Source) -> Option<Declaration<'t>> {
        let own = DeclaringScope::Around { depth: self.depth, hoisted: false };
        let itself = Some(WrittenValue::Exactly(self.node));
        let is_script = super::is_ecmascript(source.language());
        Some(match self.node.kind() {
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                let around = DeclaringScope::Around { depth: self.depth, hoisted: is_script };
                (DeclarationKind::Function, around, itself)
            }
            "function_expression" | "generator_function" => {
                (DeclarationKind::Function, DeclaringScope::Here, itself)
            }
            "class" if is_script => (DeclarationKind::Function, DeclaringScope::Here, itself),
            "enum_declaration" | "internal_module" | "module" | "mod_item" => {
                (DeclarationKind::Type, own, Some(WrittenValue::Unknown))
            }
            "const_item" | "static_item" | "const_spec" | "const_element" => {
                (DeclarationKind::Const, own, self.own_value())
            }
            kind if is_function(kind) => (DeclarationKind::Function, own, itself),
            kind if kind.starts_with("class") || kind.starts_with("abstract_class") => {
                (DeclarationKind::Class, own, itself)
            }
            kind if is_type(kind) => (DeclarationKind::Type, own, None),
            _ => return None,
        })
    }

    /// The declaration of any other node in a scope: a parameter, the variable of a loop, a
    /// capture.
    fn variable(&self, scope: DeclaringScope) -> Declaration<'t> {
        let (unknown, here) = (Some(WrittenValue::Unknown), DeclaringScope::Here);
        match self.node.kind() {
            "for_statement"
            | "for_range_loop"
            | "for_expression"
            | "for"
            | "foreach_statement"
            | "enhanced_for_statement"
            | "range_clause" => {
                (DeclarationKind::Let, scope, Some(WrittenValue::Iterated(self.node)))
            }
            "for_in_clause" => {
                (DeclarationKind::Let, here, Some(WrittenValue::Iterated(self.node)))
            }
            "catch_clause"
            | "catch_declaration"
            | "catch_formal_parameter"
            | "exception_variable" => (DeclarationKind::Caught, scope, unknown),
            kind if is_parameter(kind) => (DeclarationKind::Parameter, here, unknown),
            "delete_statement" | "case_pattern" | "keyword_pattern" | "splat_pattern"
            | "as_pattern" | "match_arm" => (DeclarationKind::Let, scope, unknown),
            _ => (DeclarationKind::Let, scope, self.own_value()),
        }
    }

    fn assignment(&self, source: &Source) -> NameRole<'t> {
        let operator = self.node.child_by_field_name("operator");
        if operator.is_some_and(|operator| source.slice(operator) != "=") {
            let value = WrittenValue::Updated(self.node);
            return NameRole::Writes { value, is_read: true };
        }
        let value = self.value();
        // The grammar parses `using a = b` as a name and an assignment.
        if source.slice(self.node).starts_with("using ") {
            let (kind, scope) = (DeclarationKind::Const, DeclaringScope::Here);
            return NameRole::Declares { kind, scope, value: Some(value), is_read: false };
        }
        NameRole::Writes { value, is_read: false }
    }

    /// JavaScript's `var`, `let` and `const`.
    fn declarator(&self, source: &Source, trail: &AncestorTrail<'t>) -> NameRole<'t> {
        let statement = trail.up().find(|it| it.node.kind().ends_with("_declaration"));
        let keyword = statement.and_then(|it| it.node.child_by_field_name("kind"));
        let kind = match keyword.map(|keyword| source.slice(keyword)) {
            Some("const") => DeclarationKind::Const,
            Some("let") => DeclarationKind::Let,
            _ if statement.is_some_and(|it| it.node.kind() == "using_declaration") => {
                DeclarationKind::Const
            }
            _ => DeclarationKind::Var,
        };
        let value = self.node.child_by_field_name("value").map(|_| self.value());
        NameRole::Declares { kind, scope: script_scope(kind), value, is_read: false }
    }

    fn loop_head(&self, source: &Source) -> NameRole<'t> {
        let value = match self.around.is_empty() {
            true => WrittenValue::Iterated(self.node),
            false => WrittenValue::Unknown,
        };
        let keyword = self.node.child_by_field_name("kind").map(|it| source.slice(it));
        let kind = match keyword {
            None => return NameRole::Writes { value, is_read: false },
            Some("const") => DeclarationKind::Const,
            Some("let") => DeclarationKind::Let,
            Some(_) => DeclarationKind::Var,
        };
        let value = Some(value);
        NameRole::Declares { kind, scope: script_scope(kind), value, is_read: false }
    }

    /// The value of the binding node, if it has one.
    fn own_value(&self) -> Option<WrittenValue<'t>> {
        let fields = ["right", "value"];
        let has_value = fields.iter().any(|it| self.node.child_by_field_name(it).is_some());
        has_value.then(|| self.value())
    }

    /// The part of the binding node's value that the name receives.
    fn value(&self) -> WrittenValue<'t> {
        let given = self.node.child_by_field_name("right");
        let Some(given) = given.or_else(|| self.node.child_by_field_name("value")) else {
            return WrittenValue::Unknown;
        };
        if let [list] = self.around.as_slice()
            && is_list(*list)
        {
            return in_list(*list, self.name, given);
        }
        let given = innermost_value(given);
        let is_shorthand = self.name.kind() == "shorthand_property_identifier_pattern";
        match self.around.as_slice() {
            [] => WrittenValue::Exactly(given),
            [wrapper] if wrapper.kind() == "parenthesized_expression" => {
                WrittenValue::Exactly(given)
            }
            [object] if is_shorthand && object.kind() == "object_pattern" => {
                WrittenValue::Member(given, self.name)
            }
            [pair, object]
                if pair.kind() == "pair_pattern" && object.kind() == "object_pattern" =>
            {
                let key = pair.child_by_field_name("key");
                let key = key.filter(|key| key.kind() != "computed_property_name");
                key.map_or(WrittenValue::Unknown, |key| WrittenValue::Member(given, key))
            }
            _ => WrittenValue::Unknown,
        }
    }
}

fn is_list(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "expression_list" | "pattern_list" | "tuple_pattern" | "tuple" | "left_assignment_list"
    )
}

/// The value for one name of `a, b = x, y`.
fn in_list<'t>(names: Node<'t>, name: Node<'t>, values: Node<'t>) -> WrittenValue<'t> {
    let names = named_children(names);
    let values = if is_list(values) { named_children(values) } else { Vec::new() };
    let at = names.iter().position(|step| step.node == name);
    match at.and_then(|at| values.get(at)) {
        Some(value) if names.len() == values.len() => WrittenValue::Exactly(value.node),
        _ => WrittenValue::Unknown,
    }
}

/// The value at the end of `a = b = value`, and the only one of a list.
fn innermost_value(value: Node<'_>) -> Node<'_> {
    let mut value = value;
    loop {
        let inner = match value.kind() {
            "assignment" => value.child_by_field_name("right"),
            "expression_list" if value.named_child_count() == 1 => value.named_child(0),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => return value,
        }
    }
}

fn script_scope(kind: DeclarationKind) -> DeclaringScope {
    match kind {
        DeclarationKind::Var => DeclaringScope::Function,
        _ => DeclaringScope::Here,
    }
}

fn is_parameter(kind: &str) -> bool {
    kind.contains("parameter") && !kind.starts_with("type_")
        || kind.starts_with("preproc_params")
        || matches!(kind, "arrow_function" | "lambda_expression")
}

fn is_function(kind: &str) -> bool {
    matches!(
        kind,
        "function_definition"
            | "function_item"
            | "function_signature_item"
            | "method_declaration"
            | "method"
            | "singleton_method"
            | "local_function_statement"
            | "macro_definition"
            | "preproc_def"
            | "preproc_function_def"
    )
}

fn is_type(kind: &str) -> bool {
    ["interface", "type_", "struct_", "enum_", "union_", "trait_", "record_", "delegate_", "alias"]
        .iter()
        .any(|start| kind.starts_with(start))
}
