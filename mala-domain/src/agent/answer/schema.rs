//! The forms of the answers, for providers that can enforce one: closed objects whose fields are all
//! required.

use crate::conversation::AnswerFormat;
use crate::finding::Category;
use serde_json::{Value, json};

/// The form of a review, with an opinion on each hint when there are some.
pub fn review_format(n_hints: usize) -> AnswerFormat {
    let categories = Category::ALL.map(Category::name);
    let finding = closed_object(&[
        ("file_path", of_type("string")),
        ("line_start", of_type("integer")),
        ("line_end", of_type("integer")),
        ("priority", priority()),
        ("title", of_type("string")),
        ("body", of_type("string")),
        ("category", json!({"type": "string", "enum": categories})),
        ("when", of_type("string")),
        ("then", of_type("string")),
        ("evidence", of_type("string")),
        ("suggestion", of_type("string")),
        ("confidence", of_type("number")),
    ]);
    let hint = closed_object(&[
        ("id", of_type("string")),
        ("stands", of_type("boolean")),
        ("why", of_type("string")),
    ]);
    let mut fields = vec![
        ("nonce", of_type("string")),
        ("verdict", json!({"type": "string", "enum": ["PASS", "FAIL", "NEEDS_WORK"]})),
        ("findings", json!({"type": "array", "items": finding})),
    ];
    if n_hints > 0 {
        fields.push(("hints", json!({"type": "array", "items": hint})));
    }
    AnswerFormat::Json { name: "review".to_owned(), schema: closed_object(&fields) }
}

/// The form of a check of claims.
pub fn checks_format() -> AnswerFormat {
    let check = closed_object(&[
        ("id", of_type("string")),
        ("outcome", json!({"type": "string", "enum": ["holds", "refuted", "unsure", "corrected"]})),
        ("why", of_type("string")),
        ("worth", of_type("integer")),
        ("consequence", of_type("string")),
        ("priority", priority()),
    ]);
    let schema = closed_object(&[
        ("nonce", of_type("string")),
        ("checks", json!({"type": "array", "items": check})),
    ]);
    AnswerFormat::Json { name: "checks".to_owned(), schema }
}

/// The form of the answer which claims have the same cause.
pub fn groups_format() -> AnswerFormat {
    let group = json!({"type": "array", "items": of_type("string")});
    let schema = closed_object(&[
        ("nonce", of_type("string")),
        ("groups", json!({"type": "array", "items": group})),
    ]);
    AnswerFormat::Json { name: "groups".to_owned(), schema }
}

/// The form of an edit.
pub fn edit_format() -> AnswerFormat {
    let finding = closed_object(&[
        ("id", of_type("string")),
        // Not read. A model that has named the fixes compares them before it fills in `same_as`.
        ("fix", of_type("string")),
        ("same_as", of_type("string")),
        ("title", of_type("string")),
        ("body", of_type("string")),
        ("worth", of_type("integer")),
    ]);
    let schema = closed_object(&[
        ("nonce", of_type("string")),
        ("findings", json!({"type": "array", "items": finding})),
    ]);
    AnswerFormat::Json { name: "edit".to_owned(), schema }
}

fn priority() -> Value {
    json!({"type": "integer", "enum": [0, 1, 2, 3]})
}

fn of_type(kind: &str) -> Value {
    json!({"type": kind})
}

fn closed_object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::prompts::{EDIT, SAME_CAUSE, SYSTEM, VERIFY};

    fn names(schema: &Value, found: &mut Vec<String>) {
        if let Some(fields) = schema["properties"].as_object() {
            found.extend(fields.keys().cloned());
            fields.values().for_each(|field| names(&field["items"], found));
        }
    }

    #[test]
    fn a_prompt_asks_for_every_field_of_its_answer() {
        for (prompt, format) in [
            (SYSTEM, review_format(0)),
            (VERIFY, checks_format()),
            (SAME_CAUSE, groups_format()),
            (EDIT, edit_format()),
        ] {
            let AnswerFormat::Json { name, schema } = format else { panic!("a schema") };
            let mut found = Vec::new();
            names(&schema, &mut found);
            assert!(found.contains(&"nonce".to_owned()), "{name}");
            for field in found {
                assert!(prompt.contains(&format!("\"{field}\": ")), "{name}: {field}");
            }
        }
    }
}
