//! The places for values in a text: `%s` and `%(name)s`, `{}` and `{name}`.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

/// What a text with `%` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Percents {
    /// So many values in their order.
    Placed(usize),
    /// Values by name.
    Named(Vec<String>),
}

impl Percents {
    /// Reads a text; what is wrong with it when the interpreter refuses it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut rest = text.chars().peekable();
        let (mut names, mut n_placed) = (Vec::new(), 0);
        while let Some(c) = rest.next() {
            if c != '%' {
                continue;
            }
            let name = read_name(&mut rest);
            skip(&mut rest, "#0- +");
            n_placed += read_number(&mut rest);
            if rest.next_if_eq(&'.').is_some() {
                n_placed += read_number(&mut rest);
            }
            skip(&mut rest, "hlL");
            match (rest.next(), name) {
                (Some('%'), _) => {}
                (Some(c), name) if "diouxXeEfFgGcrsab".contains(c) => match name {
                    Some(name) => names.push(name),
                    None => n_placed += 1,
                },
                (Some('\\') | None, _) => return Err("a `%` at its end has no letter".to_owned()),
                (Some(c), _) => return Err(format!("`%{c}` is no conversion")),
            }
        }
        match (names.is_empty(), n_placed) {
            (true, n_placed) => Ok(Self::Placed(n_placed)),
            (false, 0) => Ok(Self::Named(names)),
            (false, _) => Err("it asks for values both by name and by place".to_owned()),
        }
    }
}

fn read_name(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    rest.next_if_eq(&'(')?;
    let mut name = String::new();
    let mut depth = 1;
    for c in rest.by_ref() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        name.push(c);
    }
    Some(name)
}

fn skip(rest: &mut Peekable<Chars<'_>>, any: &str) {
    while rest.next_if(|c| any.contains(*c)).is_some() {}
}

/// A width or precision; `*` takes a value.
fn read_number(rest: &mut Peekable<Chars<'_>>) -> usize {
    if rest.next_if_eq(&'*').is_some() {
        return 1;
    }
    while rest.next_if(char::is_ascii_digit).is_some() {}
    0
}

/// What a text with braces asks for.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) places: BTreeSet<usize>,
    pub(super) highest: Option<usize>,
    pub(super) names: Vec<String>,
    /// Whether there are braces within braces.
    pub(super) is_nested: bool,
}

impl Fields {
    /// Reads a text; `None` when its braces do not match or it is not plain.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut fields = Self::default();
        let mut automatic = 0;
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (brace, after) = rest.get(at..)?.split_at_checked(1)?;
            if after.starts_with(brace) {
                rest = after.get(1..)?;
                continue;
            }
            if brace == "}" {
                return None;
            }
            // `\N{DASH}` names a letter.
            if rest.get(..at)?.ends_with("\\N") {
                rest = after.get(after.find('}')? + 1..)?;
                continue;
            }
            let end = field_end(after)?;
            let field = after.get(..end)?;
            fields.add(field, &mut automatic);
            rest = after.get(end + 1..)?;
        }
        fields.highest = fields.places.last().copied();
        Some(fields)
    }

    fn add(&mut self, field: &str, automatic: &mut usize) {
        let name = field.split([':', '!']).next().unwrap_or_default();
        self.see(name, automatic);
        let mut rest = field;
        while let Some((_, after)) = rest.split_once('{') {
            self.is_nested = true;
            let (inner, after) = after.split_once('}').unwrap_or((after, ""));
            self.see(inner, automatic);
            rest = after;
        }
    }

    fn see(&mut self, name: &str, automatic: &mut usize) {
        let name = name.split(['.', '[']).next().unwrap_or_default();
        if name.is_empty() {
            self.places.insert(*automatic);
            *automatic += 1;
        } else if let Ok(place) = name.parse() {
            self.places.insert(place);
        } else {
            self.names.push(name.to_owned());
        }
    }
}

/// Where the brace of a field closes.
fn field_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_counted() {
        for (text, expected) in [
            ("%s and %d%%", Ok(Percents::Placed(2))),
            ("%-*.*f", Ok(Percents::Placed(3))),
            ("%(a)s %(b).2f", Ok(Percents::Named(vec!["a".into(), "b".into()]))),
            ("100% sure", Ok(Percents::Placed(1))),
            ("%hd %ld", Ok(Percents::Placed(2))),
            ("%Z", Err("`%Z` is no conversion".to_owned())),
            ("50%", Err("a `%` at its end has no letter".to_owned())),
            ("%(a)s %s", Err("it asks for values both by name and by place".to_owned())),
        ] {
            assert_eq!(Percents::read(text), expected, "{text}");
        }
    }

    #[test]
    fn fields_are_read() {
        let read = |text| Fields::read(text).map(|it| (it.highest, it.names));
        assert_eq!(read("{} {}"), Some((Some(1), vec![])));
        assert_eq!(read("{2} {a.b[0]!r:>{w}}"), Some((Some(2), vec!["a".into(), "w".into()])));
        assert_eq!(read("{{}} {:{}}"), Some((Some(1), vec![])));
        assert_eq!(read("\\N{DASH} {}"), Some((Some(0), vec![])));
        assert_eq!(read("{"), None);
        assert_eq!(read("}"), None);
        assert_eq!(read("é{é"), None);
    }
}
