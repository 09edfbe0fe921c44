//! The run time must be linear. The limits are generous: they detect a quadratic search, which
//! would take minutes, even on a busy machine and in an unoptimized build.

use super::forge::forge;
use crate::secrets::{redact, scan};
use std::time::{Duration, Instant};

fn assert_fast(name: &str, text: &str) {
    let start = Instant::now();
    scan("src/a.js", text);
    redact(text);
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(10), "{name}: {} bytes took {taken:?}", text.len());
}

#[test]
fn no_text_is_slow() {
    let size = 400_000;
    let fill = |unit: &str| unit.repeat(size / unit.len());
    for unit in [
        "A",
        "eyJ",
        "eyJ.",
        "token=",
        "token=\"",
        "://a:b",
        "password='",
        "sk-",
        "xoxb-1-",
        "cookie: a=",
        "server=a;",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
        "\"kty\":\"RSA\"",
        "kind: secret\n",
        "{{{{",
        "    ",
        "é",
        "bot discord login ",
        "sv=2020-01-01&",
        "[redacted:",
        "[redacted:a]",
        "\"private_key\": \"",
        "bearer aaaaaaaaaaaaaaaaaaaaaaaa.",
        "+ASt",
        "Q~",
    ] {
        assert_fast(unit, &fill(unit));
    }
}

#[test]
fn many_secrets_on_one_line_are_not_slow() {
    let text =
        forge("key='AKIA«u16»' token=\"«a40»\" https://u:«a20»@h.io glpat-«w20»;").repeat(6000);
    assert_fast("secrets", &text);
}
