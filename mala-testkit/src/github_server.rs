//! A stateful GitHub on loopback, for tests. It serves pull requests of a real repository over REST, with
//! pages, ETags, comments, reviews and threads, and the repository itself over git's HTTP protocol. It
//! can fail in scripted ways, and it stores every request.

mod api;
mod http;
mod repository;

pub use api::{GitHubComment, GitHubThreadComment};
pub use http::{GitHubFault, GitHubRequest};

use api::GitHubState;
use repository::ServedRepository;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The login of the token.
pub const VIEWER: &str = "mala-bot";

/// The server. It stops when it is dropped.
pub struct GitHubServer {
    port: u16,
    shared: Arc<GitHubShared>,
    acceptor: Option<JoinHandle<()>>,
}

type FaultScript = dyn Fn(&GitHubRequest) -> Option<GitHubFault> + Send + Sync;

/// The state that all connections share.
struct GitHubShared {
    state: Mutex<GitHubState>,
    requests: Mutex<Vec<GitHubRequest>>,
    fault: Mutex<Option<Box<FaultScript>>>,
    connections: Mutex<Vec<TcpStream>>,
    is_over: AtomicBool,
}

impl GitHubServer {
    /// A server for the repository `o/r`, which is in this folder. Pull request 7 goes from the branch
    /// `topic` to `main`.
    pub fn new(repository: &Path) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(GitHubShared {
            state: Mutex::new(GitHubState::new(ServedRepository::new(repository), port)),
            requests: Mutex::default(),
            fault: Mutex::default(),
            connections: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || accept(&listener, &theirs));
        Self { port, shared, acceptor: Some(acceptor) }
    }

    /// The URL of the API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Decides for each request whether it fails.
    pub fn fail(
        &self,
        script: impl Fn(&GitHubRequest) -> Option<GitHubFault> + Send + Sync + 'static,
    ) {
        *self.shared.fault.lock().unwrap() = Some(Box::new(script));
    }

    /// Ends all failures.
    pub fn heal(&self) {
        *self.shared.fault.lock().unwrap() = None;
    }

    /// Takes all requests so far, in order.
    pub fn take_requests(&self) -> Vec<GitHubRequest> {
        std::mem::take(&mut *self.shared.requests.lock().unwrap())
    }

    /// The comments on the pull request.
    pub fn comments(&self) -> Vec<GitHubComment> {
        self.shared.state.lock().unwrap().comments.clone()
    }

    /// The comments on lines.
    pub fn inline_comments(&self) -> Vec<GitHubThreadComment> {
        self.shared.state.lock().unwrap().inline.clone()
    }

    /// The first comments of resolved threads.
    pub fn resolved(&self) -> Vec<u64> {
        self.shared.state.lock().unwrap().resolved.keys().copied().collect()
    }

    /// The check runs.
    pub fn checks(&self) -> Vec<serde_json::Value> {
        self.shared.state.lock().unwrap().checks.clone()
    }

    /// Adds a comment of another user.
    pub fn add_comment(&self, login: &str, body: &str) {
        self.shared.state.lock().unwrap().add_comment(login, body);
    }

    /// Adds a reply of another user to a comment on lines.
    pub fn add_reply(&self, to: u64, login: &str, body: &str) {
        self.shared.state.lock().unwrap().add_reply(to, login, body);
    }

    /// Resolves the thread of a comment on lines, as another user.
    pub fn resolve(&self, first: u64, login: &str) {
        self.shared.state.lock().unwrap().resolved.insert(first, login.to_owned());
    }

    /// Opens a thread again.
    pub fn unresolve(&self, first: u64) {
        self.shared.state.lock().unwrap().resolved.remove(&first);
    }

    /// Whether the branch of the pull request is in a fork.
    pub fn set_fork(&self, is_fork: bool) {
        self.shared.state.lock().unwrap().is_fork = is_fork;
    }

    /// Gives a user write access.
    pub fn allow_writes(&self, login: &str) {
        self.shared.state.lock().unwrap().writers.insert(login.to_owned());
    }

    /// Sets title and description.
    pub fn describe(&self, title: &str, body: &str) {
        let mut state = self.shared.state.lock().unwrap();
        (state.title, state.body) = (title.to_owned(), body.to_owned());
    }
}

impl Drop for GitHubServer {
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
fn accept(listener: &TcpListener, shared: &Arc<GitHubShared>) {
    for connection in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(connection) = connection else { continue };
        if let Ok(copy) = connection.try_clone() {
            shared.connections.lock().unwrap().push(copy);
        }
        let shared = Arc::clone(shared);
        std::thread::spawn(move || http::serve(&connection, &shared));
    }
}
