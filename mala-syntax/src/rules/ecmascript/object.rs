//! Facts about the members of an object: those of its literal, and those that are added later.

use super::origin::unquoted;
use super::program::ScriptFile;
use tree_sitter::Node;

/// Objects spread into one another deeper than this are not followed.
const MAX_DEPTH: usize = 6;

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum ObjectMember<'t> {
    /// The value of this expression.
    Is(Node<'t>),
    /// Nothing.
    Missing,
    /// Unknown without running the code.
    Unsure,
}

impl<'t> ObjectMember<'t> {
    /// The expression, when it is known.
    pub(super) fn known(self) -> Option<Node<'t>> {
        match self {
            Self::Is(value) => Some(value),
            Self::Missing | Self::Unsure => None,
        }
    }
}

impl<'t> ScriptFile<'t> {
    /// The member of an object with this name.
    pub(super) fn member(&self, object: Node<'t>, name: &str) -> ObjectMember<'t> {
        self.member_within(object, name, MAX_DEPTH)
    }

    /// The member of an object at a path of names.
    pub(super) fn member_path(&self, object: Node<'t>, path: &str) -> ObjectMember<'t> {
        let mut found = ObjectMember::Is(object);
        for name in path.split('.') {
            let ObjectMember::Is(inner) = found else { return found };
            found = self.member(inner, name);
        }
        found
    }

    fn member_within(&self, object: Node<'t>, name: &str, depth: usize) -> ObjectMember<'t> {
        if depth == 0 {
            return ObjectMember::Unsure;
        }
        if let Some(value) = self.put_later(object, name) {
            return ObjectMember::Is(value);
        }
        match self.object_value(object) {
            Some(literal) => self.member_of_literal(literal, name, depth),
            None => ObjectMember::Unsure,
        }
    }

    /// The object literal that an expression refers to, or that a local function returns.
    pub(super) fn object_value(&self, node: Node<'t>) -> Option<Node<'t>> {
        let value = self.value_of(node)?;
        match value.kind() {
            "object" => Some(value),
            "call_expression" => {
                let function = self.value_of(value.child_by_field_name("function")?)?;
                let returned = self.only_return(function)?;
                let returned = self.value_of(returned)?;
                (returned.kind() == "object").then_some(returned)
            }
            _ => None,
        }
    }

    /// The last `object.name = value`.
    fn put_later(&self, object: Node<'t>, name: &str) -> Option<Node<'t>> {
        // Only a name refers to a variable.
        let variable = self.variable(object)?;
        variable.reads.iter().rev().find_map(|read| {
            let member = self.parent(*read).filter(|it| it.kind() == "member_expression")?;
            let assignment =
                self.parent(member).filter(|it| it.kind() == "assignment_expression")?;
            let is_target = assignment.child_by_field_name("left")?.id() == member.id();
            let property = member.child_by_field_name("property")?;
            let object = member.child_by_field_name("object")?;
            (is_target && object.id() == read.id() && self.text(property) == name)
                .then(|| assignment.child_by_field_name("right"))?
        })
    }

    fn member_of_literal(&self, literal: Node<'t>, name: &str, depth: usize) -> ObjectMember<'t> {
        let mut cursor = literal.walk();
        let entries: Vec<_> = literal.named_children(&mut cursor).collect();
        for entry in entries.into_iter().rev() {
            match entry.kind() {
                "pair" | "method_definition" => {
                    let field = if entry.kind() == "pair" { "key" } else { "name" };
                    let Some(key) = entry.child_by_field_name(field) else { continue };
                    if key.kind() == "computed_property_name" {
                        return ObjectMember::Unsure;
                    }
                    if unquoted(self.text(key)) == name {
                        let value = entry.child_by_field_name("value");
                        return ObjectMember::Is(value.unwrap_or(entry));
                    }
                }
                "shorthand_property_identifier" if self.text(entry) == name => {
                    return ObjectMember::Is(entry);
                }
                "spread_element" => {
                    let Some(inner) = entry.named_child(0) else { continue };
                    match self.member_within(inner, name, depth - 1) {
                        ObjectMember::Missing => {}
                        found => return found,
                    }
                }
                _ => {}
            }
        }
        ObjectMember::Missing
    }
}
