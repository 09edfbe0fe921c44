//! Which linters a project is set up for, by the files that it has.

use crate::wiring::probe::Probe;
use mala_domain::config::LinterName;
use std::fs;
use std::path::Path;

/// For each linter, the files that show that the project uses it.
const SIGNS: [(LinterName, &[&str]); 9] = [
    (LinterName::Ruff, &["ruff.toml", ".ruff.toml"]),
    (
        LinterName::Eslint,
        &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            "eslint.config.ts",
            ".eslintrc",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc.yml",
            ".eslintrc.yaml",
        ],
    ),
    (LinterName::Biome, &["biome.json", "biome.jsonc"]),
    (LinterName::Oxlint, &[".oxlintrc.json", "oxlintrc.json"]),
    (LinterName::Tsc, &["tsconfig.json"]),
    (LinterName::Clippy, &["Cargo.toml"]),
    (
        LinterName::GolangciLint,
        &[".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"],
    ),
    (LinterName::Semgrep, &[".semgrep.yml", ".semgrep.yaml", ".semgrep"]),
    (LinterName::Hadolint, &["Dockerfile", ".hadolint.yaml"]),
];

/// The linters that the project is set up for.
pub(super) fn set_up(root: &Path) -> Vec<LinterName> {
    let has = |name: &str| root.join(name).exists();
    let in_pyproject = fs::read_to_string(root.join("pyproject.toml"))
        .is_ok_and(|text| text.contains("[tool.ruff"));
    let is_script = |path: &Path| path.extension().is_some_and(|end| end == "sh");
    let scripts = fs::read_dir(root)
        .is_ok_and(|entries| entries.flatten().any(|entry| is_script(&entry.path())));
    LinterName::ALL
        .into_iter()
        .filter(|linter| {
            let signs = SIGNS.iter().find(|(name, _)| name == linter);
            match linter {
                LinterName::Ruff if in_pyproject => true,
                LinterName::Shellcheck => scripts,
                LinterName::Actionlint => has(".github/workflows"),
                _ => signs.is_some_and(|(_, files)| files.iter().any(|name| has(name))),
            }
        })
        .collect()
}

/// The program behind a linter.
pub(in crate::cli) fn program(linter: LinterName) -> &'static str {
    match linter {
        LinterName::Clippy => "cargo-clippy",
        other => other.name(),
    }
}

/// Whether it is on the path.
pub(super) fn is_installed(linter: LinterName, probe: &Probe) -> bool {
    probe.find(program(linter)).is_some()
}
