//! Files that set environment variables: `.env` and its like, compose files, Dockerfiles, workflows,
//! Kubernetes manifests.

use super::{Key, Listed, MAX_KEYS};
use mala_domain::change::FilePath;
use mala_domain::language::Language;

/// Variables that the platform sets.
const OF_PLATFORMS: &[&str] = &["GITHUB_", "RUNNER_", "CI_", "KUBERNETES_", "GITLAB_", "VERCEL_"];

/// Endings of texts for people, which set nothing.
const FOR_PEOPLE: [&str; 6] = ["md", "mdx", "rst", "txt", "adoc", "html"];

/// The variables that a file sets; `None` when it is no file that sets some.
pub(super) fn listed(path: &FilePath, text: &str) -> Option<Listed> {
    if !lists_variables(path, text) {
        return None;
    }
    let mut found = Listed::new();
    for (line, number) in text.lines().zip(1..) {
        let key = key_of(line).or_else(|| named_key(line));
        if let Some(key) = key.filter(|key| !OF_PLATFORMS.iter().any(|of| key.starts_with(of)))
            && found.len() < MAX_KEYS
        {
            found.entry(Key::Variable(key.to_owned())).or_insert(number);
        }
    }
    Some(found)
}

fn lists_variables(path: &FilePath, text: &str) -> bool {
    let name = path.file_name();
    let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    let is_compose = is_yaml && name.contains("compose");
    let is_workflow = is_yaml && path.to_text().contains(".github/workflows/");
    let is_manifest = is_yaml && text.contains("apiVersion:") && text.contains("kind:");
    let is_container = ["Dockerfile", "Containerfile"].iter().any(|it| name.starts_with(it))
        || name.ends_with(".Dockerfile")
        || name.ends_with(".dockerfile");
    name.starts_with(".env")
        || name.ends_with(".env")
        || is_compose
        || is_workflow
        || is_manifest
        || is_container
}

/// The key that a line of configuration sets or lists; a line that is commented out lists it too.
fn key_of(line: &str) -> Option<&str> {
    let mut rest = line.trim_start_matches(['#', ' ', '\t', '-', '"', '\'']);
    for word in ["export ", "ENV ", "ARG ", "set ", "$env:"] {
        rest = rest.strip_prefix(word).map_or(rest, str::trim_start);
    }
    let (key, after) = leading_key(rest)?;
    let after = after.trim_start_matches(['"', '\'', ' ']);
    let after =
        after.strip_prefix(['?', ':', '+']).filter(|it| it.starts_with('=')).unwrap_or(after);
    let sets = after.is_empty() || after.starts_with(['=', ':']) || line.contains("ENV ");
    sets.then_some(key)
}

/// The key of `- name: KEY`, as lists of variables in manifests have it.
fn named_key(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches([' ', '\t', '-', '{', '"']);
    let rest = rest.strip_prefix("name").or_else(|| rest.strip_prefix("key"))?;
    let value = rest.trim_start_matches('"').trim_start().strip_prefix([':', '='])?;
    let (key, after) = leading_key(value.trim_start_matches([' ', '"', '\'']))?;
    after
        .trim_start_matches(['"', '\''])
        .trim()
        .chars()
        .all(|c| matches!(c, ',' | '}'))
        .then_some(key)
}

/// The name of a variable at the start of a text, and what follows.
fn leading_key(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
        .unwrap_or(text.len());
    let (key, after) = text.split_at(end);
    let is_key =
        key.len() >= 4 && key.contains('_') && key.starts_with(|c: char| c.is_ascii_uppercase());
    is_key.then_some((key, after))
}

/// Whether a line that is no code and not written for people sets a variable: it does, unless it only
/// refers to it.
pub(crate) fn is_set_by(path: &FilePath, line: &str, key: &str) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if Language::of_path(path).is_some() {
        return false;
    }
    if FOR_PEOPLE.contains(&ending.as_str()) {
        return key_of(line) == Some(key);
    }
    key_of(line) == Some(key) || mentions(line, key)
}

/// Whether a line has the name other than as a reference to its value.
fn mentions(line: &str, key: &str) -> bool {
    line.match_indices(key).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + key.len()..).unwrap_or_default();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let refers = before.ends_with(['$', '{', '.', '(']);
        is_whole && !refers && !line.trim_start().starts_with(['#', '/'])
    })
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
            ("API_TOKEN ?= x", Some("API_TOKEN")),
            ("            - name: API_TOKEN", Some("API_TOKEN")),
            ("{ \"name\": \"API_TOKEN\" }", Some("API_TOKEN")),
            ("- name: API_TOKEN of it", None),
            ("- name: Build", None),
            ("TODO: x", None),
            ("# THE_END of it", None),
            ("image: postgres", None),
        ] {
            assert_eq!(key_of(line).or_else(|| named_key(line)), expected, "{line}");
        }
    }

    #[test]
    fn files_that_set_variables() {
        let manifest = "apiVersion: apps/v1\nkind: Deployment\n";
        for (file, text, expected) in [
            (".env.example", "", true),
            ("deploy/prod.env", "", true),
            ("docker-compose.prod.yml", "", true),
            (".github/workflows/ci.yml", "", true),
            ("k8s/app.yaml", manifest, true),
            ("k8s/app.yaml", "", false),
            ("docker/Dockerfile.web", "", true),
            ("environment.py", "", false),
        ] {
            assert_eq!(listed(&FilePath::from(file), text).is_some(), expected, "{file}");
        }
    }

    #[test]
    fn lines_set_keys() {
        for (file, line, expected) in [
            ("compose.yml", "  API_KEY: x", true),
            ("main.tf", "  { name = \"API_KEY\", value = var.x },", true),
            ("run.sh", "API_KEY=x ./run", true),
            ("run.sh", "curl -H $API_KEY", false),
            ("run.sh", "curl -H ${API_KEY}", false),
            (".github/workflows/a.yml", "run: echo ${{ secrets.API_KEY }}", false),
            ("README.md", "Set API_KEY first", false),
            ("README.md", "export API_KEY=x", true),
            ("a.py", "API_KEY=1", false),
        ] {
            assert_eq!(is_set_by(&FilePath::from(file), line, "API_KEY"), expected, "{line}");
        }
    }
}
