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

use cache::Cache;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The server. It stops when it is dropped.
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

type ServerScript = dyn Fn(&ModelRequest) -> ServerStep + Send + Sync;

/// The state that all connections share.
struct Shared {
    script: Box<ServerScript>,
    requests: Mutex<Vec<ModelRequest>>,
    cache: Mutex<Cache>,
    connections: Mutex<Vec<TcpStream>>,
    is_over: AtomicBool,
}

impl ModelServer {
    /// A server that answers each request according to the script.
    pub fn new(script: impl Fn(&ModelRequest) -> ServerStep + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            requests: Mutex::default(),
            cache: Mutex::default(),
            connections: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || accept(&listener, &theirs));
        Self { port, shared, acceptor: Some(acceptor) }
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
        format!("http://127.0.0.1:{}", self.port)
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

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // This connection wakes the accepting thread, which sees that the server stops.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap_or_default();
        }
        for connection in self.shared.connections.lock().unwrap().drain(..) {
            connection.shutdown(Shutdown::Both).unwrap_or_default();
        }
    }
}

/// Accepts connections until the server stops. Each has a thread of its own.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for connection in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(connection) = connection else { continue };
        connection.set_nodelay(true).unwrap_or_default();
        if let Ok(copy) = connection.try_clone() {
            shared.connections.lock().unwrap().push(copy);
        }
        let shared = Arc::clone(shared);
        std::thread::Builder::new()
            .stack_size(512 << 10)
            .spawn(move || connection::serve(&connection, &shared))
            .unwrap();
    }
}
