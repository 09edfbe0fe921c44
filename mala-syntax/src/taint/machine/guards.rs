//! What a condition tells about the values in it: checks make taint harmless on the branch where
//! they hold.

use super::super::ir::{Argument, ExprId, Expression, Operator};
use super::super::value::{ALL, Known, Taint, Value};
use super::Machine;

/// Deeper conditions say nothing.
const MAX_NESTING: u8 = 6;

impl<'p> Machine<'p> {
    /// Goes on as if the condition were true, or false.
    pub(super) fn assume(&mut self, condition: ExprId, truth: bool) {
        self.assume_at(condition, truth, MAX_NESTING);
    }

    fn assume_at(&mut self, condition: ExprId, truth: bool, nesting: u8) {
        let Some(nesting) = nesting.checked_sub(1) else { return };
        match self.expression(condition) {
            Expression::Not(inner) => self.assume_at(*inner, !truth, nesting),
            Expression::Binary(Operator::And, left, right) => {
                self.assume_both((*left, *right), truth, true, nesting);
            }
            Expression::Binary(Operator::Or, left, right) => {
                self.assume_both((*left, *right), truth, false, nesting);
            }
            Expression::Binary(operator, left, right) => {
                self.assume_comparison(*operator, *left, *right, truth);
            }
            Expression::Call { callee, arguments, .. } => {
                self.assume_call(*callee, arguments, truth, nesting);
            }
            // What is false or empty carries nothing.
            Expression::Variable(_) | Expression::Field(..) if !truth => {
                self.assume_constant(condition);
                self.assume_field(condition, false);
            }
            Expression::Field(..) => self.assume_field(condition, true),
            _ => {}
        }
    }

    /// `a && b` when `joint` is true, `a || b` when it is false.
    fn assume_both(&mut self, sides: (ExprId, ExprId), truth: bool, joint: bool, nesting: u8) {
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
    fn assume_field(&mut self, condition: ExprId, there: bool) {
        let Expression::Field(object, name) = self.expression(condition) else { return };
        match self.names.text(*name) {
            "netloc" | "hostname" | "host" if !there => {
                let (url, slashes) = (self.classes.url, self.classes.slashes);
                self.refine_origin(*object, &|taint| if taint.clean & slashes != 0 { url } else { 0 });
            }
            "length" => {}
            _ if there => self.clear(*object, self.model.class("html")),
            _ => {}
        }
    }

    /// Clears classes of what went into the call that gave a value.
    fn refine_origin(&mut self, subject: ExprId, classes: &dyn Fn(Taint) -> u64) {
        let given = match self.expression(subject) {
            Expression::Call { .. } => Some(subject),
            _ => self.eval(subject).facts().and_then(|facts| facts.origin),
        };
        let Some(Expression::Call { arguments, .. }) = given.map(|given| self.expression(given)) else { return };
        for argument in arguments {
            self.refine(argument.value, &|_, taint| Some(Taint { clean: taint.clean | classes(taint), ..taint }));
        }
    }

    /// The value in question is one of a fixed set.
    pub(super) fn assume_constant(&mut self, subject: ExprId) {
        self.refine(subject, &|machine, taint| machine.cleared(taint, ALL));
    }

    /// Changes the taints of what an expression names.
    fn refine(&mut self, subject: ExprId, change: &dyn Fn(&Self, Taint) -> Option<Taint>) {
        let Some(spot) = self.spot(subject) else { return };
        let value = self.eval(subject);
        if value.deep_taints().is_empty() {
            return;
        }
        let changed = value.map_taints(&|taint| change(self, taint));
        let place = self.place(subject);
        self.store(&spot, changed, place);
        self.refine_entry(subject, change);
    }

    /// Checking the name of an archive's entry or of an upload is checking the entry.
    fn refine_entry(&mut self, subject: ExprId, change: &dyn Fn(&Self, Taint) -> Option<Taint>) {
        let Expression::Field(holder, name) = self.expression(subject) else { return };
        let named = matches!(self.names.text(*name), "name" | "filename" | "fileName" | "entryName" | "path");
        let Some(spot) = self.spot(*holder).filter(|_| named) else { return };
        let inside = self.classes.path | self.classes.relative | self.classes.contained | self.classes.normal;
        let value = self.eval(*holder);
        let changed = value.map_taints(&|taint| match change(self, taint) {
            Some(after) => Some(Taint { clean: taint.clean | (after.clean & inside), ..taint }),
            None => Some(Taint { clean: taint.clean | self.classes.path, ..taint }),
        });
        let place = self.place(subject);
        self.store(&spot, changed, place);
    }

    fn clear(&mut self, subject: ExprId, classes: u64) {
        if classes != 0 {
            self.refine(subject, &|machine, taint| machine.cleared(taint, classes));
        }
    }

    fn assume_comparison(&mut self, operator: Operator, left: ExprId, right: ExprId, truth: bool) {
        match operator {
            Operator::Equal | Operator::NotEqual => {
                let equal = (operator == Operator::Equal) == truth;
                self.assume_equal(left, right, equal);
                self.assume_equal(right, left, equal);
            }
            Operator::In | Operator::NotIn => {
                let inside = (operator == Operator::In) == truth;
                self.assume_member(right, left, inside);
            }
            Operator::Less | Operator::Greater => self.assume_order(operator, left, right, truth),
            Operator::InstanceOf if truth => {
                let object = self.classes.object;
                self.refine(left, &|_, taint| Some(Taint { kinds: taint.kinds & !object, ..taint }));
            }
            _ => {}
        }
    }

    /// `subject == other`, or not.
    fn assume_equal(&mut self, subject: ExprId, other: ExprId, equal: bool) {
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
        if equal && fixed {
            self.assume_constant(subject);
        } else if !equal && other.texts().iter().any(|text| is_prototype_name(text)) {
            self.clear(subject, self.classes.prototype);
        }
    }

    /// `typeof subject == "string"`.
    fn assume_type(&mut self, subject: ExprId, other: ExprId, equal: bool) {
        let Some(wanted) = self.literal_text(other) else { return };
        match (wanted, equal) {
            ("number" | "boolean" | "undefined" | "function", true) => self.assume_constant(subject),
            ("string", _) => {
                let object = self.classes.object;
                let html = if equal { 0 } else { self.model.class("html") };
                self.refine(subject, &|_, taint| {
                    Some(Taint { kinds: taint.kinds & !object, clean: taint.clean | html, ..taint })
                });
            }
            ("undefined", false) => self.assume_field(subject, true),
            _ => {}
        }
    }

    /// `path[0] === "/"`.
    fn assume_first(&mut self, object: ExprId, other: ExprId, equal: bool) {
        let Some(text) = self.literal_text(other) else { return };
        if !equal {
            self.assume_prefix_fails(object, text);
        }
    }

    /// `list.indexOf(x) === -1`, `path.indexOf(root) === 0`, `path.slice(0, n) === root`.
    fn assume_call_result(&mut self, callee: ExprId, arguments: &'p [Argument], other: ExprId, equal: bool) {
        let Expression::Field(object, name) = self.expression(callee) else { return };
        if matches!(self.names.text(*name), "commonprefix" | "commonpath" | "Rel" | "relpath") {
            if equal {
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
            ("substring" | "slice" | "substr", _) if equal => {
                let from_start = matches!(self.expression(first), Expression::Number(number) if *number == 0.0);
                if from_start {
                    self.assume_prefix(object, other, true);
                }
            }
            ("toLowerCase" | "lower" | "trim", _) => {
                self.assume_equal(object, other, equal);
            }
            _ => {}
        }
    }

    /// Every path in these arguments lies where it should.
    fn clear_inside(&mut self, arguments: &'p [Argument]) {
        let mut pending: Vec<(ExprId, u8)> = arguments.iter().map(|argument| (argument.value, 0)).collect();
        while let Some((id, depth)) = pending.pop() {
            self.clear(id, self.classes.path);
            let inner: &[Argument] = match self.expression(id) {
                Expression::Call { arguments, .. } | Expression::List(arguments) if depth < 4 => arguments,
                _ => continue,
            };
            pending.extend(inner.iter().map(|argument| (argument.value, depth + 1)));
        }
    }

    /// `list.indexOf(x) >= 0`, `list.indexOf(x) > -1`.
    fn assume_order(&mut self, operator: Operator, left: ExprId, right: ExprId, truth: bool) {
        let Expression::Call { callee, arguments, .. } = self.expression(left) else { return };
        let Expression::Field(object, name) = self.expression(*callee) else { return };
        let Some(argument) = arguments.first() else { return };
        if self.names.text(*name) == "indexOf" && matches!(self.expression(right), Expression::Number(_)) {
            let inside = (operator == Operator::Greater) == truth;
            self.assume_member(*object, argument.value, inside);
        }
    }

    /// `subject` is a member of `holder`, or `holder` is a text that contains it.
    fn assume_member(&mut self, holder: ExprId, subject: ExprId, inside: bool) {
        if let (Expression::Field(object, name), true) = (self.expression(subject), inside) {
            if matches!(self.names.text(*name), "netloc" | "hostname" | "host" | "origin" | "domain") {
                let url = self.classes.url;
                self.refine_origin(*object, &|_| url);
            }
        }
        let whole = self.eval(holder);
        let part = self.eval(subject);
        if whole.taints().is_empty() {
            if inside {
                self.assume_constant(subject);
            } else if self.lists_prototype(&whole) {
                self.clear(subject, self.classes.prototype);
            }
            return;
        }
        let Some(text) = part.text().cloned() else { return };
        if !inside {
            self.assume_without(holder, &text);
        }
    }

    fn lists_prototype(&self, list: &Value) -> bool {
        list.field_map()
            .is_some_and(|fields| fields.values().any(|value| value.texts().iter().any(|t| is_prototype_name(t))))
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

    /// The text begins with `prefix`, or not.
    fn assume_prefix(&mut self, subject: ExprId, prefix: ExprId, begins: bool) {
        let value = self.eval(prefix);
        let text = value.prefix().map(str::to_owned);
        match (begins, text) {
            (true, text) if value.taints().is_empty() => self.assume_prefix_holds(subject, text.as_deref()),
            (false, Some(text)) => self.assume_prefix_fails(subject, &text),
            _ => {}
        }
    }

    fn assume_prefix_holds(&mut self, subject: ExprId, prefix: Option<&str>) {
        let classes = self.classes;
        let own_path = prefix.is_none_or(|prefix| !prefix.starts_with('.') && prefix.len() > 1);
        let own_host = prefix.is_none_or(super::texts::fixes_host);
        self.refine_checked(subject, &|_, taint| {
            let mut clean = taint.clean;
            if own_path && clean & (classes.normal | classes.contained) != 0 {
                clean |= classes.path;
            }
            if own_host {
                clean |= classes.url;
            }
            Some(Taint { clean, ..taint })
        });
    }

    fn assume_prefix_fails(&mut self, subject: ExprId, prefix: &str) {
        let classes = self.classes;
        let upwards = prefix.starts_with('.');
        let absolute = prefix == "/";
        self.refine_checked(subject, &|_, taint| {
            let mut clean = taint.clean;
            if upwards && clean & classes.normal != 0 {
                clean |= classes.contained;
            }
            if absolute {
                clean |= classes.relative;
            }
            Some(Taint { clean, ..taint })
        });
    }

    /// Refines what a check is about: `normalize(x)` is about `x`, and so is a variable that holds it.
    fn refine_checked(&mut self, subject: ExprId, change: &dyn Fn(&Self, Taint) -> Option<Taint>) {
        let checked = self.eval(subject);
        let given = match self.expression(subject) {
            Expression::Call { .. } => Some(subject),
            _ => {
                self.refine(subject, change);
                checked.facts().and_then(|facts| facts.origin)
            }
        };
        let Some(Expression::Call { callee, arguments, .. }) = given.map(|given| self.expression(given)) else {
            return;
        };
        // The check speaks about the result; what it learned there holds for what went in.
        let classes = self.classes;
        let inside = classes.relative | classes.contained;
        let safe = checked.taints().iter().filter_map(|taint| change(self, *taint)).any(|taint| {
            taint.clean & classes.path != 0 || taint.clean & inside == inside
        });
        if !safe {
            return;
        }
        let mut inputs: Vec<ExprId> = arguments.iter().map(|argument| argument.value).collect();
        if let Expression::Field(object, _) = self.expression(*callee) {
            inputs.push(*object);
        }
        for input in inputs {
            self.clear(input, classes.path);
        }
    }

    fn assume_call(&mut self, callee: ExprId, arguments: &'p [Argument], truth: bool, nesting: u8) {
        let value = self.eval(callee);
        if let [function] = value.functions() {
            self.assume_own_check(*function, arguments, truth, nesting);
            return;
        }
        let first = arguments.first().map(|argument| argument.value);
        let (object, name) = match self.expression(callee) {
            Expression::Field(object, name) => (Some(*object), *name),
            Expression::Global(name) => (None, *name),
            Expression::Variable(variable) => (None, self.program.variable(*variable).name),
            _ => return,
        };
        let name = self.names.text(name).to_owned();
        match (name.as_str(), object, first) {
            ("startsWith" | "startswith" | "HasPrefix", Some(object), Some(first)) => {
                let (subject, prefix) = match arguments.get(1).filter(|_| name == "HasPrefix") {
                    Some(second) => (first, second.value),
                    None => (object, first),
                };
                self.assume_prefix(subject, prefix, truth);
            }
            ("includes" | "has" | "contains" | "hasOwnProperty" | "containsKey" | "Contains", Some(object), Some(first)) => {
                let (holder, part) = match arguments.get(1).filter(|_| name == "Contains") {
                    Some(second) => (first, second.value),
                    None => (object, first),
                };
                self.assume_member(holder, part, truth);
            }
            ("equals" | "equalsIgnoreCase" | "is_equal", Some(object), Some(first)) => {
                self.assume_equal(object, first, truth);
                self.assume_equal(first, object, truth);
            }
            ("isAbsolute" | "isabs" | "IsAbs" | "is_absolute", _, _) => {
                let subject = first.or(object);
                if let (false, Some(subject)) = (truth, subject) {
                    self.clear(subject, self.classes.relative);
                }
            }
            ("test" | "exec" | "match" | "matchAll" | "fullmatch" | "search" | "matches" | "MatchString", _, _) => {
                self.assume_matched(object, arguments, truth);
            }
            _ => self.assume_named_check(&name, (object, first), truth),
        }
    }

    /// `isValid(x)`, `isPathInside(x, root)` and their kin.
    fn assume_named_check(&mut self, name: &str, (object, first): (Option<ExprId>, Option<ExprId>), truth: bool) {
        let lower = name.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if says(&["isstring", "isarray", "isinteger", "isnumber", "isnan", "isfinite", "isdigit", "isalnum", "isnumeric", "isalpha"]) {
            let subject = first.or(object);
            let holds = truth != lower.contains("isnan");
            if let (true, Some(subject)) = (holds, subject) {
                if lower.contains("isstring") || lower.contains("isarray") {
                    let kind = self.classes.object;
                    self.refine(subject, &|_, taint| Some(Taint { kinds: taint.kinds & !kind, ..taint }));
                } else {
                    self.assume_constant(subject);
                }
            }
            return;
        }
        if says(&["iselement", "isdom", "isnode", "isjquery"]) {
            if let (true, Some(subject)) = (truth, first) {
                self.clear(subject, self.model.class("html"));
            }
            return;
        }
        let approves = says(&[
            "valid", "safe", "allow", "permit", "whitelist", "trusted", "inside", "insecure", "check", "verify", "authorized", "approved", "within", "is_relative_to", "issub",
        ]);
        let refuses = says(&["invalid", "unsafe", "insecure", "forbidden", "denied", "blacklist", "malicious"]);
        if approves && !refuses && truth || refuses && !truth {
            if let Some(subject) = first {
                self.assume_constant(subject);
            }
        }
    }

    /// A regular expression holds for a text, or not.
    fn assume_matched(&mut self, object: Option<ExprId>, arguments: &'p [Argument], truth: bool) {
        let mut sides: Vec<ExprId> = object.into_iter().collect();
        sides.extend(arguments.iter().take(2).map(|argument| argument.value));
        let values: Vec<(ExprId, Value)> = sides.into_iter().map(|side| (side, self.eval(side))).collect();
        let pattern = values.iter().find_map(|(_, value)| match value.known() {
            Known::Pattern(body, _) => Some(body.clone()),
            _ => None,
        });
        let pattern = pattern.or_else(|| {
            values.iter().find_map(|(_, value)| value.text().filter(|_| value.taints().is_empty()).cloned())
        });
        let subjects: Vec<ExprId> =
            values.iter().filter(|(_, value)| !value.taints().is_empty()).map(|(side, _)| *side).collect();
        let Some(pattern) = pattern else { return };
        for subject in subjects {
            if truth && is_allow_list(&pattern) {
                self.assume_constant(subject);
            } else if !truth && finds_upward_path(&pattern) {
                self.clear(subject, self.classes.contained);
            }
        }
    }

    /// The file's own function decides: what it checks of its parameter is checked of the argument.
    fn assume_own_check(
        &mut self,
        function: super::FunctionId,
        arguments: &'p [Argument],
        truth: bool,
        nesting: u8,
    ) {
        let body = &self.program.function(function).body;
        let [super::super::ir::Statement::Return(Some(result))] = body.as_slice() else { return };
        let parameters = &self.program.function(function).parameters;
        self.state.push();
        self.frames.push(super::Frame { function, returned: Value::default() });
        let mut bound = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let super::super::ir::Pattern::Variable(variable) = parameter.pattern else { continue };
            let value = self.eval(argument.value);
            self.state.set(variable, value);
            bound.push((variable, argument.value));
        }
        self.assume_at(*result, truth, nesting);
        let refined: Vec<(ExprId, Value)> = bound
            .into_iter()
            .filter_map(|(variable, argument)| self.state.get(variable).map(|value| (argument, value.clone())))
            .collect();
        self.frames.pop();
        self.state.pop();
        for (argument, value) in refined {
            let Some(spot) = self.spot(argument) else { continue };
            let before = self.eval(argument);
            if before.deep_taints() != value.deep_taints() {
                let place = self.place(argument);
                self.store(&spot, value, place);
            }
        }
    }
}

fn is_prototype_name(text: &str) -> bool {
    matches!(text, "__proto__" | "constructor" | "prototype")
}

/// Whether a pattern only lets harmless texts through: it is anchored at both ends and has no `.`
/// that stands for anything.
fn is_allow_list(pattern: &str) -> bool {
    let anchored = (pattern.starts_with('^') || pattern.starts_with("\\A"))
        && (pattern.ends_with('$') || pattern.ends_with("\\z") || pattern.ends_with("\\Z"));
    let wildcard = pattern.contains(".*") || pattern.contains(".+") || pattern.contains("[^");
    anchored && !wildcard
}

/// Whether a pattern finds every `..` that is of use in a path.
fn finds_upward_path(pattern: &str) -> bool {
    matches!(pattern, r"\." | r"\.\." | r"\.\.\/" | r"(\.\.\/|\.\.\\)" | r"\.\.[\/\\]" | r"\.\.(\/|\\)" | r"[.]")
}
