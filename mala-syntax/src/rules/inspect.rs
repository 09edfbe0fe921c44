//! Checks the rule objects of a file before compiling. The text comes from a repository, so nesting
//! and regular expressions are bounded. Compiling reports neither a position nor a similar name, so
//! keys, kinds and patterns are checked here, one by one.

use super::error::{ProblemPlace, RuleProblem};
use crate::grammar::Grammar;
use ast_grep_config::{DeserializeEnv, Rule, SerializableRule, parse_selector};
use mala_domain::language::Language;
use serde_json::{Map, Value};

const MAX_FILE_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 16;
const MAX_PARTS: usize = 400;
const MAX_RELATIONS_IN_ONE_ANOTHER: usize = 5;
const MAX_REGEX_BYTES: usize = 4 * 1024;
const MAX_REGEX_MEMORY: usize = 1024 * 1024;

const KEYS: [&str; 15] = [
    "pattern", "kind", "regex", "nthChild", "range", "inside", "has", "precedes", "follows", "all",
    "any", "not", "matches", "stopBy", "field",
];
const PATTERN_KEYS: [&str; 3] = ["context", "selector", "strictness"];

/// Refuses files that no person would write.
pub(super) fn check_size(yaml: &str) -> Result<(), RuleProblem> {
    if yaml.len() > MAX_FILE_BYTES {
        let what = format!("the file has {} bytes, the limit is {MAX_FILE_BYTES}", yaml.len());
        return Err(RuleProblem::new(ProblemPlace::File, what));
    }
    Ok(())
}

/// The options of the YAML parser: bounded, without aliases.
pub(super) fn yaml_options() -> serde_saphyr::Options {
    let mut options = serde_saphyr::Options::default();
    options.strict_booleans = true;
    options.with_snippet = false;
    if let Some(budget) = &mut options.budget {
        budget.max_aliases = 0;
        budget.max_anchors = 0;
        budget.max_depth = 40;
        budget.flow_nesting_limit = 40;
        budget.max_nodes = 4_000;
        budget.max_events = 20_000;
        budget.max_documents = 1;
    }
    options
}

/// Checks all rule objects of a file.
pub(super) fn check_objects(file: &Value, languages: &[Language]) -> Result<(), RuleProblem> {
    let mut inspector = Inspector { languages, n_parts: 0, key: "rule" };
    if let Some(rule) = file.get("rule") {
        inspector.object(rule, Nesting::default())?;
    }
    for key in ["constraints", "utils"] {
        inspector.key = key;
        for rule in file.get(key).and_then(Value::as_object).into_iter().flat_map(Map::values) {
            inspector.object(rule, Nesting::default())?;
        }
    }
    Ok(())
}

/// Replaces a general parse error by a more precise one, if checking the objects finds it.
pub(super) fn more_precise(error: serde_saphyr::Error, file: &Value) -> RuleProblem {
    use serde_saphyr::Error;
    let known = matches!(
        error.without_snippet(),
        Error::SerdeUnknownField { .. }
            | Error::SerdeUnknownVariant { .. }
            | Error::SerdeMissingField { .. }
    );
    match check_objects(file, &[]) {
        Err(problem) if !known => problem,
        _ => error.into(),
    }
}

#[derive(Clone, Copy, Default)]
struct Nesting {
    depth: usize,
    relations: usize,
}

struct Inspector<'a> {
    languages: &'a [Language],
    n_parts: usize,
    key: &'static str,
}

impl Inspector<'_> {
    fn object(&mut self, value: &Value, nesting: Nesting) -> Result<(), RuleProblem> {
        self.count(nesting)?;
        let inner = Nesting { depth: nesting.depth + 1, ..nesting };
        let related = Nesting { relations: nesting.relations + 1, ..inner };
        for (key, value) in value.as_object().into_iter().flatten() {
            match key.as_str() {
                "pattern" => self.pattern(value)?,
                "kind" => self.kind(value)?,
                "regex" => self.regex(value)?,
                "inside" | "has" | "precedes" | "follows" => self.object(value, related)?,
                "all" | "any" => {
                    for part in value.as_array().into_iter().flatten() {
                        self.object(part, inner)?;
                    }
                }
                "not" => self.object(value, inner)?,
                "field" => self.field(value)?,
                "stopBy" if value.is_object() => self.object(value, inner)?,
                "nthChild" => {
                    if let Some(of) = value.get("ofRule") {
                        self.object(of, inner)?;
                    }
                }
                known if KEYS.contains(&known) => {}
                unknown => return Err(self.unknown_key(unknown, &KEYS)),
            }
        }
        Ok(())
    }

    fn count(&mut self, nesting: Nesting) -> Result<(), RuleProblem> {
        self.n_parts += 1;
        let too_deep =
            nesting.depth > MAX_DEPTH || nesting.relations > MAX_RELATIONS_IN_ONE_ANOTHER;
        if too_deep || self.n_parts > MAX_PARTS {
            let what = format!(
                "too large: at most {MAX_PARTS} parts, {MAX_DEPTH} levels and \
                 {MAX_RELATIONS_IN_ONE_ANOTHER} relations in one another"
            );
            return Err(RuleProblem::new(ProblemPlace::Key(self.key), what));
        }
        Ok(())
    }

    fn unknown_key(&self, key: &str, known: &[&'static str]) -> RuleProblem {
        RuleProblem::new(
            ProblemPlace::Text(self.key, format!("{key}:")),
            format!("unknown key `{key}`"),
        )
        .with_nearest(key, known.iter().copied())
    }

    fn regex(&self, value: &Value) -> Result<(), RuleProblem> {
        let regex = value.as_str().unwrap_or_default();
        let place = || ProblemPlace::Text(self.key, regex.to_owned());
        if regex.len() > MAX_REGEX_BYTES {
            return Err(RuleProblem::new(
                place(),
                format!("regex longer than {MAX_REGEX_BYTES} bytes"),
            ));
        }
        match regex::RegexBuilder::new(regex).size_limit(MAX_REGEX_MEMORY).build() {
            Ok(_) => Ok(()),
            Err(error) => {
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default();
                let reason = reason.strip_prefix("error: ").unwrap_or(reason);
                Err(RuleProblem::new(place(), format!("regex does not compile: {reason}")))
            }
        }
    }

    fn kind(&self, value: &Value) -> Result<(), RuleProblem> {
        let kind = value.as_str().unwrap_or_default();
        for language in self.languages {
            if parse_selector(kind, Grammar(*language)).is_err() {
                let grammar = Grammar(*language).tree_sitter();
                let what = format!("`{kind}` is no node kind of {language}");
                return Err(RuleProblem::new(ProblemPlace::Text(self.key, kind.to_owned()), what)
                    .with_nearest(kind, node_kinds(&grammar)));
            }
        }
        Ok(())
    }

    fn field(&self, value: &Value) -> Result<(), RuleProblem> {
        let field = value.as_str().unwrap_or_default();
        for language in self.languages {
            let grammar = Grammar(*language).tree_sitter();
            if grammar.field_id_for_name(field).is_none() {
                let what = format!("`{field}` is no field of {language}");
                return Err(RuleProblem::new(ProblemPlace::Text(self.key, field.to_owned()), what)
                    .with_nearest(field, field_names(&grammar)));
            }
        }
        Ok(())
    }

    fn pattern(&self, value: &Value) -> Result<(), RuleProblem> {
        for key in value.as_object().into_iter().flat_map(Map::keys) {
            if !PATTERN_KEYS.contains(&key.as_str()) {
                return Err(self.unknown_key(key, &PATTERN_KEYS));
            }
        }
        let text = value.as_str().or_else(|| value.get("context")?.as_str()).unwrap_or_default();
        let place = || ProblemPlace::Text(self.key, text.to_owned());
        let object = Value::Object(Map::from_iter([("pattern".to_owned(), value.clone())]));
        let rule: SerializableRule = serde_json::from_value(object).map_err(|_| {
            RuleProblem::new(place(), "a pattern is text, or `context` and `selector`")
        })?;
        for language in self.languages {
            let env = DeserializeEnv::new(Grammar(*language));
            match env.deserialize_rule(rule.clone()) {
                Ok(Rule::Pattern(pattern)) if pattern.has_error() => {
                    let what = format!("the pattern is no {language}: it does not parse");
                    return Err(RuleProblem::new(place(), what));
                }
                Ok(_) => {}
                Err(error) => {
                    let what = format!("the pattern does not work in {language}: {}", root(&error));
                    return Err(RuleProblem::new(place(), what));
                }
            }
        }
        Ok(())
    }
}

/// The innermost cause, with the names of the rule file.
pub(super) fn root(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    text.trim_end_matches('.').replace('µ', "$")
}

fn node_kinds(grammar: &tree_sitter::Language) -> impl Iterator<Item = &str> {
    let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
    (0..count)
        .filter(move |id| grammar.node_kind_is_named(*id))
        .filter_map(move |id| grammar.node_kind_for_id(id))
}

fn field_names(grammar: &tree_sitter::Language) -> impl Iterator<Item = &str> {
    let count = u16::try_from(grammar.field_count()).unwrap_or(u16::MAX);
    (1..=count).filter_map(move |id| grammar.field_name_for_id(id))
}
