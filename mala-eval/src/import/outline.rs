//! The parts of a JSON text with their line numbers, so that errors can name the line of a record. The text
//! is validated first; the parts are then found by counting brackets.

use super::ImportFile;
use serde::de::{DeserializeOwned, IgnoredAny};

/// A value inside a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JsonPart<'a> {
    text: &'a str,
    /// The 1-based line that it begins on.
    pub(super) line: usize,
}

impl<'a> JsonPart<'a> {
    /// The value of a file; the error has its line and the reason.
    pub(super) fn whole(source: &'a ImportFile) -> Result<Self, (usize, String)> {
        let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
        match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Ok(Self { text, line: 1 }.trimmed()),
            Err(error) => {
                let why = parse::<IgnoredAny>(text).err().unwrap_or_default();
                Err((error.line().max(1), format!("invalid JSON: {why}")))
            }
        }
    }

    /// The items of a list; `None` if it is not a list.
    pub(super) fn items(self) -> Option<Vec<Self>> {
        let inside = self.text.strip_prefix('[')?.strip_suffix(']')?;
        Some(self.split(inside).into_iter().filter(|part| !part.text.is_empty()).collect())
    }

    /// The fields of an object; `None` if it is not an object.
    pub(super) fn fields(self) -> Option<Vec<(String, Self)>> {
        let inside = self.text.strip_prefix('{')?.strip_suffix('}')?;
        let fields = self.split(inside).into_iter().filter_map(|part| {
            let end = end_of_string(part.text)?;
            let key = serde_json::from_str(part.text.get(..end)?).ok()?;
            let value = part.text.get(end..)?.trim_start().strip_prefix(':')?;
            Some((key, part.from(value)))
        });
        Some(fields.collect())
    }

    /// A field of an object.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.fields()?.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Its value.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, String> {
        parse(self.text)
    }

    /// The pieces between the commas that are in no bracket.
    fn split(self, inside: &'a str) -> Vec<Self> {
        let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
        let mut bytes = inside.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => skip_string(&mut bytes),
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    parts.push(inside.get(start..at).unwrap_or_default());
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(inside.get(start..).unwrap_or_default());
        let mut seen = (0, self.line);
        parts.into_iter().map(|part| self.after(&mut seen, part).trimmed()).collect()
    }

    /// This piece of the text, with lines counted from the last piece that was looked at.
    fn after(self, (seen, line): &mut (usize, usize), piece: &'a str) -> Self {
        let at = (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let between = self.text.get(*seen..at).unwrap_or_default();
        *line += between.bytes().filter(|byte| *byte == b'\n').count();
        *seen = at;
        Self { text: piece, line: *line }
    }

    fn from(self, piece: &'a str) -> Self {
        self.after(&mut (0, self.line), piece).trimmed()
    }

    fn trimmed(self) -> Self {
        let text = self.text.trim_start();
        let gone = self.text.get(..self.text.len() - text.len()).unwrap_or_default();
        let line = self.line + gone.bytes().filter(|byte| *byte == b'\n').count();
        Self { text: text.trim_end(), line }
    }
}

/// The value of a text. The reason does not name a place: it would be one in the text.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let said = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        said.strip_suffix(&place).unwrap_or(&said).to_owned()
    })
}

/// Goes on behind the quote that ends a string.
fn skip_string(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

/// The end of the string at the start of a text.
fn end_of_string(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    skip_string(&mut bytes);
    let end = bytes.next().map_or(text.len(), |(at, _)| at);
    text.starts_with('"').then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::change::FilePath;

    fn source(text: &str) -> ImportFile {
        ImportFile { name: "f".into(), path: FilePath::from("f"), text: text.to_owned() }
    }

    #[test]
    fn parts_know_their_lines() {
        let source = source(
            "\n{\"a, {\": [1,\n  {\"b\\\"\": \"]\"}\n, [] ],\n \"empty\": [], \"c\" \n:\n true}\n",
        );
        let whole = JsonPart::whole(&source).unwrap();
        assert_eq!(whole.line, 2);
        let fields = whole.fields().unwrap();
        let names: Vec<(&str, usize)> =
            fields.iter().map(|(name, part)| (name.as_str(), part.line)).collect();
        assert_eq!(names, [("a, {", 2), ("empty", 5), ("c", 7)]);
        let items = whole.field("a, {").unwrap().items().unwrap();
        let places: Vec<(&str, usize)> = items.iter().map(|part| (part.text, part.line)).collect();
        assert_eq!(places, [("1", 2), ("{\"b\\\"\": \"]\"}", 3), ("[]", 4)]);
        assert_eq!(items[1].field("b\"").unwrap().read::<String>().unwrap(), "]");
        assert_eq!(whole.field("empty").unwrap().items().unwrap(), []);
        assert_eq!((whole.items(), items[0].fields()), (None, None));
    }

    #[test]
    fn what_is_no_json_says_on_which_line() {
        let (line, why) = JsonPart::whole(&source("[1,\n2")).unwrap_err();
        assert_eq!((line, why.contains("EOF")), (2, true), "{why}");
    }

    proptest::proptest! {
        #[test]
        fn the_parts_are_those_that_a_parser_sees(text in r#"[\[\]{}:," \\1a\n]{0,24}"#) {
            let source = source(&text);
            if let Ok(whole) = JsonPart::whole(&source)
                && let Some(items) = whole.items()
            {
                let values: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
                let parts: Vec<serde_json::Value> =
                    items.iter().map(|part| part.read().unwrap()).collect();
                proptest::prop_assert_eq!(values, parts);
            }
        }
    }
}
