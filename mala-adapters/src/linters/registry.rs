//! The linters that mala runs: the files they accept, how a project shows that it uses them, how
//! they are called and how their output is parsed.

use super::output::{self, LintDiagnostic, LintParseError};
use mala_domain::change::FilePath;
use mala_domain::config::LinterName;

/// One linter.
pub(super) struct LinterSpec {
    pub(super) name: LinterName,
    /// The program on the path.
    pub(super) program: &'static str,
    /// Whether it accepts this file.
    pub(super) accepts: fn(&FilePath, &str) -> bool,
    /// Its configuration files, in the root or in a folder above a changed file.
    pub(super) configs: &'static [&'static str],
    /// Folders with configuration files, in the root.
    pub(super) config_folders: &'static [&'static str],
    /// Files that show its use if they contain a text.
    pub(super) mentions: &'static [(&'static str, &'static str)],
    pub(super) needs: LinterActivation,
    pub(super) reach: LinterInput,
    /// Its arguments; `{scratch}` is a temporary folder.
    pub(super) args: &'static [&'static str],
    /// The option before each configuration file, for a linter that does not find them.
    pub(super) config_option: Option<&'static str>,
    pub(super) read: fn(&str) -> Result<Vec<LintDiagnostic>, LintParseError>,
    /// The exit codes of a successful run.
    pub(super) exits: &'static [i32],
}

/// When an installed linter runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinterActivation {
    /// If the project configures it.
    Setup,
    /// If a changed file is one of its own.
    Nothing,
}

/// The files that a linter needs, and whether it runs project code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinterInput {
    /// Single files, without running project code. It can check a copy of any state.
    Files,
    /// The whole project, with its code or plugins. It runs only in the user's work tree.
    Project,
}

/// Defaults of a row.
const COMMON: LinterSpec = LinterSpec {
    name: LinterName::Ruff,
    program: "",
    accepts: |_, _| false,
    configs: &[],
    config_folders: &[],
    mentions: &[],
    needs: LinterActivation::Setup,
    reach: LinterInput::Files,
    args: &[],
    config_option: None,
    read: |_| Ok(Vec::new()),
    exits: &[0, 1],
};

pub(super) const LINTERS: [LinterSpec; 11] = [
    LinterSpec {
        name: LinterName::Ruff,
        program: "ruff",
        accepts: |path, _| ends(path, &[".py", ".pyi"]),
        configs: &["ruff.toml", ".ruff.toml"],
        mentions: &[
            ("pyproject.toml", "[tool.ruff"),
            ("pyproject.toml", "\"ruff"),
            (".pre-commit-config.yaml", "ruff"),
        ],
        args: &["check", "--output-format", "json", "--no-cache", "--no-fix", "--force-exclude"],
        read: output::ruff,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Eslint,
        program: "eslint",
        accepts: |path, _| ends(path, SCRIPTS),
        configs: &[
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
        mentions: &[("package.json", "\"eslintConfig\"")],
        reach: LinterInput::Project,
        args: &["--format", "json"],
        read: output::eslint,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Biome,
        program: "biome",
        accepts: |path, _| ends(path, SCRIPTS) || ends(path, &[".css"]),
        configs: &["biome.json", "biome.jsonc"],
        mentions: &[("package.json", "\"@biomejs/biome\"")],
        args: &[
            "lint",
            "--reporter=json",
            "--max-diagnostics=none",
            "--no-errors-on-unmatched",
            "--colors=off",
        ],
        read: output::biome,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Oxlint,
        program: "oxlint",
        accepts: |path, _| ends(path, SCRIPTS),
        configs: &[".oxlintrc.json", ".oxlintrc.jsonc"],
        mentions: &[("package.json", "\"oxlint\"")],
        args: &["--format", "json", "--no-error-on-unmatched-pattern"],
        read: output::oxlint,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Tsc,
        program: "tsc",
        accepts: |path, _| ends(path, &[".ts", ".tsx", ".mts", ".cts"]),
        configs: &["tsconfig.json"],
        reach: LinterInput::Project,
        // Incremental builds would write their state into the tree.
        args: &[
            "--noEmit",
            "--pretty",
            "false",
            "--incremental",
            "--tsBuildInfoFile",
            "{scratch}/tsbuildinfo",
            "--project",
            ".",
        ],
        read: output::tsc,
        exits: &[0, 1, 2],
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Clippy,
        program: "cargo-clippy",
        accepts: |path, _| ends(path, &[".rs"]),
        configs: &["Cargo.toml"],
        reach: LinterInput::Project,
        args: &["clippy", "--message-format=json", "--workspace", "--all-targets", "--offline"],
        read: output::clippy,
        exits: &[0, 101],
        ..COMMON
    },
    LinterSpec {
        name: LinterName::GolangciLint,
        program: "golangci-lint",
        accepts: |path, _| ends(path, &[".go"]),
        configs: &[".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"],
        reach: LinterInput::Project,
        args: &["run", "--output.json.path", "stdout", "--show-stats=false"],
        read: output::golangci_lint,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Shellcheck,
        program: "shellcheck",
        accepts: is_shell,
        configs: &[".shellcheckrc"],
        mentions: &[(".pre-commit-config.yaml", "shellcheck")],
        needs: LinterActivation::Nothing,
        args: &["--format", "json1"],
        read: output::shellcheck,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Semgrep,
        program: "semgrep",
        accepts: |_, _| true,
        configs: &[".semgrep.yml", ".semgrep.yaml"],
        config_folders: &[".semgrep"],
        args: &["scan", "--json", "--quiet", "--metrics", "off", "--disable-version-check"],
        config_option: Some("--config"),
        read: output::semgrep,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Hadolint,
        program: "hadolint",
        accepts: |path, _| is_dockerfile(path.file_name()),
        configs: &[".hadolint.yaml", ".hadolint.yml"],
        mentions: &[(".pre-commit-config.yaml", "hadolint")],
        needs: LinterActivation::Nothing,
        args: &["--format", "json"],
        read: output::hadolint,
        ..COMMON
    },
    LinterSpec {
        name: LinterName::Actionlint,
        program: "actionlint",
        accepts: |path, _| is_workflow(path),
        configs: &[".github/actionlint.yaml", ".github/actionlint.yml"],
        mentions: &[(".pre-commit-config.yaml", "actionlint")],
        needs: LinterActivation::Nothing,
        args: &["-format", "{{json .}}", "-shellcheck=", "-pyflakes="],
        config_option: Some("-config-file"),
        read: output::actionlint,
        ..COMMON
    },
];

const SCRIPTS: &[&str] = &[".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"];

fn ends(path: &FilePath, endings: &[&str]) -> bool {
    endings.iter().any(|ending| path.file_name().ends_with(ending))
}

fn is_shell(path: &FilePath, text: &str) -> bool {
    let shebang = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
    let mut words = shebang.split(|c: char| c == '/' || c.is_whitespace());
    let by_shebang = words.any(|word| matches!(word, "sh" | "bash" | "dash" | "ksh"));
    by_shebang || (shebang.is_empty() && ends(path, &[".sh", ".bash"]))
}

fn is_dockerfile(name: &str) -> bool {
    let stem = |stem: &str| {
        name.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    stem("Dockerfile") || stem("Containerfile") || name.to_lowercase().ends_with(".dockerfile")
}

fn is_workflow(path: &FilePath) -> bool {
    path.as_bytes().starts_with(b".github/workflows/") && ends(path, &[".yml", ".yaml"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linters_of(path: &str, text: &str) -> Vec<&'static str> {
        let path = FilePath::parse(path);
        let fits = LINTERS.iter().filter(|linter| (linter.accepts)(&path, text));
        fits.map(|linter| linter.name.name()).filter(|name| *name != "semgrep").collect()
    }

    #[test]
    fn linters_accept_their_files() {
        let no_linters: &[&str] = &[];
        for (path, text, expected) in [
            ("a/b.py", "", &["ruff"][..]),
            ("a.tsx", "", &["eslint", "biome", "oxlint", "tsc"]),
            ("a.css", "", &["biome"]),
            ("a.rs", "", &["clippy"]),
            ("a.go", "", &["golangci-lint"]),
            ("a.sh", "", &["shellcheck"]),
            ("a.sh", "#!/usr/bin/env fish\n", no_linters),
            ("bin/run", "#!/usr/bin/env bash\n", &["shellcheck"]),
            ("bin/run", "#!/usr/bin/env python3\n", no_linters),
            ("docker/Dockerfile.dev", "", &["hadolint"]),
            ("Dockerfiles", "", no_linters),
            (".github/workflows/ci.yml", "", &["actionlint"]),
            ("ci.yml", "", no_linters),
        ] {
            assert_eq!(linters_of(path, text), expected, "{path}");
        }
    }

    #[test]
    fn every_name_has_one_row() {
        let names: Vec<LinterName> = LINTERS.iter().map(|linter| linter.name).collect();
        assert_eq!(names, LinterName::ALL);
    }
}
