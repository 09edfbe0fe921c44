//! The catalogue of all rules of the built-in reviewer.

use mala_domain::finding::{Category, Priority};
use mala_domain::language::Language;
use mala_domain::secrets::{self, SecretRule};
use mala_syntax::coded_check::CodedCheck;
use mala_syntax::cross_file;
use mala_syntax::diff_checks::{self, LineRule};
use mala_syntax::rules::schema::RuleGroup;
use mala_syntax::rules::{Rule, RuleSet};

/// A rule as it is shown to users.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogueEntry {
    /// The id.
    pub id: String,
    /// One line.
    pub title: String,
    /// What goes wrong, and when.
    pub message: String,
    /// How to fix it.
    pub suggestion: Option<String>,
    /// The category of its findings.
    pub category: Category,
    /// The priority of its findings.
    pub priority: Priority,
    /// The confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The set that it belongs to.
    pub set: RuleGroup,
    /// Its languages; empty for all.
    pub languages: Vec<Language>,
    /// Its origin.
    pub source: String,
    /// Code that it reports.
    pub bad: Vec<String>,
    /// Code that it does not report.
    pub good: Vec<String>,
}

const BUILT_IN: &str = "built in";

impl CatalogueEntry {
    /// Whether it applies to this language; `None` for all languages.
    pub fn is_for(&self, language: Option<Language>) -> bool {
        language
            .is_none_or(|language| self.languages.is_empty() || self.languages.contains(&language))
    }

    fn of_rule(rule: &Rule, source: &str) -> Self {
        Self {
            id: rule.id.clone(),
            title: rule.title.clone(),
            message: rule.message.clone(),
            suggestion: Some(rule.suggestion.clone()),
            category: rule.category,
            priority: rule.priority,
            confidence: Some(rule.confidence),
            set: rule.set,
            languages: rule.languages.clone(),
            source: source.to_owned(),
            bad: rule.examples.bad.clone(),
            good: rule.examples.good.clone(),
        }
    }

    fn of_line_rule(rule: &LineRule) -> Self {
        Self {
            id: rule.id.clone(),
            title: rule.title.clone(),
            message: rule.message.clone(),
            suggestion: Some(rule.suggestion.clone()),
            category: rule.category,
            priority: rule.priority,
            confidence: Some(rule.confidence),
            set: RuleGroup::Default,
            languages: Vec::new(),
            source: BUILT_IN.to_owned(),
            bad: rule.examples.bad.clone(),
            good: rule.examples.good.clone(),
        }
    }

    fn of_secret(rule: &SecretRule) -> Self {
        Self {
            id: format!("secrets/{}", rule.id),
            title: format!("{} in the code", rule.title),
            message: rule.consequence(),
            suggestion: None,
            category: Category::Security,
            priority: rule.priority,
            confidence: Some(rule.confidence),
            set: RuleGroup::Default,
            languages: Vec::new(),
            source: BUILT_IN.to_owned(),
            bad: Vec::new(),
            good: Vec::new(),
        }
    }

    fn of_check(check: &CodedCheck) -> Self {
        Self {
            id: check.id.to_owned(),
            title: check.title.to_owned(),
            message: check.about.to_owned(),
            suggestion: None,
            category: check.category,
            priority: check.priority,
            confidence: None,
            set: RuleGroup::Default,
            languages: Vec::new(),
            source: BUILT_IN.to_owned(),
            bad: Vec::new(),
            good: Vec::new(),
        }
    }
}

/// All rules by id. A rule of the repository replaces the built-in one with the same id.
pub fn catalogue(own: Vec<(String, Rule)>) -> Vec<CatalogueEntry> {
    let builtin = RuleSet::builtin(&Language::ALL);
    let mut entries: Vec<CatalogueEntry> =
        own.iter().map(|(source, rule)| CatalogueEntry::of_rule(rule, source)).collect();
    entries.extend(
        builtin.catalogue().into_iter().map(|rule| CatalogueEntry::of_rule(rule, BUILT_IN)),
    );
    entries.extend(diff_checks::line_rules().map(CatalogueEntry::of_line_rule));
    entries.extend(diff_checks::checks().iter().map(CatalogueEntry::of_check));
    entries.extend(cross_file::checks().iter().map(CatalogueEntry::of_check));
    let reported = secrets::rules().iter().filter(|rule| rule.reports());
    entries.extend(reported.map(CatalogueEntry::of_secret));
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    entries.dedup_by(|later, first| later.id == first.id);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_there_once_and_own_rules_come_first() {
        let text = include_str!("../../../../mala-syntax/rules/python/mutable-default.yaml");
        let own = Rule::parse("mine.yaml", text).unwrap();
        let entries = catalogue(vec![("mine.yaml".to_owned(), own)]);
        let entry = entries.iter().find(|entry| entry.id == "python/mutable-default").unwrap();
        assert_eq!(entry.source, "mine.yaml");
        let mut ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        ids.dedup();
        assert_eq!(ids.len(), entries.len());
    }
}
