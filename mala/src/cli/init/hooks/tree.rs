//! JSON with its places in the text, comments and trailing commas allowed: enough to change one thing in
//! a file that somebody else wrote, and to leave every other byte as it is.

use std::ops::Range;

/// Files of settings are not nested deeper than this.
const MAX_DEPTH: usize = 100;

/// A value and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Text(String),
    Other,
}

/// A key and its value; the span has both.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) span: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    /// The value of a key; `None` when this is no object, or has no such key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().find(|member| member.key == key).map(|member| &member.value)
    }

    pub(super) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Where the things in it are.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|member| member.span.clone()).collect(),
            Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// What is between its brackets.
    pub(super) fn inside(&self) -> Range<usize> {
        self.span.start + 1..self.span.end.saturating_sub(1)
    }
}

/// Reads a whole text; the error says what is wrong and where.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = 3;
    }
    reader.skip()?;
    let node = reader.value(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.wrong("text after the end"));
    }
    Ok(node)
}

/// Where what stands at this place goes on after white space and comments; an error for a comment
/// without an end.
pub(super) fn after_blank(text: &str, at: usize) -> Result<usize, String> {
    let mut reader = Reader { text, at };
    reader.skip()?;
    Ok(reader.at)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, what: &str) -> String {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{what} at line {line} column {column}")
    }

    /// Over white space and comments.
    fn skip(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = rest.get(blank..).unwrap_or_default();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => end + 2,
                    None => return Err(self.wrong("a comment without an end")),
                }
            } else {
                0
            };
            self.at += blank + comment;
            if comment == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("too many brackets"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.list(b'}', |reader| reader.member(depth + 1))?),
            Some(b'[') => Kind::Array(self.list(b']', |reader| reader.value(depth + 1))?),
            Some(b'"') => Kind::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn member(&mut self, depth: usize) -> Result<Member, String> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a key is missing"));
        }
        let key = self.string()?;
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.wrong("`:` is missing"));
        }
        self.at += 1;
        self.skip()?;
        let value = self.value(depth)?;
        Ok(Member { key, span: start..self.at, value })
    }

    /// What stands between brackets, with commas between and maybe after.
    fn list<T>(
        &mut self,
        end: u8,
        one: impl Fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut all = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.peek() == Some(end) {
                self.at += 1;
                return Ok(all);
            }
            all.push(one(self)?);
            self.skip()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(other) if other == end => {}
                _ => return Err(self.wrong("`,` or a bracket is missing")),
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut escaped = false;
        let end = self.rest().bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let end = end.ok_or_else(|| self.wrong("a text without an end"))?;
        let written = self.rest().get(..end + 2).unwrap_or_default();
        let text = serde_json::from_str(written).map_err(|_| self.wrong("not a text"))?;
        self.at += end + 2;
        Ok(text)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Kind, String> {
        let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
        let rest = self.rest();
        let end = rest.find(ends).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return Err(self.wrong("a value is missing"));
        }
        self.at += end;
        Ok(Kind::Other)
    }
}
