//! Generates the configuration reference from the JSON Schema: every key with its type, default and
//! meaning. A block that is used in several places is described once.

use super::schema::Config;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from mala-domain/src/config/schema; a test compares it. -->

mala works without configuration. To change how a repository is reviewed, add a `mala.yaml` to its root:

```yaml
# What fails a review, and which files and rules to leave out
review:
  fail_on: P1          # P0, P1, P2, P3 or none
  ignore: [docs/, '*.generated.ts']
  rules:
    python/bare-except-pass: off
```

```yaml
# Which model reviews, and what it may spend
agent_sdk_reviewer_model: haiku
review:
  budget: {profile: lean, max_cost_usd: 0.05}
```

```yaml
# The panel of `review-gate` and of the stop hook
gate:
  panel: [codex, claude]
  consensus: unanimous
```

```sh
mala init            # write a commented mala.yaml
mala config check    # show mistakes
mala config show     # show the effective values and their origin
```

`mala config schema` prints the JSON Schema, for editors.

# Reference

Unknown keys are errors. Values are taken from the first of these places that sets them:

1. the command line
2. the environment (table below)
3. your own file, `~/.config/mala/config.yaml`
4. `mala.yaml` of the repository
5. the default

Rule settings of all files are combined; for the same rule, the first place in this order wins.

`mala.yaml` is never read from the change under review: it is read from the base commit of a range, branch
or commit, and from `HEAD` for the working tree. An uncommitted `mala.yaml` has no effect on a review, so a
coding agent cannot switch off its own review; the report says so. Uncommitted rules in `.mala/rules/` apply
if none are committed, unless they replace a built-in rule: they can only add findings. To try a setting before you commit it, use a
flag or your own file.

API keys are read from `ANTHROPIC_API_KEY` (or `ANTHROPIC_AUTH_TOKEN`, sent as a bearer token), `OPENAI_API_KEY` and
`GEMINI_API_KEY` (or `GOOGLE_API_KEY`), or from a command in your own file. Addresses are read from
`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL` and `GOOGLE_GEMINI_BASE_URL`, or from your own file. A repository cannot set either.

Path globs work as in a `.gitignore`, without negation: a pattern without a slash matches at any depth, one
with a slash is relative to the root, and a directory matches everything in it.

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

/// Generates the reference as Markdown.
pub fn reference() -> String {
    let schema = schemars::schema_for!(Config).to_value();
    let mut page =
        ReferencePage { schema: &schema, known: BTreeMap::new(), waiting: VecDeque::new() };
    page.waiting.push_back((String::new(), &schema));
    let mut text = INTRODUCTION.to_owned();
    while let Some((path, block)) = page.waiting.pop_front() {
        text.push_str(&page.section(&path, block));
    }
    text
}

struct ReferencePage<'s> {
    schema: &'s Value,
    /// Blocks that have a section, with its path.
    known: BTreeMap<&'s str, String>,
    waiting: VecDeque<(String, &'s Value)>,
}

impl<'s> ReferencePage<'s> {
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
            let default = default.map_or(absent.to_owned(), |value| code(&value_text(value)));
            let meaning = description(property).unwrap_or_default();
            text.push_str(&format!("| `{key}` | {kind} | {default} | {meaning} |\n"));
        }
        text
    }

    /// The type of a key; adds a section if it is a block.
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
        if let Some(enum_values) = enum_values(property) {
            return enum_values;
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

/// The values of an enumeration.
fn enum_values(property: &Value) -> Option<String> {
    let listed = property.get("enum").and_then(Value::as_array).map(|values| {
        values
            .iter()
            .filter(|value| value.is_string())
            .map(|value| code(&value_text(value)))
            .collect()
    });
    let described = || -> Option<Vec<String>> {
        let choices = property.get("oneOf")?.as_array()?;
        choices.iter().map(|choice| Some(code(choice.get("const")?.as_str()?))).collect()
    };
    let enum_values: Vec<String> = listed.or_else(described)?;
    Some(enum_values.join(", "))
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn code(value_text: &str) -> String {
    format!("`{value_text}`")
}

fn is_block(default: &Value) -> bool {
    default.is_object() || default.is_null()
}

/// The anchor of a heading on GitHub.
fn anchor(path: &str) -> String {
    path.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}
