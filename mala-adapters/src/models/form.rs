//! The form of an answer: a schema in the dialect that a provider takes, or in words for one that
//! takes none.

use mala_domain::conversation::{Ask, Form};
use serde_json::Value;

/// The system prompt, with the form in words when nobody enforces it.
pub(crate) fn system(ask: &Ask, is_enforced: Enforced) -> String {
    match (&ask.form, is_enforced) {
        (Form::Json { schema, .. }, Enforced::No) => format!(
            "{}\n\nThe final answer is one JSON value that fits this JSON Schema, with no other text \
             around it:\n{schema}",
            ask.system
        ),
        _ => ask.system.clone(),
    }
}

/// Whether a provider enforces the form that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enforced {
    /// It does, or no form is asked for.
    Yes,
    /// It does not.
    No,
}

/// A schema without the keywords that Anthropic refuses. They bound numbers and lengths, which the
/// parser checks anyway.
pub(crate) fn without_bounds(schema: &Value) -> Value {
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

/// A schema without what only describes the file that it is.
pub(crate) fn bare(schema: &Value) -> Value {
    strip(schema, &|key, _| key == "$schema")
}

fn strip(schema: &Value, is_refused: &dyn Fn(&str, &Value) -> bool) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(|item| strip(item, is_refused)).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| !is_refused(key, value));
            Value::Object(
                kept.map(|(key, value)| {
                    // The keys under `properties` are names of fields, not keywords.
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
    fn bounds_go_and_fields_of_the_same_name_stay() {
        let schema = json!({"$schema": "x", "type": "object", "required": ["minimum"],
            "properties": {"minimum": {"type": "integer", "minimum": 0, "enum": [1]}},
            "additionalProperties": false});
        assert_eq!(
            without_bounds(&schema),
            json!({"type": "object", "required": ["minimum"],
            "properties": {"minimum": {"type": "integer", "enum": [1]}},
            "additionalProperties": false})
        );
    }
}
