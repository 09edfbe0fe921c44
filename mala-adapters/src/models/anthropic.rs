//! Anthropic's Messages API.

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
pub const BASE_URL: &str = "https://api.anthropic.com";

const NAME: &str = "anthropic";

/// The models at this endpoint.
pub fn model(endpoint: Endpoint, http: Http) -> impl LanguageModel {
    Remote::new(Messages, endpoint, http)
}

pub(super) struct Messages;

impl Protocol for Messages {
    fn url(&self, endpoint: &Endpoint, _: &Ask) -> String {
        endpoint.url("/v1/messages")
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        ("x-api-key", key.expose().to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn optional(&self, ask: &Ask) -> Vec<Optional> {
        match ask.form {
            Form::Json { .. } => vec![Optional::Form],
            Form::Text => Vec::new(),
        }
    }

    fn body(&self, ask: &Ask, allowed: Allowed) -> Value {
        question::body(ask, allowed)
    }

    fn listener(&self) -> Box<dyn Listener + Send> {
        Box::new(answer::Answer::default())
    }
}
