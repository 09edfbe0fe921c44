//! `review.rules`, compiled for lookups by rule and file.

use super::globs::{GlobError, PathGlobs};
use super::schema::{RuleLevel, RuleSetting};
use crate::change::FilePath;
use globset::{GlobBuilder, GlobMatcher};

/// Compiled rule settings.
#[derive(Debug, Clone, Default)]
pub struct RuleOverrides {
    entries: Vec<RuleOverride>,
}

#[derive(Debug, Clone)]
struct RuleOverride {
    rule: GlobMatcher,
    /// `None` matches all files.
    paths: Option<PathGlobs>,
    usage: RuleLevel,
}

/// An invalid rule setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct RuleOverrideError {
    /// The index of the entry.
    pub index: usize,
    /// What is wrong with it.
    pub what: String,
}

impl RuleOverrides {
    /// Compiles the settings.
    pub fn new(settings: &[RuleSetting]) -> Result<Self, RuleOverrideError> {
        let entries = settings.iter().enumerate().map(|(index, setting)| {
            compile(setting).map_err(|what| RuleOverrideError { index, what })
        });
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Whether any entry matches this rule in any file.
    pub fn mentions(&self, rule: &str) -> bool {
        self.entries.iter().any(|entry| entry.rule.is_match(rule))
    }

    /// The level set by the last entry that matches the rule and the file; `None` if no entry
    /// matches.
    pub fn of(&self, rule: &str, file: &FilePath) -> Option<RuleLevel> {
        self.entries
            .iter()
            .rev()
            .find(|entry| {
                entry.rule.is_match(rule)
                    && entry.paths.as_ref().is_none_or(|globs| globs.matches(file))
            })
            .map(|entry| entry.usage)
    }
}

impl RuleSetting {
    /// Whether the setting matches any of these rules. An invalid glob matches none.
    pub fn fits_any(&self, rules: &[&str]) -> bool {
        rule_glob(&self.rule).is_ok_and(|glob| rules.iter().any(|rule| glob.is_match(rule)))
    }
}

fn rule_glob(rule: &str) -> Result<GlobMatcher, String> {
    match GlobBuilder::new(rule).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(format!("`{rule}` is not a valid rule glob: {}", error.kind())),
    }
}

fn compile(setting: &RuleSetting) -> Result<RuleOverride, String> {
    if setting.rule.is_empty() {
        return Err("the rule name is empty".to_owned());
    }
    let rule = rule_glob(&setting.rule)?;
    let paths = match setting.paths.as_slice() {
        [] => None,
        globs => Some(PathGlobs::new(globs).map_err(|problem: GlobError| problem.to_string())?),
    };
    Ok(RuleOverride { rule, paths, usage: setting.usage })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Priority;

    fn setting(rule: &str, usage: RuleLevel, paths: &[&str]) -> RuleSetting {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        RuleSetting { rule: rule.to_owned(), usage, paths }
    }

    #[test]
    fn the_last_matching_entry_applies() {
        let switches = RuleOverrides::new(&[
            setting("py-*", RuleLevel::Off, &[]),
            setting("py-bare-except", RuleLevel::At(Priority::P3), &["src/**"]),
            setting("py-bare-except", RuleLevel::On, &["src/main.py"]),
        ])
        .unwrap();
        for (rule, file, expected) in [
            ("py-eval", "src/a.py", Some(RuleLevel::Off)),
            ("py-bare-except", "tests/a.py", Some(RuleLevel::Off)),
            ("py-bare-except", "src/a.py", Some(RuleLevel::At(Priority::P3))),
            ("py-bare-except", "src/main.py", Some(RuleLevel::On)),
            ("js-eval", "src/a.js", None),
        ] {
            assert_eq!(switches.of(rule, &FilePath::from(file)), expected, "{rule} in {file}");
        }
    }
}
