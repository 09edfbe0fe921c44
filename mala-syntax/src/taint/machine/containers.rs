//! Lists, objects, classes and markup: values that hold others.

use super::super::api::Edge;
use super::super::ir::{Argument, Comprehension, ExprId, Expression, Key, Member, Sym, VarId};
use super::super::value::{Facts, Value};
use super::Machine;
use super::guards::Truth;

impl<'p> Machine<'p> {
    pub(super) fn list(&mut self, items: &'p [Argument]) -> Value {
        let mut value = Value::default();
        let mut position = Some(0_usize);
        value.edit(|_| {});
        for item in items {
            let element = self.eval(item.value);
            if item.spread {
                let place = self.place(item.value);
                let inner = self.element_of(&element, place);
                value = self.with_element(&value, inner);
                position = None;
                continue;
            }
            value = match position {
                Some(at) if at < 24 => {
                    let name = self.names.intern(&at.to_string());
                    value.with_field(name, element)
                }
                _ => self.with_element(&value, element),
            };
            position = position.map(|at| at + 1);
        }
        value
    }

    /// The value with one more element at an unknown place.
    pub(super) fn with_element(&mut self, value: &Value, element: Value) -> Value {
        let any = self.names.intern("*");
        let joined = match value.own_field(any) {
            Some(before) => before.join(&element),
            None => element,
        };
        value.with_field(any, joined)
    }

    pub(super) fn object(&mut self, entries: &'p [(Key, ExprId)]) -> Value {
        let mut value = Value::default();
        value.edit(|_| {});
        for (key, entry) in entries {
            let inner = self.eval(*entry);
            value = match key {
                Key::Name(name) => {
                    let inner = self.check_named(*name, inner, self.place(*entry));
                    value.with_field(*name, inner)
                }
                Key::Computed(key) => {
                    let key = self.eval(*key);
                    match self.constant_key(&key) {
                        Some(name) => value.with_field(name, inner),
                        None => self.with_element(&value, inner),
                    }
                }
                Key::Spread => self.merged(&value, &inner),
            };
        }
        value
    }

    /// The fields of both; the second one wins.
    pub(super) fn merged(&mut self, value: &Value, more: &Value) -> Value {
        let mut merged = value.clone();
        merged.add_taints(more.taints());
        for (name, field) in more.field_map().into_iter().flatten() {
            merged = merged.with_field(*name, field.clone());
        }
        merged
    }

    pub(super) fn class(
        &mut self,
        instance: VarId,
        bases: &'p [ExprId],
        members: &'p [Member],
    ) -> Value {
        let mut made = self.read(instance);
        let receiver = self.names.intern("this");
        let receiver = self.apis.root(receiver);
        made.edit(|facts| {
            facts.apis.extend(receiver.filter(|api| !facts.apis.contains(api)));
        });
        let mut class = Value::new(Facts { instance: Some(instance), ..Facts::default() });
        for base in bases {
            let value = self.eval(*base);
            let parent =
                value.facts().and_then(|facts| facts.instance).map(|parent| self.read(parent));
            let apis = value.apis().to_vec();
            let inherited = self.follow(&apis, Edge::Call, self.place(*base));
            made = made.join(&parent.unwrap_or(inherited));
        }
        self.write(instance, made.clone());
        for member in members {
            let value = self.eval(member.value);
            made = made.with_field(member.name, value.clone());
            class = class.with_field(member.name, value.clone());
            if member.constructor {
                let functions = value.functions().to_vec();
                class.edit(|facts| facts.functions = functions);
            }
            self.write(instance, made.clone());
        }
        class
    }

    pub(super) fn comprehension(&mut self, inner: &'p Comprehension) -> Value {
        for (pattern, iterated) in &inner.loops {
            let value = self.eval(*iterated);
            let place = self.place(*iterated);
            let element = self.element_of(&value, place);
            self.bind(pattern, element, place);
        }
        self.state.push();
        for condition in &inner.conditions {
            self.eval(*condition);
            self.assume(*condition, Truth::Holds);
        }
        let mut value = Value::default();
        for element in &inner.elements {
            let element = self.eval(*element);
            value = self.with_element(&value, element);
        }
        self.state.pop();
        value
    }

    pub(super) fn markup(
        &mut self,
        id: ExprId,
        tag: ExprId,
        attributes: &'p [(Option<Sym>, ExprId)],
        children: &'p [ExprId],
    ) -> Value {
        let place = self.place(id);
        let element = match self.expression(tag) {
            Expression::Text(name) => {
                let root = format!("tag:{name}");
                self.root_value(&root, place)
            }
            _ => self.eval(tag),
        };
        for (name, attribute) in attributes {
            let value = self.eval(*attribute);
            if let Some(name) = name {
                self.check_write(&element, *name, &value, *attribute);
            }
            self.run_callbacks_in(&value);
        }
        for child in children {
            self.eval(*child);
        }
        let apis = element.apis().to_vec();
        self.follow(&apis, Edge::Call, place)
    }
}
