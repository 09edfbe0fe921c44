//! Markup that cannot be broken out of: text becomes markup only by `escaped`, and what is not escaped
//! is written in this program. Characters that hide or turn the direction of text are spelled out.

use mala_domain::render::visible;
use std::fmt::Display;

/// A piece of a page.
#[derive(Debug, Clone, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Text of our own that is markup already.
    pub(super) fn ours(markup: &'static str) -> Self {
        Self(markup.to_owned())
    }

    pub(super) fn text(text: impl Display) -> Self {
        Self(escaped(&text.to_string()))
    }

    pub(super) fn push(&mut self, more: impl Into<Self>) {
        self.0.push_str(&more.into().0);
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

impl From<Option<Markup>> for Markup {
    fn from(piece: Option<Markup>) -> Self {
        piece.unwrap_or_default()
    }
}

impl<M: Into<Markup>> FromIterator<M> for Markup {
    fn from_iter<I: IntoIterator<Item = M>>(pieces: I) -> Self {
        let mut all = Self::default();
        pieces.into_iter().for_each(|piece| all.push(piece));
        all
    }
}

/// An element that is being put together.
#[derive(Debug, Clone)]
pub(super) struct Tag {
    name: &'static str,
    attributes: String,
    inside: Markup,
}

/// An element without anything in it.
pub(super) fn tag(name: &'static str) -> Tag {
    Tag { name, attributes: String::new(), inside: Markup::default() }
}

impl Tag {
    pub(super) fn class(self, names: impl Display) -> Self {
        self.attr("class", names)
    }

    pub(super) fn attr(mut self, name: &'static str, value: impl Display) -> Self {
        let value = escaped(&value.to_string());
        self.attributes.push_str(&format!(" {name}=\"{value}\""));
        self
    }

    pub(super) fn text(self, text: impl Display) -> Self {
        self.child(Markup::text(text))
    }

    pub(super) fn child(mut self, child: impl Into<Markup>) -> Self {
        self.inside.push(child);
        self
    }

    pub(super) fn children<M: Into<Markup>>(self, all: impl IntoIterator<Item = M>) -> Self {
        self.child(all.into_iter().collect::<Markup>())
    }
}

impl From<Tag> for Markup {
    fn from(tag: Tag) -> Self {
        let Tag { name, attributes, inside } = tag;
        Self(format!("<{name}{attributes}>{}</{name}>", inside.0))
    }
}

/// The text as it stands in an element or in an attribute with double quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let rows = [
            ("plain, café 🦀", "plain, café 🦀"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("</style><!--", "&lt;/style&gt;&lt;!--"),
            ("a & b &amp; c", "a &amp; b &amp;amp; c"),
            ("\" onload='x'", "&quot; onload=&#39;x&#39;"),
            ("a\0b\u{1b}[0m", "a&lt;U+0000&gt;b&lt;U+001B&gt;[0m"),
            ("\u{202e}evil\u{2066}", "&lt;U+202E&gt;evil&lt;U+2066&gt;"),
            ("two\nlines\tand\r\nmore", "two\nlines\tand\nmore"),
        ];
        for (text, expected) in rows {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn elements_and_attributes_escape_what_they_are_given() {
        let made = tag("a").class("x").attr("title", "\"><b>").text("<i>").child(tag("br"));
        assert_eq!(
            Markup::from(made).into_string(),
            "<a class=\"x\" title=\"&quot;&gt;&lt;b&gt;\">&lt;i&gt;<br></br></a>"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_out(text in ".*") {
            let out = escaped(&text);
            let is_harmless = !out.contains(['<', '>', '"', '\'', '\0', '\u{202e}']);
            proptest::prop_assert!(is_harmless);
            let entities = out.matches('&').count();
            let ours = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            let known: usize = ours.iter().map(|entity| out.matches(entity).count()).sum();
            proptest::prop_assert_eq!(entities, known);
        }
    }
}
