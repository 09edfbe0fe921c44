//! `mala rules test`: checks rules with their examples.

use super::files;
use crate::console::{self, counted};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use anyhow::Context;
use mala_domain::language::Language;
use mala_syntax::rules::{Rule, RuleSet, check_examples};
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(here: &Environment, path: Option<&Path>, own: &Path) -> anyhow::Result<Exit> {
    let chosen = path.map(|path| here.folder.join(path));
    if let Some(missing) = chosen.as_ref().filter(|path| !path.exists()) {
        return Err(Failure::usage(format!(
            "{} does not exist",
            path.unwrap_or(missing).display()
        ))
        .into());
    }
    let folder = chosen.as_deref().unwrap_or(own);
    let mut rules = read(&here.folder, folder)?;
    if path.is_none() {
        rules.extend(RuleSet::builtin(&Language::ALL).catalogue().into_iter().cloned());
    }
    let n_examples: usize =
        rules.iter().map(|rule| rule.examples.bad.len() + rule.examples.good.len()).sum();
    let failures: Vec<String> =
        rules.iter().flat_map(check_examples).map(|failure| format!("{failure}\n")).collect();
    console::data(&console::harmless(&failures.concat()))?;
    let tested = format!("{}, {}", counted(rules.len(), "rule"), counted(n_examples, "example"));
    if failures.is_empty() {
        console::data(&format!("{tested}: all passed\n"))?;
        return Ok(Exit::Passed);
    }
    console::data(&format!("{tested}: {} failed\n", failures.len()))?;
    Ok(Exit::Blocked)
}

/// The rules in a folder or file. Reports all invalid files before it fails.
fn read(here: &Path, folder: &Path) -> anyhow::Result<Vec<Arc<Rule>>> {
    let files =
        files::read(here, folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut rules = Vec::new();
    let mut errors = Vec::new();
    for (_, rule) in files {
        match rule {
            Ok(rule) => rules.push(Arc::new(rule)),
            Err(error) => errors.push(console::harmless(&error.to_string())),
        }
    }
    match errors.as_slice() {
        [] => Ok(rules),
        [one] => Err(Failure::new(FailureKind::Configuration, one).into()),
        [first, rest @ ..] => {
            rest.iter().for_each(|error| console::say(&format!("error: {error}")));
            Err(Failure::new(FailureKind::Configuration, first).into())
        }
    }
}
