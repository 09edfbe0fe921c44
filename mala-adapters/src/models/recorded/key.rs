//! What a call is known by: the hash of all that is asked, without its secrets.

use mala_domain::conversation::Ask;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A call, redacted, and its hash.
pub(super) struct Key {
    pub(super) ask: Value,
    pub(super) hash: String,
}

impl Key {
    pub(super) fn of(ask: &Ask) -> Self {
        let ask = redacted(serde_json::to_value(ask).unwrap_or_default());
        // The keys of an object are sorted, so the same call gives the same text.
        let hash = Sha256::digest(ask.to_string());
        let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { ask, hash }
    }
}

/// The value with the secrets of each of its texts redacted.
pub(super) fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(mala_domain::secrets::redact(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(redacted).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, redacted(value))).collect()
        }
        other => other,
    }
}
