//! What a condition tells about the values in it: checks make taint harmless on the branch where
//! they hold.

mod calls;
mod prefixes;
mod refinement;

use super::super::ir::{Argument, ExprId, Expression, Operator};
use super::super::value::{ALL, Taint, Value};
use super::Machine;
use std::ops::Not;

/// What a condition comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    Holds,
    Fails,
}

impl Truth {
    /// That a comparison has this outcome says the same of its opposite, turned round.
    fn of(self, operator: Operator, straight: Operator) -> Self {
        if operator == straight { self } else { !self }
    }
}

impl Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
        }
    }
}

/// Deeper conditions say nothing.
const MAX_NESTING: u8 = 6;

impl<'p> Machine<'p> {
    /// Goes on as if the condition were true, or false.
    pub(super) fn assume(&mut self, condition: ExprId, truth: Truth) {
        self.assume_at(condition, truth, MAX_NESTING);
    }

    fn assume_at(&mut self, condition: ExprId, truth: Truth, nesting: u8) {
        let Some(nesting) = nesting.checked_sub(1) else { return };
        match self.expression(condition) {
            Expression::Not(inner) => self.assume_at(*inner, !truth, nesting),
            Expression::Binary(Operator::And, left, right) => {
                self.assume_both((*left, *right), truth, Truth::Holds, nesting);
            }
            Expression::Binary(Operator::Or, left, right) => {
                self.assume_both((*left, *right), truth, Truth::Fails, nesting);
            }
            Expression::Binary(operator, left, right) => {
                self.assume_comparison(*operator, *left, *right, truth);
            }
            Expression::Call { callee, arguments, .. } => {
                self.assume_call(*callee, arguments, truth, nesting);
            }
            // What is false or empty carries nothing.
            Expression::Variable(_) | Expression::Field(..) if truth == Truth::Fails => {
                self.assume_constant(condition);
                self.assume_field(condition, Truth::Fails);
            }
            Expression::Field(..) => self.assume_field(condition, Truth::Holds),
            _ => {}
        }
    }

    /// `a && b` when `joint` holds, `a || b` when it fails.
    fn assume_both(&mut self, sides: (ExprId, ExprId), truth: Truth, joint: Truth, nesting: u8) {
        if truth == joint {
            self.assume_at(sides.0, truth, nesting);
            self.assume_at(sides.1, truth, nesting);
            return;
        }
        self.state.push();
        self.assume_at(sides.0, truth, nesting);
        let first = self.state.pop();
        self.state.push();
        self.assume_at(sides.0, !truth, nesting);
        self.assume_at(sides.1, truth, nesting);
        let second = self.state.pop();
        self.state.merge(vec![first, second]);
    }

    /// A field of the value is there, or not: texts have no fields but their length, and a URL
    /// without a host stays on this one.
    fn assume_field(&mut self, condition: ExprId, there: Truth) {
        let Expression::Field(object, name) = self.expression(condition) else { return };
        match self.names.text(*name) {
            "netloc" | "hostname" | "host" if there == Truth::Fails => {
                self.assume_no_host(*object);
            }
            "length" => {}
            _ if there == Truth::Holds => self.clear(*object, self.model.class("html")),
            _ => {}
        }
    }

    /// A URL names no host. Browsers read backslashes as slashes, so that those must be gone.
    pub(super) fn assume_no_host(&mut self, url: ExprId) {
        let (class, slashes) = (self.classes.url, self.classes.slashes);
        self.refine_origin(url, &|taint| if taint.clean & slashes != 0 { class } else { 0 });
    }

    /// The value in question is one of a fixed set.
    pub(super) fn assume_constant(&mut self, subject: ExprId) {
        self.refine(subject, &|machine, taint| machine.cleared(taint, ALL));
    }

    fn assume_comparison(&mut self, operator: Operator, left: ExprId, right: ExprId, truth: Truth) {
        match operator {
            Operator::Equal | Operator::NotEqual => {
                let equal = truth.of(operator, Operator::Equal);
                self.assume_equal(left, right, equal);
                self.assume_equal(right, left, equal);
            }
            Operator::In | Operator::NotIn => {
                let inside = truth.of(operator, Operator::In);
                self.assume_member(right, left, inside);
            }
            Operator::Less | Operator::Greater => self.assume_order(operator, left, right, truth),
            Operator::InstanceOf if truth == Truth::Holds => {
                let object = self.classes.object;
                self.refine(left, &|_, taint| {
                    Some(Taint { kinds: taint.kinds & !object, ..taint })
                });
            }
            _ => {}
        }
    }

    /// `subject == other`, or not.
    fn assume_equal(&mut self, subject: ExprId, other: ExprId, equal: Truth) {
        match self.expression(subject) {
            Expression::TypeOf(inner) => {
                self.assume_type(*inner, other, equal);
                return;
            }
            Expression::Call { callee, arguments, .. } => {
                self.assume_call_result(*callee, arguments, other, equal);
                return;
            }
            Expression::Element(object, _) => self.assume_first(*object, other, equal),
            Expression::Field(..) => {
                let empty = match self.expression(other) {
                    Expression::Null => true,
                    Expression::Text(text) => text.is_empty(),
                    _ => false,
                };
                if empty {
                    self.assume_field(subject, !equal);
                }
            }
            _ => {}
        }
        let other = self.eval(other);
        let fixed = other.deep_taints().is_empty();
        if equal == Truth::Holds && fixed {
            self.refine_checked(subject, &|machine, taint| machine.cleared(taint, ALL));
        } else if equal == Truth::Fails && other.texts().iter().any(|text| is_prototype_name(text))
        {
            self.clear(subject, self.classes.prototype);
        }
    }

    /// `typeof subject == "string"`.
    fn assume_type(&mut self, subject: ExprId, other: ExprId, equal: Truth) {
        let Some(wanted) = self.literal_text(other) else { return };
        match (wanted, equal) {
            ("number" | "boolean" | "undefined" | "function", Truth::Holds) => {
                self.assume_constant(subject)
            }
            ("string", _) => {
                let object = self.classes.object;
                let html = if equal == Truth::Holds { 0 } else { self.model.class("html") };
                self.refine(subject, &|_, taint| {
                    Some(Taint { kinds: taint.kinds & !object, clean: taint.clean | html, ..taint })
                });
            }
            ("undefined", Truth::Fails) => self.assume_field(subject, Truth::Holds),
            _ => {}
        }
    }

    /// `list.indexOf(x) === -1`, `path.indexOf(root) === 0`, `path.slice(0, n) === root`.
    fn assume_call_result(
        &mut self,
        callee: ExprId,
        arguments: &'p [Argument],
        other: ExprId,
        equal: Truth,
    ) {
        let Expression::Field(object, name) = self.expression(callee) else { return };
        if matches!(self.names.text(*name), "commonprefix" | "commonpath" | "Rel" | "relpath") {
            if equal == Truth::Holds {
                self.clear_inside(arguments);
            }
            return;
        }
        let (object, name) = (*object, self.names.text(*name).to_owned());
        let Some(first) = arguments.first().map(|argument| argument.value) else { return };
        let number = match self.expression(other) {
            Expression::Number(number) => Some(*number),
            _ => None,
        };
        match (name.as_str(), number) {
            ("indexOf" | "find" | "search" | "lastIndexOf", Some(number)) if number < 0.0 => {
                self.assume_member(object, first, !equal);
            }
            ("indexOf" | "find" | "search", Some(0.0)) => self.assume_prefix(object, first, equal),
            ("substring" | "slice" | "substr", _) if equal == Truth::Holds => {
                let from_start =
                    matches!(self.expression(first), Expression::Number(number) if *number == 0.0);
                if from_start {
                    self.assume_prefix(object, other, Truth::Holds);
                }
            }
            ("toLowerCase" | "lower" | "trim", _) => {
                self.assume_equal(object, other, equal);
            }
            _ => {}
        }
    }

    /// `list.indexOf(x) >= 0`, `list.indexOf(x) > -1`.
    fn assume_order(&mut self, operator: Operator, left: ExprId, right: ExprId, truth: Truth) {
        if let Expression::Field(object, name) = self.expression(left) {
            let short = truth.of(operator, Operator::Less) == Truth::Holds;
            if short && self.names.text(*name) == "length" {
                self.clear(*object, self.model.class("length"));
            }
        }
        let Expression::Call { callee, arguments, .. } = self.expression(left) else { return };
        let Expression::Field(object, name) = self.expression(*callee) else { return };
        let Some(argument) = arguments.first() else { return };
        if self.names.text(*name) == "indexOf"
            && matches!(self.expression(right), Expression::Number(_))
        {
            let inside = truth.of(operator, Operator::Greater);
            self.assume_member(*object, argument.value, inside);
        }
    }

    /// `subject` is a member of `holder`, or `holder` is a text that contains it.
    fn assume_member(&mut self, holder: ExprId, subject: ExprId, inside: Truth) {
        if let (Expression::Field(object, name), Truth::Holds) = (self.expression(subject), inside)
            && matches!(
                self.names.text(*name),
                "netloc" | "hostname" | "host" | "origin" | "domain"
            )
        {
            let url = self.classes.url;
            self.refine_origin(*object, &|_| url);
        }
        let whole = self.eval(holder);
        let part = self.eval(subject);
        if whole.taints().is_empty() {
            if inside == Truth::Holds {
                self.assume_constant(subject);
            } else if self.lists_prototype(&whole) {
                self.clear(subject, self.classes.prototype);
            }
            return;
        }
        let Some(text) = part.text().cloned() else { return };
        if inside == Truth::Fails {
            self.assume_without(holder, &text);
        }
    }

    fn lists_prototype(&self, list: &Value) -> bool {
        list.field_map().is_some_and(|fields| {
            fields.values().any(|value| value.texts().iter().any(|t| is_prototype_name(t)))
        })
    }

    /// The text does not contain this.
    fn assume_without(&mut self, subject: ExprId, text: &str) {
        let classes = match text {
            ".." | "../" | "." => self.classes.contained,
            "/" => self.classes.contained | self.classes.relative,
            "__proto__" => self.classes.prototype,
            _ => 0,
        };
        self.clear(subject, classes);
    }
}

fn is_prototype_name(text: &str) -> bool {
    matches!(text, "__proto__" | "constructor" | "prototype")
}
