//! Parts of a request that some servers refuse. One that was refused is left out from then on.

use mala_domain::conversation::{Ask, Form};
use std::sync::atomic::{AtomicU8, Ordering};

/// A part of a request that an answer can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Optional {
    /// The form of the answer, to be enforced.
    Form,
    /// Usage at the end of a stream.
    StreamedUsage,
    /// A hint for the provider's cache.
    CacheKey,
    /// Reasoning that can be sent back.
    Reasoning,
    /// The newer name of the limit of output tokens.
    NewLimitName,
}

impl Optional {
    const ALL: [Self; 5] =
        [Self::Form, Self::StreamedUsage, Self::CacheKey, Self::Reasoning, Self::NewLimitName];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// How servers call it when they refuse it.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Form => &[
                "response_format",
                "json_schema",
                "json schema",
                "text.format",
                "output_config",
                "responsejsonschema",
                "response_json_schema",
                "response mime type",
                "response_mime_type",
                "responsemimetype",
            ],
            Self::StreamedUsage => &["stream_options", "include_usage"],
            Self::CacheKey => &["prompt_cache_key"],
            Self::Reasoning => {
                &["encrypted content", "encrypted_content", "'include'", "`include`", "\"include\""]
            }
            Self::NewLimitName => &["max_completion_tokens"],
        }
    }
}

/// What a server refused so far.
#[derive(Debug, Default)]
pub(crate) struct Refused(AtomicU8);

impl Refused {
    /// What may be sent.
    pub(crate) fn allowed(&self) -> Allowed {
        Allowed(!self.0.load(Ordering::Relaxed))
    }

    /// Remembers a part that was refused.
    pub(crate) fn remember(&self, part: Optional) {
        self.0.fetch_or(part.bit(), Ordering::Relaxed);
    }
}

/// What may be sent to a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed(u8);

impl Allowed {
    /// Everything.
    #[cfg(test)]
    pub(crate) const ALL: Self = Self(u8::MAX);

    /// Whether this part may be sent.
    pub(crate) fn has(self, part: Optional) -> bool {
        self.0 & part.bit() != 0
    }

    /// The same without a part.
    pub(crate) fn without(self, part: Optional) -> Self {
        Self(self.0 & !part.bit())
    }

    /// The name and schema of the form that the provider is to enforce.
    pub(crate) fn form(self, ask: &Ask) -> Option<(&str, &serde_json::Value)> {
        match &ask.form {
            Form::Json { name, schema } if self.has(Optional::Form) => Some((name, schema)),
            _ => None,
        }
    }

    /// The part of `sent` that the words of a refusal name.
    pub(crate) fn named_in(self, words: &str, sent: &[Optional]) -> Option<Optional> {
        let words = words.to_ascii_lowercase();
        Optional::ALL
            .into_iter()
            .filter(|part| self.has(*part) && sent.contains(part))
            .find(|part| part.names().iter().any(|name| words.contains(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_part_is_left_out_from_then_on() {
        let refused = Refused::default();
        let sent = [Optional::Form, Optional::StreamedUsage];
        let words = "Unsupported parameter: 'stream_options'";
        assert_eq!(refused.allowed().named_in(words, &sent), Some(Optional::StreamedUsage));
        refused.remember(Optional::StreamedUsage);
        assert!(!refused.allowed().has(Optional::StreamedUsage));
        assert!(refused.allowed().has(Optional::Form));
        assert_eq!(refused.allowed().named_in(words, &sent), None, "it was not sent any more");
        assert_eq!(refused.allowed().named_in("bad model", &sent), None);
        let reasons = [Optional::Reasoning];
        for (words, found) in [
            (r#"{"message": "Unknown parameter: 'include'."}"#, Some(Optional::Reasoning)),
            (r#"{"message": "extra", "param": "include"}"#, Some(Optional::Reasoning)),
            ("messages must include a user turn", None),
        ] {
            assert_eq!(Allowed::ALL.named_in(words, &reasons), found, "{words}");
        }
    }
}
