//! The rules for secrets, loaded from `rules.toml`. A test loads and compiles every rule, so
//! loading cannot fail at run time.

use super::checksum::Checksum;
use super::value::ValueTest;
use crate::finding::Priority;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::sync::{LazyLock, OnceLock};

/// A rule that recognizes one kind of secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRule {
    /// The stable id.
    pub id: String,
    /// A heading for findings.
    pub title: String,
    /// What a reader of the repository can do with the secret; completes the sentence of
    /// [`Self::consequence`].
    pub leak: String,
    /// What identifies a match as a secret.
    pub family: SecretFamily,
    /// Keywords; every match contains one of them.
    pub keywords: Vec<String>,
    /// The priority of a match in ordinary code.
    pub priority: Priority,
    /// The probability that a match is a secret, 0 to 1.
    pub confidence: f64,
    pub(super) regex: LazyRegex,
    #[serde(default)]
    pub(super) group: usize,
    #[serde(default)]
    before: usize,
    #[serde(default)]
    before_run: usize,
    #[serde(default = "default_window")]
    pub(super) after: usize,
    #[serde(default)]
    pub(super) min_entropy: f64,
    pub(super) checksum: Option<Checksum>,
    pub(super) test: Option<ValueTest>,
    #[serde(default)]
    pub(super) files: RuleFiles,
    #[serde(default, rename = "use")]
    pub(super) usage: RulePurpose,
    #[serde(default)]
    pub(super) allow: Vec<LazyRegex>,
}

impl SecretRule {
    /// A sentence about the consequence of leaking the secret.
    pub fn consequence(&self) -> String {
        format!("when this is pushed, anyone who can read the repository can {}", self.leak)
    }

    /// Whether the format alone identifies the issuer of the secret.
    pub fn is_specific(&self) -> bool {
        self.family == SecretFamily::Token
    }

    /// Whether matches are reported.
    pub fn reports(&self) -> bool {
        self.usage != RulePurpose::Redact
    }

    /// Whether matches are redacted.
    pub fn redacts(&self) -> bool {
        self.usage != RulePurpose::Report
    }

    /// Whether the whole match is the secret, so that it must be a whole word.
    pub(super) fn is_whole_word(&self) -> bool {
        self.family != SecretFamily::Key && self.group == 0
    }

    /// The start of a match with its keyword at `hit`.
    pub(super) fn match_start(&self, text: &[u8], hit: usize) -> usize {
        let before = text[..hit].iter().rev().take(self.before_run);
        let run = before.take_while(|byte| byte.is_ascii_alphanumeric()).count();
        hit.saturating_sub(self.before.max(run))
    }

    /// The compiled pattern, anchored at the start of the text.
    pub(super) fn matcher(&self) -> Option<&Regex> {
        self.regex.compiled(r"\A")
    }

    pub(super) fn allows(&self, secret: &str) -> bool {
        self.allow
            .iter()
            .filter_map(|pattern| pattern.compiled(""))
            .any(|pattern| pattern.is_match(secret.as_bytes()))
    }
}

/// What identifies a match as a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretFamily {
    /// The format of the token identifies its issuer.
    Token,
    /// The name next to the value identifies its issuer.
    Context,
    /// A name such as `password`, with a value that looks like a secret.
    Generic,
    /// Private key material.
    Key,
}

/// In which files a rule reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleFiles {
    #[default]
    All,
    /// Only files where values have no quotes.
    Config,
}

/// What a rule is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RulePurpose {
    #[default]
    Both,
    Redact,
    Report,
}

/// A regular expression that is compiled on first use, since most rules are never needed.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct LazyRegex {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    fn compiled(&self, anchor: &str) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(anchor, &self.source).ok()).as_ref()
    }
}

impl From<String> for LazyRegex {
    fn from(source: String) -> Self {
        Self { source, compiled: OnceLock::new() }
    }
}

/// Matches the text between a name and its value in common languages and settings files.
const ASSIGNMENT: &str = r#"\\?["'`\])]{0,2}\s{0,8}(?:(?:=>|:=|={1,3}|:|>|\(|\s+value\s{0,2}=)\s{0,8}|,[ \t]{0,4})\\?["'`]?"#;

fn compile(anchor: &str, source: &str) -> Result<Regex, regex::Error> {
    let source = source.replace("<is>", ASSIGNMENT);
    RegexBuilder::new(&format!("{anchor}(?:{source})")).unicode(false).build()
}

/// All rules.
pub fn rules() -> &'static [SecretRule] {
    static RULES: LazyLock<Vec<SecretRule>> = LazyLock::new(|| load().unwrap_or_default());
    &RULES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretRuleFile {
    rule: Vec<SecretRule>,
}

fn load() -> Result<Vec<SecretRule>, toml::de::Error> {
    toml::from_str::<SecretRuleFile>(include_str!("rules.toml")).map(|file| file.rule)
}

fn default_window() -> usize {
    256
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_loads_and_compiles() {
        let rules = load().unwrap();
        assert!(rules.len() >= 150, "{} rules", rules.len());
        for rule in &rules {
            let regex = compile(r"\A", &rule.regex.source)
                .unwrap_or_else(|error| panic!("{}: {error}", rule.id));
            assert!(rule.group < regex.captures_len(), "{}: no such group", rule.id);
            for allow in &rule.allow {
                compile("", &allow.source).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
            }
        }
    }

    #[test]
    fn every_rule_is_described() {
        let mut ids = BTreeSet::new();
        for rule in rules() {
            assert!(ids.insert(&rule.id), "{} is there twice", rule.id);
            assert!(
                rule.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            );
            assert!(!rule.title.is_empty() && !rule.leak.is_empty(), "{}", rule.id);
            assert!(!rule.leak.ends_with('.'), "{}: the sentence goes on", rule.id);
            assert!((0.3..=1.0).contains(&rule.confidence), "{}", rule.id);
            assert!(!rule.keywords.is_empty(), "{}", rule.id);
            assert!(rule.keywords.iter().all(|word| word.len() >= 2), "{}", rule.id);
            assert!((64..=20_000).contains(&rule.after), "{}", rule.id);
        }
    }

    #[test]
    fn a_rule_describes_the_consequence() {
        let rule = rules().iter().find(|rule| rule.id == "npm-token").unwrap();
        assert_eq!(
            rule.consequence(),
            "when this is pushed, anyone who can read the repository can publish packages as this \
             npm user, into everyone's installs"
        );
    }
}
