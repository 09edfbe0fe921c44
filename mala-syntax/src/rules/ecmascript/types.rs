//! The possible types of an expression. Unknown types are `ANY`.

mod calls;
mod operators;

use super::program::{ScriptFile, is_class, is_function};
use crate::symbols::{DeclarationKind, ScopeVariable, WrittenValue};
use std::ops::{BitAnd, BitOr};
use tree_sitter::Node;

/// Longer chains of values are not followed.
const MAX_DEPTH: usize = 14;

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u16);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const UNDEFINED: Self = Self(1);
    pub(super) const NULL: Self = Self(1 << 1);
    pub(super) const BOOLEAN: Self = Self(1 << 2);
    pub(super) const NUMBER: Self = Self(1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const BIGINT: Self = Self(1 << 5);
    pub(super) const SYMBOL: Self = Self(1 << 6);
    pub(super) const FUNCTION: Self = Self(1 << 7);
    pub(super) const REGEXP: Self = Self(1 << 8);
    pub(super) const DATE: Self = Self(1 << 9);
    pub(super) const OBJECT: Self = Self(1 << 10);
    pub(super) const ANY: Self = Self((1 << 11) - 1);

    /// `null` and `undefined`.
    pub(super) const NOTHING: Self = Self(0b11);

    /// The result of text stores such as `localStorage`.
    pub(super) const TEXT_OR_NULL: Self = Self(1 << 1 | 1 << 4);

    /// The result of a search for one element.
    pub(super) const OBJECT_OR_NULL: Self = Self(1 << 1 | 1 << 10);

    /// Numbers of both kinds.
    pub(super) const NUMERIC: Self = Self(1 << 3 | 1 << 5);

    /// Whether there is no type in both.
    pub(super) fn apart(self, other: Self) -> bool {
        (self & other).is_empty()
    }

    /// Whether all types are among the others.
    pub(super) fn within(self, others: Self) -> bool {
        !self.is_empty() && self.0 & !others.0 == 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Describes the types.
    pub(super) fn describe(self) -> String {
        const NAMES: [(Types, &str); 11] = [
            (Types::UNDEFINED, "undefined"),
            (Types::NULL, "null"),
            (Types::BOOLEAN, "a boolean"),
            (Types::NUMBER, "a number"),
            (Types::STRING, "a string"),
            (Types::BIGINT, "a bigint"),
            (Types::SYMBOL, "a symbol"),
            (Types::FUNCTION, "a function"),
            (Types::REGEXP, "a regular expression"),
            (Types::DATE, "a date"),
            (Types::OBJECT, "an object"),
        ];
        let named = |types: Self| -> Vec<&'static str> {
            NAMES.iter().filter(|(one, _)| !types.apart(*one)).map(|(_, name)| *name).collect()
        };
        let (names, others) = (named(self), named(Self::ANY.without(self)));
        if names.len() > others.len() {
            return format!("never {}", joined(&others));
        }
        joined(&names)
    }
}

fn joined(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

impl BitOr for Types {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Types {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl<'t> ScriptFile<'t> {
    /// The types that an expression can have.
    pub(super) fn types(&self, node: Node<'t>) -> Types {
        self.types_within(node, MAX_DEPTH)
    }

    /// Every expression is computed once; one that depends on itself has type `ANY`.
    fn types_within(&self, node: Node<'t>, depth: usize) -> Types {
        if depth == 0 {
            return Types::ANY;
        }
        if let Some(known) = self.known_types.borrow().get(&node.id()) {
            return *known;
        }
        self.known_types.borrow_mut().insert(node.id(), Types::ANY);
        let types = self.types_of(node, depth);
        self.known_types.borrow_mut().insert(node.id(), types);
        types
    }

    fn types_of(&self, node: Node<'t>, depth: usize) -> Types {
        let inner = |field| {
            node.child_by_field_name(field)
                .map_or(Types::ANY, |inner| self.types_within(inner, depth - 1))
        };
        match node.kind() {
            "undefined" => Types::UNDEFINED,
            "null" => Types::NULL,
            "true" | "false" => Types::BOOLEAN,
            "number" if self.text(node).ends_with('n') && !self.text(node).starts_with("0x") => {
                Types::BIGINT
            }
            "number" => Types::NUMBER,
            "string" | "template_string" => Types::STRING,
            "regex" => Types::REGEXP,
            "array" | "jsx_element" | "jsx_self_closing_element" => Types::OBJECT,
            "object" => self.types_of_object(node),
            _ if is_function(node) || is_class(node) => Types::FUNCTION,
            "identifier" | "shorthand_property_identifier" => self.types_of_name(node, depth),
            "parenthesized_expression"
            | "satisfies_expression"
            | "as_expression"
            | "non_null_expression" => {
                node.named_child(0).map_or(Types::ANY, |it| self.types_within(it, depth - 1))
            }
            "sequence_expression" => {
                let last = node.named_child_count().checked_sub(1);
                let last = last.and_then(|last| node.named_child(u32::try_from(last).ok()?));
                last.map_or(Types::ANY, |it| self.types_within(it, depth - 1))
            }
            "ternary_expression" => inner("consequence") | inner("alternative"),
            "assignment_expression" => inner("right"),
            "unary_expression" => self.types_of_unary(node),
            "update_expression" => Types::NUMERIC,
            "binary_expression" if self.is_generic_call(node) => Types::ANY,
            "binary_expression" | "augmented_assignment_expression" => {
                self.types_of_binary(node, depth)
            }
            "call_expression" => self.types_of_call(node, depth),
            "new_expression" => self.types_of_new(node),
            // A value that is assigned to the environment becomes a text.
            "member_expression" | "subscript_expression" => {
                let object = node.child_by_field_name("object");
                let is_variable = object.is_some_and(|it| self.text(it) == "process.env");
                if is_variable { Types::STRING | Types::UNDEFINED } else { Types::ANY }
            }
            _ => Types::ANY,
        }
    }

    /// `f<typeof import("x")>(y)`: the grammar parses some type arguments as comparisons.
    fn is_generic_call(&self, node: Node<'t>) -> bool {
        let [left, right] = ["left", "right"].map(|side| node.child_by_field_name(side));
        self.operator(node) == ">"
            && right.is_some_and(|right| right.kind() == "parenthesized_expression")
            && left.is_some_and(|left| {
                left.kind() == "binary_expression" && self.operator(left) == "<"
            })
    }

    /// An object literal that defines its own conversion can be equal to anything.
    fn types_of_object(&self, node: Node<'t>) -> Types {
        let mut cursor = node.walk();
        let converts = node.named_children(&mut cursor).any(|entry| {
            let name = self.member_name(entry);
            entry.kind() == "spread_element"
                || matches!(name, Some("valueOf" | "toString" | "__proto__"))
                || name.is_some_and(|name| name.starts_with('['))
        });
        if converts { Types::ANY } else { Types::OBJECT }
    }

    fn types_of_name(&self, name: Node<'t>, depth: usize) -> Types {
        match self.variable(name) {
            Some(variable) => match (variable.declared, variable.name) {
                (DeclarationKind::Undeclared, "NaN" | "Infinity") => Types::NUMBER,
                (DeclarationKind::Undeclared, "undefined") => Types::UNDEFINED,
                _ => self.types_of_variable(variable, depth),
            },
            None => Types::ANY,
        }
    }

    /// Everything that is ever put into a variable.
    pub(super) fn types_of_variable(&self, variable: &ScopeVariable<'t>, depth: usize) -> Types {
        match variable.declared {
            DeclarationKind::Parameter if self.is_rest(variable) => return Types::OBJECT,
            DeclarationKind::Var | DeclarationKind::Function if self.is_shared(variable) => {
                return Types::ANY;
            }
            _ if self.is_ambient(variable) => return Types::ANY,
            DeclarationKind::Var
            | DeclarationKind::Let
            | DeclarationKind::Const
            | DeclarationKind::Function => {}
            DeclarationKind::Class if variable.writes.len() == 1 => return Types::FUNCTION,
            _ => return Types::ANY,
        }
        let mut types =
            if self.starts_undefined(variable) { Types::UNDEFINED } else { Types::NONE };
        for write in &variable.writes {
            types = types
                | match write.value {
                    WrittenValue::Exactly(value) => self.types_within(value, depth - 1),
                    WrittenValue::Updated(node) => self.types_within(node, depth - 1),
                    WrittenValue::Iterated(node) if self.is_for_in(node) => Types::STRING,
                    _ => Types::ANY,
                };
            if types == Types::ANY {
                break;
            }
        }
        types
    }

    fn is_rest(&self, variable: &ScopeVariable<'t>) -> bool {
        let [declaration] = variable.declarations.as_slice() else { return false };
        variable.writes.len() == 1
            && self.parent(*declaration).is_some_and(|around| around.kind() == "rest_pattern")
    }

    /// A variable at the top of a script belongs to all scripts of the page.
    fn is_shared(&self, variable: &ScopeVariable<'t>) -> bool {
        variable.scope.is_some_and(|scope| scope.kind() == "program") && !self.is_module()
    }

    /// Whether a variable is only declared for TypeScript.
    fn is_ambient(&self, variable: &ScopeVariable<'t>) -> bool {
        variable
            .declarations
            .iter()
            .any(|it| self.ancestors(*it).any(|around| around.kind() == "ambient_declaration"))
    }

    /// Whether there is a declaration without a value: outside code may declare it, or set it by
    /// ways that cannot be seen.
    fn starts_undefined(&self, variable: &ScopeVariable<'t>) -> bool {
        matches!(variable.declared, DeclarationKind::Var | DeclarationKind::Let)
            && variable.declarations.iter().any(|declaration| {
                let around = self.parent(*declaration);
                around.is_some_and(|around| {
                    around.kind() == "variable_declarator"
                        && around.child_by_field_name("value").is_none()
                })
            })
    }

    /// Whether a loop runs over keys.
    pub(super) fn is_for_in(&self, node: Node<'t>) -> bool {
        node.child_by_field_name("operator").is_some_and(|it| self.text(it) == "in")
    }
}
