//! Where a model is and how to get in: an address, a key that no log can show, and how long to wait.

use std::time::Duration;
use thiserror::Error;

/// A key. It has no `Debug`, `Display` or `Serialize`, so that no message can hold it by accident.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key, without the white space around it.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for the header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the key and without anything else that looks like one.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        let without = match self.0.len() {
            0 => text.to_owned(),
            1..SHORT => whole_words(text, &self.0),
            _ => text.replace(&self.0, HIDDEN),
        };
        mala_domain::secrets::redact(&without).into_owned()
    }
}

const HIDDEN: &str = "[redacted:key]";

/// A shorter key is a placeholder for a server that takes any; letters of other words are not it.
const SHORT: usize = 8;

/// `text` with the key hidden where it is no part of another word.
fn whole_words(text: &str, key: &str) -> String {
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

/// A provider's address, and what is to be known of it.
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) base: String,
    pub(crate) key: Option<Secret>,
    pub(crate) timings: Timings,
    /// Whether a form of the answer is asked for in the provider's own way.
    pub(crate) enforce_form: bool,
    /// Where the key is from, for whoever has to look after it.
    pub(crate) key_origin: Option<String>,
}

/// An address that no request can be sent to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// It is no address.
    #[error("'{0}' is not an http or https address")]
    NotHttp(String),
    /// It holds a name and a password, which would end up in messages.
    #[error("the address holds a user name or a password")]
    Credentials,
}

impl Endpoint {
    /// An endpoint at this address, such as `https://api.anthropic.com`.
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
        Ok(Self { base, key, timings: Timings::default(), enforce_form: true, key_origin: None })
    }

    /// Says where the key is from, such as the name of a variable.
    #[must_use]
    pub fn key_from(mut self, origin: impl Into<String>) -> Self {
        self.key_origin = Some(origin.into());
        self
    }

    /// Waits as long as this.
    #[must_use]
    pub fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// Tells the model the form of the answer in words, and does not ask its provider to enforce it.
    #[must_use]
    pub fn form_in_words(mut self) -> Self {
        self.enforce_form = false;
        self
    }

    /// The address with `path` behind it. A base that ends in the path's first part, such as `/v1`,
    /// does not get it twice: people write both.
    pub(crate) fn url(&self, path: &str) -> String {
        let version = path.split('/').nth(1).unwrap_or_default();
        match self.base.strip_suffix(version).and_then(|base| base.strip_suffix('/')) {
            Some(base) if !version.is_empty() => format!("{base}{path}"),
            _ => format!("{}{path}", self.base),
        }
    }
}

/// How long to wait for what, and how often to try.
#[derive(Debug, Clone, Copy)]
pub struct Timings {
    /// For a connection.
    pub connect: Duration,
    /// For the first byte of an answer. Models on one's own machine read long before they write.
    pub first_byte: Duration,
    /// For each further byte.
    pub idle: Duration,
    /// Before the second try, when the provider does not say.
    pub first_wait: Duration,
    /// Between two tries at most, when the provider does not say.
    pub longest_wait: Duration,
    /// Requests in all.
    pub max_attempts: u32,
}

impl Default for Timings {
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
    fn addresses_that_cannot_be_meant_are_refused() {
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
        assert_eq!(key.hidden_in("bad key my-very-own-key!"), "bad key [redacted:key]!");
        assert_eq!(Secret::new("").hidden_in("fine"), "fine");
        let short = Secret::new("k");
        assert_eq!(
            short.hidden_in("tokens: k, 'k' kk"),
            "tokens: [redacted:key], '[redacted:key]' kk"
        );
    }
}
