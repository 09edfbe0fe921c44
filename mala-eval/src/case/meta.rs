//! Notes about a case: its source, its licence, its commits, and others.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

const BASE_COMMIT: &str = "base_sha";
const HEAD_COMMIT: &str = "head_sha";

/// Notes about a case, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaseMeta {
    notes: BTreeMap<String, Value>,
}

impl CaseMeta {
    /// The origin of the case.
    pub fn source(&self) -> Option<&str> {
        self.text("source")
    }

    /// The licence of the case, or of its code when only that is noted.
    pub fn licence(&self) -> Option<&str> {
        ["licence", "license", "code_licence", "code_license"]
            .into_iter()
            .find_map(|name| self.text(name))
    }

    /// A note that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.notes.get(name).and_then(Value::as_str)
    }

    /// The commits that the case was made from: the base, when there is one, and the head.
    pub fn commits(&self) -> Option<(Option<&str>, &str)> {
        Some((self.text(BASE_COMMIT), self.text(HEAD_COMMIT)?))
    }

    /// With the commits that the case was made from.
    #[must_use]
    pub fn with_commits(self, base: Option<&str>, head: Option<&str>) -> Self {
        let add = |meta: Self, name, id: Option<&str>| match id.filter(|id| !id.is_empty()) {
            Some(id) => meta.with(name, id),
            None => meta,
        };
        add(add(self, BASE_COMMIT, base), HEAD_COMMIT, head)
    }

    /// With one more note.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.notes.insert(name.to_owned(), value.into());
        self
    }
}

impl schemars::JsonSchema for CaseMeta {
    fn schema_name() -> Cow<'static, str> {
        "Meta".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "Notes about the case; source and licence are recommended",
            "properties": {
                "source": {"type": "string", "description": "Where the case comes from"},
                "licence": {"type": "string", "description": "Its licence"},
                "code_licence": {"type": "string", "description": "The licence of its code, when that is another one"},
                "base_sha": {"type": "string", "description": "The commit before the change"},
                "head_sha": {"type": "string", "description": "The last commit of the change"}
            },
            "additionalProperties": true
        })
    }
}
