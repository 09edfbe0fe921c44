//! Paths, selectors and conditions as rule files write them, parsed.
//!
//! A path is a text: steps joined by dots, `()` for the result of a call and `@0` for a parameter.

use thiserror::Error;

/// Limits on the cost of a rule file.
const MAX_CHOICES: usize = 4_000;
const MAX_ANY_PATHS: usize = 3;
const MAX_REGEX_MEMORY: usize = 256 * 1024;

/// Stands for a dot inside a name, such as the module `hogan.js`.
pub(super) const QUOTED_DOT: &str = "\u{1}";

/// A path, selector or condition that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not a valid {what}: {why}")]
pub struct PatternProblem {
    text: String,
    what: &'static str,
    why: &'static str,
}

impl PatternProblem {
    /// The text that cannot be read.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// One path pattern without choices; `*` and `**` are still in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern(String);

impl PathPattern {
    /// Parses a path and expands its choices.
    pub(super) fn parse_all(text: &str) -> Result<Vec<Self>, PatternProblem> {
        let problem = |why| PatternProblem { text: text.to_owned(), what: "path", why };
        let patterns = choices(&without_quotes(text.trim()).map_err(problem)?).map_err(problem)?;
        for pattern in &patterns {
            let steps = pattern.split('.');
            if steps.clone().any(str::is_empty) {
                return Err(problem("a name is missing"));
            }
            let bad_parameter = |step: &str| {
                let after = step.rsplit_once('@').filter(|(before, _)| !before.is_empty());
                after.is_some_and(|(_, number)| number.parse::<u8>().is_err())
            };
            if steps.clone().any(bad_parameter) {
                return Err(problem("`@` needs a number after it"));
            }
            if steps.filter(|step| *step == "**").count() > MAX_ANY_PATHS {
                return Err(problem("it has too many `**`"));
            }
        }
        Ok(patterns.into_iter().map(Self).collect())
    }

    /// The last step, when it is known.
    pub(super) fn last_step(&self) -> Option<&str> {
        let last = last_step(&self.0);
        (!last.contains('*')).then_some(last)
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        path_matches(self.0.as_bytes(), path.as_bytes())
    }
}

/// The last step of a path.
pub(super) fn last_step(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, last)| last)
}

fn path_matches(pattern: &[u8], path: &[u8]) -> bool {
    if pattern == b".**" {
        return path.first().is_none_or(|next| b".(@".contains(next));
    }
    if let Some(rest) = pattern.strip_prefix(b"**") {
        let Some(rest) = rest.strip_prefix(b".") else { return true };
        let later = path.iter().enumerate().filter(|(_, byte)| **byte == b'.');
        return path_matches(rest, path)
            || later.into_iter().any(|(at, _)| path_matches(rest, &path[at + 1..]));
    }
    match (pattern.split_first(), path.split_first()) {
        (None, _) => path.is_empty(),
        (Some((b'*', rest)), next) => {
            let goes_on = next.filter(|(byte, _)| !b".(@".contains(byte));
            path_matches(rest, path) || goes_on.is_some_and(|(_, path)| path_matches(pattern, path))
        }
        (Some((wanted, rest)), Some((byte, path))) => wanted == byte && path_matches(rest, path),
        (Some(_), None) => false,
    }
}

/// Replaces dots in quoted names and turns `<a,b>` into choices of written names.
fn without_quotes(text: &str) -> Result<String, &'static str> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '<']) {
        plain.push_str(&rest[..at]);
        let (close, error) = match &rest[at..=at] {
            "<" => ('>', "`<` is not closed"),
            _ => ('\'', "a quote is not closed"),
        };
        let (inside, after) = rest[at + 1..].split_once(close).ok_or(error)?;
        if close == '>' {
            let names = inside.split(',').map(|name| format!("<*{}", name.trim().to_lowercase()));
            plain.push_str(&format!("{{{}}}", names.collect::<Vec<_>>().join(",")));
        } else {
            plain.push_str(&inside.replace('.', QUOTED_DOT));
        }
        rest = after;
    }
    Ok(plain + rest)
}

/// Expands the choices `{a,b}`.
fn choices(text: &str) -> Result<Vec<String>, &'static str> {
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some((before, opened)) = rest.split_once('{') {
        let (inside, after) = opened.split_once('}').ok_or("`{` is not closed")?;
        let options: Vec<&str> = inside.split(',').map(str::trim).collect();
        if all.len() * options.len() > MAX_CHOICES {
            return Err("it has too many choices");
        }
        let extend = |start: &String| {
            options.iter().map(|option| format!("{start}{before}{option}")).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
        rest = after;
    }
    for text in &mut all {
        text.push_str(rest);
    }
    Ok(all)
}

/// The arguments of a call that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArgumentPosition {
    At(usize),
    From(usize),
    Any,
    Named(String),
    Receiver,
}

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArgumentSelector {
    pub(super) position: ArgumentPosition,
    /// Fields inside of it.
    pub(super) fields: Vec<String>,
    /// Whether nested values count, too.
    pub(super) deep: bool,
}

impl ArgumentSelector {
    pub(super) fn parse(text: &str) -> Result<Self, PatternProblem> {
        let mut fields: Vec<String> = text.trim().split('.').map(str::to_owned).collect();
        let first = fields.remove(0);
        let position = match (first.as_str(), first.parse(), first.strip_suffix('+')) {
            ("", ..) => {
                let text = text.to_owned();
                return Err(PatternProblem { text, what: "selector", why: "it is empty" });
            }
            ("*", ..) => ArgumentPosition::Any,
            ("self", ..) => ArgumentPosition::Receiver,
            (_, Ok(index), _) => ArgumentPosition::At(index),
            (_, _, Some(index)) => ArgumentPosition::From(index.parse().unwrap_or(0)),
            _ => ArgumentPosition::Named(first),
        };
        let deep = fields.last().is_some_and(|last| last == "**");
        if deep {
            fields.pop();
        }
        Ok(Self { position, fields, deep })
    }
}

/// A condition on a part of a call.
#[derive(Debug, Clone)]
pub(super) enum ArgumentTest {
    Exists,
    Is(String),
    ReachedBy(Vec<PathPattern>),
    Matches(regex::Regex),
}

/// A condition on a call.
#[derive(Debug, Clone)]
pub(super) struct CallCondition {
    pub(super) selector: ArgumentSelector,
    pub(super) negated: bool,
    pub(super) test: ArgumentTest,
}

impl CallCondition {
    pub(super) fn parse(text: &str) -> Result<Self, PatternProblem> {
        let (negated, body) = match text.trim().strip_prefix('!') {
            Some(body) => (true, body),
            None => (false, text.trim()),
        };
        let split = body.find(['=', '~', ':']);
        let (selector, test) = match split.map(|at| (&body[..at], &body[at..=at], &body[at + 1..]))
        {
            None => (body, ArgumentTest::Exists),
            Some((selector, "=", value)) => (selector, ArgumentTest::Is(value.to_owned())),
            Some((selector, ":", path)) => {
                (selector, ArgumentTest::ReachedBy(PathPattern::parse_all(path)?))
            }
            Some((selector, _, pattern)) => (selector, ArgumentTest::Matches(regex(pattern)?)),
        };
        Ok(Self { selector: ArgumentSelector::parse(selector)?, negated, test })
    }
}

/// A regular expression from a rule file.
pub(super) fn regex(pattern: &str) -> Result<regex::Regex, PatternProblem> {
    let built = regex::RegexBuilder::new(pattern).size_limit(MAX_REGEX_MEMORY).build();
    built.map_err(|_| PatternProblem {
        text: pattern.to_owned(),
        what: "regular expression",
        why: "it is malformed or too large",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_names_calls_and_stars() {
        for (pattern, path, expected) in [
            ("fs.readFile", "fs.readFile", true),
            ("fs.{readFile,stat}", "fs.stat", true),
            ("fs.read*", "fs.readFileSync", true),
            ("fs.read*", "fs.write", false),
            ("fs.read*", "fs.readFile()", false),
            ("**.innerHTML", "document.body.innerHTML", true),
            ("**.innerHTML", "innerHTML", true),
            ("express().get", "express().get", true),
            ("express().get", "express.get", false),
            ("<db,conn>.query", "<userdb.query", true),
            ("<db,conn>.query", "<cache.query", false),
            ("a.**.z", "a.b.c.z", true),
            ("a.**.z", "a.z", true),
            ("a.*.z", "a.b.c.z", false),
            ("validator.**", "validator", true),
            ("validator.**", "validators", false),
            ("'hogan.js'.compile", "hogan\u{1}js.compile", true),
        ] {
            let patterns = PathPattern::parse_all(pattern).expect("parses");
            let matches = patterns.iter().any(|pattern| pattern.matches(path));
            assert_eq!(matches, expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for pattern in ["", "a.", "a..b", "'a", "a@x", "<a.b", "{a", "**.**.**.**.a"] {
            assert!(PathPattern::parse_all(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn selectors_name_positions_names_and_fields() {
        use ArgumentPosition as Position;
        for (text, position, fields, deep) in [
            ("0", Position::At(0), vec![], false),
            ("2+", Position::From(2), vec![], false),
            ("*.cwd", Position::Any, vec!["cwd"], false),
            ("args", Position::Named("args".into()), vec![], false),
            ("0.**", Position::At(0), vec![], true),
            ("self", Position::Receiver, vec![], false),
        ] {
            let selector = ArgumentSelector::parse(text).expect("parses");
            assert_eq!((selector.position, selector.deep), (position, deep), "{text}");
            assert_eq!(selector.fields, fields, "{text}");
        }
    }
}
