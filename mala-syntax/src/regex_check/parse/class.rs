//! Bracketed classes: members, ranges, negation, nesting and set operators.

use super::super::Flavour;
use super::super::ast::{Class, ClassItem, Form, ItemKind, NodeId};
use super::super::charset::CharSet;
use super::{DEPTH_LIMIT, Parser};

impl Parser<'_> {
    /// After `[`.
    pub(super) fn class(&mut self, start: usize) -> Option<NodeId> {
        let set = self.class_set(start)?;
        Some(self.chars(set, Form::Class, start))
    }

    fn class_set(&mut self, start: usize) -> Option<CharSet> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return None;
        }
        let negated = self.eat("^");
        let mut items = Vec::new();
        let mut set = self.members(&mut items)?;
        while self.nested_classes {
            let subtract = match () {
                () if self.eat("&&") => false,
                () if self.eat("--") => true,
                () => break,
            };
            let mut others = Vec::new();
            let operand = self.members(&mut others)?;
            set = if subtract { set.minus(&operand) } else { set.intersect(&operand) };
            items.extend(others);
        }
        if !self.eat("]") {
            return None;
        }
        self.depth -= 1;
        if self.modes.ignore_case {
            set = set.fold_case();
        }
        self.classes.push(Class { start, end: self.at, negated, items });
        Some(if negated { set.negate() } else { set })
    }

    /// Members up to the closing bracket or a set operator, neither of which is consumed.
    fn members(&mut self, items: &mut Vec<ClassItem>) -> Option<CharSet> {
        let mut ranges = Vec::new();
        let mut sets = CharSet::empty();
        // An opening bracket right after the start closes nothing except in JavaScript.
        let mut literal_bracket = self.flavour != Flavour::JavaScript;
        loop {
            match self.peek()? {
                ']' if !literal_bracket => break,
                '&' | '-' if self.at_operator() && !items.is_empty() => break,
                _ => {}
            }
            literal_bracket = false;
            let item = self.range_or_member()?;
            match &item.kind {
                ItemKind::Char(point) => ranges.push((*point, *point)),
                ItemKind::Range(low, high) => ranges.push((*low, *high)),
                ItemKind::Backspace => ranges.push((8, 8)),
                ItemKind::Set(set) => sets = sets.union(set),
            }
            items.push(item);
        }
        Some(CharSet::from_ranges(ranges).union(&sets))
    }

    fn at_operator(&self) -> bool {
        self.nested_classes && (self.rest().starts_with("&&") || self.rest().starts_with("--"))
    }

    fn range_or_member(&mut self) -> Option<ClassItem> {
        let first = self.member()?;
        let ItemKind::Char(low) = first.kind else { return Some(first) };
        let after_dash = self.rest().strip_prefix('-').and_then(|rest| rest.chars().next());
        if self.at_operator() || matches!(after_dash, None | Some(']')) {
            return Some(first);
        }
        let dash = self.at;
        self.at += 1;
        if self.nested_classes && after_dash == Some('[') {
            self.at = dash;
            return Some(first);
        }
        let second = self.member()?;
        let ItemKind::Char(high) = second.kind else {
            self.at = dash;
            return Some(first);
        };
        Some(ClassItem { kind: ItemKind::Range(low, high), start: first.start, end: self.at })
    }

    fn member(&mut self) -> Option<ClassItem> {
        let start = self.at;
        let kind = match self.bump()? {
            '\\' => self.class_escape()?,
            '[' => self.opening_bracket(start)?,
            other => ItemKind::Char(u32::from(other)),
        };
        Some(ClassItem { kind, start, end: self.at })
    }

    /// `[` inside a class: a POSIX name, a nested class, or itself.
    fn opening_bracket(&mut self, start: usize) -> Option<ItemKind> {
        let posix = matches!(self.flavour, Flavour::Go | Flavour::Rust);
        if posix && self.rest().starts_with(':') {
            let name = self.rest().get(1..).and_then(|rest| rest.split_once(":]"));
            if let Some((name, _)) = name {
                let set = posix_set(name);
                self.at += name.len() + 3;
                return Some(ItemKind::Set(set));
            }
        }
        if self.nested_classes {
            return self.class_set(start).map(ItemKind::Set);
        }
        Some(ItemKind::Char(u32::from('[')))
    }
}

fn posix_set(name: &str) -> CharSet {
    let (name, negated) = name.strip_prefix('^').map_or((name, false), |rest| (rest, true));
    let ranges: &[(u8, u8)] = match name {
        "alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        "digit" => &[(b'0', b'9')],
        "alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        "word" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z'), (b'_', b'_')],
        "upper" => &[(b'A', b'Z')],
        "lower" => &[(b'a', b'z')],
        "xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        "space" => &[(9, 13), (32, 32)],
        "blank" => &[(9, 9), (32, 32)],
        "punct" => &[(33, 47), (58, 64), (91, 96), (123, 126)],
        "print" => &[(32, 126)],
        "graph" => &[(33, 126)],
        "cntrl" => &[(0, 31), (127, 127)],
        "ascii" => &[(0, 127)],
        _ => &[],
    };
    let ranges = ranges.iter().map(|(low, high)| (u32::from(*low), u32::from(*high)));
    let set = CharSet::from_ranges(ranges.collect());
    if negated { set.negate() } else { set }
}
