//! Redacts secrets that a model repeats in its reply, before reports, messages, files and
//! recordings use it.

use super::{AssistantTurn, ChatReply, FinishReason, ToolCall};
use crate::agent::answer::parse_unique;
use crate::secrets;
use serde_json::Value;
use std::borrow::Cow;

impl ChatReply {
    /// Redacts secrets. Redacting twice changes nothing more. The turn in the provider's own format
    /// stays unchanged, because only the provider gets it and may have signed it.
    pub fn without_secrets(self) -> Self {
        let calls = self.said.calls.into_iter();
        let calls = calls.map(|call| ToolCall { arguments: cleaned(call.arguments), ..call });
        Self {
            said: AssistantTurn {
                text: cleaned(self.said.text),
                calls: calls.collect(),
                ..self.said
            },
            stop: match self.stop {
                FinishReason::Refused(why) => FinishReason::Refused(cleaned(why)),
                FinishReason::Filtered(why) => FinishReason::Filtered(cleaned(why)),
                other => other,
            },
            model: cleaned(self.model),
            ..self
        }
    }
}

/// Redacts a text. JSON stays valid: each string is redacted in its decoded form.
fn cleaned(text: String) -> String {
    let Ok(value) = parse_unique(&text) else { return redacted(text) };
    let clean = each_string(value.clone());
    let text = if clean == value { text } else { clean.to_string() };
    let whole = redacted(text.clone());
    match parse_unique(&whole) {
        Ok(_) => whole,
        Err(_) => text,
    }
}

fn redacted(text: String) -> String {
    match secrets::redact(&text) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) => text,
    }
}

fn each_string(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted(text)),
        Value::Array(items) => items.into_iter().map(each_string).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (redacted(name), each_string(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAvvJ8ZtZ1Qk3mYt0uW5bXc7dEf9gH2jK4lM6nP8qR0sT1uV3w\nX5yZ7aB9cD1eF3gH5iJ7kL9mN1oP3qR5sT7uV9wX1yZ3aB5cD7eF9gH1iJ3kL5mN\n-----END RSA PRIVATE KEY-----\n";

    #[test]
    fn json_stays_json_and_keeps_what_is_no_secret() {
        let nonce = "5b0f3c9a1e7d24680fedcba987654321";
        for (secret, kept) in [(TOKEN, "[redacted:github-pat]"), (KEY, "[redacted:private-key")] {
            let text = json!({"nonce": nonce, "findings": [{"body": format!("see {secret}.")}]});
            let clean = cleaned(text.to_string());
            let read: Value = serde_json::from_str(&clean).unwrap();
            let body = read["findings"][0]["body"].as_str().unwrap();
            assert!(body.starts_with(&format!("see {kept}")) && body.ends_with('.'), "{body}");
            assert_eq!(read["nonce"], nonce);
        }
        for same in [
            format!(r#"{{"nonce": "{nonce}",  "verdict": "PASS", "findings": []}}"#),
            format!("nonce: {nonce}"),
            r#"{"verdict": "FAIL", "verdict": "PASS"}"#.to_owned(),
        ] {
            assert_eq!(cleaned(same.clone()), same);
        }
        assert!(!cleaned(format!("{{\"{TOKEN}\": 1, \"a\": \"{TOKEN}\"}}")).contains(TOKEN));
        assert!(!cleaned(format!("I refuse {TOKEN}")).contains(TOKEN));
    }

    fn piece() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            TOKEN,
            KEY,
            "password = \"hunter2-hunter2\"",
            "{",
            "}",
            "\"",
            ":",
            "\"a\": \"b\"",
            ",",
            "\\n",
            "api_key",
            "AKIAIOSFODNN7EXAMPLE",
            " ",
            "\n",
            "[redacted:text]",
            "é",
        ])
        .prop_map(str::to_owned)
    }

    proptest! {
        #[test]
        fn redacting_twice_changes_nothing_more(pieces in prop::collection::vec(piece(), 0..12)) {
            let text = pieces.concat();
            for text in [text.clone(), json!({"a": text, "password": text}).to_string()] {
                let clean = cleaned(text);
                prop_assert_eq!(cleaned(clean.clone()), clean);
            }
        }
    }
}
