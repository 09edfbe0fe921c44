//! Why a request failed, and whether to send it again.

use mala_domain::ports::ModelFailureKind as Kind;
use serde_json::Value;
use std::time::Duration;

/// The longest part of a provider's message that is shown, in characters.
const MAX_WORDS: usize = 400;

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestError {
    pub(crate) kind: Kind,
    pub(crate) what: String,
    pub(crate) again: RetryHint,
}

/// Whether the same request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryHint {
    /// It would fail again.
    No,
    /// After a wait, which the provider may name.
    After(Option<Duration>),
    /// Once: part of a response arrived and is probably charged.
    Once,
}

impl RequestError {
    /// An error that a retry does not fix.
    pub(crate) fn permanent(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), again: RetryHint::No }
    }

    /// An error that may be gone after a wait.
    pub(crate) fn temporary(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), again: RetryHint::After(None) }
    }

    /// An error in the middle of a response.
    pub(crate) fn interrupted(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), again: RetryHint::Once }
    }

    /// A response that ended before it was complete.
    pub(crate) fn cut(what: &str) -> Self {
        Self::interrupted(Kind::Cut, what)
    }

    /// A response that does not follow the protocol.
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::interrupted(Kind::Malformed, what)
    }
}

/// A provider's error object: a message with a type, a code or a status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProviderError {
    pub(crate) label: String,
    pub(crate) message: String,
    pub(crate) wait: Option<Duration>,
}

impl ProviderError {
    /// The error in a body or an event: `{"error": {...}}`, `{"error": "..."}`, the object itself,
    /// or a list with such an object.
    pub(crate) fn of(body: &Value) -> Option<Self> {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        let error = match body.get("error") {
            Some(Value::Null) | None => body,
            Some(error) => error,
        };
        if let Some(message) = error.as_str() {
            return Some(Self { message: message.to_owned(), ..Self::default() });
        }
        let message = error.get("message").or_else(|| error.get("detail"))?.as_str()?.to_owned();
        let labels = ["type", "code", "status", "param"].iter();
        let label: Vec<&str> =
            labels.filter_map(|name| error.get(*name)).filter_map(Value::as_str).collect();
        Some(Self { label: label.join(" "), message, wait: wait_in(error) })
    }

    /// The error of a stream, where there is no status.
    pub(crate) fn error(&self) -> RequestError {
        let label = self.label.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| label.contains(word));
        let what = self.words();
        if is_too_long(&label) || is_too_long(&self.message) {
            return RequestError::permanent(Kind::TooLong, what);
        }
        if is_out_of_credit(&label) || is_out_of_credit(&self.message) {
            return RequestError::permanent(Kind::Unauthorized, what);
        }
        if has(&["overloaded", "unavailable", "server_is_overloaded"]) {
            return RequestError::temporary(Kind::Overloaded, what);
        }
        if has(&["rate_limit", "resource_exhausted"]) {
            return RequestError {
                again: RetryHint::After(self.wait),
                ..RequestError::temporary(Kind::RateLimited, what)
            };
        }
        if has(&["authentication", "unauthenticated", "invalid_api_key"]) {
            return RequestError::permanent(Kind::Unauthorized, what);
        }
        if has(&["permission"]) {
            return RequestError::permanent(Kind::Forbidden, what);
        }
        if has(&["not_found"]) {
            return RequestError::permanent(Kind::NotFound, what);
        }
        if has(&["invalid_request", "invalid_argument", "invalid_prompt"]) {
            return RequestError::permanent(Kind::BadRequest, what);
        }
        RequestError::temporary(Kind::ProviderFailed, what)
    }

    /// The provider's message, shortened to one line.
    pub(crate) fn words(&self) -> String {
        let message = match self.message.trim() {
            "" => "the server gave no reason".to_owned(),
            message => one_line(message),
        };
        match self.label.is_empty() {
            true => message,
            false => format!("{message} ({})", one_line(&self.label)),
        }
    }
}

/// Whether a message says that the request exceeds the context window.
pub(crate) fn is_too_long(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    let signs = [
        "context_length_exceeded",
        "prompt is too long",
        "prompt_too_long",
        "exceed context limit",
        "exceed_context_size",
        "available context size",
        "maximum context length",
        "exceeds the maximum number of tokens",
        "exceeds the context window",
        "request_too_large",
        "input is too long",
    ];
    signs.iter().any(|sign| words.contains(sign))
}

/// Whether a message says that the account has no credit.
pub(crate) fn is_out_of_credit(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["insufficient_quota", "credit balance is too low", "billing_error", "billing_hard_limit"]
        .iter()
        .any(|sign| words.contains(sign))
}

/// Text in one line, shortened.
pub(crate) fn one_line(text: &str) -> String {
    let mut line: String = text
        .chars()
        .take(MAX_WORDS)
        .map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c })
        .collect();
    if text.chars().nth(MAX_WORDS).is_some() {
        line.push('…');
    }
    line.trim().to_owned()
}

/// Google names the wait in the error: `{"retryDelay": "37s"}`.
fn wait_in(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?.as_str()?;
    Duration::try_from(delay.parse::<jiff::SignedDuration>().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_providers_error_is_understood() {
        for (body, kind) in [
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                Kind::Overloaded,
            ),
            (
                json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota"}}),
                Kind::RateLimited,
            ),
            (
                json!({"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded"}}),
                Kind::Unauthorized,
            ),
            (json!({"code": "context_length_exceeded", "message": "too much"}), Kind::TooLong),
            (json!([{"error": {"status": "UNAVAILABLE", "message": "later"}}]), Kind::Overloaded),
            (json!({"error": "model 'x' not found"}), Kind::ProviderFailed),
            (
                json!({"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}),
                Kind::TooLong,
            ),
        ] {
            assert_eq!(ProviderError::of(&body).unwrap().error().kind, kind, "{body}");
        }
        assert_eq!(ProviderError::of(&json!({"choices": []})), None);
        assert_eq!(ProviderError::default().error().what, "the server gave no reason");
    }

    #[test]
    fn googles_delay_is_read() {
        let body = json!({"error": {"status": "RESOURCE_EXHAUSTED", "message": "m",
            "details": [{"@type": "x"}, {"retryDelay": "1.5s"}]}});
        let error = ProviderError::of(&body).unwrap().error();
        assert_eq!(error.again, RetryHint::After(Some(Duration::from_millis(1500))));
    }
}
