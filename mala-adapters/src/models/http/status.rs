//! What a status other than success means: whose fault it is, and whether it may pass.

use super::wait::retry_after;
use crate::models::fault::{Again, Fault, ProviderError, out_of_credit, shortened, too_long};
use mala_domain::ports::{Billed, ModelFailureKind as Kind};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// A response that is no answer.
pub(crate) struct Refusal<'a> {
    pub(crate) status: u16,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a str,
}

impl Refusal<'_> {
    /// The fault that it stands for.
    pub(crate) fn fault(&self, now: SystemTime) -> Fault {
        let error = self.error();
        let words = if error.message.is_empty() { self.described() } else { error.words() };
        let kind = self.kind(&format!("{} {}", error.label, error.message));
        let what = format!("{}: {words}", self.status);
        let wait = self.header_wait(now).or(error.wait);
        let again = match self.may_pass(kind) {
            true => Again::After(wait),
            false => Again::No,
        };
        Fault { kind, what, again }
    }

    /// Whether the request itself is at fault, so that another form of it may do.
    pub(crate) fn is_about_the_request(&self) -> bool {
        matches!(self.status, 400 | 422 | 501)
    }

    /// A server that fails or times out may have done its work; one that refuses has not begun it.
    pub(crate) fn billed(&self) -> Billed {
        match self.status {
            408 | 500..=502 | 504..=528 | 530.. => Billed::Perhaps,
            _ => Billed::No,
        }
    }

    fn kind(&self, words: &str) -> Kind {
        if matches!(self.status, 400 | 413 | 422 | 500) && too_long(words) {
            return Kind::TooLong;
        }
        if matches!(self.status, 400 | 403 | 429) && out_of_credit(words) {
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

    fn may_pass(&self, kind: Kind) -> bool {
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
                "the address points elsewhere, and redirects are not followed".to_owned()
            }
            "" => "no reason is given".to_owned(),
            body if body.starts_with('<') => "an HTML page instead of a reason".to_owned(),
            body => shortened(body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Fault {
        let headers = headers
            .iter()
            .map(|(name, value)| {
                (reqwest::header::HeaderName::from_static(name), value.parse().unwrap())
            })
            .collect();
        Refusal { status, headers: &headers, body }.fault(SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn statuses_have_kinds() {
        let later = Again::After(None);
        for (status, body, kind, again) in [
            (400, "", Kind::BadRequest, Again::No),
            (400, r#"{"error":{"message":"prompt is too long: 9"}}"#, Kind::TooLong, Again::No),
            (400, r#"{"error":{"message":"API key not valid."}}"#, Kind::Unauthorized, Again::No),
            (401, "", Kind::Unauthorized, Again::No),
            (402, "", Kind::Unauthorized, Again::No),
            (403, "", Kind::Forbidden, Again::No),
            (404, "<html>", Kind::NotFound, Again::No),
            (408, "", Kind::TimedOut, later),
            (409, "", Kind::BadRequest, later),
            (413, "", Kind::TooLong, Again::No),
            (422, "", Kind::BadRequest, Again::No),
            (429, "", Kind::RateLimited, later),
            (
                429,
                r#"{"error":{"message":"m","code":"insufficient_quota"}}"#,
                Kind::Unauthorized,
                Again::No,
            ),
            (500, "", Kind::ProviderFailed, later),
            (501, "", Kind::ProviderFailed, Again::No),
            (502, "", Kind::ProviderFailed, later),
            (503, "", Kind::Overloaded, later),
            (504, "", Kind::ProviderFailed, later),
            (529, "", Kind::Overloaded, later),
            (302, "", Kind::BadRequest, Again::No),
        ] {
            let found = fault(status, &[], body);
            assert_eq!((found.kind, found.again), (kind, again), "{status} {body}");
        }
    }

    #[test]
    fn a_refusal_costs_nothing_and_a_failure_may() {
        let headers = HeaderMap::new();
        for (status, billed) in [
            (400, Billed::No),
            (401, Billed::No),
            (408, Billed::Perhaps),
            (429, Billed::No),
            (500, Billed::Perhaps),
            (503, Billed::No),
            (504, Billed::Perhaps),
            (529, Billed::No),
        ] {
            let refusal = Refusal { status, headers: &headers, body: "" };
            assert_eq!(refusal.billed(), billed, "{status}");
        }
    }

    #[test]
    fn headers_say_whether_and_when() {
        let seconds = |s| Again::After(Some(Duration::from_secs(s)));
        assert_eq!(fault(429, &[("retry-after", "7")], "").again, seconds(7));
        assert_eq!(fault(429, &[("retry-after-ms", "3000")], "").again, seconds(3));
        assert_eq!(fault(400, &[("x-should-retry", "true")], "").again, Again::After(None));
        assert_eq!(fault(500, &[("x-should-retry", "false")], "").again, Again::No);
        assert_eq!(fault(401, &[("x-should-retry", "true")], "").again, Again::No);
    }
}
