//! Files that a coder could change to make checks pass: tests, CI and lint configuration. A review
//! flags them; it does not forbid them.

/// Folders whose files run in CI.
const CI_FOLDERS: [&str; 4] = [".github/", ".circleci/", ".buildkite/", ".gitlab/"];

/// Files that configure CI, linters or reviews, by name.
const CONFIGURATION: [&str; 24] = [
    ".gitlab-ci.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
    ".travis.yml",
    ".pre-commit-config.yaml",
    "mala.yaml",
    "ruff.toml",
    ".ruff.toml",
    ".flake8",
    ".pylintrc",
    "mypy.ini",
    "pytest.ini",
    "tox.ini",
    "conftest.py",
    "clippy.toml",
    "rustfmt.toml",
    "deny.toml",
    ".golangci.yml",
    ".golangci.yaml",
    ".rubocop.yml",
    "biome.json",
    "tsconfig.json",
    "vitest.config.ts",
    "jest.config.js",
];

/// Whether a file is a test, or configures CI, linters or reviews.
pub fn is_sensitive(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let in_folder = |wanted: &[&str]| path.split('/').rev().skip(1).any(|it| wanted.contains(&it));
    CONFIGURATION.contains(&name)
        || CI_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || name.starts_with(".eslintrc")
        || name.starts_with("eslint.config.")
        || in_folder(&["test", "tests", "__tests__", "spec", "specs"])
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || name.contains(".test.")
        || name.contains(".spec.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_ci_and_lint_configuration_are_flagged() {
        for path in [
            "tests/it/main.rs",
            "src/test_x.py",
            "pkg/a_test.go",
            "web/a.spec.ts",
            ".github/workflows/ci.yml",
            "sub/ruff.toml",
            "mala.yaml",
            ".eslintrc.json",
        ] {
            assert!(is_sensitive(path), "{path}");
        }
        for path in ["src/main.rs", "src/latest.py", "docs/testing.md", "contest.go"] {
            assert!(!is_sensitive(path), "{path}");
        }
    }
}
