//! Detects the test and lint commands of a project from its manifests.

use serde_json::Value;
use std::fs;
use std::path::Path;

/// A command of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProjectCommand {
    /// Its purpose: `test`, `lint`, `typecheck`, `format`.
    pub(super) name: String,
    /// The command line.
    pub(super) text: String,
    /// The file that defines it.
    pub(super) from: &'static str,
}

/// The root folder of a project.
struct ProjectFolder<'r> {
    root: &'r Path,
}

type Finder = fn(&ProjectFolder<'_>) -> Vec<ProjectCommand>;

const FINDERS: [Finder; 7] = [package_json, python, cargo, go, jvm, ruby, makefile];

/// The project's commands. The second command for a purpose gets the name of its file as a suffix.
pub(super) fn find(root: &Path) -> Vec<ProjectCommand> {
    let folder = ProjectFolder { root };
    let mut found: Vec<ProjectCommand> = Vec::new();
    for mut command in FINDERS.iter().flat_map(|find| find(&folder)) {
        if found.iter().any(|known| known.name == command.name) {
            let file = command.from.split(['.', '/']).next().unwrap_or(command.from);
            command.name = format!("{}_{}", command.name, file.to_ascii_lowercase());
        }
        if !found.iter().any(|known| known.name == command.name) {
            found.push(command);
        }
    }
    found
}

impl ProjectFolder<'_> {
    fn has(&self, name: &str) -> bool {
        self.root.join(name).exists()
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok()
    }
}

fn command(name: &str, text: impl Into<String>, from: &'static str) -> ProjectCommand {
    ProjectCommand { name: name.to_owned(), text: text.into(), from }
}

fn package_json(folder: &ProjectFolder<'_>) -> Vec<ProjectCommand> {
    const FILE: &str = "package.json";
    let manifest = folder.text(FILE).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(Value::Object(scripts)) = manifest.and_then(|it| it.get("scripts").cloned()) else {
        return Vec::new();
    };
    let managers = [
        ("pnpm-lock.yaml", "pnpm run"),
        ("yarn.lock", "yarn run"),
        ("bun.lock", "bun run"),
        ("bun.lockb", "bun run"),
    ];
    let run = managers.iter().find(|(lock, _)| folder.has(lock)).map_or("npm run", |(_, run)| run);
    ["test", "lint", "typecheck", "type-check", "format"]
        .into_iter()
        .filter(|name| {
            let script = scripts.get(*name).and_then(Value::as_str);
            script.is_some_and(|script| !script.contains("no test specified"))
        })
        .map(|name| command(&name.replace('-', ""), format!("{run} {name}"), FILE))
        .collect()
}

fn python(folder: &ProjectFolder<'_>) -> Vec<ProjectCommand> {
    const FILE: &str = "pyproject.toml";
    let manifest = folder.text(FILE);
    if manifest.is_none() && !folder.has("setup.py") && !folder.has("requirements.txt") {
        return Vec::new();
    }
    let from = if manifest.is_some() { FILE } else { "tests/" };
    let manifest = manifest.unwrap_or_default();
    let run = match (folder.has("uv.lock"), folder.has("poetry.lock")) {
        (true, _) => "uv run ",
        (false, true) => "poetry run ",
        (false, false) => "",
    };
    let mut found = Vec::new();
    if manifest.contains("pytest") || folder.has("pytest.ini") || folder.has("tests") {
        found.push(command("test", format!("{run}pytest"), from));
    }
    if manifest.contains("[tool.ruff") || folder.has("ruff.toml") || folder.has(".ruff.toml") {
        found.push(command("lint", format!("{run}ruff check ."), from));
    }
    if manifest.contains("[tool.mypy") || folder.has("mypy.ini") {
        found.push(command("typecheck", format!("{run}mypy ."), from));
    }
    found
}

fn cargo(folder: &ProjectFolder<'_>) -> Vec<ProjectCommand> {
    const FILE: &str = "Cargo.toml";
    if !folder.has(FILE) {
        return Vec::new();
    }
    vec![
        command("test", "cargo test", FILE),
        command("lint", "cargo clippy --all-targets", FILE),
        command("format", "cargo fmt --check", FILE),
    ]
}

fn go(folder: &ProjectFolder<'_>) -> Vec<ProjectCommand> {
    const FILE: &str = "go.mod";
    if !folder.has(FILE) {
        return Vec::new();
    }
    let configured = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];
    let linted = configured.iter().any(|name| folder.has(name));
    let lint = if linted { "golangci-lint run" } else { "go vet ./..." };
    vec![command("test", "go test ./...", FILE), command("lint", lint, FILE)]
}

fn jvm(folder: &ProjectFolder<'_>) -> Vec<ProjectCommand> {
    if folder.has("pom.xml") {
        let maven = if folder.has("mvnw") { "./mvnw" } else { "mvn" };
        return vec![command("test", format!("{maven} test"), "pom.xml")];
    }
    let build = ["build.gradle", "build.gradle.kts"].into_iter().find(|name| folder.has(name));
    let gradle = if folder.has("gradlew") { "./gradlew" } else { "gradle" };
    build.into_iter().map(|file| command("test", format!("{gradle} test"), file)).collect()
}

fn ruby(folder: &ProjectFolder<'_>) -> Vec<ProjectCommand> {
    match (folder.has("Gemfile"), folder.has("spec"), folder.has("Rakefile")) {
        (true, true, _) => vec![command("test", "bundle exec rspec", "Gemfile")],
        (true, false, true) => vec![command("test", "bundle exec rake test", "Gemfile")],
        _ => Vec::new(),
    }
}

fn makefile(folder: &ProjectFolder<'_>) -> Vec<ProjectCommand> {
    const FILE: &str = "Makefile";
    let text = folder.text(FILE).unwrap_or_default();
    let has_target = |name: &&str| {
        text.lines().any(|line| {
            line.strip_prefix(*name).is_some_and(|rest| {
                rest.trim_start().starts_with(':') && !rest.trim_start().starts_with(":=")
            })
        })
    };
    ["test", "lint", "typecheck", "format"]
        .into_iter()
        .filter(has_target)
        .map(|name| command(name, format!("make {name}"), FILE))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        find(root.path()).into_iter().map(|it| format!("{}: {}", it.name, it.text)).collect()
    }

    type CommandRow = (&'static [(&'static str, &'static str)], &'static [&'static str]);

    #[test]
    fn commands_are_found_in_manifests() {
        let rows: &[CommandRow] = &[
            (&[], &[]),
            (
                &[(
                    "package.json",
                    r#"{"scripts": {"test": "jest", "type-check": "tsc", "x": "y"}}"#,
                )],
                &["test: npm run test", "typecheck: npm run type-check"],
            ),
            (
                &[("package.json", r#"{"scripts": {"lint": "eslint"}}"#), ("pnpm-lock.yaml", "")],
                &["lint: pnpm run lint"],
            ),
            (
                &[(
                    "package.json",
                    r#"{"scripts": {"test": "echo \"Error: no test specified\""}}"#,
                )],
                &[],
            ),
            (&[("package.json", "not json")], &[]),
            (
                &[("pyproject.toml", "[tool.ruff]\n[tool.pytest.ini_options]"), ("uv.lock", "")],
                &["test: uv run pytest", "lint: uv run ruff check ."],
            ),
            (&[("setup.py", ""), ("tests/x.py", "")], &["test: pytest"]),
            (
                &[("go.mod", ""), (".golangci.yml", "")],
                &["test: go test ./...", "lint: golangci-lint run"],
            ),
            (&[("pom.xml", ""), ("mvnw", "")], &["test: ./mvnw test"]),
            (&[("build.gradle.kts", "")], &["test: gradle test"]),
            (&[("Gemfile", ""), ("spec/a_spec.rb", "")], &["test: bundle exec rspec"]),
            (
                &[("Makefile", "test: build\n\tgo test\nlint :\n\tx\nformat := 1\n")],
                &["test: make test", "lint: make lint"],
            ),
            (
                &[("Cargo.toml", ""), ("Makefile", "test:\n\tx\n")],
                &[
                    "test: cargo test",
                    "lint: cargo clippy --all-targets",
                    "format: cargo fmt --check",
                    "test_makefile: make test",
                ],
            ),
        ];
        for (files, expected) in rows {
            assert_eq!(found(files), *expected, "{files:?}");
        }
    }
}
