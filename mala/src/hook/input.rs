//! What the host writes on stdin: so much of it, and only for so long.

use mala_domain::hook::Stop;
use std::io::{self, Read};
use std::sync::mpsc;
use std::time::Duration;

/// A host tells the last message of its agent too, which may be long.
const MAX_BYTES: u64 = 16 << 20;

/// A host writes at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the host says, and what is wrong with it.
pub(super) fn read() -> (Stop, Option<String>) {
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut bytes = Vec::new();
        let read = stdin.by_ref().take(MAX_BYTES).read_to_end(&mut bytes).map(|_| bytes);
        sender.send(read).unwrap_or_default();
        // A host that still writes is not made to wait.
        io::copy(&mut stdin, &mut io::sink()).unwrap_or_default();
    });
    let read = match reader {
        Ok(_) => receiver.recv_timeout(PATIENCE).map_err(|_| "stdin stays open".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    match read {
        Ok(Ok(bytes)) => Stop::read(&bytes),
        Ok(Err(error)) => (Stop::default(), Some(error.to_string())),
        Err(why) => (Stop::default(), Some(why)),
    }
}
