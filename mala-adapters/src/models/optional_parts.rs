//! Parts of a request that some servers reject. A rejected part is omitted from later requests.

use mala_domain::conversation::{AnswerFormat, ChatRequest};
use std::sync::atomic::{AtomicU8, Ordering};

/// A part of a request that can be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionalPart {
    /// The schema that the provider enforces.
    Form,
    /// Usage at the end of a stream.
    StreamedUsage,
    /// A key for the provider's cache.
    CacheKey,
    /// Reasoning that can be sent back.
    Reasoning,
    /// The newer name of the output token limit.
    NewLimitName,
}

impl OptionalPart {
    const ALL: [Self; 5] =
        [Self::Form, Self::StreamedUsage, Self::CacheKey, Self::Reasoning, Self::NewLimitName];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The names that servers use when they reject it.
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

/// The parts that a server has rejected.
#[derive(Debug, Default)]
pub(crate) struct RefusedParts(AtomicU8);

impl RefusedParts {
    /// The parts that may be sent.
    pub(crate) fn allowed(&self) -> AllowedParts {
        AllowedParts(!self.0.load(Ordering::Relaxed))
    }

    /// Records a rejected part.
    pub(crate) fn remember(&self, part: OptionalPart) {
        self.0.fetch_or(part.bit(), Ordering::Relaxed);
    }
}

/// The parts of a request that may be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllowedParts(u8);

impl AllowedParts {
    /// All parts.
    #[cfg(test)]
    pub(crate) const ALL: Self = Self(u8::MAX);

    /// Whether this part may be sent.
    pub(crate) fn has(self, part: OptionalPart) -> bool {
        self.0 & part.bit() != 0
    }

    /// These parts without one.
    pub(crate) fn without(self, part: OptionalPart) -> Self {
        Self(self.0 & !part.bit())
    }

    /// The name and schema that the provider enforces.
    pub(crate) fn form(self, ask: &ChatRequest) -> Option<(&str, &serde_json::Value)> {
        match &ask.form {
            AnswerFormat::Json { name, schema } if self.has(OptionalPart::Form) => {
                Some((name, schema))
            }
            _ => None,
        }
    }

    /// The part of `sent` that an error message names.
    pub(crate) fn named_by(self, words: &str, sent: &[OptionalPart]) -> Option<OptionalPart> {
        let words = words.to_ascii_lowercase();
        OptionalPart::ALL
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
        let refused = RefusedParts::default();
        let sent = [OptionalPart::Form, OptionalPart::StreamedUsage];
        let words = "Unsupported parameter: 'stream_options'";
        assert_eq!(refused.allowed().named_by(words, &sent), Some(OptionalPart::StreamedUsage));
        refused.remember(OptionalPart::StreamedUsage);
        assert!(!refused.allowed().has(OptionalPart::StreamedUsage));
        assert!(refused.allowed().has(OptionalPart::Form));
        assert_eq!(refused.allowed().named_by(words, &sent), None, "the part was not sent");
        assert_eq!(refused.allowed().named_by("bad model", &sent), None);
        let reasons = [OptionalPart::Reasoning];
        for (words, found) in [
            (r#"{"message": "Unknown parameter: 'include'."}"#, Some(OptionalPart::Reasoning)),
            (r#"{"message": "extra", "param": "include"}"#, Some(OptionalPart::Reasoning)),
            ("messages must include a user turn", None),
        ] {
            assert_eq!(AllowedParts::ALL.named_by(words, &reasons), found, "{words}");
        }
    }
}
