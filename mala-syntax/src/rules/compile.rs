//! From rule objects to matchers, one for each language.

use super::error::{Place, Problem};
use super::inspect;
use super::schema::{RuleFile, TaintSpec};
use crate::grammar::Grammar;
use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRule, SerializableRuleCore};
use mala_domain::language::Language;
use std::collections::BTreeSet;

/// The compiled matcher of each language.
pub type Matchers = Vec<(Language, RuleCore)>;

pub(super) fn matchers(
    file: &RuleFile,
    rule: &SerializableRule,
    languages: &[Language],
) -> Result<Matchers, Problem> {
    let serialized = SerializableRuleCore {
        rule: rule.clone(),
        constraints: file.constraints.clone(),
        utils: file.utils.clone(),
        transform: None,
    };
    languages
        .iter()
        .map(|language| {
            let env = DeserializeEnv::new(Grammar(*language));
            match serialized.get_matcher(env) {
                Ok(core) => Ok((*language, core)),
                Err(error) => {
                    let what =
                        format!("the rule does not work in {language}: {}", inspect::root(&error));
                    Err(Problem::new(Place::Key("rule"), what))
                }
            }
        })
        .collect()
}

/// The metavariables that every language's matcher may fill.
pub(super) fn names(matchers: &Matchers) -> BTreeSet<String> {
    let mut names = matchers.iter().map(|(_, core)| defined(core));
    let first = names.next().unwrap_or_default();
    names.fold(first, |known, other| known.intersection(&other).cloned().collect())
}

/// Checks that the parts of a taint rule compile, and gives the names in its sinks.
pub(super) fn taint_names(
    file: &RuleFile,
    taint: &TaintSpec,
    languages: &[Language],
) -> Result<BTreeSet<String>, Problem> {
    for rule in taint.sources.iter().chain(&taint.sanitizers) {
        matchers(file, rule, languages)?;
    }
    for propagator in &taint.propagators {
        let known = names(&matchers(file, &propagator.rule, languages)?);
        for name in propagator.to.iter().chain([&propagator.from]) {
            check_captured(name, &known)?;
        }
    }
    let mut all = BTreeSet::from(["SOURCE".to_owned(), "SINK".to_owned()]);
    for sink in &taint.sinks {
        let known = names(&matchers(file, &sink.rule, languages)?);
        check_captured(&sink.arg, &known)?;
        all.extend(known);
    }
    Ok(all)
}

fn check_captured(name: &str, known: &BTreeSet<String>) -> Result<(), Problem> {
    if known.contains(name) {
        return Ok(());
    }
    let place = Place::Text("taint", name.to_owned());
    Err(Problem::new(place, format!("`{name}` is captured by no part of its rule"))
        .with_nearest(name, known.iter().map(String::as_str)))
}

fn defined(core: &RuleCore) -> BTreeSet<String> {
    core.defined_vars().into_iter().map(str::to_owned).collect()
}
