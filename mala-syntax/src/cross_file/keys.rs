//! Keys of configuration: environment variables and settings, the files that list them, and the lines
//! of code that read them.

mod settings;

use super::delta::Versions;
use mala_domain::change::FilePath;
use std::collections::BTreeMap;

/// The keys that a configuration file lost and has.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyChange {
    /// Keys at base that are not at head, with their lines at base.
    pub(crate) lost: Vec<(String, u32)>,
    /// Keys at head.
    pub(crate) kept: Vec<String>,
}

/// Keys beyond this many are left out.
const MAX_KEYS: usize = 500;

/// What a changed file lost and has; nothing when it is no configuration.
pub(crate) fn compare(versions: Versions<'_>) -> KeyChange {
    let path = &versions.file.path;
    let unread = versions.file.exists_at_head() && versions.head.is_none();
    let key_of = if lists_keys(path) {
        key_of
    } else if settings::lists_settings(path) {
        settings::key_of
    } else {
        return KeyChange::default();
    };
    if unread {
        return KeyChange::default();
    }
    let keys_of = |text| keys_of(text, key_of);
    let base = versions.base.map(keys_of).unwrap_or_default();
    let head = versions.head.map(keys_of).unwrap_or_default();
    let lost = base
        .into_iter()
        .filter(|(key, _)| !head.contains_key(key))
        .map(|(key, line)| (key.to_owned(), line))
        .collect();
    KeyChange { lost, kept: head.into_keys().map(str::to_owned).collect() }
}

/// Whether a file is one that lists the environment variables of a program.
fn lists_keys(path: &FilePath) -> bool {
    let name = path.file_name();
    let compose = name.contains("compose") && (name.ends_with(".yml") || name.ends_with(".yaml"));
    name.starts_with(".env") || name.ends_with(".env") || compose || name.starts_with("Dockerfile")
}

fn keys_of(text: &str, key_of: fn(&str) -> Option<&str>) -> BTreeMap<&str, u32> {
    let mut found = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some(key) = key_of(line)
            && found.len() < MAX_KEYS
        {
            found.entry(key).or_insert(number);
        }
    }
    found
}

/// The key that a line of configuration sets or lists; a line that is commented out lists it too.
fn key_of(line: &str) -> Option<&str> {
    let mut rest = line.trim_start_matches(['#', ' ', '\t', '-', '"', '\'']);
    for word in ["export ", "ENV ", "ARG "] {
        rest = rest.strip_prefix(word).map_or(rest, str::trim_start);
    }
    let end = rest
        .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
        .unwrap_or(rest.len());
    let (key, after) = rest.split_at(end);
    let after = after.trim_start_matches(['"', '\'', ' ']);
    let sets = after.is_empty() || after.starts_with(['=', ':']) || line.contains("ENV ");
    let is_key =
        key.len() >= 4 && key.contains('_') && key.starts_with(|c: char| c.is_ascii_uppercase());
    (is_key && sets).then_some(key)
}

/// How a line of code treats a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// It reads it, and this happens when it is not set.
    Reads(&'static str),
    /// It sets it, or lists it for others to set.
    Sets,
    /// Neither, or it copes.
    Nothing,
}

/// A way to read an environment variable: the text before the key, the text after it, and what
/// happens when it is not set.
type Reader = (&'static str, &'static str, &'static str);

const READERS: &[(&[&str], &[Reader])] = &[
    (
        &["py"],
        &[
            ("environ[\"", "\"]", "raises `KeyError`"),
            ("environ['", "']", "raises `KeyError`"),
            ("getenv(\"", "\")", "gives `None`"),
            ("getenv('", "')", "gives `None`"),
            ("environ.get(\"", "\")", "gives `None`"),
            ("environ.get('", "')", "gives `None`"),
        ],
    ),
    (
        &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"],
        &[
            ("process.env.", "", "gives `undefined`"),
            ("process.env['", "']", "gives `undefined`"),
            ("process.env[\"", "\"]", "gives `undefined`"),
            ("import.meta.env.", "", "gives `undefined`"),
        ],
    ),
    (&["go"], &[("os.Getenv(\"", "\")", "gives an empty string")]),
    (
        &["rs"],
        &[
            ("env::var(\"", "\")", "gives `Err(NotPresent)`"),
            ("env!(\"", "\")", "does not compile"),
        ],
    ),
    (
        &["rb"],
        &[
            ("ENV['", "']", "gives `nil`"),
            ("ENV[\"", "\"]", "gives `nil`"),
            ("ENV.fetch('", "')", "raises `KeyError`"),
            ("ENV.fetch(\"", "\")", "raises `KeyError`"),
        ],
    ),
    (&["java"], &[("System.getenv(\"", "\")", "gives `null`")]),
    (&["cs"], &[("GetEnvironmentVariable(\"", "\")", "gives `null`")]),
    (
        &["php"],
        &[
            ("getenv('", "')", "gives `false`"),
            ("getenv(\"", "\")", "gives `false`"),
            ("env('", "')", "gives `null`"),
            ("env(\"", "\")", "gives `null`"),
        ],
    ),
];

/// How a line treats a key.
pub(crate) fn access(path: &FilePath, line: &str, key: &str) -> Access {
    let is_variable =
        key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if is_variable { variable(path, line, key) } else { settings::access(path, line, key) }
}

/// How a line treats an environment variable.
fn variable(path: &FilePath, line: &str, key: &str) -> Access {
    let ending = path.file_name().rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let code = line.trim_start();
    let Some((_, readers)) = READERS.iter().find(|(endings, _)| endings.contains(&ending)) else {
        return if key_of(line) == Some(key) { Access::Sets } else { Access::Nothing };
    };
    if code.starts_with("//") || code.starts_with('#') || code.starts_with('*') {
        return Access::Nothing;
    }
    for (before, after, happens) in *readers {
        let pattern = format!("{before}{key}{after}");
        let Some(at) = line.find(&pattern) else { continue };
        let rest = line.get(at + pattern.len()..).unwrap_or_default().trim_start();
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        if rest.starts_with('=') && !rest.starts_with("==") {
            return Access::Sets;
        }
        return if copes(line, rest) { Access::Nothing } else { Access::Reads(happens) };
    }
    let sets = ["setenv", "set_var", "Setenv", "putenv"].iter().any(|word| line.contains(word));
    if sets { Access::Sets } else { Access::Nothing }
}

/// Whether a line has a way out when the variable is not set.
fn copes(line: &str, rest: &str) -> bool {
    let code = line.trim_start();
    ["||", "??", "or ", "?:", ".unwrap_or", ".ok()", ".is_ok", ".is_err", "if "]
        .iter()
        .any(|way| rest.starts_with(way))
        || ["if ", "if(", "} else if", "elif ", "unless ", "assert"]
            .iter()
            .any(|s| code.starts_with(s))
        || line.contains(" in os.environ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_list_keys() {
        for (line, expected) in [
            ("API_TOKEN=x", Some("API_TOKEN")),
            ("export API_TOKEN=x", Some("API_TOKEN")),
            ("# API_TOKEN=", Some("API_TOKEN")),
            ("      - API_TOKEN=${X}", Some("API_TOKEN")),
            ("      API_TOKEN: x", Some("API_TOKEN")),
            ("ENV API_TOKEN x", Some("API_TOKEN")),
            ("TODO: x", None),
            ("# THE_END of it", None),
            ("image: postgres", None),
        ] {
            assert_eq!(key_of(line), expected, "{line}");
        }
    }

    #[test]
    fn lines_read_keys() {
        for (file, line, expected) in [
            ("a.py", "x = os.environ[\"API_KEY\"]", Access::Reads("raises `KeyError`")),
            ("a.py", "x = os.environ.get('API_KEY')", Access::Reads("gives `None`")),
            ("a.py", "x = os.environ.get('API_KEY', 'd')", Access::Nothing),
            ("a.py", "x = os.getenv('API_KEY') or 'd'", Access::Nothing),
            ("a.py", "os.environ['API_KEY'] = 'x'", Access::Sets),
            ("a.py", "# os.environ['API_KEY']", Access::Nothing),
            ("a.ts", "const x = process.env.API_KEY;", Access::Reads("gives `undefined`")),
            ("a.ts", "const x = process.env.API_KEY || 1;", Access::Nothing),
            ("a.ts", "const x = process.env.API_KEYS;", Access::Nothing),
            ("a.go", "x := os.Getenv(\"API_KEY\")", Access::Reads("gives an empty string")),
            ("a.rs", "std::env::var(\"API_KEY\")?", Access::Reads("gives `Err(NotPresent)`")),
            ("a.rs", "std::env::var(\"API_KEY\").unwrap_or_default()", Access::Nothing),
            ("compose.yml", "  API_KEY: x", Access::Sets),
            ("README.md", "Set API_KEY first", Access::Nothing),
        ] {
            assert_eq!(access(&FilePath::from(file), line, "API_KEY"), expected, "{line}");
        }
    }
}
