//! Kinds of files, by path.

use super::names::WordList;
use super::names::words;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    /// Ordinary code.
    Source,
    /// Settings, where values often have no quotes.
    Config,
    /// Tests, fixtures, examples and documentation.
    Test,
    /// Lock files, minified code, snapshots, translations, images: long strings that are not
    /// secrets.
    Generated,
}

impl PathKind {
    /// The kind of the file at `path`.
    pub(super) fn of(path: &str) -> Self {
        let path = path.replace('\\', "/");
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let lower = name.to_ascii_lowercase();
        let extension = lower.rsplit_once('.').map_or("", |(_, extension)| extension);
        if is_generated(&folders.to_ascii_lowercase(), &lower, extension) {
            Self::Generated
        } else if is_test(folders, name, extension) {
            Self::Test
        } else if is_config(&lower, extension) {
            Self::Config
        } else {
            Self::Source
        }
    }
}

fn is_generated(folders: &str, name: &str, extension: &str) -> bool {
    LOCK_FILES.has(name)
        || GENERATED_EXTENSIONS.has(extension)
        || GENERATED_ENDINGS.words().any(|ending| name.ends_with(ending))
        || folders.split('/').any(|folder| GENERATED_FOLDERS.has(folder))
}

/// Whether a word of the path marks a test: `tests/`, `dockerTest/`, `a_test.go`, `FooTests.java`,
/// `test-key.pem`.
fn is_test(folders: &str, name: &str, extension: &str) -> bool {
    DOCUMENT_EXTENSIONS.has(extension)
        || words(folders).iter().any(|word| TEST_WORDS.has(word) || DOCUMENT_WORDS.has(word))
        || words(name).iter().any(|word| TEST_WORDS.has(word))
        || ["template", "dist", "tmpl"].contains(&extension)
        || name.starts_with("docusaurus.config.")
        || is_for_developers(folders, name)
}

/// Whether the file describes containers for local development: `dev/mssql/docker-compose.yml`.
fn is_for_developers(folders: &str, name: &str) -> bool {
    let is_compose = name.starts_with("docker-compose") || name.starts_with("compose.");
    is_compose
        && words(folders)
            .iter()
            .any(|word| ["dev", "devcontainer", "local"].contains(&word.as_str()))
}

fn is_config(name: &str, extension: &str) -> bool {
    CONFIG_EXTENSIONS.has(extension)
        || name.starts_with('.')
        || name.starts_with("dockerfile")
        || CONFIG_NAMES.has(name)
}

const LOCK_FILES: WordList = WordList(
    "
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock cargo.lock
    poetry.lock pdm.lock uv.lock pipfile.lock composer.lock gemfile.lock go.sum go.work.sum
    flake.lock packages.lock.json podfile.lock mix.lock pubspec.lock .terraform.lock.hcl
",
);

const GENERATED_EXTENSIONS: WordList = WordList(
    "
    lock map snap svg png jpg jpeg gif ico woff woff2 ttf pdf po pot xliff xlf strings arb resx
    crt cer pub ipynb tsbuildinfo
",
);

const GENERATED_FOLDERS: WordList = WordList(
    "
    node_modules vendor third_party __snapshots__ locale locales i18n lang langs translations
    cassettes
",
);

const GENERATED_ENDINGS: WordList =
    WordList(".min.js .min.css .min.mjs .bundle.js -lock.json -lock.yaml .lock.json");

const TEST_WORDS: WordList = WordList(
    "test tests testing testdata testsuite testutil testutils spec specs fixture fixtures mock mocks
    fake fakes stub stubs example examples sample samples demo demos e2e conftest stories unit t",
);

/// Directories of documentation and benchmarks. As part of a file name, these words mean little.
const DOCUMENT_WORDS: WordList =
    WordList("doc docs documentation guide guides tutorial tutorials benchmark benchmarks");

const DOCUMENT_EXTENSIONS: WordList = WordList("md mdx rst adoc");

const CONFIG_EXTENSIONS: WordList = WordList(
    "
    env ini cfg conf config properties yaml yml toml sh bash zsh fish ps1 bat cmd tfvars npmrc
    pypirc netrc
",
);

const CONFIG_NAMES: WordList = WordList(
    "
    _netrc credentials config makefile
",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_classified() {
        let table = [
            ("src/main.rs", PathKind::Source),
            ("", PathKind::Source),
            ("src/latest/contest.py", PathKind::Source),
            ("attestation/verify.go", PathKind::Source),
            ("config/database.yml", PathKind::Config),
            (".env", PathKind::Config),
            (".env.production", PathKind::Config),
            ("deploy/Dockerfile", PathKind::Config),
            (".env.example", PathKind::Test),
            (".env.template", PathKind::Test),
            ("deploy/template.yaml", PathKind::Config),
            ("tests/it/main.rs", PathKind::Test),
            ("src/test/java/FooTest.java", PathKind::Test),
            ("pkg/auth_test.go", PathKind::Test),
            ("src/a.spec.ts", PathKind::Test),
            ("docs/setup.md", PathKind::Test),
            ("README.md", PathKind::Test),
            ("www/docusaurus.config.js", PathKind::Test),
            ("module/src/dockerTest/resources/server.key", PathKind::Test),
            ("certs/test-server.key", PathKind::Test),
            ("src/docs.rs", PathKind::Source),
            ("internal/testdata/key.pem", PathKind::Test),
            ("package-lock.json", PathKind::Generated),
            ("web/yarn.lock", PathKind::Generated),
            ("go.sum", PathKind::Generated),
            ("dist/app.min.js", PathKind::Generated),
            ("src/locales/de.json", PathKind::Generated),
            ("a\\__snapshots__\\b.snap", PathKind::Generated),
        ];
        for (path, kind) in table {
            assert_eq!(PathKind::of(path), kind, "{path}");
        }
    }
}
