//! The types of calls: of built-in functions, and of functions in the file.

use super::Types;
use crate::rules::ecmascript::function::is_generator;
use crate::rules::ecmascript::program::{ScriptFile, is_class, is_function};
use tree_sitter::Node;

const FUNCTIONS: &[(&str, Types)] = &[
    ("String", Types::STRING),
    ("Number", Types::NUMBER),
    ("Boolean", Types::BOOLEAN),
    ("parseInt", Types::NUMBER),
    ("parseFloat", Types::NUMBER),
    ("isNaN", Types::BOOLEAN),
    ("isFinite", Types::BOOLEAN),
    ("encodeURIComponent", Types::STRING),
    ("decodeURIComponent", Types::STRING),
    ("encodeURI", Types::STRING),
    ("decodeURI", Types::STRING),
    ("Date.now", Types::NUMBER),
    ("Array.isArray", Types::BOOLEAN),
    ("Number.isInteger", Types::BOOLEAN),
    ("Number.isNaN", Types::BOOLEAN),
    ("Object.keys", Types::OBJECT),
    ("Object.values", Types::OBJECT),
    ("Object.entries", Types::OBJECT),
    ("String.fromCharCode", Types::STRING),
    ("require", Types::ANY),
    ("localStorage.getItem", Types::TEXT_OR_NULL),
    ("sessionStorage.getItem", Types::TEXT_OR_NULL),
    ("document.getElementById", Types::OBJECT_OR_NULL),
    ("document.querySelector", Types::OBJECT_OR_NULL),
];

/// Methods that return the same type on all receivers.
const METHODS: &[(&str, Types)] = &[
    ("indexOf", Types::NUMBER),
    ("lastIndexOf", Types::NUMBER),
    ("charCodeAt", Types::NUMBER),
    ("localeCompare", Types::NUMBER),
    ("getTime", Types::NUMBER),
    ("toLowerCase", Types::STRING),
    ("toUpperCase", Types::STRING),
    ("charAt", Types::STRING),
    ("toFixed", Types::STRING),
    ("toISOString", Types::STRING),
    ("startsWith", Types::BOOLEAN),
    ("endsWith", Types::BOOLEAN),
    ("hasOwnProperty", Types::BOOLEAN),
];

impl<'t> ScriptFile<'t> {
    pub(super) fn types_of_call(&self, call: Node<'t>, depth: usize) -> Types {
        let Some(callee) = call.child_by_field_name("function") else { return Types::ANY };
        let mut cursor = callee.walk();
        let is_optional = callee.children(&mut cursor).any(|it| it.kind() == "optional_chain");
        if is_optional || call.child_by_field_name("optional_chain").is_some() {
            return Types::ANY;
        }
        if let Some(path) = self.origin(callee) {
            let known = FUNCTIONS.iter().find(|(name, _)| *name == path);
            let is_math = path.starts_with("Math.") && path.matches('.').count() == 1;
            match known {
                Some((_, types)) => return *types,
                None if is_math => return Types::NUMBER,
                None => {}
            }
        }
        if callee.kind() == "member_expression" {
            let name = callee.child_by_field_name("property").map_or("", |it| self.text(it));
            let known = METHODS.iter().find(|(method, _)| *method == name);
            return known.map_or(Types::ANY, |(_, types)| *types);
        }
        match self.called(call) {
            Some(function) => self.types_of_result(function, depth - 1),
            None => Types::ANY,
        }
    }

    /// The types that a function of this file returns.
    pub(in crate::rules::ecmascript) fn types_of_result(
        &self,
        function: Node<'t>,
        depth: usize,
    ) -> Types {
        if self.is_async(function) || is_generator(function) {
            return Types::OBJECT;
        }
        let Some(body) = function.child_by_field_name("body") else { return Types::ANY };
        if body.kind() != "statement_block" {
            return self.types_within(body, depth);
        }
        let mut types = if self.can_end(body) { Types::UNDEFINED } else { Types::NONE };
        for statement in self.returns(function) {
            types = types
                | statement
                    .named_child(0)
                    .map_or(Types::UNDEFINED, |value| self.types_within(value, depth));
        }
        types
    }

    /// Whether the end of a block may be reached; only plain returns and throws rule it out.
    pub(in crate::rules::ecmascript) fn can_end(&self, block: Node<'t>) -> bool {
        let mut cursor = block.walk();
        let last = block.named_children(&mut cursor).filter(|it| it.kind() != "comment").last();
        let Some(last) = last else { return true };
        match last.kind() {
            "return_statement" | "throw_statement" => false,
            "if_statement" => {
                let then = last.child_by_field_name("consequence");
                let other = last.child_by_field_name("alternative");
                let other = other.and_then(|clause| clause.named_child(0));
                [then, other].into_iter().any(|branch| {
                    branch.is_none_or(|branch| match branch.kind() {
                        "statement_block" => self.can_end(branch),
                        "return_statement" | "throw_statement" => false,
                        _ => true,
                    })
                })
            }
            _ => true,
        }
    }

    pub(super) fn types_of_new(&self, node: Node<'t>) -> Types {
        let unknown = Types::OBJECT | Types::FUNCTION | Types::DATE | Types::REGEXP;
        let Some(constructor) = node.child_by_field_name("constructor") else { return unknown };
        if let Some(class) = self.value_of(constructor) {
            if is_class(class) && class.child_by_field_name("body").is_some() {
                return if self.converts(class) { Types::ANY } else { Types::OBJECT };
            }
            if is_function(class) {
                return Types::ANY;
            }
        }
        match self.origin(constructor).as_deref() {
            Some("Date") => Types::DATE,
            Some("RegExp") => Types::REGEXP,
            Some("Function") => Types::FUNCTION,
            Some("Proxy" | "String" | "Number" | "Boolean" | "Object") => Types::ANY,
            Some("Map" | "Set" | "WeakMap" | "WeakSet" | "Error" | "TypeError" | "Promise") => {
                Types::OBJECT
            }
            _ => unknown,
        }
    }

    /// Whether a class defines or inherits how its objects are converted.
    fn converts(&self, class: Node<'t>) -> bool {
        let inherits = self.parent_class(class).is_some();
        let named = |member: &Node<'t>| {
            matches!(
                self.member_name(*member),
                Some("valueOf" | "toString" | "[Symbol.toPrimitive]")
            )
        };
        inherits || self.class_members(class).iter().any(named)
    }
}
