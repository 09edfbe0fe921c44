//! Rules as text and as JSON.

use super::CatalogueEntry;
use crate::console::harmless;
use mala_syntax::rules::schema::RuleGroup;
use serde_json::{Value, json};

/// One line per rule.
pub(super) fn list(entries: &[CatalogueEntry]) -> String {
    let width = entries.iter().map(|entry| entry.id.chars().count()).max().unwrap_or(0).min(48);
    entries
        .iter()
        .map(|entry| {
            let set = entry.set.name();
            let (id, category) = (harmless(&entry.id), entry.category.name());
            let title = harmless(&entry.title).replace('\n', " ");
            format!("{id:width$}  {}  {set:8}  {category:14}  {title}\n", entry.priority)
        })
        .collect()
}

/// Everything about one rule.
pub(super) fn one(entry: &CatalogueEntry) -> String {
    let languages: Vec<&str> = entry.languages.iter().map(|language| language.name()).collect();
    let languages = if languages.is_empty() { "any".to_owned() } else { languages.join(", ") };
    let mut text = format!("{}\n{}\n\n", entry.id, entry.title);
    let mut fact = |name: &str, value: &str| text.push_str(&format!("{name:11} {value}\n"));
    fact("languages", &languages);
    fact("category", entry.category.name());
    fact("priority", &entry.priority.to_string());
    if let Some(confidence) = entry.confidence {
        fact("confidence", &confidence.to_string());
    }
    fact("set", entry.set.name());
    fact("from", &entry.source);
    text.push_str(&format!("\n{}\n", without_braces(&entry.message)));
    if let Some(suggestion) = &entry.suggestion {
        text.push_str(&format!("\nInstead: {}\n", without_braces(suggestion)));
    }
    for (title, examples) in [("Reported:", &entry.bad), ("Not reported:", &entry.good)] {
        if !examples.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            text.push_str(
                &examples.iter().map(|code| indented(code)).collect::<Vec<_>>().join("\n"),
            );
        }
    }
    let other = if entry.set == RuleGroup::Default { "off" } else { "on" };
    let hint = format!(
        "\nTo turn it {other}, in mala.yaml:\n\n    review:\n      rules:\n        {}: {other}\n",
        entry.id
    );
    harmless(&(text + &hint))
}

/// A text of a rule with `NAME` in place of `{{NAME}}`.
fn without_braces(text: &str) -> String {
    text.trim_end().replace("{{MORE}}", "").replace("{{", "").replace("}}", "")
}

fn indented(code: &str) -> String {
    code.trim_end()
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") })
        .collect()
}

/// All rules as JSON.
pub(super) fn list_json(entries: &[CatalogueEntry]) -> String {
    let rules: Vec<Value> = entries.iter().map(value).collect();
    format!("{:#}\n", json!({ "schema_version": 1, "rules": rules }))
}

/// One rule as JSON.
pub(super) fn one_json(entry: &CatalogueEntry) -> String {
    format!("{:#}\n", json!({ "schema_version": 1, "rule": value(entry) }))
}

fn value(entry: &CatalogueEntry) -> Value {
    json!({
        "id": entry.id,
        "title": entry.title,
        "message": entry.message,
        "suggestion": entry.suggestion,
        "category": entry.category,
        "priority": entry.priority,
        "confidence": entry.confidence,
        "set": entry.set.name(),
        "languages": entry.languages,
        "source": entry.source,
        "examples": { "bad": entry.bad, "good": entry.good },
    })
}
