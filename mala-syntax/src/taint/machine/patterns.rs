//! Regular expressions that run on text from outside: one that backtracks lets a client block the
//! process.

use super::super::value::{Known, Value};
use super::Machine;
use super::calls::Site;
use crate::regex_check::{Anchoring, Flags, Flavour, RegexProblemKind, check};
use mala_domain::language::Language;
use std::rc::Rc;

impl<'p> Machine<'p> {
    /// Reports a slow pattern that runs on a tainted text.
    pub(super) fn check_pattern(&mut self, site: &Site<'p>) {
        if self.checks.slow_pattern.is_empty() {
            return;
        }
        let Some((pattern, subject)) = self.matched(site) else { return };
        if subject.taints().is_empty() || !self.is_slow(&pattern, site) {
            return;
        }
        for rule in self.checks.slow_pattern.clone() {
            self.check_text(rule, &subject, site.place);
        }
    }

    /// The pattern and the text of a call that matches one against the other.
    fn matched(&mut self, site: &Site<'p>) -> Option<(Value, Value)> {
        let (_, holder) = site.receiver.as_ref()?;
        let name = self.names.text(site.name?);
        let first = || site.values.first().cloned();
        let second = || site.values.get(1).cloned();
        if self.language == Language::Python {
            let whole =
                matches!(name, "match" | "search" | "fullmatch" | "findall" | "finditer" | "split");
            let replaces = matches!(name, "sub" | "subn");
            return match holder.known() {
                Known::Pattern(..) if whole => Some((holder.clone(), first()?)),
                Known::Pattern(..) if replaces => Some((holder.clone(), second()?)),
                _ if whole => Some((first()?, second()?)),
                _ if replaces => Some((first()?, site.values.get(2).cloned()?)),
                _ => None,
            };
        }
        match name {
            "test" | "exec" => Some((holder.clone(), first()?)),
            "match" | "matchAll" | "search" | "split" | "replace" | "replaceAll" => {
                Some((first()?, holder.clone()))
            }
            _ => None,
        }
    }

    fn is_slow(&mut self, pattern: &Value, site: &Site<'p>) -> bool {
        let python = self.language == Language::Python;
        let (body, flags) = match pattern.known() {
            Known::Pattern(body, flags) => (Rc::clone(body), Rc::clone(flags)),
            // In JavaScript, a text in place of a pattern is taken as it is.
            _ if python => (
                match pattern.text() {
                    Some(text) => Rc::clone(text),
                    None => return false,
                },
                Rc::from(""),
            ),
            _ => return false,
        };
        let name = site.name.map_or("", |name| self.names.text(name));
        let anchoring = match name {
            "match" if python => Anchoring::Start,
            "fullmatch" => Anchoring::Full,
            _ if flags.contains('y') && !python => Anchoring::Start,
            _ => Anchoring::Search,
        };
        let settings = Flags {
            ignore_case: flags.contains('i'),
            multi_line: flags.contains('m'),
            dot_all: flags.contains('s'),
            unicode_sets: flags.contains('v'),
            anchoring,
            ..Flags::default()
        };
        let flavour = if python { Flavour::Python } else { Flavour::JavaScript };
        let key = (Rc::clone(&body), settings);
        *self.slow.entry(key).or_insert_with(|| {
            // `.*$` reaches the end of a line at once: only a text of many lines could keep it from that.
            let body = body.strip_suffix(".*$").unwrap_or(&body);
            let problems = check(body, flavour, settings);
            problems.iter().any(|problem| problem.kind == RegexProblemKind::PolynomialBacktracking)
        })
    }
}
