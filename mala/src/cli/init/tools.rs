//! Which linters a project is set up for, by the files that it has.

use crate::wiring::probe::Probe;
use mala_adapters::linters;
use mala_domain::config::LinterName;
use std::fs;
use std::path::Path;

/// The linters that the project is set up for, or that look at files which it has.
pub(super) fn set_up(root: &Path) -> Vec<LinterName> {
    let has = |name: &str| root.join(name).exists();
    let text = |name: &str| fs::read_to_string(root.join(name)).ok();
    let is_script = |path: &Path| path.extension().is_some_and(|end| end == "sh");
    let scripts = || {
        fs::read_dir(root)
            .is_ok_and(|entries| entries.flatten().any(|entry| is_script(&entry.path())))
    };
    let has_files = |linter: LinterName| match linter {
        LinterName::Shellcheck => scripts(),
        LinterName::Hadolint => has("Dockerfile"),
        LinterName::Actionlint => has(".github/workflows"),
        _ => false,
    };
    LinterName::ALL
        .into_iter()
        .filter(|linter| has_files(*linter) || linters::is_set_up(*linter, &has, &text))
        .collect()
}

/// Whether it is on the path.
pub(super) fn is_installed(linter: LinterName, probe: &Probe) -> bool {
    probe.find(linters::program(linter)).is_some()
}
