//! Where harm is done: arguments, assigned fields, results, and what the engine checks by itself.

mod own_checks;
mod writes;

use super::super::ir::{Place, Sym};
use super::super::model::pattern::{Condition, PathPattern, Reach, Selector, Test};
use super::super::model::{Model, Role, Sink};
use super::super::value::{Bits, Known, Taint, Value};
use super::calls::Site;
use super::{Hit, Machine};
use own_checks::looks_secret;
use std::rc::Rc;

/// Rules by the check of the engine that they ask for.
pub(super) struct Checks {
    pub(super) slow_pattern: Vec<usize>,
    secret_name: Vec<usize>,
    password_name: Vec<usize>,
    prototype_write: Vec<usize>,
    key_write: Vec<usize>,
    dynamic_call: Vec<usize>,
    loop_bound: Vec<usize>,
}

impl Checks {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            slow_pattern: model.rules_with_check("slow-pattern"),
            secret_name: model.rules_with_check("secret-name"),
            password_name: model.rules_with_check("password-name"),
            prototype_write: model.rules_with_check("prototype-write"),
            key_write: model.rules_with_check("key-write"),
            dynamic_call: model.rules_with_check("dynamic-call"),
            loop_bound: model.rules_with_check("loop-bound"),
        }
    }
}

impl<'p> Machine<'p> {
    /// Notes a tainted value at a sink, once.
    fn report(&mut self, rule: usize, sink: Place, taint: Option<Taint>) {
        if !self.reported.insert((rule, sink.start, sink.end)) {
            return;
        }
        let source = taint.and_then(|taint| self.trail.source(taint)).map(|source| source.place);
        let way = taint.map(|taint| self.trail.way(taint)).unwrap_or_default();
        self.hits.push(Hit { rule, sink, source, way });
    }

    /// Whether a taint does harm under a rule.
    fn harms(&self, rule: usize, class: Bits, taint: Taint) -> bool {
        let Some(rule) = self.model.rules.get(rule) else { return false };
        if taint.chose || taint.kinds & rule.kinds == 0 || taint.clean & class != 0 {
            return false;
        }
        let inside = self.classes.relative | self.classes.contained;
        class != self.classes.path || taint.clean & inside != inside
    }

    /// Whether values of a class do no harm in the functions that are being run.
    fn is_quiet(&self, class: Bits) -> bool {
        self.frames.iter().any(|frame| frame.quiet & class != 0)
    }

    /// Notes that values of some classes do no harm from here on in this function.
    fn note_quiet(&mut self, site: &Site<'p>, index: usize) {
        let Some(quiet) = self.model.quiets.get(index) else { return };
        if quiet.conditions.iter().all(|condition| self.holds(site, condition))
            && let Some(frame) = self.frames.last_mut()
        {
            frame.quiet |= quiet.clears;
        }
    }

    /// Reports the value when it is harmful under the rule.
    fn check_value(&mut self, rule: usize, value: &Value, sink: Place, reach: Reach) {
        let class = self.model.rules.get(rule).map_or(0, |rule| rule.class);
        self.check_class((rule, class), value, sink, reach);
    }

    fn check_class(
        &mut self,
        (rule, class): (usize, Bits),
        value: &Value,
        sink: Place,
        reach: Reach,
    ) {
        let Some(said) = self.model.rules.get(rule) else { return };
        if said.literal {
            self.check_literals(rule, value, reach);
        }
        if said.anything {
            self.report(rule, sink, None);
        }
        let taints = match reach {
            Reach::Deep => value.deep_taints(),
            Reach::Shallow => value.taints().to_vec(),
        };
        let found = taints.into_iter().find(|taint| self.harms(rule, class, *taint));
        if let Some(taint) = found.filter(|_| !self.is_quiet(class)) {
            self.report(rule, sink, Some(taint));
        }
    }

    /// Reports a text that is harmful under the rule.
    pub(super) fn check_text(&mut self, rule: usize, value: &Value, sink: Place) {
        self.check_value(rule, value, sink, Reach::Shallow);
    }

    fn check_literals(&mut self, rule: usize, value: &Value, reach: Reach) {
        let literals = match reach {
            Reach::Deep => value.deep_literals(),
            Reach::Shallow => value.literals().to_vec(),
        };
        for literal in literals {
            if self.literal_text(literal).is_some_and(looks_secret) {
                self.report(rule, self.place(literal), None);
            }
        }
    }

    pub(super) fn check_call(&mut self, site: &Site<'p>) {
        for api in &site.apis {
            for role in self.roles(*api).iter() {
                if let Role::Quiet(index) = role {
                    self.note_quiet(site, *index);
                }
                let Role::CallSink(index) = role else { continue };
                let Some(sink) = self.model.sinks.get(*index) else { continue };
                if !sink.conditions.iter().all(|condition| self.holds(site, condition)) {
                    continue;
                }
                let anything = self.model.rules.get(sink.rule).is_some_and(|rule| rule.anything);
                if sink.selectors.is_empty() && anything {
                    self.report(sink.rule, site.place, None);
                }
                for selector in &sink.selectors {
                    self.check_selected(site, selector, sink);
                }
            }
        }
    }

    /// One call is reported once for a rule, whatever reaches it by how many arguments.
    fn check_selected(&mut self, site: &Site<'p>, selector: &Selector, sink: &Sink) {
        let literal = self.model.rules.get(sink.rule).is_some_and(|rule| rule.literal);
        let call = (sink.rule, site.place.start, site.place.end);
        for (mut value, at) in self.select(site, selector) {
            if !literal && self.reported_calls.contains(&call) {
                return;
            }
            for name in &sink.not_in {
                let name = self.names.intern(name);
                value = without(&value, name);
            }
            let before = self.hits.len();
            self.check_class((sink.rule, sink.class), &value, self.place(at), selector.reach);
            if self.hits.len() > before {
                self.reported_calls.insert(call);
            }
        }
    }

    pub(super) fn holds(&mut self, site: &Site<'p>, condition: &Condition) -> bool {
        let picked = self.select(site, &condition.selector);
        let held = picked.iter().any(|(value, _)| match &condition.test {
            Test::Reached(paths) => self.is_reached(value, paths),
            test => passes(value, test),
        });
        held != condition.negated
    }

    fn is_reached(&self, value: &Value, paths: &[PathPattern]) -> bool {
        value.apis().iter().any(|api| {
            let steps = self.apis.steps(*api);
            paths.iter().any(|path| path.matches(&steps, &self.names))
        })
    }
}

/// The value without a field of this name, at any depth.
fn without(value: &Value, name: Sym) -> Value {
    let Some(fields) = value.field_map() else { return value.clone() };
    let kept = fields.iter().filter(|(key, _)| **key != name);
    let kept = kept.map(|(key, field)| (*key, without(field, name))).collect();
    let mut changed = value.clone();
    changed.edit(|facts| facts.fields = Some(Rc::new(kept)));
    changed
}

fn passes(value: &Value, test: &Test) -> bool {
    match test {
        Test::Exists => true,
        Test::Reached(_) => false,
        Test::Is(wanted) => known_is(value, wanted),
        Test::Less(bound) => matches!(value.known(), Known::Number(number) if number < bound),
        Test::Matches(pattern) => match value.known() {
            Known::Prefix(prefix) => pattern.is_match(prefix),
            _ => value.texts().iter().any(|text| pattern.is_match(text)),
        },
    }
}

fn known_is(value: &Value, wanted: &str) -> bool {
    match value.known() {
        Known::Bool(known) => wanted == if *known { "true" } else { "false" },
        Known::Null => wanted == "null",
        Known::Number(number) => number.to_string() == wanted,
        Known::Texts(texts) => texts.iter().any(|text| &**text == wanted),
        _ => false,
    }
}
