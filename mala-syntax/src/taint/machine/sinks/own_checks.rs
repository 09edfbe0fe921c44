//! Checks that no path of names describes: names that say what they hold, keys and functions that a
//! client chooses, loops that a client bounds.

use crate::taint::ir::{ExprId, Expression, Operator, Place, Statement, Sym};
use crate::taint::machine::Machine;
use crate::taint::machine::calls::Site;
use crate::taint::model::pattern::Reach;
use crate::taint::value::{Taint, Value};

impl<'p> Machine<'p> {
    /// A variable or field whose name says that it is a secret. What was reported is not followed
    /// any further.
    pub(in crate::taint::machine) fn check_named(
        &mut self,
        name: Sym,
        value: Value,
        place: Place,
    ) -> Value {
        if value.taints().is_empty() {
            return value;
        }
        if self.names.text(name).to_lowercase().contains("password") {
            for rule in self.checks.password_name.clone() {
                self.check_value(rule, &value, place, Reach::Shallow);
            }
        }
        if self.checks.secret_name.is_empty() || !names_a_secret(self.names.text(name)) {
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
    pub(in crate::taint::machine) fn check_chosen_write(
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
    pub(in crate::taint::machine) fn check_chosen_call(&mut self, site: &Site<'p>) {
        if site.callee.taints().iter().any(|taint| taint.chose) {
            let rules = self.checks.dynamic_call.clone();
            self.check_chosen(&rules, &site.callee, site.place);
        }
    }

    /// A write to a field whose name comes from outside.
    pub(in crate::taint::machine) fn check_key_write(
        &mut self,
        key: &Value,
        _holder: &Value,
        target: ExprId,
    ) {
        if key.taints().is_empty() {
            return;
        }
        for rule in self.checks.key_write.clone() {
            let place = self.place(target);
            self.check_value(rule, key, place, Reach::Shallow);
        }
    }

    /// A loop that runs as often as a number from outside says.
    pub(in crate::taint::machine) fn check_loop_bound(
        &mut self,
        condition: ExprId,
        _body: &'p [Statement],
    ) {
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

/// Whether a name says that its value must stay secret or unguessable.
fn names_a_secret(name: &str) -> bool {
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
        && !NO_SECRETS.iter().any(|word| name.contains(word))
}

/// Words in the names of what is about a secret, or tells one call from another.
const NO_SECRETS: [&str; 13] = [
    "count",
    "length",
    "index",
    "field",
    "hash",
    "type",
    "name",
    "tokenize",
    "tokenizer",
    "fetch",
    "cancel",
    "abort",
    "render",
];

/// Whether a literal could be a real secret and not a stand-in for one.
pub(super) fn looks_secret(text: &str) -> bool {
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
