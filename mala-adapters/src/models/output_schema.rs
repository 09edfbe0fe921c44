//! The schema of a response: in the dialect of a provider that enforces it, or in the system
//! prompt.

use mala_domain::conversation::{AnswerFormat, ChatRequest};
use serde_json::Value;

/// The system prompt. Contains the schema if the provider does not enforce it.
pub(crate) fn system(ask: &ChatRequest, is_enforced: SchemaEnforced) -> String {
    match (&ask.form, is_enforced) {
        (AnswerFormat::Json { schema, .. }, SchemaEnforced::No) => format!(
            "{}\n\nThe final answer is one JSON value that fits this JSON Schema, with no other text \
             around it:\n{schema}",
            ask.system
        ),
        _ => ask.system.clone(),
    }
}

/// Whether the provider enforces the requested schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaEnforced {
    /// It does, or no schema is requested.
    Yes,
    /// It does not.
    No,
}

/// A schema without the keywords that Anthropic rejects. They limit numbers and lengths, which the
/// parser of the response checks.
pub(crate) fn without_unsupported_keywords(schema: &Value) -> Value {
    const REFUSED: [&str; 10] = [
        "$schema",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
    ];
    strip(schema, &|key, value| {
        REFUSED.contains(&key) || (key == "minItems" && value.as_u64() > Some(1))
    })
}

/// A schema without `$schema`.
pub(crate) fn without_schema_keyword(schema: &Value) -> Value {
    strip(schema, &|key, _| key == "$schema")
}

fn strip(schema: &Value, is_refused: &dyn Fn(&str, &Value) -> bool) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(|item| strip(item, is_refused)).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| !is_refused(key, value));
            Value::Object(
                kept.map(|(key, value)| {
                    // Keys under `properties` are names of fields, not keywords.
                    let value = match (key.as_str(), value) {
                        ("properties" | "$defs", Value::Object(named)) => Value::Object(
                            named.iter().map(|(n, v)| (n.clone(), strip(v, is_refused))).collect(),
                        ),
                        ("enum" | "const" | "default" | "required", value) => value.clone(),
                        (_, value) => strip(value, is_refused),
                    };
                    (key.clone(), value)
                })
                .collect(),
            )
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unsupported_keywords_are_removed_but_not_fields_of_that_name() {
        let schema = json!({"$schema": "x", "type": "object", "required": ["minimum"],
            "properties": {"minimum": {"type": "integer", "minimum": 0, "enum": [1]}},
            "additionalProperties": false});
        assert_eq!(
            without_unsupported_keywords(&schema),
            json!({"type": "object", "required": ["minimum"],
            "properties": {"minimum": {"type": "integer", "enum": [1]}},
            "additionalProperties": false})
        );
    }
}
