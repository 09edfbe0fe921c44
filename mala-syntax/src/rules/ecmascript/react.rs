//! What makes a React component: its class or object, its methods, and the functions that render.

use super::origin::{arguments, callee};
use super::program::{Program, is_class, is_function};
use tree_sitter::Node;

impl<'t> Program<'t> {
    /// The class or object of the component around a node.
    pub(super) fn component_around(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.ancestors(node).find(|around| self.is_component(*around))
    }

    /// All components of the file that have methods.
    pub(super) fn components(&self) -> Vec<Node<'t>> {
        let kinds = ["class_declaration", "class", "object", "abstract_class_declaration"];
        self.of_kinds(&kinds).filter(|node| self.is_component(*node)).collect()
    }

    fn is_component(&self, node: Node<'t>) -> bool {
        if is_class(node) {
            return self.parent_class(node).is_some_and(|parent| {
                let last = parent.rsplit('.').next().unwrap_or(parent);
                matches!(last, "Component" | "PureComponent")
            });
        }
        if node.kind() != "object" {
            return false;
        }
        let call = self.parent(node).and_then(|it| self.parent(it));
        let name = call.and_then(callee).map_or("", |it| self.text(it));
        matches!(name, "React.createClass" | "createReactClass" | "createClass")
    }

    /// What a class extends, as it is written, without type arguments.
    pub(super) fn parent_class(&self, class: Node<'t>) -> Option<&'t str> {
        let mut cursor = class.walk();
        let heritage = class.children(&mut cursor).find(|it| it.kind() == "class_heritage")?;
        let text = self.text(heritage).strip_prefix("extends")?.trim_start();
        text.split(|c: char| c == '<' || c == '(' || c.is_whitespace()).next()
    }

    /// The members of a component, by name.
    pub(super) fn component_members(&self, component: Node<'t>) -> Vec<(&'t str, Node<'t>)> {
        let members = if is_class(component) {
            self.class_members(component)
        } else {
            let mut cursor = component.walk();
            component.named_children(&mut cursor).collect()
        };
        members
            .into_iter()
            .filter_map(|member| {
                let value = member.child_by_field_name("value");
                let function = value.filter(|it| is_function(*it)).unwrap_or(member);
                Some((self.member_name(member)?, function))
            })
            .filter(|(_, function)| is_function(*function))
            .collect()
    }

    /// Whether a node is `this`, or a variable that always holds it.
    pub(super) fn is_this(&self, node: Node<'t>) -> bool {
        node.kind() == "this" || self.value_of(node).is_some_and(|it| it.kind() == "this")
    }

    /// The name of the method that a call calls on `this`.
    pub(super) fn method_of_this(&self, call: Node<'t>) -> Option<&'t str> {
        let callee = callee(call).filter(|it| it.kind() == "member_expression")?;
        let object = callee.child_by_field_name("object")?;
        let property = callee.child_by_field_name("property")?;
        self.is_this(object).then(|| self.text(property))
    }

    /// The name that a function goes by.
    pub(super) fn function_name(&self, function: Node<'t>) -> Option<&'t str> {
        if let Some(name) = function.child_by_field_name("name") {
            return Some(self.text(name));
        }
        let mut around = self.parent(function)?;
        // `const Name = memo(forwardRef(() => …))`
        while matches!(around.kind(), "arguments" | "call_expression") {
            let call = if around.kind() == "arguments" { self.parent(around)? } else { around };
            let wraps = callee(call).is_some_and(|it| {
                let name = self.text(it).rsplit('.').next().unwrap_or_default();
                matches!(name, "memo" | "forwardRef" | "observer")
            });
            if !wraps || !arguments(call).iter().any(|it| self.contains(*it, function)) {
                return None;
            }
            around = self.parent(call)?;
        }
        let name = around
            .child_by_field_name("name")
            .filter(|_| around.kind() == "variable_declarator")?;
        Some(self.text(name))
    }

    /// Whether a node is another one, or around it.
    pub(super) fn contains(&self, outer: Node<'_>, inner: Node<'_>) -> bool {
        outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
    }
}
