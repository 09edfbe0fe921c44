//! The examples in a rule file, run as its tests.

use super::{Rule, RuleSet};
use crate::source::Source;
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Whether an example is to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleKind {
    /// It is to match.
    Bad,
    /// It is not to match.
    Good,
}

/// A failed example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFailure {
    /// The rule.
    pub rule: String,
    /// The list that it is in.
    pub kind: ExampleKind,
    /// Its position there, from 1.
    pub number: usize,
    /// Read as this language; `None` when no language of the rule reads it.
    pub language: Option<Language>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for ExampleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind == ExampleKind::Bad { "bad" } else { "good" };
        write!(f, "{}: {kind} example {}", self.rule, self.number)?;
        match self.language {
            Some(language) => write!(f, " ({language}): {}", self.what),
            None => write!(f, ": {}", self.what),
        }
    }
}

/// The failed examples of a rule. An example is parsed in each language of the rule whose grammar
/// accepts it.
pub fn check_examples(rule: &Arc<Rule>) -> Vec<ExampleFailure> {
    let set = RuleSet::of([Arc::clone(rule)]);
    let bad = rule.examples.bad.iter().enumerate().map(|it| (ExampleKind::Bad, it));
    let good = rule.examples.good.iter().enumerate().map(|it| (ExampleKind::Good, it));
    bad.chain(good)
        .flat_map(|(kind, (index, text))| {
            let failure = move |(language, what)| ExampleFailure {
                rule: rule.id.clone(),
                kind,
                number: index + 1,
                language,
                what,
            };
            check_example(&set, rule, kind, text).into_iter().map(failure)
        })
        .collect()
}

type Complaint = (Option<Language>, String);

fn check_example(set: &RuleSet, rule: &Rule, kind: ExampleKind, text: &str) -> Vec<Complaint> {
    let (code, marked) = without_marks(text);
    let read: Vec<Source> = rule
        .languages
        .iter()
        .filter_map(|language| Source::parse(*language, &code))
        .filter(|source| !source.tree().root_node().has_error())
        .collect();
    if read.is_empty() {
        return vec![(None, "it does not parse in any language of the rule".to_owned())];
    }
    read.iter()
        .filter_map(|source| {
            let found = lines_found(set, source);
            let complaint = match kind {
                ExampleKind::Good if !found.is_empty() => format!("it matches on {}", list(&found)),
                ExampleKind::Bad if found.is_empty() => "it does not match".to_owned(),
                ExampleKind::Bad if !marked.is_empty() && marked != found => {
                    format!("it matches on {}, not on {}", list(&found), list(&marked))
                }
                _ => return None,
            };
            Some((Some(source.language()), complaint))
        })
        .collect()
}

fn lines_found(set: &RuleSet, source: &Source) -> BTreeSet<u32> {
    let path = FilePath::from("example");
    set.run(source, &path).iter().map(|found| found.span.start()).collect()
}

fn list(lines: &BTreeSet<u32>) -> String {
    let numbers: Vec<_> = lines.iter().map(u32::to_string).collect();
    format!("line {}", numbers.join(", "))
}

/// The code without its marks, and the lines that carry one.
fn without_marks(text: &str) -> (String, BTreeSet<u32>) {
    let mut code = String::with_capacity(text.len());
    let mut marked = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let bare = line.trim_end();
        let unmarked = bare.strip_suffix("# !").or_else(|| bare.strip_suffix("// !"));
        if unmarked.is_some() {
            marked.insert(number);
        }
        code.push_str(unmarked.map_or(line, str::trim_end));
        code.push('\n');
    }
    (code, marked)
}
