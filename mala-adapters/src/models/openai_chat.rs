//! OpenAI's Chat Completions API, which most other servers speak too: Ollama, vLLM, llama.cpp,
//! OpenRouter. They differ in what they leave out and what they refuse.

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

const NAME: &str = "openai-chat";

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// OpenAI's own.
    OpenAi,
    /// One that is like it.
    Compatible,
}

/// The models at this endpoint.
pub fn model(server: Server, endpoint: Endpoint, http: Http) -> impl LanguageModel {
    Remote::new(Chat { server }, endpoint, http)
}

pub(super) struct Chat {
    pub(super) server: Server,
}

impl Protocol for Chat {
    fn url(&self, endpoint: &Endpoint, _: &Ask) -> String {
        endpoint.url("/v1/chat/completions")
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", key.expose()))
    }

    fn optional(&self, ask: &Ask) -> Vec<Optional> {
        let mut parts = vec![Optional::StreamedUsage];
        if matches!(ask.form, Form::Json { .. }) {
            parts.push(Optional::Form);
        }
        if self.server == Server::OpenAi {
            parts.extend([Optional::CacheKey, Optional::NewLimitName]);
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
