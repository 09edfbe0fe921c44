//! Checks the arguments of a tool call. Only checked values are used.

use super::catalogue::{ToolRow, field_names};
use super::{ToolRefusal, quoted};
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::ports::Side;
use serde_json::{Map, Value};

/// Longer arguments are no arguments.
const MAX_BYTES: usize = 16 * 1024;

/// Longer paths name no file.
const MAX_PATH: usize = 1024;

/// The fields of a call.
#[derive(Debug)]
pub(super) struct Arguments {
    fields: Map<String, Value>,
}

impl Arguments {
    /// Reads the arguments of a call; a field that the tool does not have is an error.
    pub(super) fn parse(written: &str, tool: &ToolRow) -> Result<Self, ToolRefusal> {
        let right = || format!("pass a JSON object with {}", field_names(tool));
        if written.len() > MAX_BYTES {
            return Err(ToolRefusal::new(
                format!("the arguments have {} bytes, over {MAX_BYTES}", written.len()),
                right(),
            ));
        }
        let value = match written.trim() {
            "" => Value::Object(Map::new()),
            text => serde_json::from_str(text).map_err(|error| {
                ToolRefusal::new(format!("the arguments are no JSON: {error}"), right())
            })?,
        };
        let Value::Object(mut fields) = value else {
            return Err(ToolRefusal::new("the arguments are no JSON object", right()));
        };
        fields.retain(|_, value| !value.is_null());
        if let Some(language) = fields.remove("language_filter") {
            fields.insert("language".to_owned(), language);
        }
        let known = |name: &String| tool.fields.iter().any(|field| field.name == name);
        match fields.keys().find(|name| !known(name)) {
            Some(unknown) => {
                let what = format!("{} has no argument {}", tool.name.as_str(), quoted(unknown));
                Err(ToolRefusal::new(what, right()))
            }
            None => Ok(Self { fields }),
        }
    }

    /// A non-empty text of at most `max_chars` characters.
    pub(super) fn text(&self, name: &str, max_chars: usize) -> Result<Option<&str>, ToolRefusal> {
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        let wrong = |what: &str| {
            let instead = format!("pass a text of 1 to {max_chars} characters, without NUL");
            Err(ToolRefusal::new(format!("{name} {what}"), instead))
        };
        match value.as_str() {
            None => wrong("is no text"),
            Some("") => wrong("is empty"),
            Some(text) if text.contains('\0') => wrong("has a NUL in it"),
            Some(text) if text.chars().nth(max_chars).is_some() => wrong("is too long"),
            Some(text) => Ok(Some(text)),
        }
    }

    /// A path inside the reviewed tree.
    pub(super) fn path(&self, name: &str) -> Result<Option<FilePath>, ToolRefusal> {
        if self.fields.get(name).and_then(Value::as_str) == Some("") {
            return Ok(Some(FilePath::from("")));
        }
        let Some(written) = self.text(name, MAX_PATH)? else { return Ok(None) };
        let plain = written.trim_start_matches("./").trim_end_matches('/');
        if plain.is_empty() || plain == "." {
            return Ok(Some(FilePath::from("")));
        }
        let path = FilePath::parse(plain);
        let instead = "pass a path relative to the root of the tree, such as src/main.rs";
        if written.starts_with('/') || !path.stays_inside() {
            return Err(ToolRefusal::new(
                format!("{name} {} leads out of the reviewed tree", quoted(written)),
                instead,
            ));
        }
        let parts = path.as_bytes().split(|byte| *byte == b'/');
        if parts.into_iter().any(|part| part.eq_ignore_ascii_case(b".git")) {
            return Err(ToolRefusal::new(
                format!("{name} {} is git's own folder", quoted(written)),
                "use git_log, git_show and git_blame for the history",
            ));
        }
        Ok(Some(path))
    }

    /// The path of a file, which must be given.
    pub(super) fn file(&self, name: &str) -> Result<FilePath, ToolRefusal> {
        let path = self.path(name)?.ok_or_else(|| missing(name))?;
        if path.as_bytes().is_empty() {
            return Err(ToolRefusal::new(
                format!("{name} is the root of the tree"),
                "pass the path of a file, such as src/main.rs; list_files shows them",
            ));
        }
        Ok(path)
    }

    /// A whole number from 1 on. Some models write numbers as texts.
    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, ToolRefusal> {
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0) {
            Some(number) => Ok(Some(number)),
            None => Err(ToolRefusal::new(
                format!("{name} is {}", quoted(&value.to_string())),
                format!("pass a whole number from 1 to {}", u32::MAX),
            )),
        }
    }

    /// Lines from `start_line` to `end_line`, each as given.
    pub(super) fn lines(&self) -> Result<(Option<u32>, Option<u32>), ToolRefusal> {
        let (start, end) = (self.number("start_line")?, self.number("end_line")?);
        if let (Some(start), Some(end)) = (start, end)
            && LineSpan::new(start, end).is_none()
        {
            return Err(ToolRefusal::new(
                format!("start_line {start} is after end_line {end}"),
                format!("pass start_line {end} and end_line {start}"),
            ));
        }
        Ok((start, end))
    }

    /// One of a few values.
    pub(super) fn choice(
        &self,
        name: &str,
        choices: &[&'static str],
    ) -> Result<Option<&'static str>, ToolRefusal> {
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        let chosen = value.as_str().and_then(|text| choices.iter().find(|choice| **choice == text));
        chosen.copied().map(Some).ok_or_else(|| {
            let what = format!("{name} is {}", quoted(&value.to_string()));
            ToolRefusal::new(what, format!("pass one of {}", choices.join(", ")))
        })
    }

    /// The state of the tree; head by default.
    pub(super) fn side(&self) -> Result<Side, ToolRefusal> {
        Ok(match self.choice("ref", &["head", "base"])? {
            Some("base") => Side::Base,
            _ => Side::Head,
        })
    }
}

/// A required argument is not there.
pub(super) fn missing(name: &str) -> ToolRefusal {
    ToolRefusal::new(format!("{name} is missing"), format!("pass {name}"))
}

fn whole(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and in range"
    )]
    fits.then_some(number as u64)
}
