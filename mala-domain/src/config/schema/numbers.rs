//! Integers with limits.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::time::Duration;

/// A time limit in seconds: at least 1, at most a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Seconds(u32);

impl Seconds {
    /// The maximum: a week.
    pub const MAX: u32 = 7 * 24 * 60 * 60;

    /// The minimum: one second.
    pub const SHORTEST: Self = Self(1);

    /// A time limit; `None` if out of range.
    pub fn new(seconds: i64) -> Option<Self> {
        u32::try_from(seconds).ok().filter(|n| (1..=Self::MAX).contains(n)).map(Self)
    }

    /// The number of seconds.
    pub fn get(self) -> u32 {
        self.0
    }

    /// The time limit as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs(u64::from(self.0))
    }
}

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::str::FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().ok().and_then(Self::new).ok_or_else(|| {
            format!("'{text}' is not a number of seconds between 1 and {}", Self::MAX)
        })
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{number} is not a number of seconds between 1 and {}",
                Self::MAX
            ))
        })
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "integer", "minimum": 1, "maximum": Self::MAX, "description": "Seconds"
        })
    }
}

/// A number of retries: 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Retries(u32);

impl Retries {
    /// The maximum.
    pub const MAX: u32 = 100;

    /// A number of retries; `None` if out of range.
    pub fn new(retries: i64) -> Option<Self> {
        u32::try_from(retries).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self(3)
    }
}

impl<'de> Deserialize<'de> for Retries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{number} is not a number of retries between 0 and {}",
                Self::MAX
            ))
        })
    }
}

impl JsonSchema for Retries {
    fn schema_name() -> Cow<'static, str> {
        "Retries".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "integer", "minimum": 0, "maximum": Self::MAX, "description": "Retries"
        })
    }
}
