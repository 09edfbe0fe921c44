//! Error responses: the meaning of a status, whether to retry, and when.

use crate::models::endpoint::RequestLimits;
use crate::models::error::{
    ProviderError, RequestError, RetryHint, is_out_of_credit, is_too_long, one_line,
};
use mala_domain::ports::{BillingStatus, ModelFailureKind as Kind};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// A response with an error status.
pub(crate) struct ErrorResponse<'a> {
    pub(crate) status: u16,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a str,
}

impl ErrorResponse<'_> {
    /// The error for this response.
    pub(crate) fn request_error(&self, now: SystemTime) -> RequestError {
        let error = self.error();
        let words = if error.message.is_empty() { self.described() } else { error.words() };
        let kind = self.kind(&format!("{} {}", error.label, error.message));
        let what = format!("{}: {words}", self.status);
        let wait = self.header_wait(now).or(error.wait);
        let again = match self.is_transient(kind) {
            true => RetryHint::After(wait),
            false => RetryHint::No,
        };
        RequestError { kind, what, again }
    }

    /// Whether the request is invalid, so that it may succeed without its optional parts.
    pub(crate) fn is_request_invalid(&self) -> bool {
        matches!(self.status, 400 | 422 | 501)
    }

    /// A server that fails or times out may have charged for its work. One that rejects a request
    /// has not.
    pub(crate) fn billed(&self) -> BillingStatus {
        match self.status {
            408 | 500..=502 | 504..=528 | 530.. => BillingStatus::Perhaps,
            _ => BillingStatus::No,
        }
    }

    fn kind(&self, words: &str) -> Kind {
        if matches!(self.status, 400 | 413 | 422 | 500) && is_too_long(words) {
            return Kind::TooLong;
        }
        if matches!(self.status, 400 | 403 | 429) && is_out_of_credit(words) {
            return Kind::Unauthorized;
        }
        match self.status {
            // Google answers a wrong key with 400.
            400 if words.to_ascii_lowercase().contains("api key not valid") => Kind::Unauthorized,
            401 | 402 => Kind::Unauthorized,
            403 => Kind::Forbidden,
            404 => Kind::NotFound,
            408 => Kind::TimedOut,
            413 => Kind::TooLong,
            429 => Kind::RateLimited,
            503 | 529 => Kind::Overloaded,
            500.. => Kind::ProviderFailed,
            _ => Kind::BadRequest,
        }
    }

    fn is_transient(&self, kind: Kind) -> bool {
        if matches!(kind, Kind::Unauthorized | Kind::TooLong) {
            return false;
        }
        match self.header("x-should-retry") {
            Some("true") => true,
            Some("false") => false,
            _ => matches!(self.status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529),
        }
    }

    fn header_wait(&self, now: SystemTime) -> Option<Duration> {
        let millis = self.header("retry-after-ms").and_then(|text| text.trim().parse().ok());
        millis
            .map(Duration::from_millis)
            .or_else(|| self.header("retry-after").and_then(|text| retry_after(text, now)))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn error(&self) -> ProviderError {
        let body: Option<Value> = serde_json::from_str(self.body).ok();
        body.and_then(|body| ProviderError::of(&body)).unwrap_or_default()
    }

    fn described(&self) -> String {
        match self.body.trim_start() {
            "" if (300..400).contains(&self.status) => {
                "the server redirects, and redirects are not followed".to_owned()
            }
            "" => "the server gave no reason".to_owned(),
            body if body.starts_with('<') => "the server sent an HTML page".to_owned(),
            body => one_line(body),
        }
    }
}

/// The wait that a `Retry-After` header names: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?;
    let at = SystemTime::from(date.timestamp());
    Some(at.duration_since(now).unwrap_or_default())
}

/// The wait before attempt `next`, from 2, with jitter: `jitter` is between 0 and 1.
pub(crate) fn backoff(limits: &RequestLimits, next: u32, jitter: f64) -> Duration {
    let doublings = next.saturating_sub(2).min(16);
    let whole = limits.first_wait.saturating_mul(1 << doublings).min(limits.longest_wait);
    whole.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> RequestError {
        let headers = headers
            .iter()
            .map(|(name, value)| {
                (reqwest::header::HeaderName::from_static(name), value.parse().unwrap())
            })
            .collect();
        ErrorResponse { status, headers: &headers, body }.request_error(SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn statuses_have_kinds() {
        let later = RetryHint::After(None);
        for (status, body, kind, again) in [
            (400, "", Kind::BadRequest, RetryHint::No),
            (400, r#"{"error":{"message":"prompt is too long: 9"}}"#, Kind::TooLong, RetryHint::No),
            (
                400,
                r#"{"error":{"message":"API key not valid."}}"#,
                Kind::Unauthorized,
                RetryHint::No,
            ),
            (401, "", Kind::Unauthorized, RetryHint::No),
            (402, "", Kind::Unauthorized, RetryHint::No),
            (403, "", Kind::Forbidden, RetryHint::No),
            (404, "<html>", Kind::NotFound, RetryHint::No),
            (408, "", Kind::TimedOut, later),
            (409, "", Kind::BadRequest, later),
            (413, "", Kind::TooLong, RetryHint::No),
            (422, "", Kind::BadRequest, RetryHint::No),
            (429, "", Kind::RateLimited, later),
            (
                429,
                r#"{"error":{"message":"m","code":"insufficient_quota"}}"#,
                Kind::Unauthorized,
                RetryHint::No,
            ),
            (500, "", Kind::ProviderFailed, later),
            (501, "", Kind::ProviderFailed, RetryHint::No),
            (502, "", Kind::ProviderFailed, later),
            (503, "", Kind::Overloaded, later),
            (504, "", Kind::ProviderFailed, later),
            (529, "", Kind::Overloaded, later),
            (302, "", Kind::BadRequest, RetryHint::No),
        ] {
            let found = error(status, &[], body);
            assert_eq!((found.kind, found.again), (kind, again), "{status} {body}");
        }
    }

    #[test]
    fn a_refusal_costs_nothing_and_a_failure_may() {
        let headers = HeaderMap::new();
        for (status, billed) in [
            (400, BillingStatus::No),
            (401, BillingStatus::No),
            (408, BillingStatus::Perhaps),
            (429, BillingStatus::No),
            (500, BillingStatus::Perhaps),
            (503, BillingStatus::No),
            (504, BillingStatus::Perhaps),
            (529, BillingStatus::No),
        ] {
            let refusal = ErrorResponse { status, headers: &headers, body: "" };
            assert_eq!(refusal.billed(), billed, "{status}");
        }
    }

    #[test]
    fn headers_say_whether_and_when() {
        let seconds = |s| RetryHint::After(Some(Duration::from_secs(s)));
        assert_eq!(error(429, &[("retry-after", "7")], "").again, seconds(7));
        assert_eq!(error(429, &[("retry-after-ms", "3000")], "").again, seconds(3));
        assert_eq!(error(400, &[("x-should-retry", "true")], "").again, RetryHint::After(None));
        assert_eq!(error(500, &[("x-should-retry", "false")], "").again, RetryHint::No);
        assert_eq!(error(401, &[("x-should-retry", "true")], "").again, RetryHint::No);
    }

    #[test]
    fn seconds_and_dates_are_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_480);
        for (value, expected) in [
            ("2", Some(2_000)),
            (" 0.5 ", Some(500)),
            ("Wed, 21 Oct 2015 07:28:30 GMT", Some(30_000)),
            ("Wed, 21 Oct 2015 07:27:00 GMT", Some(0)),
            ("-1", None),
            ("NaN", None),
            ("1e300", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(value, now), expected.map(Duration::from_millis), "{value:?}");
        }
    }

    #[test]
    fn waits_grow_to_a_limit_and_differ() {
        let limits = RequestLimits {
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(5),
            ..RequestLimits::default()
        };
        let waits =
            |jitter| [2, 3, 4, 5, 90].map(|next| backoff(&limits, next, jitter).as_millis());
        assert_eq!(waits(1.0), [1_000, 2_000, 4_000, 5_000, 5_000]);
        assert_eq!(waits(0.0), [500, 1_000, 2_000, 2_500, 2_500]);
    }
}
