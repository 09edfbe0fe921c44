//! The configuration reference, made from the JSON Schema: every key, its type, its default and
//! what it means. A block that appears in several places is described once.

use super::schema::Config;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

const INTRODUCTION: &str = "\
# Configuration

<!-- Made from the types in mala-domain/src/config; a test compares it. -->

mala works without any configuration. `mala.yaml` in the root of a repository changes how it reviews.
`mala init` writes one, `mala config check` checks it, `mala config show` prints what holds and where it
comes from, and `mala config schema` prints its JSON Schema.

Unknown keys are errors. What is said in several places holds in this order: the command line, the
environment, the user's own file (`~/.config/mala/config.yaml`), the repository's file, the default.
Rule settings of all files hold together; where they disagree, the same order decides.

The repository's file comes from the trusted side of a review, never from the change under review: from
the base of a range, a branch or a commit, and from `HEAD` for the working tree. When `HEAD` has no
`mala.yaml` and the working tree has one, a review of the working tree uses that one and says so.

Keys of models come from `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` and `GEMINI_API_KEY`, or from a command in
the user's own file, and addresses from `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL`
or the same file: never from a repository.

Path globs are read as in a `.gitignore`, without negation: a pattern without a slash fits at any depth,
one with a slash starts at the root, and a folder stands for everything in it.

| environment variable | key |
|---|---|
| `MALA_REVIEWER` | `reviewer_type` |
| `MALA_FAIL_ON` | `review.fail_on` |
| `MALA_TIMEOUT` | `review.timeout` |
| `MALA_BASE` | `review.base` |
| `MALA_MODEL` | `agent_sdk_reviewer_model` |
| `MALA_PROFILE` | `review.budget.profile` |
| `MALA_LINTERS` | `review.linters.enabled` |
";

/// The reference as Markdown.
pub fn reference() -> String {
    let schema = schemars::schema_for!(Config).to_value();
    let mut page = Page { schema: &schema, known: BTreeMap::new(), waiting: VecDeque::new() };
    page.waiting.push_back((String::new(), &schema));
    let mut text = INTRODUCTION.to_owned();
    while let Some((path, block)) = page.waiting.pop_front() {
        text.push_str(&page.section(&path, block));
    }
    text
}

struct Page<'s> {
    schema: &'s Value,
    /// Definitions that have a section, and its path.
    known: BTreeMap<&'s str, String>,
    waiting: VecDeque<(String, &'s Value)>,
}

impl<'s> Page<'s> {
    fn section(&mut self, path: &str, block: &'s Value) -> String {
        let title = if path.is_empty() { "Top level".to_owned() } else { format!("`{path}`") };
        let mut text = format!("\n## {title}\n\n");
        if let Some(meaning) = description(block).filter(|_| !path.is_empty()) {
            text.push_str(&format!("{meaning}\n\n"));
        }
        text.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        for (key, property) in properties(block) {
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let kind = self.kind(&below, property);
            let default = property.get("default").filter(|default| !is_block(default));
            let absent = if is_required(block, key) { "required" } else { "none" };
            let default = default.map_or(absent.to_owned(), |value| code(&word(value)));
            let meaning = description(property).unwrap_or_default();
            text.push_str(&format!("| `{key}` | {kind} | {default} | {meaning} |\n"));
        }
        text
    }

    /// The type of a key; a block gets a section of its own.
    fn kind(&mut self, path: &str, property: &'s Value) -> String {
        if let Some(name) = definition_name(property) {
            let Some(definition) = self.definition(name) else { return name.to_owned() };
            if definition.get("properties").is_some() {
                return self.block(path, name, definition);
            }
            return self.kind(path, definition);
        }
        if let Some(choices) = property.get("anyOf").and_then(Value::as_array) {
            let kinds: Vec<String> = choices
                .iter()
                .filter(|choice| choice.get("type").and_then(Value::as_str) != Some("null"))
                .map(|choice| self.kind(path, choice))
                .collect();
            return kinds.join(", or ");
        }
        if let Some(words) = words(property) {
            return words;
        }
        match property.get("type") {
            Some(Value::String(kind)) => self.plain_kind(path, kind, property),
            Some(Value::Array(kinds)) => {
                let kind = kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null");
                self.plain_kind(path, kind.unwrap_or("null"), property)
            }
            _ => "anything".to_owned(),
        }
    }

    fn plain_kind(&mut self, path: &str, kind: &str, property: &'s Value) -> String {
        let inner = |page: &mut Self, key: &str, mark: &str| {
            property.get(key).map(|inner| page.kind(&format!("{path}{mark}"), inner))
        };
        match kind {
            "array" => match inner(self, "items", "[]") {
                Some(items) => format!("list of {items}"),
                None => "list".to_owned(),
            },
            "object" if property.get("properties").is_some() => {
                let keys: Vec<String> = properties(property).map(|(key, _)| code(key)).collect();
                format!("map with {}", keys.join(" and "))
            }
            "object" => match inner(self, "additionalProperties", ".NAME") {
                Some(values) => format!("map from name to {values}"),
                None => "map".to_owned(),
            },
            "integer" => "whole number".to_owned(),
            "boolean" => "`true` or `false`".to_owned(),
            "string" => "text".to_owned(),
            other => other.to_owned(),
        }
    }

    fn block(&mut self, path: &str, name: &'s str, definition: &'s Value) -> String {
        match self.known.get(name) {
            Some(first) => format!("block, as [`{first}`](#{})", anchor(first)),
            None => {
                self.known.insert(name, path.to_owned());
                self.waiting.push_back((path.to_owned(), definition));
                format!("[block](#{})", anchor(path))
            }
        }
    }

    fn definition(&self, name: &str) -> Option<&'s Value> {
        self.schema.get("$defs")?.get(name)
    }
}

fn properties(block: &Value) -> impl Iterator<Item = (&String, &Value)> {
    block.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn is_required(block: &Value, key: &str) -> bool {
    let required = block.get("required").and_then(Value::as_array);
    required.is_some_and(|keys| keys.iter().any(|required| required == key))
}

fn definition_name(property: &Value) -> Option<&str> {
    property.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn description(property: &Value) -> Option<String> {
    let text = property.get("description")?.as_str()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|"))
}

/// The words of an enumeration.
fn words(property: &Value) -> Option<String> {
    let listed = property.get("enum").and_then(Value::as_array).map(|values| {
        values.iter().filter(|value| value.is_string()).map(|value| code(&word(value))).collect()
    });
    let described = || -> Option<Vec<String>> {
        let choices = property.get("oneOf")?.as_array()?;
        choices.iter().map(|choice| Some(code(choice.get("const")?.as_str()?))).collect()
    };
    let words: Vec<String> = listed.or_else(described)?;
    Some(words.join(", "))
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn code(word: &str) -> String {
    format!("`{word}`")
}

fn is_block(default: &Value) -> bool {
    default.is_object() || default.is_null()
}

/// The anchor that a heading with this path gets on GitHub.
fn anchor(path: &str) -> String {
    path.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}
