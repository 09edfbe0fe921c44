//! Expressions: how facts about parts become facts about the whole.

use super::super::api::Edge;
use super::super::ir::{ExprId, Expression, Operator, Place, Sym};
use super::super::model::Role;
use super::super::value::{Facts, Known, Taint, Value};
use super::Machine;
use super::guards::Truth;
use super::statements::join_first;

impl<'p> Machine<'p> {
    pub(super) fn eval(&mut self, id: ExprId) -> Value {
        if self.budget == 0 || self.depth >= super::MAX_DEPTH {
            return Value::default();
        }
        self.budget -= 1;
        self.depth += 1;
        let value = self.eval_into(id);
        self.depth -= 1;
        value
    }

    fn eval_into(&mut self, id: ExprId) -> Value {
        match self.expression(id) {
            Expression::Variable(variable) => self.read(*variable),
            Expression::Global(name) => self.global(*name, self.place(id)),
            Expression::Module(name) => self.module(name, self.place(id)),
            Expression::Text(text) => Self::text_value(text.clone(), id),
            Expression::Number(number) => Value::of_known(Known::Number(*number)),
            Expression::Bool(value) => Value::of_known(Known::Bool(*value)),
            Expression::Null => Value::of_known(Known::Null),
            Expression::Pattern(body, flags) => {
                Value::of_known(Known::Pattern(body.clone(), flags.clone()))
            }
            Expression::Field(object, name) => {
                let object = self.eval(*object);
                self.field(&object, *name, self.place(id))
            }
            Expression::Element(object, index) => self.element(*object, *index, self.place(id)),
            Expression::Call { callee, arguments, kind } => {
                self.call(id, *callee, arguments, *kind)
            }
            Expression::Function(function) => {
                Value::new(Facts { functions: vec![*function], ..Facts::default() })
            }
            Expression::Class { instance, bases, members } => self.class(*instance, bases, members),
            _ => self.eval_compound(id),
        }
    }

    fn eval_compound(&mut self, id: ExprId) -> Value {
        match self.expression(id) {
            Expression::Join(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.eval(*part)).collect();
                self.joined(&parts)
            }
            Expression::Format(format, arguments) => self.format(*format, arguments),
            Expression::Binary(operator, left, right) => self.binary(*operator, *left, *right),
            Expression::Not(inner) => {
                let value = self.eval(*inner);
                match value.known() {
                    Known::Bool(known) => Value::of_known(Known::Bool(!known)),
                    _ => self.number_of(&value),
                }
            }
            Expression::Object(entries) => self.object(entries),
            Expression::List(items) => self.list(items),
            Expression::Assign(pattern, source) => {
                let mut value = self.eval(*source);
                if !value.taints().is_empty()
                    && matches!(self.expression(*source), Expression::Call { .. })
                {
                    value.edit(|facts| facts.origin = Some(*source));
                }
                self.bind(pattern, value.clone(), self.place(id));
                value
            }
            Expression::Append(pattern, before, more) => {
                let parts = [self.eval(*before), self.eval(*more)];
                let value = self.joined(&parts);
                self.bind(pattern, value.clone(), self.place(id));
                value
            }
            Expression::Choice(condition, then, otherwise) => {
                self.choice(*condition, *then, *otherwise)
            }
            Expression::Comprehension(inner) => self.comprehension(inner),
            Expression::Markup { tag, attributes, children } => {
                self.markup(id, *tag, attributes, children)
            }
            _ => self.eval_effect(id),
        }
    }

    /// Expressions that are there for what they do.
    fn eval_effect(&mut self, id: ExprId) -> Value {
        match self.expression(id) {
            Expression::Yield(inner) => {
                let value = self.eval(*inner);
                if let Some(frame) = self.frames.last_mut() {
                    frame.returned = join_first(&frame.returned, value);
                }
            }
            Expression::Remove(target) => self.remove(*target),
            Expression::TypeOf(inner) => {
                self.eval(*inner);
            }
            Expression::Opaque(parts) => {
                for part in parts {
                    self.eval(*part);
                }
            }
            _ => {}
        }
        Value::default()
    }

    fn global(&mut self, name: Sym, place: Place) -> Value {
        match self.apis.root(name) {
            Some(api) => self.api_value(api, place),
            None => Value::default(),
        }
    }

    /// A module by its name; `node:fs` is `fs`.
    pub(super) fn module(&mut self, name: &str, place: Place) -> Value {
        let name = name.strip_prefix("node:").unwrap_or(name);
        self.root_value(name, place)
    }

    /// A field of a value.
    pub(super) fn field(&mut self, object: &Value, name: Sym, place: Place) -> Value {
        if let Some(own) = object.own_field(name) {
            return own.clone();
        }
        let text = self.names.text(name);
        if text == "default" && !object.apis().is_empty() {
            return object.clone();
        }
        let mut value = if self.model.safe_fields.contains(text) {
            self.number_of(object)
        } else {
            object.inherited()
        };
        if !object.apis().is_empty() {
            let apis = object.apis().to_vec();
            let followed = self.follow(&apis, Edge::Name(name), place);
            value = self.sanitized_field(&followed, value);
            value = join_first(&value, followed);
        }
        value
    }

    /// Drops what a field is known not to carry.
    fn sanitized_field(&mut self, followed: &Value, value: Value) -> Value {
        let mut cleared = 0;
        for api in followed.apis() {
            for role in self.roles(*api).iter() {
                if let Role::Sanitizer(index) = role {
                    cleared |= self.model.sanitizers.get(*index).map_or(0, |found| found.clears);
                }
            }
        }
        if cleared == 0 { value } else { value.map_taints(&|taint| self.cleared(taint, cleared)) }
    }

    fn element(&mut self, object: ExprId, index: ExprId, place: Place) -> Value {
        let object = self.eval(object);
        let index = self.eval(index);
        if let Some(name) = self.constant_key(&index) {
            return self.field(&object, name, place);
        }
        let mut value = self.element_of(&object, place);
        let numbers: Vec<Taint> =
            index.taints().iter().filter_map(|taint| self.in_numbers(*taint)).collect();
        value.add_taints(&numbers);
        if !self.lacks_prototype(&object) {
            let chosen = self.chosen_by(&index);
            value.add_taints(&chosen);
        }
        value
    }

    /// What a key from outside chooses: anything, among it what nobody meant.
    pub(super) fn chosen_by(&self, index: &Value) -> Vec<Taint> {
        let usable =
            index.taints().iter().filter(|taint| taint.clean & self.classes.prototype == 0);
        usable.map(|taint| Taint { chose: true, ..*taint }).collect()
    }

    /// Whether a value was made by `Object.create(null)`.
    fn lacks_prototype(&mut self, object: &Value) -> bool {
        object.apis().iter().any(|api| {
            self.roles(*api).iter().any(|role| matches!(role, Role::Sanitizer(index)
                if self.model.sanitizers.get(*index).is_some_and(|found| found.clears & self.classes.prototype != 0)))
        })
    }

    pub(super) fn constant_key(&mut self, index: &Value) -> Option<Sym> {
        match index.known() {
            Known::Texts(texts) if texts.len() == 1 => {
                texts.first().map(|text| self.names.intern(text))
            }
            Known::Number(number) if number.fract() == 0.0 => {
                Some(self.names.intern(&number.to_string()))
            }
            _ => None,
        }
    }

    /// Any one element of a value.
    pub(super) fn element_of(&mut self, object: &Value, place: Place) -> Value {
        let mut value = object.inherited();
        if let Some(fields) = object.field_map() {
            for element in fields.values() {
                value = join_first(&value, element.clone());
            }
        }
        if !object.apis().is_empty() {
            let apis = object.apis().to_vec();
            let any = self.names.intern("[]");
            let followed = self.follow(&apis, Edge::Name(any), place);
            value = join_first(&value, followed);
        }
        value
    }

    pub(super) fn keys_of(&mut self, object: &Value) -> Value {
        // A key that an object has of its own does not lead to its prototype.
        let prototype = self.classes.prototype;
        object
            .inherited()
            .map_taints(&|taint| Some(Taint { clean: taint.clean | prototype, ..taint }))
    }

    fn binary(&mut self, operator: Operator, left: ExprId, right: ExprId) -> Value {
        match operator {
            Operator::And | Operator::Or | Operator::Coalesce => self.logic(operator, left, right),
            _ => {
                let (a, b) = (self.eval(left), self.eval(right));
                match operator {
                    Operator::Arithmetic | Operator::Remainder => {
                        join_first(&self.number_of(&a), self.number_of(&b))
                    }
                    Operator::Divide if self.divides_paths() => self.joined(&[a, b]),
                    Operator::Divide => join_first(&self.number_of(&a), self.number_of(&b)),
                    Operator::Equal | Operator::NotEqual => compared(operator, &a, &b),
                    _ => Value::default(),
                }
            }
        }
    }

    /// In Python, `/` joins paths.
    fn divides_paths(&self) -> bool {
        self.language == mala_domain::language::Language::Python
    }

    /// A number made from a value: most taint is gone.
    pub(super) fn number_of(&self, value: &Value) -> Value {
        Value::of_taints(
            value.taints().iter().filter_map(|taint| self.in_numbers(*taint)).collect(),
        )
    }

    fn logic(&mut self, operator: Operator, left: ExprId, right: ExprId) -> Value {
        let first = self.eval(left);
        self.state.push();
        match operator {
            Operator::And => self.assume(left, Truth::Holds),
            Operator::Or => self.assume(left, Truth::Fails),
            _ => {}
        }
        let second = self.eval(right);
        let changes = self.state.pop();
        self.state.merge(vec![changes, super::Changes::new()]);
        match (operator, first.known()) {
            (Operator::And, Known::Bool(false) | Known::Null) => first,
            (Operator::Or, Known::Bool(true)) => first,
            (Operator::And, _) => second,
            (Operator::Or | Operator::Coalesce, Known::Null | Known::Bool(false)) => second,
            _ => first.join(&second),
        }
    }

    fn choice(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> Value {
        self.eval(condition);
        if then == otherwise {
            return self.eval(then);
        }
        self.state.push();
        self.assume(condition, Truth::Holds);
        let first = self.eval(then);
        let changes = self.state.pop();
        self.state.push();
        self.assume(condition, Truth::Fails);
        let second = self.eval(otherwise);
        let others = self.state.pop();
        self.state.merge(vec![changes, others]);
        first.join(&second)
    }
}

fn compared(operator: Operator, a: &Value, b: &Value) -> Value {
    match (a.text(), b.text()) {
        (Some(a), Some(b)) => {
            Value::of_known(Known::Bool((a == b) == (operator == Operator::Equal)))
        }
        _ => Value::default(),
    }
}
