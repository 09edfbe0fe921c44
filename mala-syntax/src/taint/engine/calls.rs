//! Calls: sinks, callbacks, and the taint of the result.

use super::Engine;
use crate::taint::model::PathRole;
use crate::taint::pattern::{ArgumentPosition, ArgumentSelector, ArgumentTest, CallCondition};
use crate::taint::syntax::{ExpressionView, ValuePart};
use crate::taint::value::{AbstractValue, Bits, Taint};
use std::rc::Rc;
use tree_sitter::Node;

/// Methods that register a handler; the event name becomes a part of the path.
const EVENT_METHODS: [&str; 4] = ["on", "once", "addEventListener", "addListener"];
/// Methods whose callback gets the receiver itself, as it was reached.
const PROMISE_METHODS: [&str; 2] = ["then", "finally"];

/// A call with its evaluated parts.
pub(super) struct CallSite<'t> {
    node: Node<'t>,
    /// The paths of the callee.
    pub(super) paths: Vec<Rc<str>>,
    method: Option<&'t str>,
    function: AbstractValue<'t>,
    receiver: Option<(AbstractValue<'t>, Node<'t>)>,
    arguments: Vec<(Option<String>, AbstractValue<'t>, Node<'t>)>,
}

impl<'t> CallSite<'t> {
    /// The parts of a call that a selector names.
    pub(super) fn selected(
        &self,
        selector: &ArgumentSelector,
    ) -> Vec<(AbstractValue<'t>, Node<'t>)> {
        let plain = || self.arguments.iter().filter(|(name, ..)| name.is_none());
        let part = |(_, value, node): &(_, AbstractValue<'t>, Node<'t>)| (value.clone(), *node);
        let parts: Vec<(AbstractValue<'t>, Node<'t>)> = match &selector.position {
            ArgumentPosition::At(at) => plain().skip(*at).take(1).map(part).collect(),
            ArgumentPosition::From(at) => plain().skip(*at).map(part).collect(),
            ArgumentPosition::Any => self.arguments.iter().map(part).collect(),
            ArgumentPosition::Named(name) => self
                .arguments
                .iter()
                .filter(|(known, ..)| known.as_ref() == Some(name))
                .map(part)
                .collect(),
            ArgumentPosition::Receiver => self.receiver.clone().into_iter().collect(),
        };
        let inside = |(value, node): (AbstractValue<'t>, Node<'t>)| {
            let mut path = selector.fields.iter();
            let found = path.try_fold(&value, |value, name| value.field(name))?;
            Some((found.clone(), node))
        };
        parts.into_iter().filter_map(inside).collect()
    }

    fn meets(&self, condition: &CallCondition) -> bool {
        let holds =
            self.selected(&condition.selector).iter().any(|(value, _)| match &condition.test {
                ArgumentTest::Exists => true,
                ArgumentTest::Is(wanted) => value.text.as_deref() == Some(wanted.as_str()),
                ArgumentTest::Matches(pattern) => {
                    value.text.as_deref().is_some_and(|text| pattern.is_match(text))
                }
                ArgumentTest::ReachedBy(patterns) => value
                    .paths
                    .iter()
                    .any(|path| patterns.iter().any(|pattern| pattern.matches(path))),
            });
        holds != condition.negated
    }
}

impl<'t> Engine<'t, '_> {
    /// The value of a call.
    pub(super) fn call(
        &mut self,
        node: Node<'t>,
        callee: Node<'t>,
        arguments: &[ValuePart<'t>],
    ) -> AbstractValue<'t> {
        let site = self.call_site(node, callee, arguments);
        let roles = self.all_roles(&site.paths);
        self.apply_effects(&site, &roles, callee);
        if roles.contains(&PathRole::Wrapper)
            && let Some((_, value, _)) = site.arguments.first()
        {
            return value.clone();
        }
        let mut result = self.result(&site, &roles);
        for role in &roles {
            if let PathRole::Sanitizer(clears) = role {
                result.clear(*clears);
            }
        }
        result
    }

    /// A call without the values of its arguments.
    pub(super) fn unevaluated_site(
        &mut self,
        node: Node<'t>,
        callee: Node<'t>,
        arguments: &[ValuePart<'t>],
    ) -> CallSite<'t> {
        let unknown =
            |part: &ValuePart<'t>| (part.name.clone(), AbstractValue::default(), part.value);
        let mut site = CallSite {
            node,
            paths: Vec::new(),
            method: None,
            function: AbstractValue::default(),
            receiver: None,
            arguments: arguments.iter().map(unknown).collect(),
        };
        match self.view.expression(callee) {
            ExpressionView::Field(object, name) => {
                let receiver = self.evaluate(object);
                site.function = receiver.field(name).cloned().unwrap_or_default();
                site.method = Some(name);
                site.paths = receiver.extended(&format!(".{name}"));
                site.receiver = Some((receiver, object));
                if let Some(hint) = self.view.written_name(object) {
                    site.paths.push(format!("<{}.{name}", hint.to_lowercase()).into());
                }
            }
            _ => {
                site.function = self.evaluate(callee);
                site.paths = site.function.paths.clone();
            }
        }
        site
    }

    fn call_site(
        &mut self,
        node: Node<'t>,
        callee: Node<'t>,
        arguments: &[ValuePart<'t>],
    ) -> CallSite<'t> {
        let mut site = self.unevaluated_site(node, callee, arguments);
        for (part, (_, value, _)) in arguments.iter().zip(&mut site.arguments) {
            *value = self.evaluate(part.value);
            if part.is_spread {
                value.add_taints(&value.deep_taints());
            }
        }
        add_event(&mut site);
        site
    }

    /// The paths of a decorator, whether or not it is called.
    pub(super) fn callee_paths(&mut self, node: Node<'t>) -> Vec<Rc<str>> {
        match self.view.expression(node) {
            ExpressionView::Call { callee, arguments } => {
                self.call_site(node, callee, &arguments).paths
            }
            ExpressionView::Field(object, name) => {
                let mut paths = self.evaluate(node).paths;
                if let Some(hint) = self.view.written_name(object) {
                    paths.push(format!("<{}.{name}", hint.to_lowercase()).into());
                }
                paths
            }
            _ => self.evaluate(node).paths,
        }
    }

    /// Whether a statement is a call that never returns.
    pub(super) fn is_exit(&mut self, node: Node<'t>) -> bool {
        let ExpressionView::Call { callee, .. } = self.view.expression(node) else { return false };
        if !self.view.is_plain(callee) {
            return false;
        }
        let paths = self.evaluate(callee).paths;
        self.all_roles(&paths).contains(&PathRole::Exit)
    }

    /// Sinks, stored values, and settings for the rest of the function.
    fn apply_effects(&mut self, site: &CallSite<'t>, roles: &[PathRole], callee: Node<'t>) {
        let model = self.model;
        for role in roles {
            match role {
                PathRole::CallSink(at) => self.call_sink(site, *at),
                PathRole::SafeAfter(at) => {
                    if let Some((conditions, clears)) = model.safe_after.get(*at)
                        && conditions.iter().all(|condition| site.meets(condition))
                    {
                        self.frame().safe_classes |= clears;
                    }
                }
                PathRole::Store => self.store(site, callee),
                _ => {}
            }
        }
    }

    fn call_sink(&mut self, site: &CallSite<'t>, at: usize) {
        let model = self.model;
        let Some(sink) = model.sinks.get(at) else { return };
        if !sink.conditions.iter().all(|condition| site.meets(condition)) {
            return;
        }
        for selector in &sink.selectors {
            for (value, node) in site.selected(selector) {
                let taints = if selector.deep { value.deep_taints() } else { value.taints };
                self.report(at, &taints, node);
            }
        }
    }

    /// `list.push(x)`: the receiver carries the arguments.
    fn store(&mut self, site: &CallSite<'t>, callee: Node<'t>) {
        let taints = argument_taints(site, Bits::MAX);
        let ExpressionView::Field(object, _) = self.view.expression(callee) else { return };
        if let (Some((receiver, _)), false) = (&site.receiver, taints.is_empty()) {
            let mut receiver = receiver.clone();
            receiver.add_taints(&taints);
            self.assign(object, receiver, site.node);
        }
    }

    fn result(&mut self, site: &CallSite<'t>, roles: &[PathRole]) -> AbstractValue<'t> {
        let mut result = match site.function.closure {
            Some(closure) => {
                let values: Vec<AbstractValue<'t>> =
                    site.arguments.iter().map(|(_, value, _)| value.clone()).collect();
                self.run_called(closure, &values)
            }
            None => self.run_callbacks(site),
        };
        let called = AbstractValue { paths: site.paths.clone(), ..AbstractValue::default() };
        if site.method.is_none_or(|method| !PROMISE_METHODS.contains(&method)) {
            let reached = self.reached(called.extended("()"), site.node);
            result = result.or(&reached);
        }
        for role in roles {
            if let PathRole::Propagator(kinds) = role {
                result.add_taints(&argument_taints(site, *kinds));
            }
        }
        if let (Some((receiver, object)), Some(method)) = (&site.receiver, site.method) {
            let is_safe = self.model.safe_methods.iter().any(|safe| safe == method);
            if !is_safe && !PROMISE_METHODS.contains(&method) {
                let mut taints = receiver.deep_taints();
                for taint in &mut taints {
                    // The source of `req.query.get("x")` is the whole call.
                    if taint.source == object.byte_range() && method == "get" {
                        taint.source = site.node.byte_range();
                    }
                }
                result.add_taints(&taints);
            }
        }
        result
    }

    /// Runs the functions among the arguments, and those inside objects; returns their results.
    fn run_callbacks(&mut self, site: &CallSite<'t>) -> AbstractValue<'t> {
        let mut first = AbstractValue::default();
        if let (Some((receiver, _)), Some(method)) = (&site.receiver, site.method) {
            first.add_taints(&receiver.deep_taints());
            if PROMISE_METHODS.contains(&method) {
                first = receiver.clone();
            }
        }
        let given = [first];
        let mut returned = AbstractValue::default();
        for (_, value, _) in &site.arguments {
            if let Some(closure) = value.closure {
                let value = self.run_alone(closure, &site.paths, &given);
                returned = returned.or(&value);
            }
            for (name, field) in value.fields.iter().flat_map(|fields| fields.iter()) {
                if let Some(closure) = field.closure {
                    let called =
                        AbstractValue { paths: site.paths.clone(), ..AbstractValue::default() };
                    self.run_alone(closure, &called.extended(&format!(".{name}")), &[]);
                }
            }
        }
        returned
    }
}

/// The taints of all arguments.
fn argument_taints(site: &CallSite<'_>, kinds: Bits) -> Vec<Taint> {
    let all = site.arguments.iter().flat_map(|(_, value, _)| value.deep_taints());
    all.filter(|taint| taint.kinds & kinds != 0).collect()
}

/// `x.on("data", f)` is the path `x.on:data`.
fn add_event(site: &mut CallSite<'_>) {
    let is_event = match site.method {
        Some(method) => EVENT_METHODS.contains(&method),
        None => site.paths.iter().any(|path| EVENT_METHODS.contains(&path.as_ref())),
    };
    let event = site.arguments.first().and_then(|(_, value, _)| value.text.clone());
    if let (true, Some(event)) = (is_event, event) {
        let base = site.receiver.as_ref().map(|(receiver, _)| receiver.extended(""));
        let base = base.unwrap_or_else(|| vec![Rc::from("_")]);
        let hints = site.paths.iter().filter_map(|path| path.strip_prefix('<')?.split('.').next());
        let hints: Vec<Rc<str>> = hints.map(|hint| format!("<{hint}").into()).collect();
        let all = base.iter().chain(&hints);
        site.paths = all.map(|base| format!("{base}.on:{event}").into()).collect();
    }
}
