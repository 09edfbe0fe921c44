//! Checks that are calls: of the language, of a library, or of the file's own functions.

use super::super::super::ir::{Argument, ExprId, Expression, FunctionId, Pattern, Statement};
use super::super::super::value::{Known, Taint, Value};
use super::super::{Frame, Machine};
use super::Truth;

/// Words in the names of functions that tell what type a value has.
const TYPE_CHECKS: [&str; 10] = [
    "isstring",
    "isarray",
    "isinteger",
    "isnumber",
    "isnan",
    "isfinite",
    "isdigit",
    "isalnum",
    "isnumeric",
    "isalpha",
];
const ELEMENT_CHECKS: [&str; 4] = ["iselement", "isdom", "isnode", "isjquery"];
/// Words in the names of functions that say yes to what is harmless.
const APPROVALS: [&str; 14] = [
    "valid",
    "safe",
    "allow",
    "permit",
    "whitelist",
    "trusted",
    "inside",
    "check",
    "verify",
    "authorized",
    "approved",
    "within",
    "is_relative_to",
    "issub",
];
/// Beginnings of the names of functions that throw when a value is not as it should be.
const CHECKING: [&str; 8] =
    ["validate", "check_", "check", "ensure", "assert", "verify", "require_", "sanitize"];
/// Words in the names of functions that say yes to what does harm.
const REFUSALS: [&str; 7] =
    ["invalid", "unsafe", "insecure", "forbidden", "denied", "blacklist", "malicious"];

impl<'p> Machine<'p> {
    pub(super) fn assume_call(
        &mut self,
        callee: ExprId,
        arguments: &'p [Argument],
        truth: Truth,
        nesting: u8,
    ) {
        let value = self.eval(callee);
        if let [function] = value.functions() {
            let name = self.program.function(*function).name;
            if !self.assume_own_check(*function, arguments, truth, nesting)
                && let Some(name) = name
            {
                let name = self.names.text(name).to_owned();
                self.assume_named_check(&name, (None, arguments), truth);
            }
            return;
        }
        let (object, name) = match self.expression(callee) {
            Expression::Field(object, name) => (Some(*object), *name),
            Expression::Global(name) => (None, *name),
            Expression::Variable(variable) => (None, self.program.variable(*variable).name),
            _ => return,
        };
        let name = self.names.text(name).to_owned();
        // `Object.prototype.hasOwnProperty.call(table, key)`
        if let ("call", Some(object), [holder, key, ..]) = (name.as_str(), object, arguments)
            && let Expression::Field(_, method) = self.expression(object)
            && self.names.text(*method) == "hasOwnProperty"
        {
            self.assume_member(holder.value, key.value, truth);
            return;
        }
        self.assume_library_check(&name, (object, arguments), truth);
    }

    /// A check that comes with the language or its library.
    fn assume_library_check(
        &mut self,
        name: &str,
        (object, arguments): (Option<ExprId>, &'p [Argument]),
        truth: Truth,
    ) {
        let first = arguments.first().map(|argument| argument.value);
        match (name, object, first) {
            ("startsWith" | "startswith" | "HasPrefix", Some(object), Some(first)) => {
                let (subject, prefix) = match arguments.get(1).filter(|_| name == "HasPrefix") {
                    Some(second) => (first, second.value),
                    None => (object, first),
                };
                self.assume_prefix(subject, prefix, truth);
            }
            (
                "includes" | "has" | "contains" | "hasOwnProperty" | "containsKey" | "Contains",
                Some(object),
                Some(first),
            ) => {
                let (holder, part) = match arguments.get(1).filter(|_| name == "Contains") {
                    Some(second) => (first, second.value),
                    None => (object, first),
                };
                self.assume_member(holder, part, truth);
            }
            ("hasOwn", _, Some(first)) => {
                if let Some(key) = arguments.get(1) {
                    self.assume_member(first, key.value, truth);
                }
            }
            ("equals" | "equalsIgnoreCase" | "is_equal", Some(object), Some(first)) => {
                self.assume_equal(object, first, truth);
                self.assume_equal(first, object, truth);
            }
            ("isAbsolute" | "isabs" | "IsAbs" | "is_absolute", _, _) => {
                let subject = first.or(object);
                if let (Truth::Fails, Some(subject)) = (truth, subject) {
                    self.clear(subject, self.classes.relative);
                    self.assume_no_host(subject);
                }
            }
            (
                "test" | "exec" | "match" | "matchAll" | "fullmatch" | "search" | "matches"
                | "MatchString",
                _,
                _,
            ) => {
                self.assume_matched(object, arguments, truth);
            }
            _ => self.assume_named_check(name, (object, arguments), truth),
        }
    }

    /// `isValid(x)`, `isPathInside(x, root)` and their kin.
    fn assume_named_check(
        &mut self,
        name: &str,
        (object, arguments): (Option<ExprId>, &'p [Argument]),
        truth: Truth,
    ) {
        let first = arguments.first().map(|argument| argument.value);
        let name = name.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if says(&TYPE_CHECKS) {
            if let Some(subject) = first.or(object) {
                self.assume_type_check(&name, subject, truth);
            }
            return;
        }
        let Some(subject) = first else { return };
        if says(&ELEMENT_CHECKS) {
            if truth == Truth::Holds {
                self.clear(subject, self.model.class("html"));
            }
            return;
        }
        let refuses = says(&REFUSALS);
        let approved = says(&APPROVALS) && !refuses && truth == Truth::Holds;
        if approved || refuses && truth == Truth::Fails {
            for argument in arguments {
                self.assume_constant(argument.value);
            }
        }
    }

    /// A call that stands for itself and is named like a check: it throws unless all is well.
    pub(in super::super) fn assume_checked(&mut self, statement: ExprId) {
        let Expression::Call { callee, arguments, .. } = self.expression(statement) else { return };
        let Some(name) = self.written_name(*callee) else { return };
        let name = name.to_lowercase();
        if CHECKING.iter().any(|word| name.trim_start_matches('_').starts_with(word)) {
            for argument in arguments {
                self.assume_constant(argument.value);
            }
        }
    }

    /// `isString(x)`, `isNaN(x)`.
    fn assume_type_check(&mut self, name: &str, subject: ExprId, truth: Truth) {
        let holds = if name.contains("isnan") { !truth } else { truth };
        if holds == Truth::Fails {
            return;
        }
        if name.contains("isstring") || name.contains("isarray") {
            let kind = self.classes.object;
            self.refine(subject, &|_, taint| Some(Taint { kinds: taint.kinds & !kind, ..taint }));
        } else {
            self.assume_constant(subject);
        }
    }

    /// A regular expression holds for a text, or not.
    pub(super) fn assume_matched(
        &mut self,
        object: Option<ExprId>,
        arguments: &'p [Argument],
        truth: Truth,
    ) {
        let mut sides: Vec<ExprId> = object.into_iter().collect();
        sides.extend(arguments.iter().take(2).map(|argument| argument.value));
        let values: Vec<(ExprId, Value)> =
            sides.into_iter().map(|side| (side, self.eval(side))).collect();
        let pattern = values.iter().find_map(|(_, value)| match value.known() {
            Known::Pattern(body, _) => Some(body.clone()),
            _ => None,
        });
        let pattern = pattern.or_else(|| {
            values
                .iter()
                .find_map(|(_, value)| value.text().filter(|_| value.taints().is_empty()).cloned())
        });
        let subjects: Vec<ExprId> = values
            .iter()
            .filter(|(_, value)| !value.taints().is_empty())
            .map(|(side, _)| *side)
            .collect();
        let Some(pattern) = pattern else { return };
        for subject in subjects {
            if truth == Truth::Holds && is_allow_list(&pattern) {
                self.assume_constant(subject);
            } else if truth == Truth::Fails && finds_upward_path(&pattern) {
                self.clear(subject, self.classes.contained);
            }
        }
    }

    /// The file's own function decides: what it checks of its parameter is checked of the argument.
    /// Says whether it is simple enough to look into.
    pub(super) fn assume_own_check(
        &mut self,
        function: FunctionId,
        arguments: &'p [Argument],
        truth: Truth,
        nesting: u8,
    ) -> bool {
        let body = &self.program.function(function).body;
        let [Statement::Return(Some(result))] = body.as_slice() else { return false };
        let parameters = &self.program.function(function).parameters;
        self.state.push();
        self.frames.push(Frame::of(function));
        let mut bound = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let Pattern::Variable(variable) = parameter.pattern else { continue };
            let value = self.eval(argument.value);
            self.state.set(variable, value);
            bound.push((variable, argument.value));
        }
        self.assume_at(*result, truth, nesting);
        let refined: Vec<(ExprId, Value)> = bound
            .into_iter()
            .filter_map(|(variable, argument)| {
                self.state.get(variable).map(|value| (argument, value.clone()))
            })
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
        true
    }
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
    matches!(
        pattern,
        r"\." | r"\.\." | r"\.\.\/" | r"(\.\.\/|\.\.\\)" | r"\.\.[\/\\]" | r"\.\.(\/|\\)" | r"[.]"
    )
}
