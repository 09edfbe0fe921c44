//! A checked rule with compiled matchers.

use super::compile::{self, Matchers};
use super::ecmascript::{self, ScriptCheck};
use super::error::{ProblemPlace, RuleError, RuleProblem};
use super::native::{self, NativeCheck};
use super::schema::{Examples, RuleFile, RuleGroup};
use super::{inspect, template};
use crate::taint::TaintSpec;
use mala_domain::finding::{Category, Priority};
use mala_domain::language::Language;
use std::collections::BTreeSet;

/// A checked rule.
pub struct Rule {
    /// `python/mutable-default`.
    pub id: String,
    /// The languages it looks at.
    pub languages: Vec<Language>,
    /// One line.
    pub title: String,
    /// The failure, with names to fill in.
    pub message: String,
    /// How to fix it, with names to fill in.
    pub suggestion: String,
    /// The kind of problem.
    pub category: Category,
    /// The priority.
    pub priority: Priority,
    /// The probability that a match is a real problem.
    pub confidence: f64,
    /// The set that it belongs to.
    pub set: RuleGroup,
    /// Words to select rules by.
    pub tags: Vec<String>,
    /// Whether matches in test files are dropped.
    pub skip_tests: bool,
    /// The metavariable that is reported.
    pub at: Option<String>,
    /// Code that it must and must not match.
    pub examples: Examples,
    /// How it finds its matches.
    pub detector: Detector,
}

/// How a rule finds its matches.
pub enum Detector {
    /// By the shape of single places in the tree.
    Shape(Matchers),
    /// By following values from a source to a sink.
    Taint(TaintSpec),
    /// By a check written in Rust.
    Native {
        /// The check.
        check: &'static NativeCheck,
        /// The position of its family.
        family: usize,
    },
    /// By a check over the names and values of a JavaScript or TypeScript file.
    ScriptFile(&'static ScriptCheck),
}

impl Rule {
    /// Whether its matches in a part of a file are also valid for the whole file.
    pub fn holds_in_a_part(&self) -> bool {
        matches!(self.detector, Detector::Shape(_)) || self.category == Category::Security
    }

    /// Reads a rule file that anyone may have written.
    pub fn parse(file_name: &str, yaml: &str) -> Result<Self, RuleError> {
        Self::try_parse(yaml).map_err(|problem| problem.in_file(file_name, yaml))
    }

    fn try_parse(yaml: &str) -> Result<Self, RuleProblem> {
        inspect::check_size(yaml)?;
        let objects = serde_saphyr::from_str_with_options(yaml, inspect::yaml_options())?;
        let file: RuleFile = serde_saphyr::from_str_with_options(yaml, inspect::yaml_options())
            .map_err(|error| inspect::more_precise(error, &objects))?;
        check_header(&file)?;
        inspect::check_objects(&objects, &file.languages)?;
        let languages = file.languages.clone();
        Self::compile(file, &languages)
    }

    /// Parses an embedded rule file for some of its languages, without the checks that tests
    /// already did; `None` if it has none of these languages.
    pub(super) fn parse_embedded(
        file_name: &str,
        yaml: &str,
        wanted: &[Language],
    ) -> Result<Option<Self>, RuleError> {
        let options = inspect::yaml_options();
        serde_saphyr::from_str_with_options(yaml, options)
            .map_err(RuleProblem::from)
            .and_then(|file: RuleFile| {
                let languages: Vec<_> =
                    file.languages.iter().copied().filter(|it| wanted.contains(it)).collect();
                if languages.is_empty() {
                    return Ok(None);
                }
                Self::compile(file, &languages).map(Some)
            })
            .map_err(|problem| problem.in_file(file_name, yaml))
    }

    /// Whether it runs without being turned on.
    pub fn is_default(&self) -> bool {
        self.set == RuleGroup::Default
    }

    /// Whether it is found by this native check.
    pub(super) fn is_native(&self, name: &str) -> bool {
        matches!(&self.detector, Detector::Native { check, .. } if check.name == name)
    }

    fn compile(file: RuleFile, languages: &[Language]) -> Result<Self, RuleProblem> {
        let (detector, names) = detector(&file, languages)?;
        check_names(&file, &names)?;
        Ok(Self {
            id: file.id,
            languages: file.languages,
            title: file.title,
            message: file.message,
            suggestion: file.suggestion,
            category: file.category,
            priority: file.priority,
            confidence: file.confidence,
            set: file.set,
            tags: file.tags,
            // Tests make up requests: values that reach a sink there come from the test itself.
            skip_tests: file.skip_tests || matches!(detector, Detector::Taint(_)),
            at: file.at,
            examples: file.examples,
            detector,
        })
    }
}

fn detector(
    file: &RuleFile,
    languages: &[Language],
) -> Result<(Detector, BTreeSet<String>), RuleProblem> {
    match (&file.rule, &file.taint, &file.native) {
        (Some(rule), None, None) => {
            let matchers = compile::matchers(file, rule, languages)?;
            let names = compile::names(&matchers);
            Ok((Detector::Shape(matchers), names))
        }
        (None, Some(taint), None) => {
            let names = compile::taint_names(taint)?;
            Ok((Detector::Taint(taint.clone()), names))
        }
        (None, None, Some(name)) => {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            if let Some((family, check)) = native::find(name) {
                return Ok((Detector::Native { check, family }, owned(check.captures)));
            }
            let check = ecmascript::find(name).ok_or_else(|| {
                RuleProblem::new(ProblemPlace::Key("native"), format!("there is no check `{name}`"))
                    .with_nearest(name, native::names().chain(ecmascript::names()))
            })?;
            Ok((Detector::ScriptFile(check), owned(check.captures)))
        }
        _ => Err(RuleProblem::new(
            ProblemPlace::File,
            "exactly one of `rule`, `taint`, `native` is needed",
        )),
    }
}

fn check_header(file: &RuleFile) -> Result<(), RuleProblem> {
    let problem = |key, what: &str| Err(RuleProblem::new(ProblemPlace::Key(key), what));
    let id_is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_/".contains(c);
    if file.id.is_empty() || !file.id.chars().all(id_is_plain) {
        return problem("id", "an id has small letters, digits, `-` and `/` only");
    }
    if file.languages.is_empty() {
        return problem("languages", "at least one language is needed");
    }
    if file.title.trim().is_empty() || file.title.contains('\n') || file.title.ends_with('.') {
        return problem("title", "a title is one line with no period at its end");
    }
    if file.message.trim().is_empty() {
        return problem("message", "the message is empty");
    }
    if !(0.0..=1.0).contains(&file.confidence) {
        return problem("confidence", "confidence is 0 to 1");
    }
    Ok(())
}

/// Names in texts that no match would fill.
fn check_names(file: &RuleFile, names: &BTreeSet<String>) -> Result<(), RuleProblem> {
    let used = [("message", &file.message), ("suggestion", &file.suggestion)]
        .into_iter()
        .flat_map(|(key, text)| template::names(text).into_iter().map(move |name| (key, name)))
        .chain(file.at.iter().map(|name| ("at", name.as_str())));
    for (key, name) in used {
        if !names.contains(name) {
            let place = ProblemPlace::Text(key, name.to_owned());
            return Err(RuleProblem::new(
                place,
                format!("`{name}` is captured by no part of the rule"),
            )
            .with_nearest(name, names.iter().map(String::as_str)));
        }
    }
    Ok(())
}
