//! `review.rules`: the word `extended`, a map from rule to setting, or a list if a rule needs several settings.

use crate::finding::Priority;
use schemars::JsonSchema;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A setting for all rules that match a glob, in all files that match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSetting {
    /// The rule id, or a glob such as `python/*`.
    pub rule: String,
    /// `off`, `on`, or the priority of its findings.
    #[serde(rename = "use")]
    pub usage: RuleLevel,
    /// Path globs of the files it applies to. Default: all files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// The level of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleLevel {
    /// The rule reports nothing.
    Off,
    /// The rule reports, even if it is in the extended set.
    On,
    /// The rule reports with this priority.
    At(Priority),
}

const RULE_LEVELS: [&str; 6] = ["off", "on", "P0", "P1", "P2", "P3"];

impl RuleLevel {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "off" | "false" => Some(Self::Off),
            "on" | "true" => Some(Self::On),
            _ => Priority::ALL.into_iter().find(|p| p.to_string() == word).map(Self::At),
        }
    }
}

impl std::fmt::Display for RuleLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::On => f.write_str("on"),
            Self::At(priority) => priority.fmt(f),
        }
    }
}

impl Serialize for RuleLevel {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RuleLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = <Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&word).ok_or_else(|| D::Error::unknown_variant(&word, &RULE_LEVELS))
    }
}

impl JsonSchema for RuleLevel {
    fn schema_name() -> Cow<'static, str> {
        "RuleLevel".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "enum": ["off", "on", "P0", "P1", "P2", "P3", true, false],
            "description": "`off`, `on`, or the priority of its findings"
        })
    }
}

/// The word that turns every rule on, including the extended set.
const EXTENDED: &str = "extended";

impl RuleSetting {
    /// Every rule is on, in all files.
    fn extended() -> Self {
        Self { rule: "*".to_owned(), usage: RuleLevel::On, paths: Vec::new() }
    }
}

/// Deserializes the word `extended`, a list of settings, or a map from rule to a level or to `use` and `paths`.
pub(super) fn list_or_map<'de, D>(deserializer: D) -> Result<Vec<RuleSetting>, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(RuleListVisitor)
}

pub(super) fn list_or_map_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let setting = generator.subschema_for::<RuleSetting>();
    let usage = generator.subschema_for::<RuleLevel>();
    schemars::json_schema!({
        "default": [],
        "anyOf": [
            { "const": EXTENDED },
            { "type": "array", "items": setting },
            { "type": "object", "additionalProperties": { "anyOf": [
                usage,
                {
                    "type": "object",
                    "properties": {
                        "use": usage,
                        "paths": { "type": "array", "items": { "type": "string" } }
                    },
                    "required": ["use"],
                    "additionalProperties": false
                }
            ] } },
            { "type": "null" }
        ]
    })
}

struct RuleListVisitor;

impl<'de> Visitor<'de> for RuleListVisitor {
    type Value = Vec<RuleSetting>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "`extended`, a map from rule to off, on or a priority, or a list of rule settings",
        )
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        match word {
            EXTENDED => Ok(vec![RuleSetting::extended()]),
            _ => Err(E::unknown_variant(word, &[EXTENDED])),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut settings = Vec::new();
        while let Some(setting) = list.next_element()? {
            settings.push(setting);
        }
        Ok(settings)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut settings = Vec::new();
        while let Some(rule) = map.next_key::<String>()? {
            let RuleLevelAndPaths { usage, paths } = map.next_value()?;
            settings.push(RuleSetting { rule, usage, paths });
        }
        Ok(settings)
    }
}

struct RuleLevelAndPaths {
    usage: RuleLevel,
    paths: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleSettingFields {
    #[serde(rename = "use")]
    usage: RuleLevel,
    #[serde(default)]
    paths: Vec<String>,
}

impl<'de> Deserialize<'de> for RuleLevelAndPaths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleLevelVisitor)
    }
}

struct RuleLevelVisitor;

impl<'de> Visitor<'de> for RuleLevelVisitor {
    type Value = RuleLevelAndPaths;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("off, on, a priority, or a map with `use` and `paths`")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
        self.visit_str(if on { "on" } else { "off" })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        let usage = RuleLevel::parse(word).ok_or_else(|| E::unknown_variant(word, &RULE_LEVELS))?;
        Ok(RuleLevelAndPaths { usage, paths: Vec::new() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let RuleSettingFields { usage, paths } =
            RuleSettingFields::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(RuleLevelAndPaths { usage, paths })
    }
}
