//! What a path tells about the text behind it: settings, tests, or something that a machine wrote.

use super::word_list::WordList;

/// What kind of file a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    /// Ordinary code.
    Source,
    /// Settings, where values often stand without quotes.
    Config,
    /// Tests, fixtures, examples and documentation.
    Test,
    /// Lock files, minified code, snapshots, translations, images: long strings without meaning.
    Generated,
}

impl PathKind {
    /// The kind of the file at `path`.
    pub(super) fn of(path: &str) -> Self {
        let original = path;
        let path = path.replace('\\', "/").to_ascii_lowercase();
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if is_generated(folders, name, extension) {
            Self::Generated
        } else if is_test(folders, name, extension) || has_test_class(original) {
            Self::Test
        } else if is_config(name, extension) {
            Self::Config
        } else {
            Self::Source
        }
    }
}

fn is_generated(folders: &str, name: &str, extension: &str) -> bool {
    LOCK_FILES.has(name)
        || GENERATED_EXTENSIONS.has(extension)
        || [
            ".min.js",
            ".min.css",
            ".bundle.js",
            ".min.mjs",
            "-lock.json",
            "-lock.yaml",
            ".lock.json",
        ]
        .iter()
        .any(|ending| name.ends_with(ending))
        || folders.split('/').any(|folder| GENERATED_FOLDERS.has(folder))
}

fn is_test(folders: &str, name: &str, extension: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    folders.split('/').any(is_test_folder)
        || stem.starts_with("test_")
        || stem == "testing"
        || ["md", "mdx", "rst", "adoc"].contains(&extension)
        || ["_test", "_tests", "_spec", "-test", "-spec"]
            .iter()
            .any(|ending| stem.ends_with(ending))
        || stem == "conftest"
        || [".test.", ".spec.", ".stories.", ".fixture.", ".mock.", ".e2e."]
            .iter()
            .any(|part| name.contains(part))
        || name.split(['.', '-', '_']).any(|part| SAMPLE_MARKS.has(part))
}

/// `FooTest.java`, `FooTests.cs`: a capital tells it from `latest`.
fn has_test_class(path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    ["Test", "Tests", "Spec", "TestCase", "IT"].iter().any(|ending| stem.ends_with(ending))
}

fn is_test_folder(folder: &str) -> bool {
    TEST_FOLDERS.has(folder) || folder.split(['-', '_', '.']).any(|part| TEST_WORDS.has(part))
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

const TEST_FOLDERS: WordList = WordList(
    "
    __tests__ __mocks__ __fixtures__ testdata test-data testing src-test t
",
);

const TEST_WORDS: WordList = WordList(
    "
    test tests spec specs fixture fixtures mock mocks fake fakes stub stubs example examples
    sample samples demo demos doc docs documentation e2e benchmark benchmarks testsuite testutil
    testutils guide guides tutorial tutorials
",
);

const SAMPLE_MARKS: WordList = WordList(
    "
    example examples sample samples template dist mock mocks fixture
",
);

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
    fn paths_have_their_kind() {
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
            ("tests/it/main.rs", PathKind::Test),
            ("src/test/java/FooTest.java", PathKind::Test),
            ("pkg/auth_test.go", PathKind::Test),
            ("src/a.spec.ts", PathKind::Test),
            ("docs/setup.md", PathKind::Test),
            ("README.md", PathKind::Test),
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
