//! JavaScript, TypeScript and JSX.

use super::{
    ClassView, ConditionView, ExpressionView, FunctionView, ParameterView, StatementView,
    SyntaxView, TargetView, ValuePart, children, field,
};
use tree_sitter::Node;

pub(super) fn expression<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ExpressionView<'t> {
    known_expression(view, node).unwrap_or_else(|| ExpressionView::Other(children(node)))
}

fn known_expression<'t>(view: SyntaxView<'t>, node: Node<'t>) -> Option<ExpressionView<'t>> {
    let mut parts = children(node).into_iter();
    Some(match node.kind() {
        "identifier" | "this" | "shorthand_property_identifier" | "undefined" | "super" => {
            ExpressionView::Name(view.text(node))
        }
        "string" => ExpressionView::Constant(string_text(view, node)),
        "string_fragment" | "number" | "true" | "false" | "null" | "regex" | "escape_sequence"
        | "jsx_text" => ExpressionView::Constant(view.text(node).to_owned()),
        "template_string" => ExpressionView::Join(children(node)),
        "binary_expression" => binary(view, node),
        "augmented_assignment_expression" | "assignment_expression" => ExpressionView::Assign {
            target: field(node, "left")?,
            value: field(node, "right")?,
            appends: node.kind().starts_with("augmented"),
        },
        "member_expression" => {
            ExpressionView::Field(field(node, "object")?, view.text(field(node, "property")?))
        }
        "subscript_expression" => {
            ExpressionView::Element(field(node, "object")?, field(node, "index")?)
        }
        "call_expression" | "new_expression" => call(view, node),
        "arrow_function"
        | "function_expression"
        | "function"
        | "generator_function"
        | "function_declaration"
        | "generator_function_declaration"
        | "method_definition" => ExpressionView::Function,
        "class" | "class_declaration" | "abstract_class_declaration" => ExpressionView::Class,
        "object" => ExpressionView::Object(entries(view, node)),
        "array" => ExpressionView::List(items(node)),
        "ternary_expression" => ExpressionView::Choice {
            condition: field(node, "condition"),
            values: vec![field(node, "consequence")?, field(node, "alternative")?],
        },
        "parenthesized_expression"
        | "await_expression"
        | "as_expression"
        | "satisfies_expression"
        | "non_null_expression"
        | "template_substitution"
        | "spread_element"
        | "jsx_expression"
        | "yield_expression" => ExpressionView::Same(parts.next()?),
        "type_assertion" => ExpressionView::Same(parts.next_back()?),
        "jsx_element" | "jsx_self_closing_element" => markup(view, node),
        _ => return None,
    })
}

fn binary<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ExpressionView<'t> {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
        return ExpressionView::Other(children(node));
    };
    match field(node, "operator").map(|operator| view.text(operator)) {
        Some("+") => {
            let mut pieces = vec![right];
            let mut left = left;
            // A long chain of `+` is nested to the left; walk it without recursion.
            while left.kind() == "binary_expression"
                && field(left, "operator").is_some_and(|it| view.text(it) == "+")
                && let (Some(inner), Some(piece)) = (field(left, "left"), field(left, "right"))
            {
                pieces.push(piece);
                left = inner;
            }
            pieces.push(left);
            pieces.reverse();
            ExpressionView::Join(pieces)
        }
        Some("*" | "-" | "/" | "%") => ExpressionView::Join(vec![left, right]),
        Some("||" | "??") => ExpressionView::Choice { condition: None, values: vec![left, right] },
        Some("&&") => ExpressionView::Choice { condition: Some(left), values: vec![right] },
        _ => ExpressionView::Other(vec![left, right]),
    }
}

fn call<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ExpressionView<'t> {
    let callee = field(node, "function").or_else(|| field(node, "constructor"));
    let Some(callee) = callee else { return ExpressionView::Other(children(node)) };
    let arguments = match field(node, "arguments") {
        // A tagged template: its values are arguments from the second on.
        Some(template) if template.kind() == "template_string" => {
            let pieces = children(template).into_iter();
            let values = pieces.filter(|piece| piece.kind() == "template_substitution");
            let text = ValuePart { name: None, value: callee, is_spread: false };
            let rest = values.map(|value| ValuePart { name: None, value, is_spread: false });
            std::iter::once(text).chain(rest).collect()
        }
        Some(list) => items(list),
        None => Vec::new(),
    };
    let is_require = matches!(view.text(callee), "require" | "import");
    match arguments.as_slice() {
        [only] if is_require && only.value.kind() == "string" => {
            ExpressionView::Module(module_path(&string_text(view, only.value)))
        }
        _ => ExpressionView::Call { callee, arguments },
    }
}

fn items(node: Node<'_>) -> Vec<ValuePart<'_>> {
    let part = |value: Node<'_>| value.kind() == "spread_element";
    let children = children(node).into_iter();
    children.map(|value| ValuePart { name: None, value, is_spread: part(value) }).collect()
}

fn entries<'t>(view: SyntaxView<'t>, node: Node<'t>) -> Vec<ValuePart<'t>> {
    let entry = |child: Node<'t>| {
        let (key, value) = match child.kind() {
            "pair" => (field(child, "key"), field(child, "value")?),
            "method_definition" => (field(child, "name"), child),
            _ => (Some(child), child),
        };
        let name = key.map(|key| match key.kind() {
            "string" => string_text(view, key),
            _ => view.text(key).to_owned(),
        });
        Some(ValuePart { name, value, is_spread: child.kind() == "spread_element" })
    };
    children(node).into_iter().filter_map(entry).collect()
}

fn markup<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ExpressionView<'t> {
    let opening = field(node, "open_tag").unwrap_or(node);
    let tag = field(opening, "name").map_or("", |name| view.text(name));
    let attributes = children(opening).into_iter().filter(|child| child.kind() == "jsx_attribute");
    let attribute = |attribute: Node<'t>| {
        let pieces = children(attribute);
        let name = view.text(*pieces.first()?).to_owned();
        Some(ValuePart { name: Some(name), value: *pieces.get(1)?, is_spread: false })
    };
    let is_tag = |child: &Node<'t>| {
        child.kind().ends_with("_element") && child.kind().contains("opening")
            || child.kind() == "jsx_closing_element"
    };
    let inner = if node.kind() == "jsx_element" { children(node) } else { Vec::new() };
    ExpressionView::Markup {
        tag,
        attributes: attributes.filter_map(attribute).collect(),
        children: inner.into_iter().filter(|child| !is_tag(child)).collect(),
    }
}

pub(super) fn condition<'t>(view: SyntaxView<'t>, node: Node<'t>) -> ConditionView<'t> {
    match node.kind() {
        "parenthesized_expression" => match children(node).into_iter().next() {
            Some(inner) => condition(view, inner),
            None => ConditionView::Other,
        },
        "unary_expression" => match (node.child(0), field(node, "argument")) {
            (Some(sign), Some(inner)) if view.text(sign) == "!" => ConditionView::Not(inner),
            _ => ConditionView::Other,
        },
        "binary_expression" => {
            let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
                return ConditionView::Other;
            };
            match field(node, "operator").map_or("", |operator| view.text(operator)) {
                "&&" => ConditionView::And(left, right),
                "||" => ConditionView::Or(left, right),
                "==" | "===" => ConditionView::Equal(left, right, true),
                "!=" | "!==" => ConditionView::Equal(left, right, false),
                "in" => ConditionView::Contains(left, true),
                _ => ConditionView::Other,
            }
        }
        _ => ConditionView::Other,
    }
}

pub(super) fn statement<'t>(view: SyntaxView<'t>, node: Node<'t>) -> StatementView<'t> {
    match node.kind() {
        "program"
        | "statement_block"
        | "else_clause"
        | "finally_clause"
        | "labeled_statement"
        | "expression_statement"
        | "internal_module"
        | "module" => StatementView::Block(children(node)),
        "variable_declaration" | "lexical_declaration" => {
            let declarators = children(node).into_iter();
            let pair = |it: Node<'t>| Some((field(it, "name")?, field(it, "value")));
            StatementView::Bind(declarators.filter_map(pair).collect())
        }
        "function_declaration"
        | "generator_function_declaration"
        | "class_declaration"
        | "abstract_class_declaration" => {
            let name = field(node, "name").map_or("", |name| view.text(name));
            StatementView::Declare { name, definition: node }
        }
        "export_statement" => {
            let inner = field(node, "declaration").or_else(|| field(node, "value"));
            StatementView::Block(inner.into_iter().collect())
        }
        "import_statement" => StatementView::Import(imports(view, node)),
        "if_statement" => match (field(node, "condition"), field(node, "consequence")) {
            (Some(condition), Some(then)) => {
                StatementView::If { condition, then, otherwise: field(node, "alternative") }
            }
            _ => StatementView::Block(children(node)),
        },
        "for_in_statement" => StatementView::Loop {
            over: field(node, "left").zip(field(node, "right")),
            parts: Vec::new(),
            body: field(node, "body"),
        },
        "for_statement" | "while_statement" | "do_statement" => {
            let parts = ["initializer", "condition", "increment"];
            let parts = parts.iter().filter_map(|name| field(node, name)).collect();
            StatementView::Loop { over: None, parts, body: field(node, "body") }
        }
        "switch_statement" => match (field(node, "value"), field(node, "body")) {
            (Some(subject), Some(body)) => StatementView::Switch {
                subject,
                cases: children(body).into_iter().map(case_body).collect(),
            },
            _ => StatementView::Block(children(node)),
        },
        "try_statement" => StatementView::Try {
            body: field(node, "body"),
            handlers: field(node, "handler").and_then(|it| field(it, "body")).into_iter().collect(),
            finally: field(node, "finalizer"),
        },
        "return_statement" => StatementView::Return(children(node).into_iter().next()),
        "throw_statement" | "break_statement" | "continue_statement" => {
            StatementView::Leave(children(node))
        }
        _ => StatementView::Expressions(vec![node]),
    }
}

fn case_body(case: Node<'_>) -> Vec<Node<'_>> {
    let value = field(case, "value");
    children(case).into_iter().filter(|child| Some(*child) != value).collect()
}

fn imports<'t>(view: SyntaxView<'t>, node: Node<'t>) -> Vec<(&'t str, String)> {
    let clauses = children(node);
    let source = field(node, "source").or_else(|| {
        let required = clauses.iter().find(|clause| clause.kind() == "import_require_clause")?;
        field(*required, "source")
    });
    let Some(source) = source else { return Vec::new() };
    let module = module_path(&string_text(view, source));
    let mut names = Vec::new();
    let mut pending = clauses;
    while let Some(clause) = pending.pop() {
        match clause.kind() {
            "identifier" => names.push((view.text(clause), module.clone())),
            "import_specifier" => {
                let name = field(clause, "name").map_or("", |name| view.text(name));
                let local = field(clause, "alias").map_or(name, |alias| view.text(alias));
                names.push((local, format!("{module}.{name}")));
            }
            "string" => {}
            _ => pending.extend(children(clause)),
        }
    }
    names
}

pub(super) fn target<'t>(view: SyntaxView<'t>, node: Node<'t>) -> TargetView<'t> {
    match node.kind() {
        "identifier"
        | "shorthand_property_identifier_pattern"
        | "shorthand_property_identifier" => TargetView::Name(view.text(node)),
        "object_pattern" | "object" => {
            let entry = |child: Node<'t>| match child.kind() {
                "pair_pattern" | "pair" => {
                    Some((field(child, "key").map(|key| view.text(key)), field(child, "value")?))
                }
                "object_assignment_pattern" => {
                    Some((field(child, "left").map(|name| view.text(name)), child))
                }
                "rest_pattern" => Some((None, child)),
                _ => Some((Some(view.text(child)), child)),
            };
            TargetView::Fields(children(node).into_iter().filter_map(entry).collect())
        }
        "array_pattern" | "array" => TargetView::Items(children(node)),
        "assignment_pattern" | "object_assignment_pattern" => {
            match (field(node, "left"), field(node, "right")) {
                (Some(left), Some(right)) => TargetView::Default(left, right),
                _ => TargetView::Nothing,
            }
        }
        "rest_pattern" => match children(node).into_iter().next() {
            Some(inner) => TargetView::Rest(inner),
            None => TargetView::Nothing,
        },
        "member_expression" | "subscript_expression" => TargetView::Place,
        "variable_declaration" | "lexical_declaration" => {
            let declared = children(node).into_iter().next().and_then(|it| field(it, "name"));
            declared.map_or(TargetView::Nothing, |name| target(view, name))
        }
        _ => TargetView::Nothing,
    }
}

pub(super) fn function<'t>(_: SyntaxView<'t>, node: Node<'t>) -> Option<FunctionView<'t>> {
    let body = field(node, "body")?;
    let parameters = match field(node, "parameters") {
        Some(list) => children(list),
        None => field(node, "parameter").into_iter().collect(),
    };
    let parameter = |node: Node<'t>| {
        let typed = matches!(node.kind(), "required_parameter" | "optional_parameter");
        let target = if typed { field(node, "pattern").unwrap_or(node) } else { node };
        let declared_type = field(node, "type").and_then(|it| children(it).into_iter().next());
        let default = if typed { field(node, "value") } else { None };
        ParameterView { target, declared_type, default, is_rest: target.kind() == "rest_pattern" }
    };
    Some(FunctionView {
        parameters: parameters.into_iter().map(parameter).collect(),
        decorators: Vec::new(),
        body,
        is_expression: body.kind() != "statement_block",
    })
}

pub(super) fn class<'t>(_: SyntaxView<'t>, node: Node<'t>) -> ClassView<'t> {
    let heritage = children(node).into_iter().filter(|child| child.kind() == "class_heritage");
    let bases = heritage.flat_map(|clause| {
        let inner = children(clause).into_iter();
        inner.flat_map(|it| if it.kind() == "extends_clause" { children(it) } else { vec![it] })
    });
    let members = field(node, "body").map(children).unwrap_or_default();
    let (methods, others): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| member.kind() == "method_definition");
    ClassView {
        bases: bases.take(1).collect(),
        methods,
        others: others.into_iter().filter_map(|member| field(member, "value")).collect(),
    }
}

fn string_text<'t>(view: SyntaxView<'t>, node: Node<'t>) -> String {
    let text = view.text(node);
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// The path of a module: one name, without Node's prefix.
fn module_path(name: &str) -> String {
    let name = name.strip_prefix("node:").unwrap_or(name);
    name.replace('.', crate::taint::pattern::QUOTED_DOT)
}
