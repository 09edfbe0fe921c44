//! Facts about the functions of a file.

use super::program::{ScriptFile, is_class, is_function};
use crate::symbols::WrittenValue;
use tree_sitter::Node;

impl<'t> ScriptFile<'t> {
    /// The function of this file that a call always calls.
    pub(super) fn called(&self, call: Node<'t>) -> Option<Node<'t>> {
        let callee = super::origin::callee(call)?;
        let function = self.value_of(callee)?;
        is_function(function).then_some(function)
    }

    /// The expression that a function returns, if it does nothing else.
    pub(super) fn only_return(&self, function: Node<'t>) -> Option<Node<'t>> {
        if !is_function(function) || self.is_async(function) || is_generator(function) {
            return None;
        }
        let body = function.child_by_field_name("body")?;
        if body.kind() != "statement_block" {
            return Some(body);
        }
        match self.returns(function).as_slice() {
            [only] => only.named_child(0),
            _ => None,
        }
    }

    /// The return statements of a function itself.
    pub(super) fn returns(&self, function: Node<'t>) -> Vec<Node<'t>> {
        let Some(body) = function.child_by_field_name("body") else { return Vec::new() };
        let mut own = self.own(body);
        own.retain(|node| node.kind() == "return_statement");
        own
    }

    /// Whether a function is async.
    pub(super) fn is_async(&self, function: Node<'_>) -> bool {
        let mut cursor = function.walk();
        function.children(&mut cursor).any(|child| child.kind() == "async")
    }

    /// The parameters of a function.
    pub(super) fn parameters(&self, function: Node<'t>) -> Vec<Node<'t>> {
        if let Some(only) = function.child_by_field_name("parameter") {
            return vec![only];
        }
        let Some(list) = function.child_by_field_name("parameters") else { return Vec::new() };
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter(|child| child.kind() != "comment")
            .filter(|child| {
                let pattern = child.child_by_field_name("pattern");
                pattern.is_none_or(|pattern| pattern.kind() != "this")
            })
            .collect()
    }

    /// The class around a member.
    pub(super) fn class_around(&self, node: Node<'_>) -> Option<Node<'t>> {
        self.ancestors(node).find(|around| is_class(*around))
    }

    /// The members of a class.
    pub(super) fn class_members(&self, class: Node<'t>) -> Vec<Node<'t>> {
        let Some(body) = class.child_by_field_name("body") else { return Vec::new() };
        let mut cursor = body.walk();
        body.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
    }

    /// The name of a member of a class or an object.
    pub(super) fn member_name(&self, member: Node<'_>) -> Option<&'t str> {
        let key = ["name", "property", "key"]
            .into_iter()
            .find_map(|field| member.child_by_field_name(field))?;
        Some(super::origin::unquoted(self.text(key)))
    }

    /// Whether a variable is a function or class that never changes.
    pub(super) fn function_named(&self, name: Node<'t>) -> Option<Node<'t>> {
        let variable = self.variable(name)?;
        match variable.writes.as_slice() {
            [only] => match only.value {
                WrittenValue::Exactly(value) if is_function(value) || is_class(value) => {
                    Some(value)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether a function is a generator.
pub(super) fn is_generator(function: Node<'_>) -> bool {
    let mut cursor = function.walk();
    matches!(function.kind(), "generator_function" | "generator_function_declaration")
        || (function.kind() == "method_definition"
            && function.children(&mut cursor).any(|child| child.kind() == "*"))
}
