//! `mala config show`: what holds, as a `mala.yaml` whose comments say where each value comes from.

use super::ShowFormat;
use crate::cli::exit::Exit;
use crate::console;
use crate::settings;
use crate::surroundings::Surroundings;
use crate::wiring::probe::Probe;
use mala_domain::config::ReviewPolicy;
use serde_json::{Map, Value, json};
use std::fmt::Write;

pub(super) fn run(here: &Surroundings, format: ShowFormat) -> anyhow::Result<Exit> {
    let settings = settings::of_working_tree(here, &Probe::new(here, here.root())?)?;
    if let Some(notice) = &settings.notice {
        console::say(&format!("note: {notice}"));
    }
    let text = match format {
        ShowFormat::Yaml => as_yaml(&settings.policy)?,
        ShowFormat::Json => format!("{:#}\n", as_json(&settings.policy)),
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

fn as_json(policy: &ReviewPolicy) -> Value {
    let values: Map<String, Value> = policy
        .entries()
        .into_iter()
        .map(|(key, value, origin)| {
            (key.to_owned(), json!({ "value": value, "origin": origin.to_string() }))
        })
        .collect();
    let rules: Vec<Value> = policy
        .rules
        .iter()
        .map(|rule| json!({ "value": rule.value, "origin": rule.origin.to_string() }))
        .collect();
    json!({ "schema_version": 1, "values": values, "rules": rules })
}

fn as_yaml(policy: &ReviewPolicy) -> Result<String, std::fmt::Error> {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (key, value, origin) in policy.entries() {
        let mut blocks: Vec<&str> = key.split('.').collect();
        let name = blocks.pop().unwrap_or(key);
        for (depth, block) in blocks.iter().enumerate().skip(shared(&open, &blocks)) {
            lines.push((format!("{}{block}:", "  ".repeat(depth)), String::new()));
        }
        let text = format!("{}{name}: {}", "  ".repeat(blocks.len()), scalar(&value));
        lines.push((text, origin.to_string()));
        open = blocks;
    }
    if !policy.rules.is_empty() {
        lines.push(("  rules:".to_owned(), String::new()));
        for rule in &policy.rules {
            let value = serde_json::to_value(&rule.value).unwrap_or_default();
            lines.push((format!("    - {value}"), rule.origin.to_string()));
        }
    }
    let width = lines.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0).min(60);
    let mut out = String::new();
    for (text, origin) in lines {
        match origin.as_str() {
            "" => writeln!(out, "{text}")?,
            origin => writeln!(out, "{text:width$}  # {origin}")?,
        }
    }
    Ok(out)
}

/// How many blocks two keys are both in.
fn shared(a: &[&str], b: &[&str]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A value as YAML: plain when it is a simple word, else JSON, which is YAML too.
fn scalar(value: &Value) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    match value.as_str() {
        Some(word)
            if word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(plain) =>
        {
            word.to_owned()
        }
        _ => value.to_string(),
    }
}
