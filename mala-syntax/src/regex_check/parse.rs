//! Patterns as trees. The syntaxes of Python, JavaScript and Java are parsed as one; features of
//! only some of them are accepted in all.

use super::charset::CharacterSet;
use super::{RegexFlags, RegexFlavour};
use std::ops::Range;

/// Patterns that are larger than this are not looked at.
const MAX_LENGTH: usize = 4_000;
const MAX_DEPTH: usize = 60;

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegexNode {
    Empty,
    Characters(CharacterSet),
    Assertion(TextAssertion),
    Lookahead {
        body: Box<RegexNode>,
        negated: bool,
    },
    /// A lookbehind, which is assumed to match.
    Lookbehind,
    Backreference(usize),
    Capture(usize, Box<RegexNode>),
    Atomic(Box<RegexNode>),
    Concatenation(Vec<RegexNode>),
    Alternation(Vec<RegexNode>),
    Repetition(Box<RepeatedNode>),
}

/// A repeated part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RepeatedNode {
    pub(super) body: RegexNode,
    pub(super) min: usize,
    pub(super) max: Option<usize>,
    pub(super) is_lazy: bool,
    /// The bytes in the pattern.
    pub(super) bytes: Range<usize>,
}

/// A condition on the place of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextAssertion {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordBoundary { negated: bool },
}

/// A pattern with its tree.
pub(super) struct ParsedRegex<'p> {
    pub(super) pattern: &'p str,
    pub(super) root: RegexNode,
}

/// The tree of a pattern; `None` when it is malformed or too large.
pub(super) fn parse(
    pattern: &str,
    flavour: RegexFlavour,
    flags: RegexFlags,
) -> Option<ParsedRegex<'_>> {
    if pattern.len() > MAX_LENGTH {
        return None;
    }
    let mut parser =
        PatternParser { pattern, at: 0, flavour, flags, names: Vec::new(), n_groups: 0, depth: 0 };
    let root = parser.alternation()?;
    (parser.at == pattern.len()).then_some(ParsedRegex { pattern, root })
}

struct PatternParser<'p> {
    pattern: &'p str,
    at: usize,
    flavour: RegexFlavour,
    flags: RegexFlags,
    /// Names of groups with their numbers.
    names: Vec<(&'p str, usize)>,
    n_groups: usize,
    depth: usize,
}

impl<'p> PatternParser<'p> {
    fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// The text before the first `end`; both are consumed.
    fn until(&mut self, end: char) -> Option<&'p str> {
        let (inside, _) = self.rest().split_once(end)?;
        self.at += inside.len() + end.len_utf8();
        Some(inside)
    }

    fn alternation(&mut self) -> Option<RegexNode> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut branches = vec![self.concatenation()?];
        while self.take("|") {
            branches.push(self.concatenation()?);
        }
        self.depth -= 1;
        if branches.len() == 1 { branches.pop() } else { Some(RegexNode::Alternation(branches)) }
    }

    fn concatenation(&mut self) -> Option<RegexNode> {
        let mut parts = Vec::new();
        loop {
            if self.flags.verbose {
                self.skip_comments();
            }
            match self.peek() {
                None | Some('|' | ')') => break,
                Some(_) => {
                    let start = self.at;
                    let atom = self.atom()?;
                    parts.push(self.repetitions(atom, start)?);
                }
            }
        }
        Some(if parts.len() == 1 { parts.pop()? } else { RegexNode::Concatenation(parts) })
    }

    fn skip_comments(&mut self) {
        loop {
            let blanks = self.rest().len() - self.rest().trim_start().len();
            self.at += blanks;
            if !self.rest().starts_with('#') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn repetitions(&mut self, atom: RegexNode, start: usize) -> Option<RegexNode> {
        let mut node = atom;
        while let Some((min, max)) = self.counts() {
            if max.is_some_and(|max| max < min) {
                return None;
            }
            let is_lazy = self.take("?");
            let is_possessive = !is_lazy && self.take("+");
            let bytes = start..self.at;
            let repeated = RepeatedNode { body: node, min, max, is_lazy, bytes };
            node = RegexNode::Repetition(Box::new(repeated));
            if is_possessive {
                node = RegexNode::Atomic(Box::new(node));
            }
        }
        Some(node)
    }

    fn counts(&mut self) -> Option<(usize, Option<usize>)> {
        let counts = match self.peek()? {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            '{' => {
                let (inside, _) = self.rest().get(1..)?.split_once('}')?;
                let (min, max) = inside.split_once(',').unwrap_or((inside, inside));
                // Python reads `{,5}` as `{0,5}`; elsewhere it is a literal.
                let min = match min {
                    "" if self.flavour == RegexFlavour::Python && !max.is_empty() => 0,
                    _ => min.parse().ok()?,
                };
                let max = if max.is_empty() { None } else { Some(max.parse().ok()?) };
                self.at += inside.len() + 1;
                (min, max)
            }
            _ => return None,
        };
        self.at += 1;
        Some(counts)
    }

    fn atom(&mut self) -> Option<RegexNode> {
        let multi_line = self.flags.multi_line;
        Some(match self.next()? {
            '(' => self.group()?,
            '[' => RegexNode::Characters(self.class()?),
            '\\' => self.escape()?,
            '.' => RegexNode::Characters(CharacterSet::dot(self.flags.dot_all)),
            '^' if multi_line => RegexNode::Assertion(TextAssertion::LineStart),
            '$' if multi_line => RegexNode::Assertion(TextAssertion::LineEnd),
            '^' => RegexNode::Assertion(TextAssertion::TextStart),
            '$' => RegexNode::Assertion(TextAssertion::TextEnd),
            '*' | '+' | '?' => return None,
            other => self.literal(other),
        })
    }

    fn literal(&self, character: char) -> RegexNode {
        RegexNode::Characters(self.cased(CharacterSet::one(character)))
    }

    fn cased(&self, set: CharacterSet) -> CharacterSet {
        if self.flags.ignore_case { set.without_case() } else { set }
    }

    fn group(&mut self) -> Option<RegexNode> {
        let rest = self.rest();
        if !rest.starts_with('?') {
            self.n_groups += 1;
            let number = self.n_groups;
            return self.body().map(|body| RegexNode::Capture(number, Box::new(body)));
        }
        for (start, negated) in [("?=", false), ("?!", true)] {
            if self.take(start) {
                let body = Box::new(self.body()?);
                return Some(RegexNode::Lookahead { body, negated });
            }
        }
        if self.take("?<=") || self.take("?<!") {
            return self.body().map(|_| RegexNode::Lookbehind);
        }
        if self.take("?>") {
            return self.body().map(|body| RegexNode::Atomic(Box::new(body)));
        }
        if self.take("?P=") {
            let name = self.until(')')?;
            return Some(self.named_reference(name));
        }
        if self.take("?#") {
            return self.until(')').map(|_| RegexNode::Empty);
        }
        if self.take("?P<") || self.take("?<") {
            let name = self.until('>')?;
            self.n_groups += 1;
            let number = self.n_groups;
            self.names.push((name, number));
            return self.body().map(|body| RegexNode::Capture(number, Box::new(body)));
        }
        self.next()?;
        self.group_flags()
    }

    /// `(?:…)`, `(?i:…)` and `(?i)`; flags apply to the rest of the pattern.
    fn group_flags(&mut self) -> Option<RegexNode> {
        let mut is_on = true;
        loop {
            match self.next()? {
                ':' => return self.body(),
                ')' => return Some(RegexNode::Empty),
                '-' => is_on = false,
                'i' => self.flags.ignore_case = is_on,
                'm' => self.flags.multi_line = is_on,
                's' => self.flags.dot_all = is_on,
                'x' => self.flags.verbose = is_on,
                'a' | 'u' | 'L' | 'd' | 'U' => {}
                _ => return None,
            }
        }
    }

    fn body(&mut self) -> Option<RegexNode> {
        let body = self.alternation()?;
        self.take(")").then_some(body)
    }

    fn named_reference(&self, name: &str) -> RegexNode {
        let known = self.names.iter().find(|(known, _)| *known == name);
        known.map_or(RegexNode::Empty, |(_, number)| RegexNode::Backreference(*number))
    }

    fn escape(&mut self) -> Option<RegexNode> {
        let boundary = |negated| RegexNode::Assertion(TextAssertion::WordBoundary { negated });
        let in_python_or_java = self.flavour != RegexFlavour::JavaScript;
        Some(match self.peek()? {
            'b' if self.take("b") => boundary(false),
            'B' if self.take("B") => boundary(true),
            'A' if in_python_or_java && self.take("A") => {
                RegexNode::Assertion(TextAssertion::TextStart)
            }
            'Z' | 'z' if in_python_or_java && (self.take("Z") || self.take("z")) => {
                RegexNode::Assertion(TextAssertion::TextEnd)
            }
            'k' if self.take("k<") => {
                let name = self.until('>')?;
                self.named_reference(name)
            }
            '1'..='9' => {
                let digits = self.rest().len()
                    - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let number = self.rest().get(..digits)?.parse().ok()?;
                self.at += digits;
                RegexNode::Backreference(number)
            }
            _ => RegexNode::Characters(self.escaped_set()?),
        })
    }

    /// A class or a character after a backslash.
    fn escaped_set(&mut self) -> Option<CharacterSet> {
        let letter = self.next()?;
        if let Some(set) = CharacterSet::class(letter) {
            return Some(set);
        }
        let code = |digits: &str| u32::from_str_radix(digits, 16).ok();
        let character = match letter {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' => '\0',
            'x' | 'u' if self.take("{") => char::from_u32(code(self.until('}')?)?)?,
            'x' | 'u' => {
                let length = if letter == 'x' { 2 } else { 4 };
                let code = code(self.rest().get(..length)?)?;
                self.at += length;
                return Some(self.cased(CharacterSet::of(&[(code, code)])));
            }
            'p' | 'P' if self.take("{") => {
                // Unicode properties are approximated by letters and all non-ASCII characters.
                self.until('}')?;
                let letters = [(65, 90), (97, 122), (128, 0x10_FFFF)];
                let set = CharacterSet::of(&letters);
                return Some(if letter == 'P' { set.negated() } else { set });
            }
            other => other,
        };
        Some(self.cased(CharacterSet::one(character)))
    }

    fn class(&mut self) -> Option<CharacterSet> {
        let negated = self.take("^");
        let mut set = CharacterSet::default();
        // `[]` and `[^]` are complete in JavaScript; elsewhere the bracket is a member.
        let mut is_first = self.flavour != RegexFlavour::JavaScript;
        loop {
            match self.peek()? {
                ']' if !is_first => {
                    self.next();
                    break;
                }
                // Nested classes of Java and of JavaScript's `v` flag are not read.
                '[' if self.flavour == RegexFlavour::Java => return None,
                _ => {}
            }
            is_first = false;
            let (low, low_set) = self.class_member()?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            match (low, is_range) {
                (Some(low), true) => {
                    self.next();
                    match self.class_member()? {
                        (Some(high), _) if high < low => return None,
                        (Some(high), _) => set.add(&CharacterSet::of(&[(low, high)])),
                        (None, other) => {
                            set.add(&low_set);
                            set.add(&other);
                            set.add(&CharacterSet::one('-'));
                        }
                    }
                }
                _ => set.add(&low_set),
            }
        }
        let set = self.cased(set);
        Some(if negated { set.negated() } else { set })
    }

    /// A member of a class: its character, when it is a single one, and its set.
    fn class_member(&mut self) -> Option<(Option<u32>, CharacterSet)> {
        let character = match self.next()? {
            '\\' => match self.peek()? {
                'b' => {
                    self.next();
                    '\u{8}'
                }
                'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P' => {
                    return Some((None, self.escaped_set()?));
                }
                _ => {
                    let flags = std::mem::take(&mut self.flags);
                    let set = self.escaped_set()?;
                    self.flags = flags;
                    return Some((set.only_code(), set));
                }
            },
            other => other,
        };
        Some((Some(character.into()), CharacterSet::one(character)))
    }
}
