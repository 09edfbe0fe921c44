//! The environment variables that every lane gets: those that programs need to start, and the locale. None of
//! them names files or settings of the user; the table of lanes lists further ones.

use crate::process::ProcessEnvironment;

/// The search path, version managers, the user, the locale and certificates.
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

/// These variables, and variables that turn off colours and prompts.
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
