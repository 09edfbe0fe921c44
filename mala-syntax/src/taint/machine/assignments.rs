//! What assignments change.

use super::super::api::Edge;
use super::super::ir::{ExprId, Expression, FieldPattern, Pattern, Place, Sym, VarId};
use super::super::value::Value;
use super::Machine;

/// A variable and the fields below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) variable: VarId,
    pub(super) fields: Vec<Sym>,
}

/// Deeper fields are not told apart.
const MAX_FIELDS: usize = 4;

impl<'p> Machine<'p> {
    /// Binds a pattern to a value.
    pub(super) fn bind(&mut self, pattern: &'p Pattern, value: Value, place: Place) {
        match pattern {
            Pattern::Variable(variable) => {
                let name = self.program.variable(*variable).name;
                let value = self.check_named(name, value, place);
                let value = self.passed(value, place);
                self.write(*variable, value);
            }
            Pattern::Target(target) => self.assign_target(*target, value),
            Pattern::Fields(fields) => self.bind_fields(fields, &value, place),
            Pattern::Elements(items) => self.bind_elements(items, &value, place),
            Pattern::Rest(inner) => self.bind(inner, value, place),
            Pattern::Default(inner, default) => {
                let default = self.eval(*default);
                let value = if value.facts().is_none() { default } else { value.join(&default) };
                self.bind(inner, value, place);
            }
            Pattern::Ignore => {}
        }
    }

    /// The value with this place added to the way of its taint.
    pub(super) fn passed(&mut self, value: Value, place: Place) -> Value {
        if value.taints().is_empty() {
            return value;
        }
        let taints = value.taints().iter().map(|taint| self.trail.pass(*taint, place)).collect();
        let mut passed = value;
        passed.edit(|facts| facts.taints = taints);
        passed
    }

    fn bind_fields(&mut self, fields: &'p [FieldPattern], value: &Value, place: Place) {
        for item in fields {
            let inner = match (item.name, &item.pattern) {
                (Some(name), _) => self.field(value, name, place),
                (None, Pattern::Rest(_)) => value.clone(),
                (None, _) => self.element_of(value, place),
            };
            self.bind(&item.pattern, inner, place);
        }
    }

    fn bind_elements(&mut self, items: &'p [Pattern], value: &Value, place: Place) {
        for (position, item) in items.iter().enumerate() {
            let inner = match item {
                Pattern::Rest(_) => value.clone(),
                _ => self.item_at(value, position, place),
            };
            self.bind(item, inner, place);
        }
    }

    fn item_at(&mut self, value: &Value, position: usize, place: Place) -> Value {
        let name = self.names.intern(&position.to_string());
        match value.own_field(name) {
            Some(own) => own.clone(),
            None if value.field_map().is_none() => self.field(value, name, place),
            None => self.element_of(value, place),
        }
    }

    fn assign_target(&mut self, target: ExprId, value: Value) {
        match self.expression(target) {
            Expression::Field(object, name) => self.assign_field(target, *object, *name, value),
            Expression::Element(object, index) => {
                let key = self.eval(*index);
                match self.constant_key(&key) {
                    Some(name) => self.assign_field(target, *object, name, value),
                    None => self.assign_element(target, *object, &key, value),
                }
            }
            _ => {}
        }
    }

    fn assign_field(&mut self, target: ExprId, object: ExprId, name: Sym, value: Value) {
        let holder = self.eval(object);
        let value = self.check_named(name, value, self.place(target));
        self.check_write_at(&holder, name, &value, (target, object));
        self.check_chosen_write(&holder, None, target);
        for api in holder.apis() {
            if let Some(child) = self.apis.child(*api, Edge::Name(name)) {
                self.remember(child, &value);
            }
        }
        let place = self.place(target);
        let value = self.passed(value, place);
        if let Some(spot) = self.spot(target) {
            self.store(&spot, value, place);
        }
    }

    /// Keeps what is written to a thing known by its path.
    fn remember(&mut self, api: super::ApiId, value: &Value) {
        let joined = match self.heap.get(&api) {
            Some(before) => before.join(value),
            None => value.clone(),
        };
        self.heap.insert(api, joined);
    }

    fn assign_element(&mut self, target: ExprId, object: ExprId, key: &Value, value: Value) {
        let holder = self.eval(object);
        self.check_chosen_write(&holder, Some(key), target);
        self.check_key_write(key, &holder, target);
        if let Some(spot) = self.spot(object) {
            let holder = self.with_element(&holder, value);
            self.store(&spot, holder, self.place(target));
        }
    }

    pub(super) fn remove(&mut self, target: ExprId) {
        match self.expression(target) {
            Expression::Element(object, index) => {
                let (holder, key) = (self.eval(*object), self.eval(*index));
                self.check_chosen_write(&holder, Some(&key), target);
                self.check_key_write(&key, &holder, target);
            }
            Expression::Field(object, _) => {
                let holder = self.eval(*object);
                self.check_chosen_write(&holder, None, target);
            }
            _ => {}
        }
    }

    /// The variable and fields that an expression names.
    pub(super) fn spot(&mut self, id: ExprId) -> Option<Spot> {
        let mut fields = Vec::new();
        let mut current = id;
        loop {
            match self.expression(current) {
                Expression::Variable(variable) => {
                    fields.reverse();
                    return Some(Spot { variable: *variable, fields });
                }
                Expression::Field(object, name) => {
                    fields.push(*name);
                    current = *object;
                }
                Expression::Element(object, index) => {
                    let name = match self.expression(*index) {
                        Expression::Text(text) => self.names.intern(text),
                        Expression::Number(number) => self.names.intern(&number.to_string()),
                        Expression::Variable(_) => {
                            let key = self.eval(*index);
                            self.constant_key(&key)?
                        }
                        _ => return None,
                    };
                    fields.push(name);
                    current = *object;
                }
                Expression::Call { callee, arguments, .. } => {
                    // `form.get("name")` is a field of the form.
                    let Expression::Field(object, name) = self.expression(*callee) else {
                        return None;
                    };
                    let key = arguments.first().and_then(|first| self.literal_text(first.value))?;
                    if self.names.text(*name) != "get" {
                        return None;
                    }
                    fields.push(self.names.intern(key));
                    current = *object;
                }
                _ => return None,
            }
            if fields.len() > MAX_FIELDS {
                return None;
            }
        }
    }

    /// Sets what a spot holds.
    pub(super) fn store(&mut self, spot: &Spot, value: Value, place: Place) {
        let root = self.read(spot.variable);
        let changed = self.with_path(&root, &spot.fields, value, place);
        self.write(spot.variable, changed);
    }

    fn with_path(&mut self, holder: &Value, fields: &[Sym], value: Value, place: Place) -> Value {
        let Some((name, later)) = fields.split_first() else { return value };
        let inner = match later {
            [] => value,
            _ => {
                let before = self.field(holder, *name, place);
                self.with_path(&before, later, value, place)
            }
        };
        holder.with_field(*name, inner)
    }
}
