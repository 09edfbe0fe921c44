//! Positions of the keys and values of a YAML file. Config structs do not store positions; a check
//! that finds an error looks up the position by path.

use super::error::ConfigPosition;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Location, Spanned};

/// The positions of all keys and values of a file.
#[derive(Debug)]
pub(super) struct YamlPositions<'t> {
    text: &'t str,
    root: Option<YamlNode>,
}

/// One step of a path: a key of a map or an index of a list.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

#[derive(Debug)]
enum YamlNode {
    Map(Vec<(Spanned<String>, Spanned<YamlNode>)>),
    List(Vec<Spanned<YamlNode>>),
    Scalar,
}

impl<'t> YamlPositions<'t> {
    /// Reads the positions; empty if the text is not valid YAML.
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, root: super::parse::yaml(text).ok().flatten() }
    }

    /// Converts a location of the YAML parser. Its byte offset is missing in some errors; its line
    /// and column are always set.
    pub(super) fn place(&self, location: Location) -> ConfigPosition {
        let line = to_usize(location.line()).max(1);
        let column = to_usize(location.column()).max(1);
        let mut lines = self.text.split_inclusive('\n');
        let above: usize = lines.by_ref().take(line - 1).map(str::len).sum();
        let indent: usize =
            lines.next().unwrap_or_default().chars().take(column - 1).map(char::len_utf8).sum();
        let start = above + indent;
        let length = location.span().byte_len().map_or(0, to_usize);
        ConfigPosition { line, column, bytes: start..start.saturating_add(length) }
    }

    /// The position of the key at the end of a path, or of the entry of a list.
    pub(super) fn key(&self, path: &[PathStep<'_>]) -> Option<ConfigPosition> {
        let (last, above) = path.split_last()?;
        let entry = child(self.node(above)?, *last)?;
        Some(self.place(entry.0.unwrap_or(entry.1.referenced)))
    }

    /// The position of the value at the end of a path.
    pub(super) fn value(&self, path: &[PathStep<'_>]) -> Option<ConfigPosition> {
        let (last, above) = path.split_last()?;
        Some(self.place(child(self.node(above)?, *last)?.1.referenced))
    }

    /// The keys of the blocks that enclose the key at this position, outermost first.
    pub(super) fn block_around(&self, place: &ConfigPosition) -> Vec<String> {
        let mut path = Vec::new();
        if let Some(root) = &self.root {
            self.find_key(root, place, &mut path);
        }
        path
    }

    /// The position of the value of the key at this position.
    pub(super) fn value_of_key_at(&self, place: &ConfigPosition) -> Option<ConfigPosition> {
        let value = self.find_key(self.root.as_ref()?, place, &mut Vec::new())?;
        Some(self.place(value.referenced))
    }

    /// The value of the key at this position; adds the enclosing keys to `path`.
    fn find_key<'n>(
        &self,
        node: &'n YamlNode,
        place: &ConfigPosition,
        path: &mut Vec<String>,
    ) -> Option<&'n Spanned<YamlNode>> {
        match node {
            YamlNode::Scalar => None,
            YamlNode::List(entries) => {
                entries.iter().find_map(|entry| self.find_key(&entry.value, place, path))
            }
            YamlNode::Map(entries) => {
                for (key, value) in entries {
                    if starts_at(key.referenced, place) {
                        return Some(value);
                    }
                    path.push(key.value.clone());
                    if let Some(found) = self.find_key(&value.value, place, path) {
                        return Some(found);
                    }
                    path.pop();
                }
                None
            }
        }
    }

    fn node(&self, path: &[PathStep<'_>]) -> Option<&YamlNode> {
        path.iter().try_fold(self.root.as_ref()?, |node, step| {
            child(node, *step).map(|(_, value)| &value.value)
        })
    }
}

fn child<'n>(
    node: &'n YamlNode,
    step: PathStep<'_>,
) -> Option<(Option<Location>, &'n Spanned<YamlNode>)> {
    match (node, step) {
        (YamlNode::Map(entries), PathStep::Key(name)) => entries
            .iter()
            .find(|(key, _)| key.value == name)
            .map(|(key, value)| (Some(key.referenced), value)),
        (YamlNode::List(entries), PathStep::Index(index)) => {
            entries.get(index).map(|value| (None, value))
        }
        _ => None,
    }
}

fn starts_at(location: Location, place: &ConfigPosition) -> bool {
    (to_usize(location.line()), to_usize(location.column())) == (place.line, place.column)
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlNodeVisitor)
    }
}

struct YamlNodeVisitor;

impl<'de> Visitor<'de> for YamlNodeVisitor {
    type Value = YamlNode;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_bytes<E: Error>(self, _: &[u8]) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_unit<E: Error>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_none<E: Error>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<YamlNode, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(YamlNode::List(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlNode, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(YamlNode::Map(entries))
    }
}
