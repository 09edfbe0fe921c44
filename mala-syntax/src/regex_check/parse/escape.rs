//! Backslash escapes, outside and inside classes.

use super::super::Flavour;
use super::super::ast::{Assertion, Form, ItemKind, NodeId, NodeKind, Reference};
use super::super::charset::CharSet;
use super::Parser;

/// What an escape that consumes characters stands for.
enum Meaning {
    Point(u32),
    Set(CharSet),
}

impl Parser<'_> {
    /// After a backslash outside a class.
    pub(super) fn escape(&mut self, start: usize) -> Option<Option<NodeId>> {
        let letter = self.peek()?;
        if let Some(kind) = self.assertion(letter) {
            self.at += letter.len_utf8();
            return Some(Some(self.push(NodeKind::Assert(kind), start)));
        }
        if self.flavour == Flavour::Java && self.eat("Q") {
            return Some(Some(self.quoted(start)));
        }
        if let Some(reference) = self.reference(letter) {
            return Some(Some(self.push(NodeKind::Backref(reference), start)));
        }
        Some(Some(match self.meaning()? {
            Meaning::Point(point) => self.literal(point, start),
            Meaning::Set(set) => self.chars(set, Form::Shorthand, start),
        }))
    }

    /// After a backslash inside a class.
    pub(super) fn class_escape(&mut self) -> Option<ItemKind> {
        if self.eat("b") {
            return Some(ItemKind::Backspace);
        }
        if self.peek().is_some_and(|digit| digit.is_ascii_digit()) {
            return Some(ItemKind::Char(self.octal()));
        }
        Some(match self.meaning()? {
            Meaning::Point(point) => ItemKind::Char(point),
            Meaning::Set(set) => ItemKind::Set(set),
        })
    }

    fn assertion(&self, letter: char) -> Option<Assertion> {
        let javascript = self.flavour == Flavour::JavaScript;
        match letter {
            'b' => Some(Assertion::WordBoundary),
            'B' => Some(Assertion::NotWordBoundary),
            'A' | 'G' if !javascript => Some(Assertion::TextStart),
            'Z' if self.flavour == Flavour::Java => Some(Assertion::LastLineEnd),
            'Z' | 'z' if !javascript => Some(Assertion::TextEnd),
            _ => None,
        }
    }

    /// `\1`, `\k<name>` and their like. In JavaScript `\k` is a reference only where names exist.
    fn reference(&mut self, letter: char) -> Option<Reference> {
        if letter.is_ascii_digit() && letter != '0' {
            let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
            let longest = if self.flavour == Flavour::Python { 2 } else { 3 };
            let digits = digits.get(..digits.len().min(longest)).unwrap_or_default();
            let octal = digits.len() == 3 && digits.bytes().all(|b| b < b'8');
            let number = digits.parse::<usize>().ok()?;
            if octal || (digits.len() > 1 && number > 99) {
                return None;
            }
            self.at += digits.len();
            return Some(Reference::Number(number));
        }
        if letter != 'k' {
            return None;
        }
        if self.flavour == Flavour::JavaScript && !self.text.contains("(?<") {
            return None;
        }
        let closing = match self.rest().chars().nth(1)? {
            '<' => '>',
            '{' => '}',
            '\'' => '\'',
            _ => return None,
        };
        let name = self.rest().get(2..)?.split_once(closing)?.0.to_owned();
        self.at += name.len() + 3;
        Some(Reference::Name(name))
    }

    /// Java's `\Q…\E`.
    fn quoted(&mut self, start: usize) -> NodeId {
        let end = self.rest().find("\\E").map_or(self.text.len(), |found| self.at + found);
        let mut parts = Vec::new();
        while self.at < end {
            let from = self.at;
            if let Some(letter) = self.bump() {
                parts.push(self.literal(u32::from(letter), from));
            }
        }
        self.eat("\\E");
        self.push(NodeKind::Concat(parts), start)
    }

    /// An escape that consumes something, in or out of a class.
    fn meaning(&mut self) -> Option<Meaning> {
        let letter = self.bump()?;
        let javascript = self.flavour == Flavour::JavaScript;
        Some(match letter {
            'd' => Meaning::Set(CharSet::digits()),
            'D' => Meaning::Set(CharSet::digits().negate()),
            'w' => Meaning::Set(self.word()),
            'W' => Meaning::Set(self.word().negate()),
            's' => Meaning::Set(self.spaces()),
            'S' => Meaning::Set(self.spaces().negate()),
            'h' if self.flavour == Flavour::Java => {
                Meaning::Set(CharSet::from_ranges(vec![(9, 9), (32, 32), (0xA0, 0xA0)]))
            }
            'R' if self.flavour == Flavour::Java => Meaning::Set(CharSet::range(10, 13)),
            'p' | 'P' => self.property(letter),
            'N' if self.flavour == Flavour::Python => self.named_character(),
            't' => Meaning::Point(9),
            'n' => Meaning::Point(10),
            'v' => Meaning::Point(11),
            'f' => Meaning::Point(12),
            'r' => Meaning::Point(13),
            'a' if !javascript => Meaning::Point(7),
            'e' if !javascript => Meaning::Point(27),
            '0' => {
                self.at -= 1;
                Meaning::Point(self.octal())
            }
            'x' => Meaning::Point(self.hex(2).unwrap_or(u32::from('x'))),
            'u' => Meaning::Point(self.hex(4).unwrap_or(u32::from('u'))),
            'U' => Meaning::Point(self.hex(8).unwrap_or(u32::from('U'))),
            'c' => Meaning::Point(self.control()),
            digit if digit.is_ascii_digit() => {
                self.at -= 1;
                Meaning::Point(self.octal())
            }
            other => Meaning::Point(u32::from(other)),
        })
    }

    fn word(&self) -> CharSet {
        match self.flavour {
            Flavour::Python | Flavour::Rust => CharSet::unicode_word(),
            Flavour::JavaScript | Flavour::Java | Flavour::Go => CharSet::ascii_word(),
        }
    }

    fn spaces(&self) -> CharSet {
        let ascii = CharSet::from_ranges(vec![(9, 13), (32, 32)]);
        match self.flavour {
            Flavour::Java | Flavour::Go => ascii,
            Flavour::Python => CharSet::spaces().union(&CharSet::range(0x1C, 0x1F)),
            Flavour::Rust => CharSet::spaces(),
            Flavour::JavaScript => {
                CharSet::spaces().minus(&CharSet::one(0x85)).union(&CharSet::one(0xFEFF))
            }
        }
    }

    /// Up to three octal digits; a digit that is not octal means itself.
    fn octal(&mut self) -> u32 {
        let digits = self.rest().bytes().take(3).take_while(|b| (b'0'..b'8').contains(b)).count();
        let text = self.rest().get(..digits).unwrap_or_default();
        let value = u32::from_str_radix(text, 8).ok();
        match value {
            Some(value) => {
                self.at += digits;
                value
            }
            None => self.bump().map_or(0, u32::from),
        }
    }

    /// `{…}` of any length, or exactly `width` hexadecimal digits.
    fn hex(&mut self, width: usize) -> Option<u32> {
        let rest = self.rest();
        if let Some((digits, _)) = rest.strip_prefix('{').and_then(|r| r.split_once('}')) {
            let value = u32::from_str_radix(digits, 16).ok().filter(|v| *v <= 0x10_FFFF)?;
            self.at += digits.len() + 2;
            return Some(value);
        }
        let digits = rest.get(..width).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let value = u32::from_str_radix(digits, 16).ok().filter(|v| *v <= 0x10_FFFF)?;
        self.at += width;
        Some(value)
    }

    /// `\cX`; without a letter the backslash means itself.
    fn control(&mut self) -> u32 {
        match self.peek() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                self.at += 1;
                u32::from(letter.to_ascii_uppercase()) - 64
            }
            _ => {
                self.at -= 1;
                u32::from('\\')
            }
        }
    }

    /// `\N{NAME}`.
    fn named_character(&mut self) -> Meaning {
        let braced = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, _)) = braced else { return Meaning::Point(u32::from('N')) };
        self.at += name.len() + 2;
        Meaning::Set(private_set(name))
    }

    /// `\p{Name}` and `\pL`. Python has none of them; JavaScript only with braces.
    fn property(&mut self, letter: char) -> Meaning {
        let braced = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let name = match (braced, self.peek()) {
            (Some((name, _)), _) if self.flavour != Flavour::Python => {
                let name = name.to_owned();
                self.at += name.len() + 2;
                name
            }
            (None, Some(single))
                if single.is_ascii_uppercase()
                    && !matches!(self.flavour, Flavour::JavaScript | Flavour::Python) =>
            {
                self.at += 1;
                single.to_string()
            }
            _ => return Meaning::Point(u32::from(letter)),
        };
        let (name, inverted) =
            name.strip_prefix('^').map_or((name.as_str(), false), |rest| (rest, true));
        let set = property_set(name);
        Meaning::Set(if inverted != (letter == 'P') { set.negate() } else { set })
    }
}

/// The set of a Unicode property. A name that is not known gets a private code point of its own,
/// so that equal names are equal sets and different names are disjoint ones.
fn property_set(name: &str) -> CharSet {
    let value = name.rsplit_once('=').map_or(name, |(_, value)| value);
    let value = value.strip_prefix("Is").unwrap_or(value);
    match value {
        "L" | "Letter" | "Alpha" | "Alphabetic" => CharSet::letters(),
        "Lu" | "Upper" | "Uppercase" | "Uppercase_Letter" => {
            CharSet::from_ranges(vec![(65, 90), (0xC0, 0xD6), (0xD8, 0xDE)])
        }
        "Ll" | "Lower" | "Lowercase" | "Lowercase_Letter" => {
            CharSet::from_ranges(vec![(97, 122), (0xDF, 0xF6), (0xF8, 0xFF)])
        }
        "N" | "Nd" | "Digit" | "Number" => CharSet::digits(),
        "Alnum" => CharSet::letters().union(&CharSet::digits()),
        "P" | "Punct" | "Punctuation" => {
            CharSet::from_ranges(vec![(33, 47), (58, 64), (91, 96), (123, 126)])
        }
        "Z" | "Zs" | "Space" | "White_Space" | "Separator" => CharSet::spaces(),
        "ASCII" => CharSet::range(0, 127),
        "Any" => CharSet::any(),
        _ => private_set(name),
    }
}

/// A code point of its own for a name.
fn private_set(name: &str) -> CharSet {
    let mix = |sum: u32, byte: u8| sum.wrapping_mul(31).wrapping_add(u32::from(byte));
    CharSet::one(0xF_0000 + name.bytes().fold(17, mix) % 0xFFFE)
}
