//! The origin of a value, as a path: `crypto:createHmac` for an export of the module `crypto`,
//! `Math.random` for a global. Calls are written `()`, so that the client made by `new pg.Client()`
//! is `pg:Client()`.

use super::program::ScriptFile;
use crate::symbols::{DeclarationKind, ScopeVariable, WrittenValue};
use tree_sitter::Node;

/// Maximum length of a chain of names; no check knows longer ones.
const MAX_STEPS: usize = 24;

impl<'t> ScriptFile<'t> {
    /// The path of a value; `None` when it is made in this file or comes from its callers.
    pub(super) fn origin(&self, node: Node<'t>) -> Option<String> {
        let mut behind = Vec::new();
        let mut node = node;
        for _ in 0..MAX_STEPS {
            node = match self.step(node)? {
                OriginStep::Begins(base) => return Some(path(base, behind)),
                OriginStep::Same(inner) => inner,
                OriginStep::Of(inner, part) => {
                    behind.push(part);
                    inner
                }
            };
        }
        None
    }

    /// The path of the callee of a call or `new`.
    pub(super) fn callee_origin(&self, call: Node<'t>) -> Option<String> {
        self.origin(callee(call)?)
    }

    fn step(&self, node: Node<'t>) -> Option<OriginStep<'t>> {
        match node.kind() {
            "identifier" | "shorthand_property_identifier" => self.step_of_name(node),
            "member_expression" => {
                let property = node.child_by_field_name("property")?;
                let object = node.child_by_field_name("object")?;
                Some(OriginStep::Of(object, OriginPart::Member(self.text(property))))
            }
            "subscript_expression" => {
                let name = self.plain_text(node.child_by_field_name("index")?)?;
                Some(OriginStep::Of(node.child_by_field_name("object")?, OriginPart::Member(name)))
            }
            "call_expression" | "new_expression" => {
                if let Some(module) = self.required(node) {
                    return Some(OriginStep::Begins(Base::Module(module)));
                }
                Some(OriginStep::Of(callee(node)?, OriginPart::Call))
            }
            "await_expression"
            | "parenthesized_expression"
            | "as_expression"
            | "non_null_expression"
            | "satisfies_expression" => Some(OriginStep::Same(node.named_child(0)?)),
            _ => None,
        }
    }

    fn step_of_name(&self, node: Node<'t>) -> Option<OriginStep<'t>> {
        let variable = self.variable(node)?;
        match variable.declared {
            DeclarationKind::Undeclared => Some(OriginStep::Begins(Base::Global(variable.name))),
            DeclarationKind::Import => self.imported(variable),
            _ => match variable.writes.as_slice() {
                [only] => match only.value {
                    WrittenValue::Exactly(value) => Some(OriginStep::Same(value)),
                    WrittenValue::Member(whole, key) => {
                        Some(OriginStep::Of(whole, OriginPart::Member(unquoted(self.text(key)))))
                    }
                    _ => None,
                },
                _ => None,
            },
        }
    }

    fn imported(&self, variable: &ScopeVariable<'t>) -> Option<OriginStep<'t>> {
        let name = *variable.declarations.first()?;
        let specifier = self.parent(name)?;
        let statement = self.ancestors(name).find(|around| around.kind() == "import_statement")?;
        let source = statement
            .child_by_field_name("source")
            .or_else(|| specifier.child_by_field_name("source"))?;
        let module = module_name(unquoted(self.text(source)));
        if specifier.kind() == "import_specifier" {
            let outer = self.text(specifier.child_by_field_name("name")?);
            return Some(OriginStep::Begins(Base::Export(module, outer)));
        }
        Some(OriginStep::Begins(Base::Module(module)))
    }

    /// The module of `require("module")` and `import("module")`.
    fn required(&self, call: Node<'t>) -> Option<&'t str> {
        let function = call.child_by_field_name("function")?;
        let is_require = match function.kind() {
            "import" => true,
            "identifier" => {
                self.text(function) == "require"
                    && self
                        .variable(function)
                        .is_some_and(|it| it.declared == DeclarationKind::Undeclared)
            }
            _ => false,
        };
        let argument = arguments(call).first().copied().filter(|_| is_require)?;
        self.plain_text(argument).map(module_name)
    }

    /// The text of a literal without escapes.
    fn plain_text(&self, node: Node<'t>) -> Option<&'t str> {
        matches!(node.kind(), "string").then(|| unquoted(self.text(node)))
    }
}

enum OriginStep<'t> {
    Begins(Base<'t>),
    Same(Node<'t>),
    Of(Node<'t>, OriginPart<'t>),
}

enum Base<'t> {
    Module(&'t str),
    Export(&'t str, &'t str),
    Global(&'t str),
}

enum OriginPart<'t> {
    Member(&'t str),
    Call,
}

/// The callee of a call or `new`.
pub(super) fn callee(call: Node<'_>) -> Option<Node<'_>> {
    call.child_by_field_name("function").or_else(|| call.child_by_field_name("constructor"))
}

/// The arguments of a call or `new`.
pub(super) fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let Some(list) = call.child_by_field_name("arguments").filter(|it| it.kind() == "arguments")
    else {
        return Vec::new();
    };
    let mut cursor = list.walk();
    list.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// The inside of a quoted text.
pub(super) fn unquoted(text: &str) -> &str {
    let quotes = ['"', '\'', '`'];
    let inner = text.strip_prefix(quotes).and_then(|rest| rest.strip_suffix(quotes));
    inner.unwrap_or(text)
}

fn module_name(name: &str) -> &str {
    name.strip_prefix("node:").unwrap_or(name)
}

fn path(base: Base<'_>, behind: Vec<OriginPart<'_>>) -> String {
    let (mut path, mut at_start) = match base {
        Base::Module(module) => (format!("{module}:"), true),
        Base::Export(module, "default") => (format!("{module}:"), true),
        Base::Export(module, name) => (format!("{module}:{name}"), false),
        Base::Global(name) => (name.to_owned(), false),
    };
    for part in behind.into_iter().rev() {
        match part {
            // A default export is the module itself to those who require it.
            OriginPart::Member("default") if at_start => {}
            OriginPart::Member(name) => {
                if !at_start {
                    path.push('.');
                }
                path.push_str(name);
                at_start = false;
            }
            OriginPart::Call => {
                path.push_str("()");
                at_start = false;
            }
        }
    }
    path
}
