//! A provider's address, its API key, and the time limits of requests.

use std::time::Duration;
use thiserror::Error;

/// An API key. It has no `Debug`, `Display` or `Serialize`, so that messages cannot contain it by
/// accident.
#[derive(Clone)]
pub struct Secret {
    key: String,
    is_bearer: bool,
}

impl Secret {
    /// Trims white space around the key.
    pub fn new(key: &str) -> Self {
        Self { key: key.trim().to_owned(), is_bearer: false }
    }

    /// A key that is sent as a bearer token.
    pub fn bearer(key: &str) -> Self {
        Self { is_bearer: true, ..Self::new(key) }
    }

    /// The key, for the header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.key
    }

    /// Whether it is sent as a bearer token.
    pub(crate) fn is_bearer(&self) -> bool {
        self.is_bearer
    }

    /// `text` without this key and without other text that looks like a key.
    pub(crate) fn redact(&self, text: &str) -> String {
        mala_domain::secrets::redact(&self.without_key(text)).into_owned()
    }

    /// `text` without this key.
    pub(crate) fn without_key(&self, text: &str) -> String {
        match self.key.len() {
            0 => text.to_owned(),
            1..SHORT => replace_whole_words(text, &self.key),
            _ => text.replace(&self.key, HIDDEN),
        }
    }
}

const HIDDEN: &str = "[redacted:key]";

/// A shorter key is a placeholder for a server that accepts any key. It is replaced only as a
/// whole word.
const SHORT: usize = 8;

/// `text` with the key replaced where it is a whole word.
fn replace_whole_words(text: &str, key: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(key) {
        let (before, found) = rest.split_at(at);
        let after = found.get(key.len()..).unwrap_or_default();
        shown.push_str(before);
        let is_part =
            shown.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
        shown.push_str(if is_part { key } else { HIDDEN });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// A provider's address and credentials.
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) base: String,
    pub(crate) key: Option<Secret>,
    pub(crate) limits: RequestLimits,
    /// Whether to let the provider enforce the schema.
    pub(crate) enforce_form: bool,
    /// The source of the key, for error messages.
    pub(crate) key_origin: Option<String>,
}

/// A URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// It is not an HTTP URL.
    #[error("'{0}' is not an http or https URL")]
    NotHttp(String),
    /// It contains credentials, which would appear in messages.
    #[error("the URL contains a user name or a password")]
    Credentials,
}

impl Endpoint {
    /// An endpoint at this URL, such as `https://api.anthropic.com`.
    pub fn new(base: &str, key: Option<Secret>) -> Result<Self, EndpointError> {
        let not_http = || EndpointError::NotHttp(base.to_owned());
        let url = reqwest::Url::parse(base.trim()).map_err(|_| not_http())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::Credentials);
        }
        let plain = url.query().is_none() && url.fragment().is_none();
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !plain {
            return Err(not_http());
        }
        let base = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self {
            base,
            key,
            limits: RequestLimits::default(),
            enforce_form: true,
            key_origin: None,
        })
    }

    /// Records where the key comes from, such as the name of a variable.
    #[must_use]
    pub fn key_from(mut self, origin: impl Into<String>) -> Self {
        self.key_origin = Some(origin.into());
        self
    }

    /// Sets the limits of requests.
    #[must_use]
    pub fn limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Puts the schema into the system prompt instead of asking the provider to enforce it.
    #[must_use]
    pub fn schema_in_prompt(mut self) -> Self {
        self.enforce_form = false;
        self
    }

    /// The URL of `path`. A base that ends with the first part of the path, such as `/v1`, does
    /// not get it twice.
    pub(crate) fn url(&self, path: &str) -> String {
        let version = path.split('/').nth(1).unwrap_or_default();
        match self.base.strip_suffix(version).and_then(|base| base.strip_suffix('/')) {
            Some(base) if !version.is_empty() => format!("{base}{path}"),
            _ => format!("{}{path}", self.base),
        }
    }
}

/// Timeouts and retries of requests.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// Timeout of the connection.
    pub connect: Duration,
    /// Timeout of the first byte. Local models read for a long time before they write.
    pub first_byte: Duration,
    /// Timeout of each further byte.
    pub idle: Duration,
    /// Wait before the second attempt, if the provider does not name one.
    pub first_wait: Duration,
    /// Longest wait between attempts, if the provider does not name one.
    pub longest_wait: Duration,
    /// Attempts in total.
    pub max_attempts: u32,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(90),
            first_wait: Duration::from_millis(800),
            longest_wait: Duration::from_secs(30),
            max_attempts: 6,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_in_the_base_is_not_doubled() {
        for (base, expected) in [
            ("https://api.openai.com", "https://api.openai.com/v1/responses"),
            ("https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
            ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/responses"),
            ("http://127.0.0.1:1/ok", "http://127.0.0.1:1/ok/v1/responses"),
        ] {
            assert_eq!(Endpoint::new(base, None).unwrap().url("/v1/responses"), expected, "{base}");
        }
    }

    #[test]
    fn invalid_urls_are_rejected() {
        for base in ["", "api.openai.com", "file:///etc/passwd", "ftp://x", "https://x/?key=1"] {
            assert!(
                matches!(Endpoint::new(base, None), Err(EndpointError::NotHttp(_))),
                "{base:?}"
            );
        }
        let with_password = Endpoint::new("https://ann:pw@example.com", None);
        assert_eq!(with_password.err(), Some(EndpointError::Credentials));
    }

    #[test]
    fn a_key_is_in_no_message() {
        let key = Secret::new(" my-very-own-key\n");
        assert_eq!(key.redact("bad key my-very-own-key!"), "bad key [redacted:key]!");
        assert_eq!(Secret::new("").redact("fine"), "fine");
        let short = Secret::new("k");
        assert_eq!(
            short.redact("tokens: k, 'k' kk"),
            "tokens: [redacted:key], '[redacted:key]' kk"
        );
    }
}
