//! Data on stdout, messages and logs on stderr. A closed stdout (`mala ... | head`) is not an error and does
//! not change the exit code.

pub use mala_domain::report::counted;

use crate::environment::Environment;
use std::io::{self, Write};
use tracing_subscriber::EnvFilter;

/// Writes data to stdout; colors are removed when it is not a terminal.
pub fn data(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    ignore_closed_pipe(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Writes bytes to stdout as they are.
pub fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    ignore_closed_pipe(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Prints a line on stderr. Errors are ignored: there is no place to report them.
pub fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    writeln!(stderr, "{text}").and_then(|()| stderr.flush()).unwrap_or_default();
}

/// Escapes control characters, except newlines and tabs, so that untrusted text is safe to print.
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

/// A time of day for people: to the second.
pub fn to_the_second(time: &str) -> String {
    match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Err(_) => time.to_owned(),
    }
}

/// Text in which a runner of GitHub Actions recognizes no commands (`::error::` at the start of a
/// line, `##[error]` anywhere). Otherwise untrusted names and texts could turn annotations off, or
/// fake them.
pub fn without_runner_commands(text: &str) -> String {
    // Strip colors first: text after a color code is at the start of a line once colors are
    // removed.
    let text = anstream::adapter::strip_str(text).to_string();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let indented = line.len() - line.trim_start().len();
        let (indentation, rest) = line.split_at(indented);
        out.push_str(indentation);
        if rest.starts_with("::") {
            out.push('\u{200b}');
        }
        out.push_str(&rest.replace("##[", "##\u{200b}["));
    }
    out
}

fn ignore_closed_pipe(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("writing to stdout: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Starts logging to stderr at the level of `MALA_LOG`, such as `error` or `debug`. By default, nothing
/// is logged: commands report their errors themselves.
pub fn start_logging(here: &Environment) {
    let filter = here.text("MALA_LOG").and_then(|text| EnvFilter::try_new(text).ok());
    let filter = filter.unwrap_or_else(|| EnvFilter::new("off"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_target(false)
        .without_time()
        .with_ansi(false)
        .try_init();
    // A program that embeds this crate may have a logger already.
    drop(logs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_commands_of_a_runner() {
        let rows = [
            ("::stop-commands::x.py  1 finding\n", "\u{200b}::stop-commands::x.py  1 finding\n"),
            ("  ::notice::PASS", "  \u{200b}::notice::PASS"),
            ("\u{1b}[1m::error::x\u{1b}[0m\n", "\u{200b}::error::x\n"),
            ("a ##[error]b\n", "a ##\u{200b}[error]b\n"),
            ("a::b\n\n c::d\n", "a::b\n\n c::d\n"),
        ];
        for (text, expected) in rows {
            assert_eq!(without_runner_commands(text), expected, "{text}");
        }
    }
}
