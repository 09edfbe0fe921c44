//! Everything that the built-in reviewer looks for, whichever analyzer does it, in one shape.

use mala_domain::finding::{Category, Priority};
use mala_domain::language::Language;
use mala_domain::secrets::{self, SecretRule};
use mala_syntax::coded_check::CodedCheck;
use mala_syntax::cross_file;
use mala_syntax::diff_checks::{self, LineRule};
use mala_syntax::rules::schema::RuleGroup;
use mala_syntax::rules::{Rule, RuleSet};

/// A rule, as users see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What users write to turn it off.
    pub id: String,
    /// One line.
    pub title: String,
    /// What goes wrong, and when.
    pub message: String,
    /// What to do instead.
    pub suggestion: Option<String>,
    /// What kind of problem it finds.
    pub category: Category,
    /// How urgent its findings are.
    pub priority: Priority,
    /// How often it is right, 0 to 1.
    pub confidence: Option<f64>,
    /// The set that it belongs to.
    pub set: RuleGroup,
    /// The languages it looks at; any when empty.
    pub languages: Vec<Language>,
    /// Where it comes from.
    pub source: String,
    /// Code that it reports.
    pub bad: Vec<String>,
    /// Code that it does not report.
    pub good: Vec<String>,
}

const BUILT_IN: &str = "built in";

impl Entry {
    /// Whether it looks at this language; `None` stands for all of them.
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

/// All rules, by id; a rule of the repository takes the place of a built-in one with the same id.
pub fn catalogue(own: Vec<(String, Rule)>) -> Vec<Entry> {
    let builtin = RuleSet::builtin(&Language::ALL);
    let mut entries: Vec<Entry> =
        own.iter().map(|(source, rule)| Entry::of_rule(rule, source)).collect();
    entries.extend(builtin.catalogue().into_iter().map(|rule| Entry::of_rule(rule, BUILT_IN)));
    entries.extend(diff_checks::line_rules().map(Entry::of_line_rule));
    entries.extend(diff_checks::checks().iter().map(Entry::of_check));
    entries.extend(cross_file::checks().iter().map(Entry::of_check));
    let reported = secrets::rules().iter().filter(|rule| rule.reports());
    entries.extend(reported.map(Entry::of_secret));
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
