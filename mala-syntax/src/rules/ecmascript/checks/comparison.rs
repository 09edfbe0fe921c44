//! Comparisons and operators whose operands have the wrong types.

use super::{found, short};
use crate::rules::ecmascript::types::Types;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use crate::symbols::{DeclarationKind, ScopeVariable, WrittenValue};
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const TYPES_APART: ScriptCheck = ScriptCheck {
    name: "comparison-of-different-types",
    captures: &["LEFT", "RIGHT", "LEFT_TYPES", "RIGHT_TYPES", "RESULT"],
    run: types_apart,
};

pub(in crate::rules::ecmascript) const NEEDLESS_NULL_CHECK: ScriptCheck = ScriptCheck {
    name: "needless-null-check",
    captures: &["LEFT", "RIGHT", "LEFT_TYPES", "RIGHT_TYPES", "RESULT"],
    run: needless_null_checks,
};

/// A comparison whose result is known.
struct KnownComparison<'t> {
    sides: (Node<'t>, Node<'t>),
    types: (Types, Types),
    reported: NativeMatch,
}

fn types_apart(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let known = known_comparisons(program).into_iter();
    known.filter(|it| !it.asks_for_nothing(program)).map(|it| it.reported).collect()
}

fn needless_null_checks(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let known = known_comparisons(program).into_iter();
    known.filter(|it| it.asks_for_nothing(program)).map(|it| it.reported).collect()
}

impl<'t> KnownComparison<'t> {
    /// Whether it is a null check of a value that is never null. `typeof x == undefined` is a
    /// mistake instead.
    fn asks_for_nothing(&self, program: &ScriptFile<'t>) -> bool {
        let asks = |nothing: Types, other: Node<'t>| {
            let is_mistake = other.kind() == "unary_expression"
                || other.kind() == "null"
                || program.constant_text(other).is_some();
            nothing.within(Types::NOTHING) && !is_mistake
        };
        asks(self.types.1, self.sides.0) || asks(self.types.0, self.sides.1)
    }
}

fn known_comparisons<'t>(program: &ScriptFile<'t>) -> Vec<KnownComparison<'t>> {
    let binary = program.of_kind("binary_expression").iter().filter_map(|node| {
        let left = node.child_by_field_name("left")?;
        let right = node.child_by_field_name("right")?;
        compare(program, *node, (left, right), program.operator(*node))
    });
    let cases = program.of_kind("switch_case").iter().filter_map(|case| {
        let value = case.child_by_field_name("value")?;
        let switch = program.ancestors(*case).find(|it| it.kind() == "switch_statement")?;
        let subject = switch.child_by_field_name("value")?;
        compare(program, value, (subject, value), "===")
    });
    binary.chain(cases).collect()
}

fn compare<'t>(
    program: &ScriptFile<'t>,
    at: Node<'t>,
    (left, right): (Node<'t>, Node<'t>),
    operator: &str,
) -> Option<KnownComparison<'t>> {
    // `f<typeof a>(b)` without its types reads as two comparisons.
    let is_generic = operator == ">" && program.operator(left) == "<";
    if is_generic || at.has_error() {
        return None;
    }
    let types = (program.types(left), program.types(right));
    let (differ, result) = match operator {
        "===" => (never_identical(types), "false"),
        "!==" => (never_identical(types), "true"),
        "==" => (never_equal(program, (left, right), types), "false"),
        "!=" => (never_equal(program, (left, right), types), "true"),
        "<" | ">" | "<=" | ">=" => (never_ordered(program, (left, right), types), "false"),
        _ => return None,
    };
    if !differ || types.0.is_empty() || types.1.is_empty() {
        return None;
    }
    let reported = found(
        at,
        vec![
            ("LEFT", short(program.text(left))),
            ("RIGHT", short(program.text(right))),
            ("LEFT_TYPES", types.0.describe()),
            ("RIGHT_TYPES", types.1.describe()),
            ("RESULT", result.to_owned()),
        ],
    );
    Some(KnownComparison { sides: (left, right), types, reported })
}

fn never_identical((left, right): (Types, Types)) -> bool {
    left.apart(right)
}

/// Whether `==` is never true, after its conversions: null and undefined equal only each other, and
/// a text that is not a number never equals a number.
fn never_equal<'t>(
    program: &ScriptFile<'t>,
    (left, right): (Node<'t>, Node<'t>),
    types: (Types, Types),
) -> bool {
    let nothing = |a: Types, b: Types| a.within(Types::NOTHING) && b.apart(Types::NOTHING);
    nothing(types.0, types.1)
        || nothing(types.1, types.0)
        || word_and_number(program, left, types.1)
        || word_and_number(program, right, types.0)
}

fn never_ordered<'t>(
    program: &ScriptFile<'t>,
    (left, right): (Node<'t>, Node<'t>),
    types: (Types, Types),
) -> bool {
    let object_and_word = |a: Types, b: Types| a.within(Types::OBJECT) && b.within(Types::STRING);
    object_and_word(types.0, types.1)
        || object_and_word(types.1, types.0)
        || types.0.within(Types::UNDEFINED)
        || types.1.within(Types::UNDEFINED)
        || word_and_number(program, left, types.1)
        || word_and_number(program, right, types.0)
}

/// A text that is no number never equals one.
fn word_and_number<'t>(program: &ScriptFile<'t>, word: Node<'t>, other: Types) -> bool {
    other.within(Types::NUMBER | Types::BOOLEAN)
        && program.constant_text(word).is_some_and(|text| {
            let text = text.trim();
            !text.is_empty()
                && text.parse::<f64>().is_err()
                && !text.starts_with("0x")
                && !matches!(text, "true" | "false")
        })
}

pub(in crate::rules::ecmascript) const USELESS_OPERAND: ScriptCheck = ScriptCheck {
    name: "operand-without-value",
    captures: &["OPERAND", "TYPES", "OPERATOR"],
    run: useless_operands,
};

const ARITHMETIC: [&str; 20] = [
    "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^", "-=", "*=", "/=", "%=", "**=",
    "<<=", ">>=", ">>>=", "&=",
];

fn useless_operands(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
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

fn useless(program: &ScriptFile<'_>, operand: Node<'_>, operator: &str) -> NativeMatch {
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

fn is_useless<'t>(program: &ScriptFile<'t>, operand: Node<'t>, operator: &str, side: &str) -> bool {
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

impl<'t> ScriptFile<'t> {
    /// The types of a variable before an operation changes it, without the results of such
    /// operations.
    fn types_before(&self, name: Node<'t>) -> Types {
        let Some(variable) = self.variable(name).filter(|_| name.kind() == "identifier") else {
            return Types::ANY;
        };
        let never_set =
            variable.writes.iter().all(|write| matches!(write.value, WrittenValue::Updated(_)));
        if never_set && is_plain_local(variable) && self.is_never_given(variable) {
            return Types::UNDEFINED;
        }
        Types::ANY
    }

    fn types_of_text(&self, operand: Node<'_>) -> String {
        let variable = self.variable(operand);
        if variable.is_some_and(|it| it.writes.is_empty() || it.declared != DeclarationKind::Const)
        {
            return "undefined: it never gets a value".to_owned();
        }
        "no number".to_owned()
    }

    /// Whether a variable is declared without a value, in code that runs here.
    fn is_never_given(&self, variable: &ScopeVariable<'t>) -> bool {
        variable.declarations.iter().all(|declaration| {
            let around = self.parent(*declaration);
            around.is_some_and(|it| {
                it.kind() == "variable_declarator" && it.child_by_field_name("value").is_none()
            })
        })
    }

    /// Whether a condition around a place tests the same name.
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

fn is_plain_local(variable: &ScopeVariable<'_>) -> bool {
    matches!(variable.declared, DeclarationKind::Var | DeclarationKind::Let)
        && variable.scope.is_some_and(|scope| scope.kind() != "program")
}
