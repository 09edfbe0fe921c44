//! Python.

use super::{
    ClassView, ConditionView, ExpressionView, FunctionView, ParameterView, StatementView,
    SyntaxView, TargetView, ValuePart, children, field,
};
use tree_sitter::Node;

pub(super) fn expression<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ExpressionView<'t> {
    let parts = || ExpressionView::Other(children(node));
    let first = || children(node).into_iter().next();
    match node.kind() {
        "identifier" => ExpressionView::Name(view.text(node)),
        "string" => string(view, node),
        "concatenated_string" => ExpressionView::Join(children(node)),
        "string_content" | "integer" | "float" | "none" => {
            ExpressionView::Constant(view.text(node).to_owned())
        }
        "true" | "false" => ExpressionView::Constant(view.text(node).to_lowercase()),
        "attribute" => match (field(node, "object"), field(node, "attribute")) {
            (Some(object), Some(name)) => ExpressionView::Field(object, view.text(name)),
            _ => parts(),
        },
        "subscript" => match (field(node, "value"), field(node, "subscript")) {
            (Some(object), Some(index)) => ExpressionView::Element(object, index),
            _ => parts(),
        },
        "call" => match field(node, "function") {
            Some(callee) => {
                let arguments = field(node, "arguments").map(|it| arguments(view, it));
                ExpressionView::Call { callee, arguments: arguments.unwrap_or_default() }
            }
            None => parts(),
        },
        "lambda" | "function_definition" => ExpressionView::Function,
        "class_definition" => ExpressionView::Class,
        "binary_operator" => match (field(node, "left"), field(node, "right")) {
            (Some(left), Some(right)) => ExpressionView::Join(vec![left, right]),
            _ => parts(),
        },
        "boolean_operator" => match (field(node, "left"), field(node, "right")) {
            (Some(left), Some(right)) => match field(node, "operator").map(|it| view.text(it)) {
                Some("or") => ExpressionView::Choice { condition: None, values: vec![left, right] },
                _ => ExpressionView::Choice { condition: Some(left), values: vec![right] },
            },
            _ => parts(),
        },
        "conditional_expression" => match children(node).as_slice() {
            [then, condition, otherwise] => ExpressionView::Choice {
                condition: Some(*condition),
                values: vec![*then, *otherwise],
            },
            _ => parts(),
        },
        "list" | "tuple" | "set" | "expression_list" => {
            ExpressionView::List(children(node).into_iter().map(item).collect())
        }
        "dictionary" => {
            ExpressionView::Object(children(node).iter().filter_map(|it| pair(view, *it)).collect())
        }
        "list_comprehension" | "generator_expression" | "set_comprehension" => {
            comprehension(node).unwrap_or_else(parts)
        }
        "assignment" | "augmented_assignment" | "named_expression" => {
            assignment(node).unwrap_or_else(parts)
        }
        "parenthesized_expression"
        | "await"
        | "interpolation"
        | "list_splat"
        | "dictionary_splat"
        | "yield"
        | "as_pattern"
        | "type" => first().map_or_else(parts, ExpressionView::Same),
        _ => parts(),
    }
}

fn string<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ExpressionView<'t> {
    let pieces: Vec<_> = children(node)
        .into_iter()
        .filter(|piece| matches!(piece.kind(), "string_content" | "interpolation"))
        .collect();
    match pieces.as_slice() {
        [] => ExpressionView::Constant(String::new()),
        [only] if only.kind() == "string_content" => {
            ExpressionView::Constant(view.text(*only).to_owned())
        }
        _ => ExpressionView::Join(pieces),
    }
}

fn item(value: Node<'_>) -> ValuePart<'_> {
    ValuePart { name: None, value, is_spread: value.kind().ends_with("_splat") }
}

fn arguments<'t>(view: SyntaxView<'t>, list: Node<'t>) -> Vec<ValuePart<'t>> {
    if list.kind() == "generator_expression" {
        return vec![item(list)];
    }
    let argument = |child: Node<'t>| match child.kind() {
        "keyword_argument" => {
            let name = field(child, "name").map(|name| view.text(name).to_owned());
            field(child, "value").map(|value| ValuePart { name, value, is_spread: false })
        }
        _ => Some(item(child)),
    };
    children(list).into_iter().filter_map(argument).collect()
}

fn pair<'t>(view: SyntaxView<'t>, node: Node<'t>) -> Option<ValuePart<'t>> {
    if node.kind() != "pair" {
        return Some(item(node));
    }
    let key = field(node, "key")?;
    let name = match expression(view, key) {
        ExpressionView::Constant(text) => text,
        _ => view.text(key).to_owned(),
    };
    Some(ValuePart { name: Some(name), value: field(node, "value")?, is_spread: false })
}

fn comprehension(node: Node<'_>) -> Option<ExpressionView<'_>> {
    let element = field(node, "body")?;
    let clauses = children(node).into_iter().filter(|child| child.kind() == "for_in_clause");
    let loops = clauses.filter_map(|it| field(it, "left").zip(field(it, "right"))).collect();
    Some(ExpressionView::Comprehension { loops, element })
}

fn assignment(node: Node<'_>) -> Option<ExpressionView<'_>> {
    let target = field(node, "left").or_else(|| field(node, "name"))?;
    let value = field(node, "right").or_else(|| field(node, "value"))?;
    Some(ExpressionView::Assign { target, value, appends: node.kind() == "augmented_assignment" })
}

pub(super) fn condition<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ConditionView<'t> {
    let parts = children(node);
    match (node.kind(), parts.as_slice()) {
        ("parenthesized_expression", [inner]) => condition(view, *inner),
        ("not_operator", [inner]) => ConditionView::Not(*inner),
        ("boolean_operator", [left, right]) => {
            match field(node, "operator").map_or("", |operator| view.text(operator)) {
                "and" => ConditionView::And(*left, *right),
                _ => ConditionView::Or(*left, *right),
            }
        }
        ("comparison_operator", [left, right]) => {
            let between = left.end_byte()..right.start_byte();
            match view.source.text().get(between).unwrap_or_default().trim() {
                "==" | "is" => ConditionView::Equal(*left, *right, true),
                "!=" | "is not" => ConditionView::Equal(*left, *right, false),
                "in" => ConditionView::Contains(*left, true),
                "not in" => ConditionView::Contains(*left, false),
                _ => ConditionView::Other,
            }
        }
        _ => ConditionView::Other,
    }
}

pub(super) fn statement<'t>(view: SyntaxView<'t>, node: Node<'t>) -> StatementView<'t> {
    let block = || StatementView::Block(children(node));
    match node.kind() {
        "module"
        | "block"
        | "expression_statement"
        | "else_clause"
        | "finally_clause"
        | "except_clause"
        | "except_group_clause" => block(),
        "import_statement" | "import_from_statement" => StatementView::Import(imports(view, node)),
        "function_definition" | "class_definition" => {
            let name = field(node, "name").map_or("", |name| view.text(name));
            StatementView::Declare { name, definition: node }
        }
        "decorated_definition" => match field(node, "definition") {
            Some(definition) => statement(view, definition),
            None => block(),
        },
        "if_statement" | "elif_clause" => {
            let (Some(condition), Some(then)) =
                (field(node, "condition"), field(node, "consequence"))
            else {
                return block();
            };
            StatementView::If { condition, then, otherwise: next_branch(node) }
        }
        "for_statement" => StatementView::Loop {
            over: field(node, "left").zip(field(node, "right")),
            parts: Vec::new(),
            body: field(node, "body"),
        },
        "while_statement" => StatementView::Loop {
            over: None,
            parts: field(node, "condition").into_iter().collect(),
            body: field(node, "body"),
        },
        "with_statement" => {
            let mut steps = with_items(node);
            steps.extend(field(node, "body"));
            StatementView::Block(steps)
        }
        // `with open(path) as file`: the target gets the value.
        "with_item" => {
            let value = field(node, "value");
            let alias = value.and_then(|value| field(value, "alias"));
            match (value, alias.and_then(|alias| children(alias).into_iter().next())) {
                (Some(value), Some(target)) => StatementView::Bind(vec![(target, Some(value))]),
                _ => StatementView::Expressions(value.into_iter().collect()),
            }
        }
        "try_statement" => {
            let parts = children(node).into_iter();
            let clauses: Vec<_> = parts.filter(|it| it.kind().ends_with("_clause")).collect();
            let (finally, handlers): (Vec<_>, Vec<_>) =
                clauses.into_iter().partition(|it| it.kind() == "finally_clause");
            let (body, finally) = (field(node, "body"), finally.into_iter().next());
            StatementView::Try { body, handlers, finally }
        }
        "match_statement" => match (field(node, "subject"), field(node, "body")) {
            (Some(subject), Some(body)) => StatementView::Switch {
                subject,
                cases: children(body)
                    .into_iter()
                    .map(|case| field(case, "consequence").into_iter().collect())
                    .collect(),
            },
            _ => block(),
        },
        "return_statement" => StatementView::Return(children(node).into_iter().next()),
        "raise_statement" | "break_statement" | "continue_statement" => {
            StatementView::Leave(children(node))
        }
        _ => StatementView::Expressions(vec![node]),
    }
}

/// The `elif` or `else` after a branch.
fn next_branch(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "if_statement" => field(node, "alternative"),
        _ => {
            let next = node.next_named_sibling()?;
            matches!(next.kind(), "elif_clause" | "else_clause").then_some(next)
        }
    }
}

fn with_items(node: Node<'_>) -> Vec<Node<'_>> {
    let clauses = children(node).into_iter().filter(|child| child.kind() == "with_clause");
    clauses.flat_map(children).collect()
}

fn imports<'t>(view: SyntaxView<'t>, node: Node<'t>) -> Vec<(&'t str, String)> {
    let module = field(node, "module_name").map(|module| view.text(module).trim_start_matches('.'));
    let mut cursor = node.walk();
    let names = node.children_by_field_name("name", &mut cursor);
    let import = |name: Node<'t>| {
        let full = field(name, "name").map_or(view.text(name), |it| view.text(it));
        let alias = field(name, "alias").map(|alias| view.text(alias));
        match (module, alias) {
            (Some(module), _) => (alias.unwrap_or(full), format!("{module}.{full}")),
            (None, Some(alias)) => (alias, full.to_owned()),
            // `import a.b` binds `a`.
            (None, None) => {
                let root = full.split('.').next().unwrap_or(full);
                (root, root.to_owned())
            }
        }
    };
    names.map(import).collect()
}

pub(super) fn target<'t>(view: SyntaxView<'t>, node: Node<'t>) -> TargetView<'t> {
    match node.kind() {
        "identifier" => TargetView::Name(view.text(node)),
        "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "list"
        | "expression_list" => TargetView::Items(children(node)),
        "list_splat_pattern" | "dictionary_splat_pattern" | "list_splat" => {
            children(node).into_iter().next().map_or(TargetView::Nothing, TargetView::Rest)
        }
        "attribute" | "subscript" => TargetView::Place,
        _ => TargetView::Nothing,
    }
}

pub(super) fn function<'t>(_: SyntaxView<'t>, node: Node<'t>) -> Option<FunctionView<'t>> {
    let list = field(node, "parameters").map(children).unwrap_or_default();
    let parameter = |node: Node<'t>| {
        let inner = match node.kind() {
            "default_parameter" | "typed_default_parameter" => field(node, "name"),
            "typed_parameter" => children(node).into_iter().next(),
            _ => Some(node),
        };
        let target = inner.unwrap_or(node);
        ParameterView {
            target,
            declared_type: field(node, "type").and_then(|it| children(it).into_iter().next()),
            default: field(node, "value"),
            is_rest: target.kind().ends_with("splat_pattern"),
        }
    };
    let around = node.parent().filter(|parent| parent.kind() == "decorated_definition");
    let decorators = around.map(children).unwrap_or_default().into_iter();
    Some(FunctionView {
        parameters: list.into_iter().map(parameter).collect(),
        decorators: decorators
            .filter(|child| child.kind() == "decorator")
            .filter_map(|decorator| children(decorator).into_iter().next())
            .collect(),
        body: field(node, "body")?,
        is_expression: node.kind() == "lambda",
    })
}

pub(super) fn class<'t>(_: SyntaxView<'t>, node: Node<'t>) -> ClassView<'t> {
    let bases = field(node, "superclasses").map(children).unwrap_or_default();
    let members = field(node, "body").map(children).unwrap_or_default().into_iter();
    let plain = |member: Node<'t>| match member.kind() {
        "decorated_definition" => field(member, "definition").unwrap_or(member),
        _ => member,
    };
    let (methods, others) =
        members.map(plain).partition(|member| member.kind() == "function_definition");
    ClassView {
        bases: bases.into_iter().filter(|base| base.kind() != "keyword_argument").collect(),
        methods,
        others,
    }
}
