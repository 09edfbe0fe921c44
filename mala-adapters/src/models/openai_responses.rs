//! OpenAI's Responses API. Nothing is stored at the provider: each call sends all that was said.

mod answer;
mod question;

pub(crate) use question::cache_key;

use super::endpoint::{Endpoint, Secret};
use super::http::Http;
use super::optional::{Allowed, Optional};
use super::protocol::{Listener, Protocol};
use super::remote::Remote;
use mala_domain::conversation::{Ask, Form};
use mala_domain::ports::LanguageModel;
use serde_json::Value;

/// Where it is unless somebody says otherwise.
pub const BASE_URL: &str = "https://api.openai.com/v1";

const NAME: &str = "openai-responses";

/// The models at this endpoint.
pub fn model(endpoint: Endpoint, http: Http) -> impl LanguageModel {
    Remote::new(Responses, endpoint, http)
}

pub(super) struct Responses;

impl Protocol for Responses {
    fn url(&self, endpoint: &Endpoint, _: &Ask) -> String {
        endpoint.url("/v1/responses")
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", key.expose()))
    }

    fn optional(&self, ask: &Ask) -> Vec<Optional> {
        let mut parts = vec![Optional::CacheKey];
        if matches!(ask.form, Form::Json { .. }) {
            parts.push(Optional::Form);
        }
        // Models that do not reason refuse to give their reasoning.
        if !ask.model.starts_with("gpt-4") && !ask.model.starts_with("gpt-3") {
            parts.push(Optional::Reasoning);
        }
        parts
    }

    fn body(&self, ask: &Ask, allowed: Allowed) -> Value {
        question::body(ask, allowed)
    }

    fn listener(&self) -> Box<dyn Listener + Send> {
        Box::new(answer::Answer::default())
    }
}
