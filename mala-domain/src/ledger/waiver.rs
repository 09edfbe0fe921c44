//! Waivers: a person accepts a finding for as long as the code stays as it is, or until a date.

use crate::change::FilePath;
use crate::finding::{DedupeKey, Finding, Priority, whole_places};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Why a finding is accepted, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiver {
    /// Why.
    pub reason: String,
    /// The person who accepted it.
    pub by: String,
    /// When, as an RFC 3339 timestamp.
    pub at: String,
    /// The last day on which it applies, such as `2026-12-31`; null if it does not expire.
    #[serde(default)]
    pub until: Option<String>,
    /// The evidence that it was given for, without white space, as a hash.
    pub code: String,
    /// The same as text, so that it is found when a reviewer quotes more or fewer lines.
    #[serde(default)]
    pub quote: Option<String>,
}

/// Why a waiver no longer applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaiverEnd {
    /// The code that it was given for changed.
    CodeChanged,
    /// Its date has passed.
    DatePassed,
    /// The finding is more urgent than it was when it was waived.
    MoreUrgent,
}

impl WaiverEnd {
    /// The reason, for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::CodeChanged => "the waived code changed",
            Self::DatePassed => "the waiver's date has passed",
            Self::MoreUrgent => "it is more urgent than it was when it was waived",
        }
    }
}

impl Waiver {
    /// Whether it ended: its code is neither the evidence nor on the lines of the finding, or `today`
    /// (`YYYY-MM-DD`) is after its date.
    pub fn ended(&self, finding: &Finding, text: Option<&str>, today: &str) -> Option<WaiverEnd> {
        let is_there = self.code == code_hash(&finding.evidence_snippet)
            || self.quote.as_deref().is_some_and(|quote| stands_at(quote, finding, text));
        match is_there {
            false => Some(WaiverEnd::CodeChanged),
            true => self.is_past(today).then_some(WaiverEnd::DatePassed),
        }
    }

    /// Whether its date has passed.
    pub fn is_past(&self, today: &str) -> bool {
        self.until.as_deref().is_some_and(|until| until < today)
    }
}

/// Whether quoted code exists as whole lines in the file at head, on a line of the finding.
pub(super) fn stands_at(quote: &str, finding: &Finding, text: Option<&str>) -> bool {
    text.is_some_and(|text| whole_places(text, quote).iter().any(|it| it.overlaps(finding.span())))
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
    /// The person who accepted it.
    pub by: String,
    /// The last day on which it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The priority of the finding: a more urgent one on the same code is not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The hash of the code that it was given for.
    pub code: String,
    /// The code, so that it is found when a reviewer quotes more or fewer lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

impl SharedWaivers {
    /// The version of the format.
    pub const VERSION: u32 = 1;

    /// The path of the file in a repository.
    pub const FILE: &str = ".mala/waivers.yaml";

    /// Parses the file; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Option<Self> =
            crate::config::parse_yaml(text).map_err(|error| error.to_string())?;
        let waivers = read.unwrap_or_default();
        match waivers.version {
            Self::VERSION => {}
            0 => return Err("`version: 1` is missing".to_owned()),
            other => {
                return Err(format!("version {other} is not known: this mala reads version 1"));
            }
        }
        for waiver in &waivers.waivers {
            let finding = &waiver.finding;
            if waiver.reason.trim().is_empty() {
                return Err(format!("the waiver of {finding} has no reason"));
            }
            if let Some(until) = waiver.until.as_deref().filter(|until| !is_day(until)) {
                return Err(format!(
                    "`until: {until}` of {finding} is no date: write it as 2026-12-31"
                ));
            }
        }
        Ok(waivers)
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

    /// Waivers of findings that the ledger does not have.
    pub fn unknown(&self, known: &BTreeSet<&DedupeKey>) -> Vec<&SharedWaiver> {
        self.waivers.iter().filter(|waiver| !known.contains(&waiver.finding)).collect()
    }
}

/// Whether a text is a day, such as `2026-12-31`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |text: &str, n_digits: usize| -> Option<u32> {
        let is_plain = text.len() == n_digits && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_plain)
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=n_days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Priority;
    use crate::ledger::track::tests::finding;

    #[test]
    fn a_waiver_ends_with_its_code_or_its_date() {
        let waiver = |until: Option<&str>| Waiver {
            reason: "known".to_owned(),
            by: "dev".to_owned(),
            at: String::new(),
            until: until.map(str::to_owned),
            code: code_hash("x = eval(y)"),
            quote: Some("x = eval(y)".to_owned()),
        };
        let text = Some("def f(y):\n    x = eval(y)\n    return x\n");
        let quoted = |evidence: &str, lines: [u32; 2]| Finding {
            line_start: lines[0],
            line_end: lines[1],
            ..finding(evidence, 2, Priority::P1)
        };
        let longer = "def f(y):\n    x = eval(y)\n    return x";
        let changed = Some(WaiverEnd::CodeChanged);
        let rows = [
            (None, "  x = eval(y)", [2, 2], None),
            (None, longer, [1, 3], None),
            (None, "def f(y):", [1, 1], changed),
            (None, "x = eval(z)", [9, 9], changed),
            (Some("2026-01-02"), "x = eval(y)", [2, 2], None),
            (Some("2026-01-01"), "x = eval(y)", [2, 2], Some(WaiverEnd::DatePassed)),
        ];
        for (until, evidence, lines, expected) in rows {
            let ended = waiver(until).ended(&quoted(evidence, lines), text, "2026-01-02");
            assert_eq!(ended, expected, "{until:?} {evidence}");
        }
    }

    #[test]
    fn a_shared_waiver_has_a_reason_and_a_day() {
        let rows = [
            ("reason: ok", None),
            ("reason: ok, until: 2028-02-29", None),
            ("reason: ' '", Some("has no reason")),
            ("reason: ok, until: tomorrow", Some("is no date")),
            ("reason: ok, until: 2030-13-09", Some("is no date")),
            ("reason: ok, until: 2030-02-29", Some("is no date")),
            ("reason: ok, until: 2026-9-1", Some("is no date")),
        ];
        for (fields, expected) in rows {
            let waiver = "finding: 1, file: a.py, title: t, by: ann, code: c";
            let text = format!("version: 1\nwaivers:\n  - {{ {waiver}, {fields} }}\n");
            let error = SharedWaivers::parse(&text).err();
            match expected {
                None => assert_eq!(error, None, "{fields}"),
                Some(part) => assert!(error.unwrap().contains(part), "{fields}"),
            }
        }
    }
}
