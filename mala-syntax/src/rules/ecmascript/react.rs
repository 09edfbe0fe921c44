//! Recognises React components: their class or object, their methods, and the functions that
//! render.

use super::origin::{arguments, callee};
use super::program::ScriptFile;
use tree_sitter::Node;

impl<'t> ScriptFile<'t> {
    /// The base class of a class, as written, without type arguments.
    pub(super) fn parent_class(&self, class: Node<'t>) -> Option<&'t str> {
        let mut cursor = class.walk();
        let heritage = class.children(&mut cursor).find(|it| it.kind() == "class_heritage")?;
        let text = self.text(heritage).strip_prefix("extends")?.trim_start();
        text.split(|c: char| c == '<' || c == '(' || c.is_whitespace()).next()
    }

    /// The name of a function.
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
