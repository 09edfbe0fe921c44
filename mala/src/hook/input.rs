//! Reads the JSON that a host writes to stdin, within a size and a time limit.

use mala_domain::hook::Stop;
use std::io::{self, Read};
use std::sync::mpsc;
use std::time::Duration;

/// The size limit. The JSON has the last message of the agent, which may be long.
const MAX_BYTES: u64 = 16 << 20;

/// The time limit. Hosts write at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// The input of the host, and a problem with it.
pub(super) fn read() -> (Stop, Option<String>) {
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut bytes = Vec::new();
        let read = stdin.by_ref().take(MAX_BYTES).read_to_end(&mut bytes).map(|_| bytes);
        sender.send(read).unwrap_or_default();
        // The rest is read, so that the host can finish writing.
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
