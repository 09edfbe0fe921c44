//! The loop of a server on loopback: it accepts connections, each with a thread of its own, until it is dropped.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A server. It stops when it is dropped.
pub(crate) struct LoopbackServer {
    port: u16,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    is_over: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl LoopbackServer {
    /// Serves each connection with the function that `service` returns for the port and for whether the server
    /// stops.
    pub(crate) fn start<S>(service: impl FnOnce(u16, Arc<AtomicBool>) -> S) -> Self
    where
        S: Fn(&TcpStream) + Send + Sync + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_over = Arc::new(AtomicBool::new(false));
        let connections: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let serve = Arc::new(service(port, Arc::clone(&is_over)));
        let (theirs, stops) = (Arc::clone(&connections), Arc::clone(&is_over));
        let acceptor = std::thread::spawn(move || {
            for connection in listener.incoming() {
                if stops.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(connection) = connection else { continue };
                connection.set_nodelay(true).unwrap_or_default();
                if let Ok(copy) = connection.try_clone() {
                    theirs.lock().unwrap().push(copy);
                }
                let serve = Arc::clone(&serve);
                let thread = std::thread::Builder::new().stack_size(1 << 20);
                thread.spawn(move || serve(&connection)).unwrap();
            }
        });
        Self { port, connections, is_over, acceptor: Some(acceptor) }
    }

    /// Its URL, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // This connection wakes the accepting thread, which sees that the server stops.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap_or_default();
        }
        for connection in self.connections.lock().unwrap().drain(..) {
            connection.shutdown(Shutdown::Both).unwrap_or_default();
        }
    }
}
