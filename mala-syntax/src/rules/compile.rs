//! From rule objects to matchers, one for each language.

use super::error::{ProblemPlace, RuleProblem};
use super::inspect;
use super::schema::RuleFile;
use crate::grammar::Grammar;
use crate::taint::TaintSpec;
use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRule, SerializableRuleCore};
use mala_domain::language::Language;
use std::collections::BTreeSet;

/// The compiled matcher of each language.
pub type Matchers = Vec<(Language, RuleCore)>;

pub(super) fn matchers(
    file: &RuleFile,
    rule: &SerializableRule,
    languages: &[Language],
) -> Result<Matchers, RuleProblem> {
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
                    Err(RuleProblem::new(ProblemPlace::Key("rule"), what))
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

/// The names that a flow fills, when the paths and selectors of its rule can be read.
pub(super) fn taint_names(taint: &TaintSpec) -> Result<BTreeSet<String>, RuleProblem> {
    taint.check().map_err(|problem| {
        RuleProblem::new(
            ProblemPlace::Text("taint", problem.text().to_owned()),
            problem.to_string(),
        )
    })?;
    Ok(["SOURCE", "SOURCE_LINE", "SINK"].into_iter().map(str::to_owned).collect())
}

fn defined(core: &RuleCore) -> BTreeSet<String> {
    core.defined_vars().into_iter().map(str::to_owned).collect()
}
