//! A tolerant parser for the pattern syntaxes of the supported engines. What an engine would
//! reject outright, or what nests too deep, has no tree; unknown escapes mean themselves.

mod class;
mod escape;
mod group;

use super::ast::{Assertion, Ast, Capture, Class, Form, Greed, Node, NodeId, NodeKind};
use super::charset::CharSet;
use super::{Anchoring, Flags, Flavour};

/// Longest pattern that is looked at, in bytes.
const LENGTH_LIMIT: usize = 16_384;
/// Deepest nesting of groups and classes.
const DEPTH_LIMIT: usize = 64;
/// Quantifiers that one atom may have; most engines allow one.
const STACK_LIMIT: usize = 3;

/// The tree of `pattern`, or nothing if it is malformed, too long or too deep.
pub(super) fn parse(pattern: &str, flavour: Flavour, flags: Flags) -> Option<Ast> {
    if pattern.len() > LENGTH_LIMIT {
        return None;
    }
    let mut parser = Parser::new(pattern, flavour, flags);
    let root = parser.alternation()?;
    if !parser.at_end() {
        return None;
    }
    let anchored = parser.anchored(root, flags.anchoring);
    let Parser { nodes, groups, classes, .. } = parser;
    Some(Ast { nodes, root, anchored, groups, classes })
}

/// The flags in force at a place of the pattern.
#[derive(Clone, Copy, Debug)]
struct Modes {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
}

struct Parser<'p> {
    text: &'p str,
    at: usize,
    flavour: Flavour,
    /// JavaScript's `v`: classes nest.
    nested_classes: bool,
    modes: Modes,
    depth: usize,
    nodes: Vec<Node>,
    groups: Vec<Capture>,
    classes: Vec<Class>,
}

impl<'p> Parser<'p> {
    fn new(text: &'p str, flavour: Flavour, flags: Flags) -> Self {
        let modes = Modes {
            ignore_case: flags.ignore_case,
            multi_line: flags.multi_line,
            dot_all: flags.dot_all,
            verbose: flags.verbose,
        };
        let nested_classes = match flavour {
            Flavour::Java | Flavour::Rust => true,
            Flavour::JavaScript => flags.unicode_sets,
            Flavour::Python | Flavour::Go => false,
        };
        Self {
            text,
            at: 0,
            flavour,
            nested_classes,
            modes,
            depth: 0,
            nodes: Vec::new(),
            groups: Vec::new(),
            classes: Vec::new(),
        }
    }

    fn anchored(&mut self, root: NodeId, anchoring: Anchoring) -> NodeId {
        let end = self.at;
        let mut parts = Vec::new();
        if anchoring != Anchoring::Search {
            parts.push(self.push(NodeKind::Assert(Assertion::TextStart), end));
        }
        parts.push(root);
        if anchoring == Anchoring::Full {
            parts.push(self.push(NodeKind::Assert(Assertion::TextEnd), end));
        }
        match parts.as_slice() {
            [only] => *only,
            _ => self.push(NodeKind::Concat(parts), 0),
        }
    }

    fn rest(&self) -> &'p str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    fn push(&mut self, kind: NodeKind, start: usize) -> NodeId {
        self.nodes.push(Node { kind, start, end: self.at });
        self.nodes.len() - 1
    }

    fn chars(&mut self, set: CharSet, form: Form, start: usize) -> NodeId {
        let set = match form {
            Form::Literal(_) if self.modes.ignore_case => set.fold_case(),
            _ => set,
        };
        self.push(NodeKind::Chars { set, form }, start)
    }

    fn literal(&mut self, point: u32, start: usize) -> NodeId {
        self.chars(CharSet::one(point), Form::Literal(point), start)
    }

    /// Alternatives up to the end or a closing parenthesis.
    fn alternation(&mut self) -> Option<NodeId> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return None;
        }
        let start = self.at;
        let modes = self.modes;
        let mut branches = vec![self.concat()?];
        while self.eat("|") {
            branches.push(self.concat()?);
        }
        self.modes = if self.depth == 1 { self.modes } else { modes };
        self.depth -= 1;
        match branches.as_slice() {
            [only] => Some(*only),
            _ => Some(self.push(NodeKind::Alternate(branches), start)),
        }
    }

    fn concat(&mut self) -> Option<NodeId> {
        let start = self.at;
        let mut parts = Vec::new();
        loop {
            self.skip_trivia();
            match self.peek() {
                None | Some('|' | ')') => break,
                Some(_) => parts.extend(self.quantified()?),
            }
        }
        match parts.as_slice() {
            [] => Some(self.push(NodeKind::Empty, start)),
            [only] => Some(*only),
            _ => Some(self.push(NodeKind::Concat(parts), start)),
        }
    }

    /// Skips what verbose mode ignores.
    fn skip_trivia(&mut self) {
        while self.modes.verbose {
            match self.peek() {
                Some(space) if space.is_whitespace() => self.at += space.len_utf8(),
                Some('#') => {
                    let line = self.rest().find('\n').map_or(self.rest().len(), |n| n + 1);
                    self.at += line;
                }
                _ => return,
            }
        }
    }

    /// An atom with its quantifiers. The inner nothing is a construct without a node (a comment).
    fn quantified(&mut self) -> Option<Option<NodeId>> {
        let start = self.at;
        let Some(mut node) = self.atom()? else { return Some(None) };
        for _ in 0..=STACK_LIMIT {
            self.skip_trivia();
            let Some((min, max)) = self.quantifier() else { return Some(Some(node)) };
            if max.is_some_and(|max| max < min) {
                return None;
            }
            let greed = self.greed();
            node = self.push(NodeKind::Repeat { body: node, min, max, greed }, start);
        }
        None
    }

    fn greed(&mut self) -> Greed {
        if self.eat("?") {
            Greed::Lazy
        } else if self.flavour != Flavour::Go && self.eat("+") {
            Greed::Possessive
        } else {
            Greed::Greedy
        }
    }

    fn quantifier(&mut self) -> Option<(u32, Option<u32>)> {
        match self.peek()? {
            '*' => self.quantified_by((0, None)),
            '+' => self.quantified_by((1, None)),
            '?' => self.quantified_by((0, Some(1))),
            '{' => self.counted(),
            _ => None,
        }
    }

    fn quantified_by(&mut self, bounds: (u32, Option<u32>)) -> Option<(u32, Option<u32>)> {
        self.at += 1;
        Some(bounds)
    }

    /// `{n}`, `{n,}`, `{n,m}` and Python's `{,m}`; anything else leaves the brace a literal.
    fn counted(&mut self) -> Option<(u32, Option<u32>)> {
        let inside = self.rest().strip_prefix('{')?;
        let close = inside.find('}')?;
        let body = inside.get(..close)?;
        let (low, high) = match body.split_once(',') {
            None => (body, Some(body)),
            Some((low, "")) => (low, None),
            Some((low, high)) => (low, Some(high)),
        };
        let min = match low {
            "" if self.flavour == Flavour::Python && high.is_some_and(|h| !h.is_empty()) => 0,
            _ => decimal(low)?,
        };
        let max = high.map_or(Some(None), |high| decimal(high).map(Some))?;
        self.at += close + 2;
        Some((min, max))
    }

    fn atom(&mut self) -> Option<Option<NodeId>> {
        let start = self.at;
        let node = match self.bump()? {
            '(' => return self.group(start),
            '[' => self.class(start)?,
            '\\' => return self.escape(start),
            '.' => self.dot(start),
            '^' => {
                let kind =
                    if self.modes.multi_line { Assertion::LineStart } else { Assertion::TextStart };
                self.push(NodeKind::Assert(kind), start)
            }
            '$' => {
                let kind = self.dollar();
                self.push(NodeKind::Assert(kind), start)
            }
            '*' | '+' | '?' => return None,
            other => self.literal(u32::from(other), start),
        };
        Some(Some(node))
    }

    fn dollar(&self) -> Assertion {
        match self.flavour {
            _ if self.modes.multi_line => Assertion::LineEnd,
            Flavour::Python | Flavour::Java => Assertion::LastLineEnd,
            Flavour::JavaScript | Flavour::Go | Flavour::Rust => Assertion::TextEnd,
        }
    }

    fn dot(&mut self, start: usize) -> NodeId {
        let set = if self.modes.dot_all {
            CharSet::any()
        } else {
            CharSet::newlines(self.flavour.breaks()).negate()
        };
        self.chars(set, Form::Dot, start)
    }
}

fn decimal(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse::<u32>().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
