//! Calls: what they give, and what they hand on.

use super::super::api::{ApiId, Edge};
use super::super::ir::{Argument, CallKind, ExprId, Expression, Place, Sym};
use super::super::model::Role;
use super::super::model::pattern::{Position, Selector};
use super::super::value::{Taint, Value, add_taint};
use super::Machine;
use super::functions::Given;
use super::statements::join_first;

/// A call with everything in it evaluated.
pub(super) struct Site<'p> {
    pub(super) id: ExprId,
    pub(super) place: Place,
    /// The called thing's name, for `x.name()` and `name()`.
    pub(super) name: Option<Sym>,
    pub(super) receiver: Option<(ExprId, Value)>,
    pub(super) callee: Value,
    pub(super) arguments: &'p [Argument],
    pub(super) values: Vec<Value>,
    pub(super) kind: CallKind,
    /// Paths of what is called: what is known of it, and what the receiver is called.
    pub(super) apis: Vec<ApiId>,
}

impl<'p> Machine<'p> {
    pub(super) fn call(
        &mut self,
        id: ExprId,
        callee: ExprId,
        arguments: &'p [Argument],
        kind: CallKind,
    ) -> Value {
        let site = self.site(id, callee, arguments, kind);
        if let Some(value) = self.special_call(&site) {
            return value;
        }
        self.check_call(&site);
        self.check_chosen_call(&site);
        self.check_pattern(&site);
        let own = self.own_result(&site);
        if let Some(value) = own {
            return value;
        }
        if let Some(value) = self.method_call(&site) {
            return value;
        }
        let handed = self.handed_on(&site);
        let called = self.run_callbacks(&site, &handed);
        self.result(&site, handed, called)
    }

    fn site(
        &mut self,
        id: ExprId,
        callee: ExprId,
        arguments: &'p [Argument],
        kind: CallKind,
    ) -> Site<'p> {
        let (receiver, value, name) = match self.expression(callee) {
            Expression::Field(object, name) => {
                let holder = self.eval(*object);
                let value = self.field(&holder, *name, self.place(callee));
                (Some((*object, holder)), value, Some(*name))
            }
            Expression::Element(object, index) => {
                let holder = self.eval(*object);
                let key = self.eval(*index);
                let name = self.constant_key(&key);
                (Some((*object, holder)), self.eval(callee), name)
            }
            Expression::Global(name) => (None, self.eval(callee), Some(*name)),
            Expression::Variable(variable) => {
                (None, self.eval(callee), Some(self.program.variable(*variable).name))
            }
            _ => (None, self.eval(callee), None),
        };
        let values: Vec<Value> =
            arguments.iter().map(|argument| self.argument_value(argument)).collect();
        let mut apis = value.apis().to_vec();
        if let Some(name) = name {
            let event = self.event_apis(receiver.as_ref().map(|(_, holder)| holder), name, &values);
            apis.extend(event);
        }
        if let (Some((object, _)), Some(name)) = (&receiver, name) {
            if apis.is_empty() {
                let anything = self.names.intern("?");
                let root = self.apis.root(anything);
                apis.extend(root.and_then(|root| self.apis.child(root, Edge::Name(name))));
            }
            apis.extend(self.hint(*object, name));
        }
        let place = self.place(id);
        Site { id, place, name, receiver, callee: value, arguments, values, kind, apis }
    }

    fn argument_value(&mut self, argument: &Argument) -> Value {
        let value = self.eval(argument.value);
        if argument.spread && value.field_map().is_some() {
            return self.element_of(&value, self.place(argument.value));
        }
        value
    }

    /// `x.on("data")` is also the path `x.on:data`.
    fn event_apis(&mut self, receiver: Option<&Value>, name: Sym, values: &[Value]) -> Vec<ApiId> {
        let text = self.names.text(name);
        if !matches!(text, "on" | "once" | "addEventListener" | "addListener" | "bind" | "handle") {
            return Vec::new();
        }
        let Some(event) = values.first().and_then(Value::text) else { return Vec::new() };
        let edge = self.names.intern(&format!("on:{event}"));
        let mut holders = receiver.map(|holder| holder.apis().to_vec()).unwrap_or_default();
        if holders.is_empty() {
            let anything = self.names.intern("?");
            holders.extend(self.apis.root(anything));
        }
        holders.into_iter().filter_map(|api| self.apis.child(api, Edge::Name(edge))).collect()
    }

    /// The path of a method by what its receiver is called.
    pub(super) fn hint(&mut self, object: ExprId, name: Sym) -> Option<ApiId> {
        let word = self.written_name(object)?;
        let root = self.names.intern(&format!("<{}", word.to_lowercase()));
        let root = self.apis.root(root)?;
        self.apis.child(root, Edge::Name(name))
    }

    /// The last name in an expression as it is written.
    pub(super) fn written_name(&self, id: ExprId) -> Option<String> {
        let sym = match self.expression(id) {
            Expression::Variable(variable) => self.program.variable(*variable).name,
            Expression::Global(name) | Expression::Field(_, name) => *name,
            Expression::Call { callee, .. } => return self.written_name(*callee),
            Expression::Element(object, _) => return self.written_name(*object),
            _ => return None,
        };
        Some(self.names.text(sym).to_owned())
    }

    /// What the file's own functions give for this call, when it is one of them that is called.
    fn own_result(&mut self, site: &Site<'p>) -> Option<Value> {
        let instance = site.callee.facts().and_then(|facts| facts.instance);
        let functions = site.callee.functions().to_vec();
        if functions.is_empty() && instance.is_none() {
            return None;
        }
        let given = self.given(site);
        let mut result = Value::default();
        for function in functions {
            let value = self.call_function(function, &given);
            let made = if site.kind == CallKind::Creation {
                self.program.function(function).receiver
            } else {
                None
            };
            let value = made.map_or(value, |receiver| self.read(receiver));
            result = join_first(&result, value);
        }
        if let Some(instance) = instance {
            result = self.read(instance);
        }
        if !site.callee.apis().is_empty() {
            let apis = site.callee.apis().to_vec();
            let followed = self.follow(&apis, Edge::Call, site.place);
            result = join_first(&result, followed);
        }
        Some(result)
    }

    pub(super) fn given(&mut self, site: &Site<'p>) -> Given {
        let mut given = Given::default();
        for (argument, value) in site.arguments.iter().zip(&site.values) {
            match argument.name {
                Some(name) => given.named.push((name, value.clone())),
                None if argument.spread => given.spread = Some(value.clone()),
                None => given.values.push(value.clone()),
            }
        }
        given
    }

    /// Taints that the result carries because of what went in.
    fn handed_on(&mut self, site: &Site<'p>) -> Vec<Taint> {
        let mut taints = Vec::new();
        let mut said = false;
        let mut sanitizers = Vec::new();
        for api in &site.apis {
            for role in self.roles(*api).iter() {
                match role {
                    Role::Propagator(index) => {
                        said = true;
                        self.propagate(site, *index, &mut taints);
                    }
                    Role::Sanitizer(index) => sanitizers.push(*index),
                    _ => {}
                }
            }
        }
        sanitizers.retain(|index| {
            let sanitizer = self.model.sanitizers.get(*index);
            sanitizer.is_some_and(|found| {
                found.conditions.iter().all(|condition| self.holds(site, condition))
            })
        });
        if !sanitizers.is_empty() {
            return self.sanitize(site, &sanitizers);
        }
        if !said
            && self.receiver_carries(site)
            && let Some((_, holder)) = &site.receiver
        {
            taints.extend(self.carried(holder));
        }
        taints
    }

    /// Most methods of a tainted value give a tainted value.
    fn receiver_carries(&self, site: &Site<'p>) -> bool {
        site.name.is_some_and(|name| !self.model.safe_methods.contains(self.names.text(name)))
    }

    fn propagate(&mut self, site: &Site<'p>, index: usize, taints: &mut Vec<Taint>) {
        let Some(propagator) = self.model.propagators.get(index) else { return };
        let mut values: Vec<Value> = Vec::new();
        if propagator.from.is_empty() {
            values.extend(site.values.iter().cloned());
            values.extend(site.receiver.iter().map(|(_, value)| value.clone()));
        }
        for selector in &propagator.from {
            values.extend(self.select(site, selector).into_iter().map(|(value, _)| value));
        }
        for value in values {
            for taint in self.carried_deep(&value) {
                let adds = if taint.kinds & propagator.to != 0 { propagator.adds } else { 0 };
                let kinds = (taint.kinds | adds) & !propagator.drops;
                add_taint(taints, Taint { kinds, ..taint });
            }
        }
    }

    /// What is left of the taints that go into a sanitizer.
    fn sanitize(&mut self, site: &Site<'p>, sanitizers: &[usize]) -> Vec<Taint> {
        let mut taints = Vec::new();
        let inputs = site.values.iter().enumerate().map(|(at, value)| (Some(at), value.clone()));
        let receiver = site.receiver.iter().map(|(_, value)| (None, value.clone()));
        let inputs: Vec<(Option<usize>, Value)> = inputs.chain(receiver).collect();
        for (at, value) in inputs {
            let (mut clears, mut restores, mut passes) = (0, 0, false);
            for index in sanitizers {
                let Some(sanitizer) = self.model.sanitizers.get(*index) else { continue };
                let concerned = sanitizer.selectors.is_empty()
                    || sanitizer.selectors.iter().any(|selector| concerns(selector, at));
                if concerned {
                    clears |= sanitizer.clears;
                    restores |= sanitizer.restores;
                    passes = true;
                }
            }
            if !passes {
                continue;
            }
            for taint in self.carried_deep(&value) {
                let taint = Taint { clean: taint.clean & !restores, ..taint };
                if let Some(taint) = self.cleared(taint, clears) {
                    add_taint(&mut taints, taint);
                }
            }
        }
        taints
    }

    fn result(&mut self, site: &Site<'p>, handed: Vec<Taint>, called: Value) -> Value {
        if self.is_wrapper(site) {
            let inner = site.values.first().cloned().unwrap_or_default();
            return if inner.facts().is_none() { called } else { inner };
        }
        let apis = site.callee.apis().to_vec();
        let mut value = self.follow(&apis, Edge::Call, site.place);
        // `#` are the settings that it was made with.
        if let (Some(options), false) = (site.values.last(), apis.is_empty())
            && options.field_map().is_some()
            && site.arguments.last().is_some_and(|last| last.name.is_none())
        {
            let settings = self.names.intern("#");
            value = value.with_field(settings, options.clone());
        }
        let capital = |name: Sym| self.names.text(name).starts_with(|c: char| c.is_uppercase());
        let made = !apis.is_empty() && site.name.is_some_and(capital);
        for (argument, given) in site.arguments.iter().zip(&site.values) {
            // What is made with `Parser(strict=True)` has these settings.
            if let Some(name) = argument.name.filter(|_| made) {
                value = value.with_field(name, given.clone());
            }
        }
        value.add_taints(&handed);
        if !called.taints().is_empty() {
            value.add_taints(called.taints());
        }
        let literals: Vec<ExprId> = if self.keeps_literals(site) {
            site.values.iter().flat_map(Value::deep_literals).collect()
        } else {
            Vec::new()
        };
        if !literals.is_empty() {
            value.edit(|facts| facts.literals = literals.into_iter().take(6).collect());
        }
        value
    }

    fn is_wrapper(&mut self, site: &Site<'p>) -> bool {
        site.apis.iter().any(|api| self.roles(*api).contains(&Role::Wrapper))
    }

    /// Whether the result is made of the arguments' text.
    fn keeps_literals(&mut self, site: &Site<'p>) -> bool {
        site.apis
            .iter()
            .any(|api| self.roles(*api).iter().any(|role| matches!(role, Role::Propagator(_))))
    }

    /// The values that a selector picks from a call, with where they are.
    pub(super) fn select(&mut self, site: &Site<'p>, selector: &Selector) -> Vec<(Value, ExprId)> {
        let mut picked: Vec<(Value, ExprId)> = Vec::new();
        let named = |argument: &Argument| argument.name.is_some();
        let positional = || site.arguments.iter().zip(&site.values).filter(|(a, _)| !named(a));
        match &selector.position {
            Position::Receiver => {
                picked.extend(site.receiver.iter().map(|(id, value)| (value.clone(), *id)))
            }
            Position::At(at) => {
                picked.extend(positional().nth(*at).map(|(a, v)| (v.clone(), a.value)));
                let spread = positional().take(*at).find(|(a, _)| a.spread);
                picked.extend(spread.map(|(a, v)| (v.clone(), a.value)));
            }
            Position::From(at) => {
                picked.extend(positional().skip(*at).map(|(a, v)| (v.clone(), a.value)));
            }
            Position::Any => {
                picked.extend(
                    site.arguments.iter().zip(&site.values).map(|(a, v)| (v.clone(), a.value)),
                );
            }
            Position::Named(wanted) => {
                let wanted = self.names.intern(wanted);
                let all = site.arguments.iter().zip(&site.values);
                picked.extend(
                    all.filter(|(a, _)| a.name == Some(wanted)).map(|(a, v)| (v.clone(), a.value)),
                );
            }
        }
        for name in &selector.fields {
            let name = self.names.intern(name);
            picked = picked
                .into_iter()
                .filter_map(|(value, id)| {
                    let inner = value.own_field(name)?.clone();
                    Some((inner, self.entry_of(id, name).unwrap_or(id)))
                })
                .collect();
        }
        picked
    }

    /// The expression of a field in an object that is written out.
    fn entry_of(&self, id: ExprId, name: Sym) -> Option<ExprId> {
        let Expression::Object(entries) = self.expression(id) else { return None };
        entries.iter().rev().find_map(|(key, value)| match key {
            super::super::ir::Key::Name(known) if *known == name => Some(*value),
            _ => None,
        })
    }
}

fn concerns(selector: &Selector, at: Option<usize>) -> bool {
    match (&selector.position, at) {
        (Position::At(wanted), Some(at)) => *wanted == at,
        (Position::From(first), Some(at)) => at >= *first,
        (Position::Any, Some(_)) | (Position::Receiver, None) => true,
        _ => false,
    }
}
