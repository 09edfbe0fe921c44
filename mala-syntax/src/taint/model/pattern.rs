//! Paths and selectors as rule files write them, parsed.

use super::super::api::Edge;
use super::super::ir::Names;
use thiserror::Error;

/// What a rule file may cost.
const MAX_CHOICES: usize = 4_000;
const MAX_SEGMENTS: usize = 16;
const MAX_ANYTHING: usize = 3;
const MAX_REGEX_MEMORY: usize = 256 * 1024;

/// A path or selector that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not a {what}: {why}")]
pub struct PatternProblem {
    text: String,
    what: &'static str,
    why: &'static str,
}

impl PatternProblem {
    /// What was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A name, possibly with stars in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    pieces: Vec<String>,
}

impl Glob {
    pub(crate) fn new(text: &str) -> Self {
        Self { pieces: text.split('*').map(str::to_owned).collect() }
    }

    /// The name, when it has no stars.
    fn plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.plain() == Some(name);
        };
        let Some(rest) = name.strip_prefix(first.as_str()) else { return false };
        let Some(mut rest) = rest.strip_suffix(last.as_str()) else { return false };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        true
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    AnyPath,
    Name(Glob),
    /// A variable that nothing is known about.
    Unknown(Glob),
    /// The written name of a receiver.
    Hint(Vec<String>),
    Call,
    Parameter(u8),
}

/// A path with choices in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    segments: Vec<Segment>,
}

/// What the last step of a path must be for a pattern to be worth trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Name(String),
    Call,
    Parameter,
    Anything,
}

impl PathPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, PatternProblem> {
        let problem = |why| PatternProblem { text: text.to_owned(), what: "path", why };
        let mut segments = Vec::new();
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(problem("it is empty"));
        }
        let mut expect_name = true;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("()") {
                segments.push(Segment::Call);
                rest = after;
                expect_name = false;
            } else if let (Some(after), false) = (rest.strip_prefix('@'), expect_name) {
                let digits =
                    after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let position =
                    after[..digits].parse().map_err(|_| problem("`@` wants a number"))?;
                segments.push(Segment::Parameter(position));
                rest = &after[digits..];
            } else if let (Some(after), false) = (rest.strip_prefix('.'), expect_name) {
                rest = after;
                expect_name = true;
            } else if expect_name {
                let (segment, after) = segment(rest).map_err(problem)?;
                segments.push(segment);
                rest = after;
                expect_name = false;
            } else {
                return Err(problem("a name is followed by something odd"));
            }
        }
        if expect_name {
            return Err(problem("it ends with a dot"));
        }
        let n_anything = segments.iter().filter(|segment| **segment == Segment::AnyPath).count();
        if segments.len() > MAX_SEGMENTS || n_anything > MAX_ANYTHING {
            return Err(problem("it is too long"));
        }
        Ok(Self { segments })
    }

    pub(crate) fn ending(&self) -> Ending {
        match self.segments.last() {
            Some(Segment::Call) => Ending::Call,
            Some(Segment::Parameter(_)) => Ending::Parameter,
            Some(Segment::Name(glob)) => {
                glob.plain().map_or(Ending::Anything, |name| Ending::Name(name.to_owned()))
            }
            _ => Ending::Anything,
        }
    }

    pub(crate) fn matches(&self, steps: &[Edge], names: &Names) -> bool {
        matches_from(&self.segments, steps, names)
    }
}

fn matches_from(segments: &[Segment], steps: &[Edge], names: &Names) -> bool {
    let Some((segment, later)) = segments.split_first() else { return steps.is_empty() };
    if *segment == Segment::AnyPath {
        return (0..=steps.len()).any(|skip| matches_from(later, &steps[skip..], names));
    }
    let Some((step, rest)) = steps.split_first() else { return false };
    step_matches(segment, *step, names) && matches_from(later, rest, names)
}

fn step_matches(segment: &Segment, step: Edge, names: &Names) -> bool {
    match (segment, step) {
        (Segment::Call, Edge::Call) => true,
        (Segment::Parameter(wanted), Edge::Parameter(position)) => *wanted == position,
        (Segment::Name(glob), Edge::Name(name)) => glob.matches(names.text(name)),
        (Segment::Unknown(glob), Edge::Name(name)) => {
            let name = names.text(name);
            glob.matches(name.strip_prefix('?').unwrap_or(name))
        }
        (Segment::Hint(words), Edge::Name(name)) => names
            .text(name)
            .strip_prefix('<')
            .is_some_and(|hint| words.iter().any(|word| hint.ends_with(word.as_str()))),
        _ => false,
    }
}

/// The first segment and what follows it.
fn segment(text: &str) -> Result<(Segment, &str), &'static str> {
    if let Some(after) = text.strip_prefix("**") {
        return Ok((Segment::AnyPath, after));
    }
    if let Some(after) = text.strip_prefix('\'') {
        let (name, after) = after.split_once('\'').ok_or("a quote is not closed")?;
        return Ok((Segment::Name(Glob::new(name)), after));
    }
    if let Some(after) = text.strip_prefix('<') {
        let (words, after) = after.split_once('>').ok_or("`<` is not closed")?;
        return Ok((
            Segment::Hint(words.split(',').map(|word| word.trim().to_lowercase()).collect()),
            after,
        ));
    }
    let (unknown, text) = match text.strip_prefix('?') {
        Some(after) => (true, after),
        None => (false, text),
    };
    let end = text.find(['.', '(']).unwrap_or(text.len());
    // A scope such as `@actions/github` begins with the sign that later marks a parameter.
    let parameter = text.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let end = parameter.map_or(end, |at| end.min(at));
    if end == 0 {
        return Err("a name is missing");
    }
    let glob = Glob::new(&text[..end]);
    Ok((if unknown { Segment::Unknown(glob) } else { Segment::Name(glob) }, &text[end..]))
}

/// Every text that choosing in `{a,b}` gives.
pub(crate) fn choices(text: &str) -> Result<Vec<String>, PatternProblem> {
    let problem = |why| PatternProblem { text: text.to_owned(), what: "path", why };
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some((before, opened)) = rest.split_once('{') {
        let (inside, after) = opened.split_once('}').ok_or(problem("`{` is not closed"))?;
        let options: Vec<&str> = inside.split(',').map(str::trim).collect();
        if all.len() * options.len() > MAX_CHOICES {
            return Err(problem("it has too many choices"));
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

/// Which arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Position {
    At(usize),
    From(usize),
    Any,
    Named(String),
    Receiver,
}

/// How far into a value a selector looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// At the value itself.
    Shallow,
    /// At everything in it, too.
    Deep,
}

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) position: Position,
    /// Fields inside of it.
    pub(crate) fields: Vec<String>,
    pub(crate) reach: Reach,
}

impl Selector {
    pub(crate) fn parse(text: &str) -> Result<Self, PatternProblem> {
        let problem = |why| PatternProblem { text: text.to_owned(), what: "selector", why };
        let mut parts = text.trim().split('.');
        let first = parts.next().filter(|first| !first.is_empty()).ok_or(problem("it is empty"))?;
        let position = match first {
            "*" => Position::Any,
            "self" => Position::Receiver,
            _ => match (first.parse(), first.strip_suffix('+').map(str::parse)) {
                (Ok(index), _) => Position::At(index),
                (_, Some(Ok(index))) => Position::From(index),
                _ => Position::Named(first.to_owned()),
            },
        };
        let mut fields: Vec<String> = parts.map(str::to_owned).collect();
        let mut reach = Reach::Shallow;
        if fields.last().is_some_and(|last| last == "**") {
            fields.pop();
            reach = Reach::Deep;
        }
        Ok(Self { position, fields, reach })
    }
}

/// What a part of a call must be.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Exists,
    Is(String),
    Less(f64),
    /// It is reached by one of these paths.
    Reached(Vec<PathPattern>),
    Matches(regex::Regex),
}

/// A condition on a call.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) selector: Selector,
    pub(crate) negated: bool,
    pub(crate) test: Test,
}

impl Condition {
    pub(crate) fn parse(text: &str) -> Result<Self, PatternProblem> {
        let (negated, body) = match text.trim().strip_prefix('!') {
            Some(body) => (true, body),
            None => (false, text.trim()),
        };
        let split = body.find(['=', '~', '<', ':']);
        let (selector, test) = match split.map(|at| (&body[..at], &body[at..=at], &body[at + 1..]))
        {
            None => (body, Test::Exists),
            Some((selector, "=", value)) => (selector, Test::Is(value.to_owned())),
            Some((selector, ":", path)) => {
                let paths = choices(path)?;
                let paths = paths.iter().map(|path| PathPattern::parse(path));
                (selector, Test::Reached(paths.collect::<Result<_, _>>()?))
            }
            Some((selector, "<", value)) => {
                (selector, Test::Less(value.parse().unwrap_or(f64::NAN)))
            }
            Some((selector, _, pattern)) => {
                let built = regex::RegexBuilder::new(pattern).size_limit(MAX_REGEX_MEMORY).build();
                let pattern = built.map_err(|_| PatternProblem {
                    text: text.to_owned(),
                    what: "condition",
                    why: "its regular expression is not valid",
                })?;
                (selector, Test::Matches(pattern))
            }
        };
        Ok(Self { selector: Selector::parse(selector)?, negated, test })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::api::Apis;
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let (mut apis, mut names) = (Apis::default(), Names::default());
        let id = apis.path(path, &mut names).expect("short");
        choices(pattern)
            .expect("few choices")
            .iter()
            .any(|one| PathPattern::parse(one).expect("parses").matches(&apis.steps(id), &names))
    }

    #[test]
    fn paths_match_names_calls_and_stars() {
        for (pattern, path, expected) in [
            ("fs.readFile", "fs.readFile", true),
            ("fs.{readFile,stat}", "fs.stat", true),
            ("fs.read*", "fs.readFileSync", true),
            ("fs.read*", "fs.write", false),
            ("**.innerHTML", "document.body.innerHTML", true),
            ("**.innerHTML", "innerHTML", true),
            ("express().get", "express().get", true),
            ("express().get", "express.get", false),
            ("?req.query", "?req.query", true),
            ("?req.query", "req.query", true),
            ("req.query", "?req.query", false),
            ("<db,conn>.query", "<userdb.query", true),
            ("<db,conn>.query", "<cache.query", false),
            ("a.**.z", "a.b.c.z", true),
            ("a.*.z", "a.b.c.z", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn odd_paths_are_refused() {
        for pattern in ["", "a.", "a..b", "'a", "a@x", "<a.b", "**.**.**.**.a"] {
            assert!(PathPattern::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn selectors_name_positions_names_and_fields() {
        for (text, position, fields, reach) in [
            ("0", Position::At(0), vec![], Reach::Shallow),
            ("2+", Position::From(2), vec![], Reach::Shallow),
            ("*.cwd", Position::Any, vec!["cwd"], Reach::Shallow),
            ("args", Position::Named("args".into()), vec![], Reach::Shallow),
            ("0.**", Position::At(0), vec![], Reach::Deep),
            ("self", Position::Receiver, vec![], Reach::Shallow),
        ] {
            let selector = Selector::parse(text).expect("parses");
            assert_eq!((selector.position, selector.reach), (position, reach), "{text}");
            assert_eq!(selector.fields, fields, "{text}");
        }
    }
}
