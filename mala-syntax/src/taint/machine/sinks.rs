//! Where harm is done: arguments, assigned fields, results, and what the engine checks by itself.

use super::super::api::{ApiId, Edge};
use super::super::ir::{ExprId, Expression, Operator, Place, Statement, Sym};
use super::super::model::pattern::{Condition, Reach, Selector, Test};
use super::super::model::{Model, Role, Sink};
use super::super::value::{Bits, Known, Taint, Value};
use super::calls::Site;
use super::{Hit, Machine};
use std::rc::Rc;

/// Rules by the check of the engine that they ask for.
pub(super) struct Checks {
    secret_name: Vec<usize>,
    prototype_write: Vec<usize>,
    key_write: Vec<usize>,
    dynamic_call: Vec<usize>,
    loop_bound: Vec<usize>,
}

impl Checks {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            secret_name: model.rules_with_check("secret-name"),
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
        picked.iter().any(|(value, _)| passes(value, &condition.test)) != condition.negated
    }

    /// A field that is assigned, or an attribute of markup.
    pub(super) fn check_write(&mut self, holder: &Value, name: Sym, value: &Value, at: ExprId) {
        let apis = holder.apis().to_vec();
        let place = self.place(at);
        self.check_written(&apis, name, value, place);
    }

    pub(super) fn check_write_at(
        &mut self,
        holder: &Value,
        name: Sym,
        value: &Value,
        (target, object): (ExprId, ExprId),
    ) {
        let place = self.place(target);
        let mut apis = holder.apis().to_vec();
        if apis.is_empty() {
            let anything = self.names.intern("?");
            apis.extend(self.apis.root(anything));
        }
        self.check_written(&apis, name, value, place);
        if let Some(hint) = self.hint(object, name) {
            self.check_write_roles(hint, value, place);
        }
    }

    fn check_written(&mut self, apis: &[ApiId], name: Sym, value: &Value, place: Place) {
        for api in apis {
            if let Some(child) = self.apis.child(*api, Edge::Name(name)) {
                self.check_write_roles(child, value, place);
                self.check_inner_writes(child, value, place);
            }
        }
    }

    /// Fields of an object that is assigned as a whole.
    fn check_inner_writes(&mut self, api: ApiId, value: &Value, place: Place) {
        let fields: Vec<(Sym, Value)> = value
            .field_map()
            .into_iter()
            .flatten()
            .map(|(name, field)| (*name, field.clone()))
            .collect();
        for (name, field) in fields {
            if let Some(child) = self.apis.child(api, Edge::Name(name)) {
                self.check_write_roles(child, &field, place);
            }
        }
    }

    fn check_write_roles(&mut self, api: ApiId, value: &Value, place: Place) {
        for role in self.roles(api).iter() {
            let Role::WriteSink(index) = role else { continue };
            let Some(sink) = self.model.sinks.get(*index) else { continue };
            let holds = |condition: &Condition| passes(value, &condition.test) != condition.negated;
            if sink.conditions.iter().all(holds) {
                self.check_value(sink.rule, value, place, Reach::Shallow);
            }
        }
    }

    /// What a decorated function gives.
    pub(super) fn check_return(&mut self, given: Option<ExprId>, value: &Value) {
        let Some(given) = given else { return };
        let function = self.current();
        let gives = match self.gives.get(&function) {
            Some(known) => Rc::clone(known),
            None => {
                let found: Rc<[usize]> = self.gives_of(function).into();
                self.gives.insert(function, Rc::clone(&found));
                found
            }
        };
        if gives.is_empty() {
            return;
        }
        // `return body, 404` gives a body, too.
        let first = self.names.intern("0");
        let body = value.own_field(first).unwrap_or(value);
        for rule in gives.iter() {
            let place = self.place(given);
            self.check_value(*rule, body, place, Reach::Shallow);
        }
    }

    fn gives_of(&mut self, function: super::FunctionId) -> Vec<usize> {
        let mut rules = Vec::new();
        for decorator in &self.program.function(function).decorators {
            let value = self.eval(*decorator);
            for api in self.decorator_apis(&value) {
                for role in self.roles(api).iter() {
                    if let Role::GiveSink(index) = role {
                        rules.extend(self.model.sinks.get(*index).map(|sink| sink.rule));
                    }
                }
            }
        }
        rules
    }

    /// A variable or field whose name says that it is a secret. What was reported is not followed
    /// any further.
    pub(super) fn check_named(&mut self, name: Sym, value: Value, place: Place) -> Value {
        if value.taints().is_empty() || self.checks.secret_name.is_empty() {
            return value;
        }
        if !names_a_secret(self.names.text(name)) {
            return value;
        }
        let mut kinds = 0;
        for rule in self.checks.secret_name.clone() {
            self.check_value(rule, &value, place, Reach::Shallow);
            kinds |= self.model.rules.get(rule).map_or(0, |rule| rule.kinds);
        }
        value.map_taints(&|taint| {
            Some(Taint { kinds: taint.kinds & !kinds, ..taint }).filter(|taint| taint.kinds != 0)
        })
    }

    fn check_chosen(&mut self, rules: &[usize], value: &Value, place: Place) {
        for rule in rules {
            let kinds = self.model.rules.get(*rule).map_or(0, |rule| rule.kinds);
            let class = self.model.rules.get(*rule).map_or(0, |rule| rule.class);
            let harmful = |taint: &&Taint| taint.kinds & kinds != 0 && taint.clean & class == 0;
            let found = value.taints().iter().filter(|taint| taint.chose).find(harmful).copied();
            if let Some(taint) = found {
                self.report(*rule, place, Some(taint));
            }
        }
    }

    /// A write to something that a key from outside chose.
    pub(super) fn check_chosen_write(
        &mut self,
        holder: &Value,
        key: Option<&Value>,
        target: ExprId,
    ) {
        let outside = key.is_some_and(|key| !key.taints().is_empty());
        let library = self.model.kind("library");
        // Callers of a library know which field they set; what they may not know is both names.
        let told = |taint: &&Taint| taint.chose && (outside || taint.kinds & library == 0);
        let chosen: Vec<Taint> = holder.taints().iter().filter(told).copied().collect();
        if !chosen.is_empty() {
            let rules = self.checks.prototype_write.clone();
            self.check_chosen(&rules, &Value::of_taints(chosen), self.place(target));
        }
    }

    /// A call of something that a key from outside chose.
    pub(super) fn check_chosen_call(&mut self, site: &Site<'p>) {
        if site.callee.taints().iter().any(|taint| taint.chose) {
            let rules = self.checks.dynamic_call.clone();
            self.check_chosen(&rules, &site.callee, site.place);
        }
    }

    /// A write to a field whose name comes from outside.
    pub(super) fn check_key_write(&mut self, key: &Value, _holder: &Value, target: ExprId) {
        if key.taints().is_empty() {
            return;
        }
        for rule in self.checks.key_write.clone() {
            let place = self.place(target);
            self.check_value(rule, key, place, Reach::Shallow);
        }
    }

    /// A loop that runs as often as a number from outside says.
    pub(super) fn check_loop_bound(&mut self, condition: ExprId, _body: &'p [Statement]) {
        if self.checks.loop_bound.is_empty() {
            return;
        }
        let Expression::Binary(Operator::Less | Operator::Greater, left, right) =
            self.expression(condition)
        else {
            return;
        };
        for side in [*left, *right] {
            let Expression::Field(object, name) = self.expression(side) else { continue };
            if self.names.text(*name) != "length" {
                continue;
            }
            let value = self.eval(*object);
            for rule in self.checks.loop_bound.clone() {
                let place = self.place(side);
                self.check_value(rule, &value, place, Reach::Shallow);
            }
        }
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

/// Whether a name says that its value must stay secret or unguessable.
pub(super) fn names_a_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    [
        "password",
        "passwd",
        "secret",
        "token",
        "passphrase",
        "apikey",
        "api_key",
        "privatekey",
        "private_key",
    ]
    .iter()
    .any(|word| name.contains(word))
        && !["count", "length", "index", "field", "hash", "type", "name", "tokenize", "tokenizer"]
            .iter()
            .any(|word| name.contains(word))
}

/// Whether a literal could be a real secret and not a stand-in for one.
fn looks_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let stand_in = [
        "change",
        "example",
        "placeholder",
        "your",
        "xxx",
        "sample",
        "dummy",
        "insert",
        "fake",
        "test",
        "todo",
        "<",
        "{{",
        "${",
        "%(",
    ];
    text.len() >= 4
        && !stand_in.iter().any(|word| lower.contains(word))
        && lower.chars().collect::<std::collections::HashSet<_>>().len() >= 4
}
