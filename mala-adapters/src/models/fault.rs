//! What went wrong with one request, and whether another one is worth it.

use mala_domain::ports::ModelFailureKind as Kind;
use serde_json::Value;
use std::time::Duration;

/// The most of a provider's words that a message repeats.
const MAX_WORDS: usize = 400;

/// A request that gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) what: String,
    pub(crate) again: Again,
}

/// Whether the same request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It would fail again.
    No,
    /// After a while; after this one, when the provider says how long.
    After(Option<Duration>),
    /// Once: part of an answer came, and is likely to be charged.
    Once,
}

impl Fault {
    /// A fault that another request does not mend.
    pub(crate) fn lasting(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), again: Again::No }
    }

    /// A fault that may be gone after a while.
    pub(crate) fn passing(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), again: Again::After(None) }
    }

    /// A fault in the middle of an answer.
    pub(crate) fn half_way(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), again: Again::Once }
    }

    /// An answer that ended before the provider said why.
    pub(crate) fn cut(what: &str) -> Self {
        Self::half_way(Kind::Cut, what)
    }

    /// An answer in a form that is not the provider's.
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::half_way(Kind::Malformed, what)
    }
}

/// The provider's own error: every one of them sends an object with a message, and a type, a code or
/// a status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProviderError {
    pub(crate) label: String,
    pub(crate) message: String,
    pub(crate) wait: Option<Duration>,
}

impl ProviderError {
    /// The error in a body or an event: `{"error": {...}}`, `{"error": "..."}`, the object itself, or
    /// a list with such an object.
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

    /// What to call the error when it comes inside of an answer, where no status says it.
    pub(crate) fn fault(&self) -> Fault {
        let label = self.label.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| label.contains(word));
        let what = self.words();
        if too_long(&label) || too_long(&self.message) {
            return Fault::lasting(Kind::TooLong, what);
        }
        if out_of_credit(&label) || out_of_credit(&self.message) {
            return Fault::lasting(Kind::Unauthorized, what);
        }
        if has(&["overloaded", "unavailable", "server_is_overloaded"]) {
            return Fault::passing(Kind::Overloaded, what);
        }
        if has(&["rate_limit", "resource_exhausted"]) {
            return Fault {
                again: Again::After(self.wait),
                ..Fault::passing(Kind::RateLimited, what)
            };
        }
        if has(&["authentication", "unauthenticated", "invalid_api_key"]) {
            return Fault::lasting(Kind::Unauthorized, what);
        }
        if has(&["permission"]) {
            return Fault::lasting(Kind::Forbidden, what);
        }
        if has(&["not_found"]) {
            return Fault::lasting(Kind::NotFound, what);
        }
        if has(&["invalid_request", "invalid_argument", "invalid_prompt"]) {
            return Fault::lasting(Kind::BadRequest, what);
        }
        Fault::passing(Kind::ProviderFailed, what)
    }

    /// The provider's words, short enough for a message.
    pub(crate) fn words(&self) -> String {
        let message = match self.message.trim() {
            "" => "no reason is given".to_owned(),
            message => shortened(message),
        };
        match self.label.is_empty() {
            true => message,
            false => format!("{message} ({})", shortened(&self.label)),
        }
    }
}

/// Whether these words say that the request is longer than the model takes.
pub(crate) fn too_long(words: &str) -> bool {
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

/// Whether these words say that nobody pays.
pub(crate) fn out_of_credit(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["insufficient_quota", "credit balance is too low", "billing_error", "billing_hard_limit"]
        .iter()
        .any(|sign| words.contains(sign))
}

/// Text in one line of bearable length.
pub(crate) fn shortened(text: &str) -> String {
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

/// Google says how long to wait inside of the error: `{"retryDelay": "37s"}`.
fn wait_in(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?.as_str()?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
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
            assert_eq!(ProviderError::of(&body).unwrap().fault().kind, kind, "{body}");
        }
        assert_eq!(ProviderError::of(&json!({"choices": []})), None);
        assert_eq!(ProviderError::default().fault().what, "no reason is given");
    }

    #[test]
    fn googles_delay_is_read() {
        let body = json!({"error": {"status": "RESOURCE_EXHAUSTED", "message": "m",
            "details": [{"@type": "x"}, {"retryDelay": "1.5s"}]}});
        let fault = ProviderError::of(&body).unwrap().fault();
        assert_eq!(fault.again, Again::After(Some(Duration::from_millis(1500))));
    }
}
