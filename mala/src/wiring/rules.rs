//! The project's own rules: `.mala/rules/*.yaml` at the base of the change.

use crate::failure::{Failure, FailureKind};
use anyhow::Context;
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use mala_domain::ports::{Repository, ReviewScope, Side};
use mala_domain::scope::ReviewTarget;
use mala_syntax::rules::{Rule, RuleError, RuleSet};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The folder of the rules.
pub const FOLDER: &str = ".mala/rules";

/// The project's rules.
#[derive(Default, Clone)]
pub struct ProjectRules {
    /// The rules.
    pub rules: Vec<Arc<Rule>>,
    /// A hash of the rules.
    pub fingerprint: String,
}

/// Reads the rules at the base of the change. A review of the working tree uses uncommitted rules if none
/// are committed, except those that replace a built-in rule: they could turn it off. Other changes never
/// provide their own.
pub async fn project_rules(
    scoped: &ReviewScope,
    target: &ReviewTarget,
    notices: &mut Vec<String>,
) -> anyhow::Result<ProjectRules> {
    rules_of_side((scoped, Side::Base), target, notices).await
}

/// The same, with another side as the trusted one.
pub async fn rules_of_side(
    (scoped, trusted): (&ReviewScope, Side),
    target: &ReviewTarget,
    notices: &mut Vec<String>,
) -> anyhow::Result<ProjectRules> {
    let trusted = (scoped.trusted_tree().as_ref(), trusted);
    let committed = rule_files(trusted).await?;
    if !committed.is_empty() {
        return parse(trusted, &committed).await;
    }
    let own_tree = matches!(target, ReviewTarget::WorkingTree | ReviewTarget::Staged);
    let at_head = (scoped.tree.as_ref(), Side::Head);
    let on_disk = if own_tree { rule_files(at_head).await? } else { Vec::new() };
    if on_disk.is_empty() {
        return Ok(ProjectRules::default());
    }
    notices.push(format!("{FOLDER} is not committed: using the rules in the working tree"));
    let mut found = parse(at_head, &on_disk).await?;
    let builtin = RuleSet::builtin(&Language::ALL);
    let known: Vec<&str> = builtin.catalogue().iter().map(|rule| rule.id.as_str()).collect();
    found.rules.retain(|rule| !known.contains(&rule.id.as_str()));
    Ok(found)
}

async fn rule_files((tree, side): (&dyn Repository, Side)) -> anyhow::Result<Vec<FilePath>> {
    let files = tree.list(side, &FilePath::from(FOLDER)).await.context("listing .mala/rules")?;
    let is_rule = |file: &FilePath| {
        let name = file.file_name();
        name.ends_with(".yaml") || name.ends_with(".yml")
    };
    Ok(files.into_iter().filter(is_rule).collect())
}

async fn parse(
    (tree, side): (&dyn Repository, Side),
    files: &[FilePath],
) -> anyhow::Result<ProjectRules> {
    let blobs = tree.read(side, files).await.context("reading .mala/rules")?;
    let mut hash = Sha256::new();
    let mut rules = Vec::new();
    for (file, blob) in files.iter().zip(blobs) {
        let text = blob.text().ok_or_else(|| {
            Failure::new(FailureKind::Configuration, format!("{file}: a rule file must be text"))
        })?;
        hash.update(text.len().to_le_bytes());
        hash.update(text);
        let rule = Rule::parse(&file.to_string(), text).map_err(|error| refusal(&error))?;
        rules.push(Arc::new(rule));
    }
    let fingerprint = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Ok(ProjectRules { rules, fingerprint })
}

fn refusal(error: &RuleError) -> Failure {
    Failure::new(FailureKind::Configuration, error.to_string())
}
