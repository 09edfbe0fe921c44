//! A model server on loopback, for tests. It implements Anthropic Messages, OpenAI Responses, Chat
//! Completions and Gemini with streaming. Its answers are scripted, and it can fail in many ways.
//! It stores every request and counts prompts that start like earlier ones.
//!
//! ```ignore
//! let server = ModelServer::new(|request| match request.number {
//!     0 => ModelAnswer::call("read_file", json!({"path": "a.rs"})).into(),
//!     _ => ModelAnswer::text(r#"{"findings": []}"#).into(),
//! });
//! world.with_env("ANTHROPIC_BASE_URL", server.url()).with_env("ANTHROPIC_API_KEY", "test-key");
//! ```

mod cache;
mod connection;
mod request;
mod script;
mod stream;

pub use cache::CacheCount;
pub use request::{ModelRequest, RequestTurn, WireProtocol};
pub use script::{AnswerCall, AnswerEnd, AnswerUsage, ModelAnswer, ServerFault, ServerStep};

use crate::loopback::LoopbackServer;
use cache::Cache;
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The server. It stops when it is dropped.
pub struct ModelServer {
    server: LoopbackServer,
    shared: Arc<Shared>,
}

type ServerScript = dyn Fn(&ModelRequest) -> ServerStep + Send + Sync;

/// The state that all connections share.
struct Shared {
    script: Box<ServerScript>,
    requests: Mutex<Vec<ModelRequest>>,
    cache: Mutex<Cache>,
    is_over: Arc<AtomicBool>,
}

impl ModelServer {
    /// A server that answers each request according to the script.
    pub fn new(script: impl Fn(&ModelRequest) -> ServerStep + Send + Sync + 'static) -> Self {
        let mut kept = None;
        let server = LoopbackServer::start(|_, is_over| {
            let shared = Arc::new(Shared {
                script: Box::new(script),
                requests: Mutex::default(),
                cache: Mutex::default(),
                is_over,
            });
            kept = Some(Arc::clone(&shared));
            move |connection: &TcpStream| connection::serve(connection, &shared)
        });
        Self { server, shared: kept.unwrap() }
    }

    /// A server that follows these steps in order. A request after the last one gets a 400, which
    /// no client retries.
    pub fn steps(steps: impl IntoIterator<Item = ServerStep>) -> Self {
        let steps: Vec<ServerStep> = steps.into_iter().collect();
        Self::new(move |request| match steps.get(request.number) {
            Some(step) => step.clone(),
            None => ServerFault::Status(400, Vec::new(), "the script is over".to_owned()).into(),
        })
    }

    /// A server that always does the same.
    pub fn always(step: impl Into<ServerStep>) -> Self {
        let step = step.into();
        Self::new(move |_| step.clone())
    }

    /// Its URL, without a version: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The number of requests so far.
    pub fn n_requests(&self) -> usize {
        self.shared.requests.lock().unwrap().len()
    }

    /// How much of all prompts was cached.
    pub fn cache_count(&self) -> CacheCount {
        self.shared.cache.lock().unwrap().count()
    }
}
