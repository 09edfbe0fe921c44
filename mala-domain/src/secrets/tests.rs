//! Tests of the secret detector through its public functions.

mod forge;
mod misses;
mod properties;
mod redaction;
mod samples;
mod speed;

use super::{SecretMatch, scan};

/// The ids of the rules that report something in `text`.
fn ids(path: &str, text: &str) -> Vec<String> {
    scan(path, text).iter().map(|found: &SecretMatch<'_>| found.rule.id.clone()).collect()
}
