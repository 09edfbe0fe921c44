//! Waivers: a person accepts a finding for as long as the code stays as it is, or until a date.

use crate::change::FilePath;
use crate::finding::DedupeKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Why a finding is accepted, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiver {
    /// Why.
    pub reason: String,
    /// Who accepted it.
    pub by: String,
    /// When, as an RFC 3339 timestamp.
    pub at: String,
    /// The last day on which it holds, such as `2026-12-31`; null when it has no end.
    #[serde(default)]
    pub until: Option<String>,
    /// The evidence that it was given for, without white space, as a hash.
    pub code: String,
}

/// Why a waiver no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaiverEnd {
    /// The code that it was given for changed.
    CodeChanged,
    /// Its date has passed.
    DatePassed,
}

impl WaiverEnd {
    /// The reason, for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::CodeChanged => "the waived code changed",
            Self::DatePassed => "the waiver's date has passed",
        }
    }
}

impl Waiver {
    /// Whether it ended: the evidence is other code now, or `today` (`YYYY-MM-DD`) is after its date.
    pub fn ended(&self, evidence: &str, today: &str) -> Option<WaiverEnd> {
        waiver_end(&self.code, self.until.as_deref(), evidence, today)
    }
}

fn waiver_end(code: &str, until: Option<&str>, evidence: &str, today: &str) -> Option<WaiverEnd> {
    if code != code_hash(evidence) {
        return Some(WaiverEnd::CodeChanged);
    }
    until.is_some_and(|until| until < today).then_some(WaiverEnd::DatePassed)
}

/// The hash that binds a waiver to its code.
pub fn code_hash(evidence: &str) -> String {
    format!("{:014x}", super::delta::line_hash(evidence))
}

/// The waivers that a repository shares: `.mala/waivers.yaml`, read from the trusted ref only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedWaivers {
    /// The version of the file's format.
    #[serde(default)]
    pub version: u32,
    /// The waivers.
    #[serde(default)]
    pub waivers: Vec<SharedWaiver>,
}

/// One waiver of the shared file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedWaiver {
    /// The identity of the finding.
    pub finding: DedupeKey,
    /// The file, for people who read the list.
    pub file: FilePath,
    /// The title of the finding, for people who read the list.
    pub title: String,
    /// Why it is accepted.
    pub reason: String,
    /// Who accepted it.
    pub by: String,
    /// The last day on which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The hash of the code that it was given for.
    pub code: String,
}

impl SharedWaiver {
    /// Whether it ended, as `Waiver::ended`.
    pub fn ended(&self, evidence: &str, today: &str) -> Option<WaiverEnd> {
        waiver_end(&self.code, self.until.as_deref(), evidence, today)
    }
}

impl SharedWaivers {
    /// The version of the format.
    pub const VERSION: u32 = 1;

    /// The path of the file in a repository.
    pub const FILE: &str = ".mala/waivers.yaml";

    /// Reads the file; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Option<Self> =
            crate::config::parse_yaml(text).map_err(|error| error.to_string())?;
        let waivers = read.unwrap_or_default();
        match waivers.version {
            Self::VERSION => Ok(waivers),
            0 => Err("`version: 1` is missing".to_owned()),
            other => Err(format!("version {other} is not known: this mala reads version 1")),
        }
    }

    /// The file as text.
    pub fn to_yaml(&self) -> Result<String, String> {
        let text = serde_saphyr::to_string(self).map_err(|error| error.to_string())?;
        Ok(format!("# Accepted findings. Written by `mala findings waive --shared`.\n{text}"))
    }

    /// Adds a waiver, in place of an earlier one for the same finding.
    pub fn add(&mut self, waiver: SharedWaiver) {
        self.version = Self::VERSION;
        self.waivers.retain(|other| other.finding != waiver.finding);
        self.waivers.push(waiver);
        self.waivers.sort_by(|a, b| (&a.file, &a.finding).cmp(&(&b.file, &b.finding)));
    }

    /// The waiver for a finding.
    pub fn get(&self, key: &DedupeKey) -> Option<&SharedWaiver> {
        self.waivers.iter().find(|waiver| waiver.finding == *key)
    }

    /// Waivers of findings that the ledger does not have.
    pub fn unknown(&self, known: &BTreeSet<&DedupeKey>) -> Vec<&SharedWaiver> {
        self.waivers.iter().filter(|waiver| !known.contains(&waiver.finding)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiver_ends_with_its_code_or_its_date() {
        let waiver = |until: Option<&str>| Waiver {
            reason: "known".to_owned(),
            by: "dev".to_owned(),
            at: String::new(),
            until: until.map(str::to_owned),
            code: code_hash("x = eval(y)"),
        };
        let rows = [
            (None, "  x = eval(y)", "2026-01-02", None),
            (None, "x = eval(z)", "2026-01-02", Some(WaiverEnd::CodeChanged)),
            (Some("2026-01-02"), "x = eval(y)", "2026-01-02", None),
            (Some("2026-01-01"), "x = eval(y)", "2026-01-02", Some(WaiverEnd::DatePassed)),
        ];
        for (until, evidence, today, expected) in rows {
            assert_eq!(waiver(until).ended(evidence, today), expected, "{until:?} {evidence}");
        }
    }
}
