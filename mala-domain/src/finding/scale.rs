//! Priorities, severities and categories. P0 to P3 equal critical, high, medium and low.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The priority of a finding; `P0` is the most urgent and the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priority {
    /// Blocker.
    P0,
    /// Major.
    P1,
    /// Should be fixed.
    P2,
    /// Minor.
    P3,
}

impl Priority {
    /// All priorities, the most urgent first.
    pub const ALL: [Self; 4] = [Self::P0, Self::P1, Self::P2, Self::P3];

    /// The priority with this number.
    pub fn from_number(number: i64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|index| Self::ALL.get(index)).copied()
    }

    /// The number, 0 to 3.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The priority as a word.
    pub fn severity(self) -> Severity {
        match self {
            Self::P0 => Severity::Critical,
            Self::P1 => Severity::High,
            Self::P2 => Severity::Medium,
            Self::P3 => Severity::Low,
        }
    }

    /// One step less urgent.
    pub fn lowered(self) -> Self {
        match self {
            Self::P0 => Self::P1,
            Self::P1 => Self::P2,
            Self::P2 | Self::P3 => Self::P3,
        }
    }
}

impl std::fmt::Display for Priority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "P{}", self.number())
    }
}

impl Serialize for Priority {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::from_number(number).ok_or_else(|| {
            serde::de::Error::custom(format!("priority {number} is not between 0 and 3"))
        })
    }
}

impl JsonSchema for Priority {
    fn schema_name() -> Cow<'static, str> {
        "Priority".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "integer", "minimum": 0, "maximum": 3, "description": "0 = P0 (blocker) to 3 = P3 (minor)"})
    }
}

/// The priority as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// P0.
    Critical,
    /// P1.
    High,
    /// P2.
    Medium,
    /// P3.
    Low,
}

impl Severity {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// The kind of a problem.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// A vulnerability.
    Security,
    /// Wrong behaviour.
    Bug,
    /// An error is hidden, lost or mishandled.
    ErrorHandling,
    /// Unnecessary cost.
    Performance,
    /// Hard to read or to maintain.
    Style,
    /// A wrong condition, comparison or order.
    Logic,
}

impl Category {
    /// All categories.
    pub const ALL: [Self; 6] = [
        Self::Security,
        Self::Bug,
        Self::ErrorHandling,
        Self::Performance,
        Self::Style,
        Self::Logic,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Bug => "bug",
            Self::ErrorHandling => "error_handling",
            Self::Performance => "performance",
            Self::Style => "style",
            Self::Logic => "logic",
        }
    }
}

impl std::fmt::Display for Category {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
