//! Operators that are given a value they can make nothing of: `!a in b`, a name that never gets a
//! value, the result of a function that has none.

use super::{found, is_filled_in, short};
use crate::rules::ecmascript::binding::{Declared, Variable};
use crate::rules::ecmascript::types::Types;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const NEGATED_LEFT_OPERAND: ProgramCheck = ProgramCheck {
    name: "negated-left-operand",
    captures: &["OPERATOR", "LEFT", "RIGHT"],
    run: negated_left_operands,
};

pub(in crate::rules::ecmascript) const USELESS_OPERAND: ProgramCheck = ProgramCheck {
    name: "operand-without-value",
    captures: &["OPERAND", "TYPES", "OPERATOR"],
    run: useless_operands,
};

pub(in crate::rules::ecmascript) const MEMBER_OF_NOTHING: ProgramCheck = ProgramCheck {
    name: "member-of-nothing",
    captures: &["BASE", "TYPES"],
    run: members_of_nothing,
};

pub(in crate::rules::ecmascript) const MEMBER_OF_PRIMITIVE: ProgramCheck = ProgramCheck {
    name: "member-put-into-primitive",
    captures: &["BASE", "TYPES"],
    run: members_of_primitives,
};

const ARITHMETIC: [&str; 20] = [
    "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^", "-=", "*=", "/=", "%=", "**=",
    "<<=", ">>=", ">>>=", "&=",
];

fn negated_left_operands(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let operator = program.operator(*node);
        let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        let negates = left.kind() == "unary_expression" && program.operator(left) == "!";
        if !negates || !matches!(operator, "in" | "instanceof") {
            continue;
        }
        let inner = left.child_by_field_name("argument").map_or("", |it| program.text(it));
        matches.push(found(
            *node,
            vec![
                ("OPERATOR", operator.to_owned()),
                ("LEFT", short(inner)),
                ("RIGHT", short(program.text(right))),
            ],
        ));
    }
    matches
}

fn useless_operands(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kinds(&["binary_expression", "augmented_assignment_expression"]) {
        let operator = program.operator(node);
        for field in ["left", "right"] {
            let Some(operand) = node.child_by_field_name(field) else { continue };
            if is_useless(program, operand, operator, field) {
                matches.push(useless(program, operand, operator));
            }
        }
    }
    for node in program.of_kind("update_expression") {
        let operand = node.child_by_field_name("argument");
        let never = operand.filter(|it| program.types_before(*it).within(Types::UNDEFINED));
        matches.extend(never.map(|operand| useless(program, operand, program.operator(*node))));
    }
    for node in program.of_kind("template_substitution") {
        let operand = node.named_child(0).filter(|it| it.kind() == "identifier");
        let never = operand.filter(|it| program.types(*it).within(Types::UNDEFINED));
        matches.extend(never.map(|operand| useless(program, operand, "${}")));
    }
    matches
}

fn useless(program: &Program<'_>, operand: Node<'_>, operator: &str) -> NativeMatch {
    let types = program.types_of_text(operand);
    found(
        operand,
        vec![
            ("OPERAND", short(program.text(operand))),
            ("TYPES", types),
            ("OPERATOR", operator.to_owned()),
        ],
    )
}

fn is_useless<'t>(program: &Program<'t>, operand: Node<'t>, operator: &str, side: &str) -> bool {
    let is_target = side == "left" && operator.ends_with('=');
    let types = if is_target { program.types_before(operand) } else { program.types(operand) };
    if types == Types::ANY || types.is_empty() {
        return false;
    }
    let is_word = || {
        program.constant_text(operand).is_some_and(|text| {
            let text = text.trim();
            !text.is_empty() && text.parse::<f64>().is_err() && !text.starts_with("0x")
        })
    };
    match operator {
        "in" if side == "right" => {
            types.within(Types::NOTHING | Types::STRING | Types::NUMBER | Types::BOOLEAN)
        }
        "+" | "+=" => types.within(Types::UNDEFINED) && !is_target,
        _ if ARITHMETIC.contains(&operator) || matches!(operator, "|=" | "^=") => {
            types.within(Types::UNDEFINED | Types::FUNCTION | Types::REGEXP) || is_word()
        }
        _ => false,
    }
}

fn members_of_nothing(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kinds(&["member_expression", "subscript_expression"]) {
        let Some(object) = node.child_by_field_name("object") else { continue };
        if node.child_by_field_name("optional_chain").is_some()
            || is_stand_in(program, object)
            || !program.types(object).within(Types::NOTHING)
            || program.is_tested_around(node, object)
            || never_runs(program, node)
        {
            continue;
        }
        matches.push(found(
            node,
            vec![
                ("BASE", short(program.text(object))),
                ("TYPES", program.types(object).describe()),
            ],
        ));
    }
    matches
}

/// Whether the block has left before it comes to the node.
fn never_runs<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    let in_block = |it: &Node<'t>| it.parent().is_some_and(|it| it.kind() == "statement_block");
    let mut before = program.ancestors(node).find(in_block).and_then(|it| it.prev_named_sibling());
    while let Some(statement) = before {
        if matches!(statement.kind(), "return_statement" | "throw_statement") {
            return true;
        }
        before = statement.prev_named_sibling();
    }
    false
}

/// Names that a build fills in, and `void a!.b`, which the grammar reads as `(void a!).b`.
fn is_stand_in<'t>(program: &Program<'t>, object: Node<'t>) -> bool {
    let value = program.variable(object).and_then(|it| it.only_value());
    object.kind() == "unary_expression"
        || is_filled_in(program.text(object))
        || value.is_some_and(|it| is_filled_in(program.text(it)))
}

fn members_of_primitives(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("assignment_expression") {
        let target = node.child_by_field_name("left");
        let is_member =
            |it: &Node<'_>| matches!(it.kind(), "member_expression" | "subscript_expression");
        let Some(object) =
            target.filter(is_member).and_then(|target| target.child_by_field_name("object"))
        else {
            continue;
        };
        let types = program.types(object);
        if types.within(Types::NUMBER | Types::STRING | Types::BOOLEAN | Types::BIGINT)
            && !program.is_tested_around(*node, object)
        {
            matches.push(found(
                *node,
                vec![("BASE", short(program.text(object))), ("TYPES", types.describe())],
            ));
        }
    }
    matches
}

impl<'t> Program<'t> {
    /// The types that a variable has before an operation changes it: what the operations
    /// themselves put into it does not count.
    fn types_before(&self, name: Node<'t>) -> Types {
        let Some(variable) = self.variable(name).filter(|_| name.kind() == "identifier") else {
            return Types::ANY;
        };
        let never_set = variable
            .writes
            .iter()
            .all(|write| matches!(write.value, super::super::binding::Assigned::Updated(_)));
        if never_set && is_plain_local(variable) && self.is_never_given(variable) {
            return Types::UNDEFINED;
        }
        Types::ANY
    }

    fn types_of_text(&self, operand: Node<'_>) -> String {
        let variable = self.variable(operand);
        if variable.is_some_and(|it| it.writes.is_empty() || it.declared != Declared::Const) {
            return "undefined: it never gets a value".to_owned();
        }
        "no number".to_owned()
    }

    /// Whether a variable is declared without a value, in code that runs here.
    fn is_never_given(&self, variable: &Variable<'t>) -> bool {
        variable.declarations.iter().all(|declaration| {
            let around = self.parent(*declaration);
            around.is_some_and(|it| {
                it.kind() == "variable_declarator" && it.child_by_field_name("value").is_none()
            })
        })
    }

    /// Whether a condition around a place asks about the same name.
    pub(super) fn is_tested_around(&self, place: Node<'t>, name: Node<'t>) -> bool {
        let Some(variable) = self.variable(name) else { return false };
        let mut inner = place;
        for around in self.ancestors(place) {
            let condition = match around.kind() {
                "if_statement" | "ternary_expression" | "while_statement" | "for_statement" => {
                    around.child_by_field_name("condition")
                }
                "binary_expression" if matches!(self.operator(around), "&&" | "||" | "??") => {
                    around.child_by_field_name("left")
                }
                _ => None,
            };
            let asks = condition.filter(|condition| condition.id() != inner.id()).is_some_and(
                |condition| {
                    variable.reads.iter().any(|read| {
                        condition.start_byte() <= read.start_byte()
                            && read.end_byte() <= condition.end_byte()
                    })
                },
            );
            if asks {
                return true;
            }
            inner = around;
        }
        false
    }
}

fn is_plain_local(variable: &Variable<'_>) -> bool {
    matches!(variable.declared, Declared::Var | Declared::Let)
        && variable.scope.is_some_and(|scope| scope.kind() != "program")
}
