//! What every lane sees of the user's variables: what a program needs to start and to speak the user's
//! language. Nothing leads to the user's own files and settings; a lane's table names what it needs beside
//! that.

use crate::process::ProcessEnvironment;

/// Where programs are, also behind those that choose between their versions; who and where the user is;
/// whom to trust in the network.
const KEPT: &[&str] = &[
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "MISE_DATA_DIR",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
    "USER",
    "VOLTA_HOME",
];

/// These variables, and what keeps programs quiet.
pub(super) fn plain(variables: &ProcessEnvironment) -> ProcessEnvironment {
    let all = variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    let mut environment = ProcessEnvironment::default()
        .with("GIT_OPTIONAL_LOCKS", "0")
        .with("GIT_TERMINAL_PROMPT", "0")
        .with("NO_COLOR", "1")
        .with("TERM", "dumb");
    for (name, value) in ProcessEnvironment::filtered(all).iter() {
        let is_kept = name.to_str().is_some_and(|it| KEPT.contains(&it) || it.starts_with("LC_"));
        if is_kept {
            environment = environment.with(name, value);
        }
    }
    environment
}
