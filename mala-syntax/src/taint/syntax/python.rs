//! Python.

use super::{
    ClassView, ConditionView, ExpressionView, FunctionView, ParameterView, StatementView,
    SyntaxView, TargetView, ValuePart, children, field,
};
use tree_sitter::Node;

pub(super) fn expression<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ExpressionView<'t> {
    known_expression(view, node).unwrap_or_else(|| ExpressionView::Other(children(node)))
}

fn known_expression<'t>(view: SyntaxView<'t>, node: Node<'t>) -> Option<ExpressionView<'t>> {
    let parts = children(node);
    Some(match node.kind() {
        "identifier" => ExpressionView::Name(view.text(node)),
        "string" => string(view, node),
        "concatenated_string" => ExpressionView::Join(parts),
        "string_content" | "integer" | "float" | "none" => {
            ExpressionView::Constant(view.text(node).to_owned())
        }
        "true" | "false" => ExpressionView::Constant(view.text(node).to_lowercase()),
        "attribute" => {
            ExpressionView::Field(field(node, "object")?, view.text(field(node, "attribute")?))
        }
        "subscript" => ExpressionView::Element(field(node, "value")?, field(node, "subscript")?),
        "call" => ExpressionView::Call {
            callee: field(node, "function")?,
            arguments: arguments(view, field(node, "arguments")?),
        },
        "lambda" | "function_definition" => ExpressionView::Function,
        "class_definition" => ExpressionView::Class,
        "binary_operator" => {
            ExpressionView::Join(vec![field(node, "left")?, field(node, "right")?])
        }
        "boolean_operator" => {
            let (left, right) = (field(node, "left")?, field(node, "right")?);
            match view.text(field(node, "operator")?) {
                "or" => ExpressionView::Choice { condition: None, values: vec![left, right] },
                _ => ExpressionView::Choice { condition: Some(left), values: vec![right] },
            }
        }
        "conditional_expression" => {
            let [then, condition, otherwise] = parts.as_slice() else { return None };
            let values = vec![*then, *otherwise];
            ExpressionView::Choice { condition: Some(*condition), values }
        }
        "list" | "tuple" | "set" | "expression_list" => {
            ExpressionView::List(parts.into_iter().map(item).collect())
        }
        "dictionary" => {
            ExpressionView::Object(parts.iter().filter_map(|it| pair(view, *it)).collect())
        }
        "list_comprehension" | "generator_expression" | "set_comprehension" => comprehension(node)?,
        "assignment" | "augmented_assignment" | "named_expression" => assignment(node)?,
        "parenthesized_expression"
        | "await"
        | "interpolation"
        | "list_splat"
        | "dictionary_splat"
        | "yield"
        | "as_pattern"
        | "type" => ExpressionView::Same(*parts.first()?),
        _ => return None,
    })
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
    known_statement(view, node).unwrap_or_else(|| StatementView::Expressions(vec![node]))
}

fn known_statement<'t>(view: SyntaxView<'t>, node: Node<'t>) -> Option<StatementView<'t>> {
    Some(match node.kind() {
        "module"
        | "block"
        | "expression_statement"
        | "else_clause"
        | "finally_clause"
        | "except_clause"
        | "except_group_clause" => StatementView::Block(children(node)),
        "import_statement" | "import_from_statement" => StatementView::Import(imports(view, node)),
        "function_definition" | "class_definition" => {
            StatementView::Declare { name: view.text(field(node, "name")?), definition: node }
        }
        "decorated_definition" => statement(view, field(node, "definition")?),
        "if_statement" | "elif_clause" => StatementView::If {
            condition: field(node, "condition")?,
            then: field(node, "consequence")?,
            otherwise: next_branch(node),
        },
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
        "with_item" => with_item(node)?,
        "try_statement" => {
            let clauses = children(node).into_iter().filter(|it| it.kind().ends_with("_clause"));
            let (finally, handlers): (Vec<_>, Vec<_>) =
                clauses.partition(|it| it.kind() == "finally_clause");
            let (body, finally) = (field(node, "body"), finally.into_iter().next());
            StatementView::Try { body, handlers, finally }
        }
        "match_statement" => {
            let cases = children(field(node, "body")?).into_iter();
            let bodies = cases.map(|case| field(case, "consequence").into_iter().collect());
            StatementView::Switch { subject: field(node, "subject")?, cases: bodies.collect() }
        }
        "return_statement" => StatementView::Return(children(node).into_iter().next()),
        "raise_statement" | "break_statement" | "continue_statement" => {
            StatementView::Leave(children(node))
        }
        _ => return None,
    })
}

/// `with open(path) as file`: the target gets the value.
fn with_item(node: Node<'_>) -> Option<StatementView<'_>> {
    let value = field(node, "value")?;
    let alias = field(value, "alias").and_then(|alias| children(alias).into_iter().next());
    Some(match alias {
        Some(target) => StatementView::Bind(vec![(target, Some(value))]),
        None => StatementView::Expressions(vec![value]),
    })
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
