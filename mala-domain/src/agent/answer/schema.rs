//! The forms of the answers, for providers that can enforce one: closed objects whose fields are all
//! required.

use crate::conversation::AnswerFormat;
use crate::finding::Category;
use serde_json::{Value, json};

/// The form of a review, with an opinion on each hint when there are some.
pub fn review_form(n_hints: usize) -> AnswerFormat {
    let categories = Category::ALL.map(Category::name);
    let finding = closed(&[
        ("file_path", plain("string")),
        ("line_start", plain("integer")),
        ("line_end", plain("integer")),
        ("priority", json!({"type": "integer", "enum": [0, 1, 2, 3]})),
        ("title", plain("string")),
        ("body", plain("string")),
        ("category", json!({"type": "string", "enum": categories})),
        ("when", plain("string")),
        ("then", plain("string")),
        ("evidence", plain("string")),
        ("suggestion", plain("string")),
        ("confidence", plain("number")),
    ]);
    let hint =
        closed(&[("id", plain("string")), ("stands", plain("boolean")), ("why", plain("string"))]);
    let mut fields = vec![
        ("nonce", plain("string")),
        ("verdict", json!({"type": "string", "enum": ["PASS", "FAIL", "NEEDS_WORK"]})),
        ("findings", json!({"type": "array", "items": finding})),
    ];
    if n_hints > 0 {
        fields.push(("hints", json!({"type": "array", "items": hint})));
    }
    AnswerFormat::Json { name: "review".to_owned(), schema: closed(&fields) }
}

/// The form of a check of claims.
pub fn checks_form() -> AnswerFormat {
    let check = closed(&[
        ("id", plain("string")),
        ("outcome", json!({"type": "string", "enum": ["holds", "refuted", "unsure"]})),
        ("why", plain("string")),
    ]);
    let schema =
        closed(&[("nonce", plain("string")), ("checks", json!({"type": "array", "items": check}))]);
    AnswerFormat::Json { name: "checks".to_owned(), schema }
}

fn plain(kind: &str) -> Value {
    json!({"type": kind})
}

fn closed(fields: &[(&str, Value)]) -> Value {
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
