//! Settings in YAML, TOML, JSON and the like, read by code through something called configuration.

use super::Access;
use crate::cross_file::words::says_enough;
use mala_domain::change::FilePath;
use mala_domain::language::Language;

/// The endings of files with settings.
const ENDINGS: [&str; 6] = ["yml", "yaml", "toml", "json", "ini", "properties"];

/// Words in the path of a file with a program's own settings.
const NAMES: [&str; 3] = ["config", "settings", "conf"];

/// Files of tools, whose keys no code of the project reads.
const OF_TOOLS: &[&str] = &[
    "package",
    "tsconfig",
    "jsconfig",
    "lint",
    "prettier",
    "babel",
    "jest",
    "vite",
    "webpack",
    "rollup",
    "renovate",
    "dependabot",
    "pre-commit",
    "mypy",
    "ruff",
    "tox",
    "setup",
    "pyproject",
    "cargo",
    "mkdocs",
    "_config",
    "codecov",
    "sonar",
    "workflow",
    "circleci",
    "travis",
    "gitlab-ci",
    "k8s",
    "helm",
    "locale",
    "i18n",
    "translations",
    "lang",
];

/// Whether a file has a program's own settings.
pub(super) fn lists_settings(path: &FilePath) -> bool {
    let text = path.to_text().to_lowercase();
    let ending = text.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let is_hidden = text.split('/').any(|part| part.starts_with('.'));
    ENDINGS.contains(&ending)
        && !is_hidden
        && NAMES.iter().any(|name| text.contains(name))
        && !OF_TOOLS.iter().any(|tool| text.contains(tool))
}

/// The key that a line sets, when its name alone says which it is.
pub(super) fn key_of(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches([' ', '\t', '"', '\'', '-', '#']);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (key, after) = rest.split_at(end);
    let after = after.trim_start_matches(['"', '\'']).trim_start();
    (after.starts_with([':', '=']) && says_enough(key)).then_some(key)
}

/// How a line treats a setting.
pub(super) fn access(path: &FilePath, line: &str, key: &str) -> Access {
    let is_code = Language::of_path(path).is_some();
    let Some(at) = line.find(key) else { return Access::Nothing };
    let (before, rest) = line.split_at(at);
    let after = rest.get(key.len()..).unwrap_or_default();
    let after = after.trim_start_matches(['"', '\'']).trim_start();
    let sets = after.starts_with(':') && !after.starts_with("::")
        || after.starts_with("?:")
        || after.starts_with('=') && !after.starts_with("==");
    if sets {
        return Access::Sets;
    }
    let code = line.trim_start();
    let is_comment = code.starts_with("//") || code.starts_with('#') || code.starts_with('*');
    if !is_code || is_comment {
        return Access::Nothing;
    }
    let receiver = receiver(before);
    let of_settings = NAMES.iter().chain(&["cfg"]).any(|name| receiver.contains(name));
    let with_default =
        after.starts_with(',') || ["||", "??", "or "].iter().any(|w| after.contains(w));
    if of_settings && !with_default {
        Access::Reads("finds no value")
    } else if receiver.is_empty() && !before.ends_with(['"', '\'']) {
        // A bare name of its own: a field, a parameter, a function.
        Access::Sets
    } else {
        Access::Nothing
    }
}

/// What a key is read from: the last word before `.key`, `["key"]` or `.get("key"`.
fn receiver(before: &str) -> String {
    let before = before.trim_end_matches(['"', '\'', '[', '(', '.', '?', '!']);
    let before = before.strip_suffix("get").map_or(before, |start| start.trim_end_matches('.'));
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
        .last()
        .map_or(before.len(), |(at, _)| at);
    before.get(start..).unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_through_configuration() {
        for (file, line, expected) in [
            ("a.py", "x = config[\"retry_limit\"]", Access::Reads("finds no value")),
            ("a.py", "x = self.settings.retry_limit", Access::Reads("finds no value")),
            ("a.ts", "const x = appConfig.get('retry_limit');", Access::Reads("finds no value")),
            ("a.ts", "const x = config.retry_limit ?? 3;", Access::Nothing),
            ("a.py", "x = config.get('retry_limit', 3)", Access::Nothing),
            ("a.py", "x = job.retry_limit", Access::Nothing),
            ("a.py", "retry_limit: int = 3", Access::Sets),
            ("a.py", "config = {\"retry_limit\": 3}", Access::Sets),
            ("b.yaml", "retry_limit: 3", Access::Sets),
            ("a.py", "# config.retry_limit", Access::Nothing),
        ] {
            assert_eq!(access(&FilePath::from(file), line, "retry_limit"), expected, "{line}");
        }
        assert!(lists_settings(&FilePath::from("config/default.yaml")));
        for other in ["tsconfig.json", ".config/x.yaml", "src/app.yaml", "config/locales/en.yml"] {
            assert!(!lists_settings(&FilePath::from(other)), "{other}");
        }
    }
}
