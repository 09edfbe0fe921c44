//! Data on stdout, talk on stderr. A reader that goes away (`mala ... | head`) is no error: the
//! command goes on, and its exit code stays its own.

pub use mala_domain::report::counted;

use std::io::{self, Write};

/// Writes data to stdout; colours are dropped when it is not a terminal.
pub fn data(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    forgive_gone_reader(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Writes bytes to stdout as they are.
pub fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    forgive_gone_reader(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Says something to the person, as a line on stderr. There is no one to tell when that fails.
pub fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    writeln!(stderr, "{text}").and_then(|()| stderr.flush()).unwrap_or_default();
}

/// Text from a file or a branch, for a terminal: control characters are escaped, and lines and tabs
/// stay.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

fn forgive_gone_reader(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("writing to stdout: {error}"))),
        Ok(()) => Ok(()),
    }
}
