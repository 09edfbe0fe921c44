//! `mala config show`: what holds, as a `mala.yaml` whose comments say where each value comes from.

use super::ShowFormat;
use crate::cli::exit::Exit;
use crate::console;
use crate::settings::{self, Settings};
use crate::surroundings::Surroundings;
use crate::wiring::probe::Probe;
use mala_domain::config::ConfigOrigin;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// A line of YAML, and where its value comes from.
type Line = (String, String);

pub(super) fn run(here: &Surroundings, format: ShowFormat) -> anyhow::Result<Exit> {
    let settings = settings::of_working_tree(here, &Probe::new(here, here.root())?)?;
    if let Some(notice) = &settings.notice {
        console::say(&format!("note: {notice}"));
    }
    let text = match format {
        ShowFormat::Yaml => as_yaml(&settings)?,
        ShowFormat::Json => format!("{:#}\n", as_json(&settings)),
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

fn as_json(settings: &Settings) -> Value {
    let said = |value: Value, origin: &ConfigOrigin| json!({ "value": value, "origin": origin.to_string() });
    let values: Map<String, Value> = settings
        .policy
        .entries()
        .into_iter()
        .chain(settings.gate.entries())
        .map(|(key, value, origin)| (key.to_owned(), said(value, origin)))
        .collect();
    let rules = settings.policy.rules.iter();
    let rules: Vec<Value> = rules.map(|rule| said(json!(rule.value), &rule.origin)).collect();
    let lanes: Map<String, Value> =
        lanes(settings).map(|(name, value, from)| (name.to_owned(), said(value, from))).collect();
    json!({ "schema_version": 1, "values": values, "rules": rules, "lanes": lanes })
}

fn as_yaml(settings: &Settings) -> Result<String, std::fmt::Error> {
    let mut lines = as_blocks(settings.policy.entries());
    if !settings.policy.rules.is_empty() {
        lines.push(("  rules:".to_owned(), String::new()));
        for rule in &settings.policy.rules {
            let value = serde_json::to_value(&rule.value).unwrap_or_default();
            lines.push((format!("    - {value}"), rule.origin.to_string()));
        }
    }
    lines.extend(as_blocks(settings.gate.entries()));
    if !settings.gate.lanes.is_empty() {
        lines.push(("  lanes:".to_owned(), String::new()));
        for (name, value, origin) in lanes(settings) {
            lines.push((format!("    {}: {value}", scalar(&name.into())), origin.to_string()));
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

/// The lanes that somebody changed or added.
fn lanes(settings: &Settings) -> impl Iterator<Item = (&str, Value, &ConfigOrigin)> {
    settings.gate.lanes.iter().map(|(name, lane)| {
        let origin = settings.gate.lane_origins.get(name).unwrap_or(&ConfigOrigin::Default);
        (name.as_str(), serde_json::to_value(lane).unwrap_or_default(), origin)
    })
}

/// Keys with dots as blocks within blocks.
fn as_blocks(entries: Vec<(&'static str, Value, &ConfigOrigin)>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (key, value, origin) in entries {
        let mut blocks: Vec<&str> = key.split('.').collect();
        let name = blocks.pop().unwrap_or(key);
        for (depth, block) in blocks.iter().enumerate().skip(shared(&open, &blocks)) {
            lines.push((format!("{}{block}:", "  ".repeat(depth)), String::new()));
        }
        let text = format!("{}{name}: {}", "  ".repeat(blocks.len()), scalar(&value));
        lines.push((text, origin.to_string()));
        open = blocks;
    }
    lines
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
