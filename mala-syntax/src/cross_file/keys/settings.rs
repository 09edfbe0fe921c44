//! Files with a program's settings in YAML, TOML, JSON, INI or properties, and the paths of names in
//! them.

use super::{Key, Listed, MAX_KEYS};
use crate::cross_file::words::{has_word, says_enough};
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use serde_json::Value;

/// The endings of files with settings.
const ENDINGS: [&str; 7] = ["yml", "yaml", "toml", "json", "ini", "cfg", "properties"];

/// Words in the name of a file with settings.
const NAMES: [&str; 9] = [
    "config",
    "configuration",
    "settings",
    "conf",
    "cfg",
    "appsettings",
    "application",
    "bootstrap",
    "appconfig",
];

/// Folders of files with settings.
const FOLDERS: [&str; 6] = ["config", "configs", "conf", "settings", "configuration", "cfg"];

/// Parts of the paths of files of tools, whose keys no code of the project reads, and of files that
/// are no settings of a program.
const OF_OTHERS: &[&str] = &[
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
    "translation",
    "lang",
    "schema",
    "test",
    "fixture",
    "example/",
    "examples/",
    "sample",
    "docs/",
    "node_modules",
    "vendor",
    "logging",
    "log4j",
    "logback",
];

/// Names of the outermost level that choose between sets of the same settings.
const STAGES: [&str; 12] = [
    "default",
    "defaults",
    "production",
    "development",
    "staging",
    "local",
    "prod",
    "dev",
    "base",
    "shared",
    "common",
    "all",
];

/// Larger files are no settings that people write.
const MAX_BYTES: usize = 256 << 10;

/// Deeper names are left out.
const MAX_DEPTH: usize = 8;

/// The settings of a file; `None` when it has none, or cannot be read.
pub(super) fn listed(path: &FilePath, text: &str) -> Option<Listed> {
    if !has_settings(path) || text.len() > MAX_BYTES {
        return None;
    }
    let mut found = Listed::new();
    for names in paths(path, text)? {
        if found.len() < MAX_KEYS && is_telling(path, &names) {
            let line = line_of(text, &names);
            found.entry(Key::Setting(names)).or_insert(line);
        }
    }
    Some(found)
}

/// Whether a file can be read for settings, whatever it is about.
pub(crate) fn may_list_settings(path: &FilePath) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    ENDINGS.contains(&ending.as_str())
}

/// Whether a file has a program's own settings.
fn has_settings(path: &FilePath) -> bool {
    let text = path.to_text().to_lowercase();
    let is_hidden = text.split('/').any(|part| part.starts_with('.'));
    if is_hidden || OF_OTHERS.iter().any(|other| text.contains(other)) {
        return false;
    }
    let (folders, file) = text.rsplit_once('/').unwrap_or(("", &text));
    let mut words: Vec<&str> = file.split(['.', '-', '_']).collect();
    let ending = words.pop().unwrap_or_default();
    ENDINGS.contains(&ending)
        && (words.iter().any(|word| NAMES.contains(word))
            || folders.rsplit('/').next().is_some_and(|folder| FOLDERS.contains(&folder)))
}

/// Whether names are enough to say which setting is meant: several, or one that few things have.
fn is_telling(path: &FilePath, names: &[String]) -> bool {
    let is_plain = |name: &String| {
        !name.is_empty()
            && name.len() <= 64
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    let is_of_spring = path.file_name().starts_with("application");
    names.iter().all(is_plain)
        && match names {
            [only] => says_enough(only) || is_of_spring,
            _ => names.len() <= MAX_DEPTH,
        }
}

/// Every path of names in a file, tables included; `None` when it cannot be read.
fn paths(path: &FilePath, text: &str) -> Option<Vec<Vec<String>>> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if matches!(ending.as_str(), "ini" | "cfg" | "properties") {
        return Some(lines_with_keys(text));
    }
    let mut found = Vec::new();
    for document in &documents(&ending, text)? {
        collect(document, &mut found);
    }
    Some(found)
}

/// The documents of a file; `None` when it is of another kind, or broken.
fn documents(ending: &str, text: &str) -> Option<Vec<Value>> {
    match ending {
        "json" => serde_json::from_str(text).ok().map(|value| vec![value]),
        "toml" => toml::from_str(text).ok().map(|value| vec![value]),
        "yml" | "yaml" => serde_saphyr::from_multiple_with_options(text, yaml_options()).ok(),
        _ => None,
    }
}

fn yaml_options() -> serde_saphyr::Options {
    let mut options = serde_saphyr::Options::default();
    options.with_snippet = false;
    if let Some(budget) = &mut options.budget {
        budget.max_depth = 40;
        budget.flow_nesting_limit = 40;
        budget.max_nodes = 20_000;
        budget.max_events = 80_000;
        budget.max_aliases = 200;
        budget.max_documents = 20;
    }
    options
}

/// The paths of names in a document. What is in a list has no name.
fn collect(document: &Value, found: &mut Vec<Vec<String>>) {
    let mut open: Vec<(Vec<String>, &Value)> = vec![(Vec::new(), document)];
    while let Some((names, value)) = open.pop() {
        let Value::Object(table) = value else { continue };
        for (name, inner) in table {
            if found.len() >= MAX_KEYS {
                return;
            }
            let is_stage = names.is_empty()
                && inner.is_object()
                && STAGES.contains(&name.to_lowercase().as_str());
            let inside: Vec<String> = if is_stage {
                Vec::new()
            } else {
                names.iter().cloned().chain(name.split('.').map(str::to_owned)).collect()
            };
            if inside.len() > MAX_DEPTH {
                continue;
            }
            if !inside.is_empty() {
                found.push(inside.clone());
            }
            open.push((inside, inner));
        }
    }
}

/// The paths of a file with a key on each line: `a.b = c`, below `[section]` if there is one.
fn lines_with_keys(text: &str) -> Vec<Vec<String>> {
    let mut section: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';', '!'])) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.split('.').map(str::to_owned).collect();
            continue;
        }
        let Some((name, _)) = line.split_once(['=', ':']) else { continue };
        let name = name.trim();
        if found.len() < MAX_KEYS && !name.contains(char::is_whitespace) && !name.is_empty() {
            let names = name.split('.').map(str::to_owned);
            found.push(section.iter().cloned().chain(names).collect());
        }
    }
    found
}

/// The line of a setting: that of its last name after those of the names around it.
fn line_of(text: &str, names: &[String]) -> u32 {
    let mut last = 1;
    let mut wanted = names.iter().peekable();
    for (line, number) in text.lines().zip(1..) {
        while wanted.next_if(|name| has_name(line, name)).is_some() {
            last = number;
        }
    }
    last
}

fn has_name(line: &str, name: &str) -> bool {
    name.split('-').all(|part| has_word(line, part))
}

/// Whether a file that is no code sets a setting: by its structure where that can be read, else by
/// having all the names.
pub(crate) fn defines(path: &FilePath, text: &str, names: &[String]) -> bool {
    let only_describes = path.to_text().to_lowercase().contains("schema");
    if only_describes || text.len() > MAX_BYTES || !has_all(text, names) {
        return false;
    }
    let Some(found) = paths(path, text) else { return true };
    let wanted: Vec<String> = names.iter().map(|name| normal(name)).collect();
    let is_listed = found.iter().any(|path| {
        path.len() >= wanted.len()
            && path.iter().rev().zip(wanted.iter().rev()).all(|(a, b)| normal(a) == *b)
    });
    is_listed || has_all_inside_a_text(path, text, names)
}

fn has_all(text: &str, names: &[String]) -> bool {
    names.iter().all(|name| text.contains(name.as_str()))
}

/// Whether a file holds another one as a text, with all the names.
fn has_all_inside_a_text(path: &FilePath, text: &str, names: &[String]) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let documents = documents(&ending, text).unwrap_or_default();
    let mut open: Vec<&Value> = documents.iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Object(table) => open.extend(table.values()),
            Value::Array(items) => open.extend(items),
            Value::String(inner) if inner.contains('\n') && has_all(inner, names) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a line of a file that nobody read sets something of this name.
pub(crate) fn sets_on_line(path: &FilePath, line: &str, name: &str) -> bool {
    const FOR_PEOPLE: [&str; 6] = ["md", "mdx", "rst", "txt", "adoc", "html"];
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if Language::of_path(path).is_some() || FOR_PEOPLE.contains(&ending.as_str()) {
        return false;
    }
    line.match_indices(name).any(|(at, _)| {
        let after = line.get(at + name.len()..).unwrap_or_default();
        after.trim_start_matches(['"', '\'', ' ']).starts_with([':', '='])
    })
}

/// A name as programs compare it that do not care how words are joined.
pub(super) fn normal(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_settings() {
        for file in [
            "config.yaml",
            "config/default.yaml",
            "src/main/resources/application-prod.yml",
            "appsettings.Development.json",
            "app/settings.toml",
        ] {
            assert!(has_settings(&FilePath::from(file)), "{file}");
        }
        for file in [
            "tsconfig.json",
            ".config/x.yaml",
            "src/app.yaml",
            "config/locales/en.yml",
            "tests/config.yaml",
            "reconfigured.yaml",
            "config.py",
        ] {
            assert!(!has_settings(&FilePath::from(file)), "{file}");
        }
    }

    #[test]
    fn settings_have_paths_and_lines() {
        for (file, text, expected) in [
            ("config.yaml", "db:\n  host: x\n  ports: [1]\n", "db.host:2 db.ports:3"),
            ("config.toml", "[db]\nhost = 'x'\n", "db.host:2"),
            ("config.json", "{\"db\": {\n\"host\": {\"a\": 1}}}", "db.host:2 db.host.a:2"),
            ("config.ini", "[db]\n; c = 1\nhost = x\n", "db.host:3"),
            ("application.properties", "db.host=x\nport=1\n", "db.host:1 port:2"),
            ("config.yml", "production:\n  db:\n    host: x\n", "db.host:3"),
            ("config.yml", "a: {{ x }}\n: :", "unread"),
            ("config.yml", "retry_limit: 1\nport: 2\n", "retry_limit:1"),
        ] {
            let found = listed(&FilePath::from(file), text).map(|found| {
                let shown: Vec<String> =
                    found.iter().map(|(key, line)| format!("{key}:{line}")).collect();
                shown.join(" ")
            });
            assert_eq!(found.as_deref().unwrap_or("unread"), expected, "{file}: {text}");
        }
    }

    #[test]
    fn other_files_set_the_same() {
        let names = ["db".to_owned(), "host".to_owned()];
        for (file, text, expected) in [
            ("values.yaml", "app:\n  db:\n    host: x\n", true),
            ("values.yaml", "db: 1\nweb:\n  host: x\n", false),
            ("map.yaml", "data:\n  app.yml: |\n    db:\n      host: x\n", true),
            ("config.schema.yaml", "db:\n  host:\n    type: string\n", false),
            ("main.tf", "db { host = 1 }", true),
            ("main.tf", "host = 1", false),
        ] {
            assert_eq!(defines(&FilePath::from(file), text, &names), expected, "{file}: {text}");
        }
    }
}
