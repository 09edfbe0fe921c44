//! Google's Gemini API.

mod answer;
mod question;

use super::endpoint::{Endpoint, Secret};
use super::http::Http;
use super::optional::{Allowed, Optional};
use super::protocol::{Listener, Protocol};
use super::remote::Remote;
use mala_domain::conversation::{Ask, Form};
use mala_domain::ports::LanguageModel;
use serde_json::Value;

/// Where it is unless somebody says otherwise.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com";

const NAME: &str = "gemini";

/// The models at this endpoint.
pub fn model(endpoint: Endpoint, http: Http) -> impl LanguageModel {
    Remote::new(Gemini, endpoint, http)
}

pub(super) struct Gemini;

impl Protocol for Gemini {
    fn url(&self, endpoint: &Endpoint, ask: &Ask) -> String {
        let model = ask.model.strip_prefix("models/").unwrap_or(&ask.model);
        // The name is a part of the path, so it must not be able to leave it.
        let model: String = model
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .collect();
        endpoint.url(&format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"))
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        ("x-goog-api-key", key.expose().to_owned())
    }

    /// The models before the third generation take either tools or a form.
    fn optional(&self, ask: &Ask) -> Vec<Optional> {
        let takes_both = !["gemini-1", "gemini-2"].iter().any(|old| ask.model.contains(old));
        match ask.form {
            Form::Json { .. } if ask.tools.is_empty() || takes_both => vec![Optional::Form],
            _ => Vec::new(),
        }
    }

    fn body(&self, ask: &Ask, allowed: Allowed) -> Value {
        question::body(ask, allowed)
    }

    fn listener(&self) -> Box<dyn Listener + Send> {
        Box::new(answer::Answer::default())
    }
}
