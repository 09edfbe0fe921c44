//! `review.rules`: the word `extended`, a map from rule to setting, or a list when a rule needs several.

use crate::finding::Priority;
use schemars::JsonSchema;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// What becomes of the rules with these names, in these files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSetting {
    /// The rule's id, or a glob over ids such as `python/*`.
    pub rule: String,
    /// `off`, `on`, or the priority that its findings get.
    #[serde(rename = "use")]
    pub usage: RuleUse,
    /// The files that it is for, as path globs; all of them when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// What becomes of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleUse {
    /// It reports nothing.
    Off,
    /// It reports, also when it is in the extended set.
    On,
    /// It reports, with this priority.
    At(Priority),
}

const WORDS: [&str; 6] = ["off", "on", "P0", "P1", "P2", "P3"];

impl RuleUse {
    fn of_word(word: &str) -> Option<Self> {
        match word {
            "off" | "false" => Some(Self::Off),
            "on" | "true" => Some(Self::On),
            _ => Priority::ALL.into_iter().find(|p| p.to_string() == word).map(Self::At),
        }
    }
}

impl std::fmt::Display for RuleUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::On => f.write_str("on"),
            Self::At(priority) => priority.fmt(f),
        }
    }
}

impl Serialize for RuleUse {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RuleUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = <Cow<'de, str>>::deserialize(deserializer)?;
        Self::of_word(&word).ok_or_else(|| D::Error::unknown_variant(&word, &WORDS))
    }
}

impl JsonSchema for RuleUse {
    fn schema_name() -> Cow<'static, str> {
        "RuleUse".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "enum": ["off", "on", "P0", "P1", "P2", "P3", true, false],
            "description": "`off`, `on`, or the priority that its findings get"
        })
    }
}

/// The word that turns every rule on, those of the extended set too.
const EXTENDED: &str = "extended";

impl RuleSetting {
    /// Every rule is on, in all files.
    fn extended() -> Self {
        Self { rule: "*".to_owned(), usage: RuleUse::On, paths: Vec::new() }
    }
}

/// The word `extended`, a list of settings, or a map from rule to a word or to `use` and `paths`.
pub(super) fn list_or_map<'de, D>(deserializer: D) -> Result<Vec<RuleSetting>, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(ListOrMap)
}

pub(super) fn list_or_map_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let setting = generator.subschema_for::<RuleSetting>();
    let usage = generator.subschema_for::<RuleUse>();
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

struct ListOrMap;

impl<'de> Visitor<'de> for ListOrMap {
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
            let UseAndPaths { usage, paths } = map.next_value()?;
            settings.push(RuleSetting { rule, usage, paths });
        }
        Ok(settings)
    }
}

struct UseAndPaths {
    usage: RuleUse,
    paths: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelled {
    #[serde(rename = "use")]
    usage: RuleUse,
    #[serde(default)]
    paths: Vec<String>,
}

impl<'de> Deserialize<'de> for UseAndPaths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordOrMap)
    }
}

struct WordOrMap;

impl<'de> Visitor<'de> for WordOrMap {
    type Value = UseAndPaths;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("off, on, a priority, or a map with `use` and `paths`")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
        self.visit_str(if on { "on" } else { "off" })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        let usage = RuleUse::of_word(word).ok_or_else(|| E::unknown_variant(word, &WORDS))?;
        Ok(UseAndPaths { usage, paths: Vec::new() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let Spelled { usage, paths } =
            Spelled::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(UseAndPaths { usage, paths })
    }
}
