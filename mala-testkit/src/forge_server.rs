//! What the forges on loopback share: plain HTTP with pages, ETags and scripted failures, a list of all requests, and
//! a real repository over git's HTTP protocol.

mod http;
mod repository;

pub use http::{ForgeFault, ForgeRequest};
pub(crate) use repository::ServedRepository;

use crate::loopback::LoopbackServer;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard};

/// The API of a forge.
pub trait ForgeApi: Send + 'static {
    /// The answer to a request.
    fn answer(&mut self, request: &ForgeRequest) -> ApiAnswer;

    /// The folder of the served repository.
    fn folder(&self) -> std::path::PathBuf;

    /// How it sends lists.
    const PAGES: PageStyle;
}

/// How a forge sends the pages of a list.
pub struct PageStyle {
    /// The most items of a page.
    pub max_items: usize,
    /// The header that says that another page follows, with a value for the page after this one.
    pub next: fn(usize) -> (&'static str, String),
}

/// An answer; a null body is empty.
pub struct ApiAnswer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Value,
    /// Where the resource is, when it is elsewhere.
    pub location: Option<String>,
}

pub(crate) fn answer(status: u16, body: Value) -> ApiAnswer {
    ApiAnswer { status, body, location: None }
}

/// A forge. It stops when it is dropped.
pub struct ForgeServer<A> {
    server: LoopbackServer,
    shared: Arc<ForgeShared<A>>,
}

type FaultScript = dyn Fn(&ForgeRequest) -> Option<ForgeFault> + Send + Sync;

/// The state that all connections share.
struct ForgeShared<A> {
    api: Mutex<A>,
    requests: Mutex<Vec<ForgeRequest>>,
    fault: Mutex<Option<Arc<FaultScript>>>,
}

impl<A: ForgeApi> ForgeServer<A> {
    /// Serves the API that is made for the port.
    pub(crate) fn start(api: impl FnOnce(u16) -> A) -> Self {
        let mut kept = None;
        let server = LoopbackServer::start(|port, _| {
            let (api, requests, fault) =
                (Mutex::new(api(port)), Mutex::default(), Mutex::default());
            let shared = Arc::new(ForgeShared { api, requests, fault });
            kept = Some(Arc::clone(&shared));
            move |connection: &std::net::TcpStream| http::serve(connection, &shared)
        });
        Self { server, shared: kept.unwrap() }
    }

    /// Its URL, without a path.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Decides for each request whether it fails. The script may start other clients.
    pub fn fail(
        &self,
        script: impl Fn(&ForgeRequest) -> Option<ForgeFault> + Send + Sync + 'static,
    ) {
        *self.shared.fault.lock().unwrap() = Some(Arc::new(script));
    }

    /// Ends all failures.
    pub fn heal(&self) {
        *self.shared.fault.lock().unwrap() = None;
    }

    /// Takes all requests so far, in order.
    pub fn take_requests(&self) -> Vec<ForgeRequest> {
        std::mem::take(&mut *self.shared.requests.lock().unwrap())
    }

    pub(crate) fn api(&self) -> MutexGuard<'_, A> {
        self.shared.api.lock().unwrap()
    }
}
