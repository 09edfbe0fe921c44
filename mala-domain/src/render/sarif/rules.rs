//! The rules of a run. Reports contain rule ids but no rule descriptions, so they are derived from
//! the findings.

use super::model::{
    SarifMessage, SarifRuleConfiguration, SarifRuleDescriptor, SarifRuleProperties,
};
use crate::finding::{Category, Finding, Priority};
use crate::render::ranking::FindingLevel;
use crate::render::wording;
use crate::report::Report;
use std::collections::BTreeMap;

/// The rules, by id.
pub(super) struct SarifRules {
    rules: BTreeMap<String, SarifRule>,
}

struct SarifRule {
    title: Option<String>,
    category: Category,
    priority: Priority,
    least_confidence: f64,
    language: Option<&'static str>,
    index: usize,
}

impl SarifRules {
    /// Collects the rules of all findings, including suppressed ones.
    pub(super) fn of(report: &Report) -> Self {
        let mut rules: BTreeMap<String, SarifRule> = BTreeMap::new();
        let suppressed_result = report.suppressed.iter().map(|item| &item.finding);
        let tracked = report.tracking.iter().flat_map(|tracking| {
            let set_aside = tracking.set_aside.iter().map(|item| &item.finding);
            set_aside.chain(tracking.fixed.iter().map(|item| &item.finding))
        });
        let own = report.issues.iter().chain(&report.notes);
        for finding in own.chain(suppressed_result).chain(tracked) {
            let rule =
                rules.entry(wording::rule_id(finding)).or_insert_with(|| SarifRule::of(finding));
            rule.add(finding);
        }
        for (index, rule) in rules.values_mut().enumerate() {
            rule.index = index;
        }
        Self { rules }
    }

    /// The index of a rule in the list.
    pub(super) fn index(&self, id: &str) -> usize {
        self.rules.get(id).map_or(0, |rule| rule.index)
    }

    /// The rules as SARIF descriptors.
    pub(super) fn into_descriptors(self) -> Vec<SarifRuleDescriptor> {
        self.rules.into_iter().map(|(id, rule)| rule.into_descriptor(id)).collect()
    }
}

impl SarifRule {
    fn of(finding: &Finding) -> Self {
        Self {
            title: finding.rule.is_some().then(|| finding.title.clone()),
            category: finding.category,
            priority: finding.effective_priority(),
            least_confidence: 1.0,
            language: finding.language.map(crate::language::Language::name),
            index: 0,
        }
    }

    fn add(&mut self, finding: &Finding) {
        // A title that differs between findings describes a location, not the rule.
        self.title = self.title.take().filter(|title| *title == finding.title);
        self.priority = self.priority.min(finding.effective_priority());
        self.least_confidence = self.least_confidence.min(finding.confidence);
        self.language =
            self.language.filter(|name| finding.language.is_some_and(|own| own.name() == *name));
    }

    fn into_descriptor(self, id: String) -> SarifRuleDescriptor {
        let description =
            self.title.unwrap_or_else(|| format!("Findings of {id} ({})", self.category));
        let is_security = self.category == Category::Security;
        let language = self.language.map(str::to_owned);
        SarifRuleDescriptor {
            name: pascal_case(&id),
            short_description: SarifMessage::plain(&description),
            default_configuration: SarifRuleConfiguration {
                level: super::level(FindingLevel::of_priority(self.priority)),
            },
            properties: SarifRuleProperties {
                tags: std::iter::once(self.category.name().to_owned()).chain(language).collect(),
                category: self.category,
                precision: precision(self.least_confidence),
                security_severity: is_security.then(|| score(self.priority)),
            },
            id,
        }
    }
}

fn precision(confidence: f64) -> &'static str {
    match confidence {
        c if c >= 0.9 => "very-high",
        c if c >= 0.75 => "high",
        c if c >= 0.5 => "medium",
        _ => "low",
    }
}

/// The score by which code scanning sorts security findings.
fn score(priority: Priority) -> &'static str {
    match priority {
        Priority::P0 => "9.5",
        Priority::P1 => "8.0",
        Priority::P2 => "5.0",
        Priority::P3 => "2.0",
    }
}

fn pascal_case(id: &str) -> String {
    id.split(|c: char| !c.is_alphanumeric())
        .flat_map(|word| {
            let mut chars = word.chars();
            chars.next().into_iter().flat_map(char::to_uppercase).chain(chars)
        })
        .collect()
}
