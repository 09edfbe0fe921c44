//! Which files hold tests, by their path alone.

use mala_domain::change::FilePath;

const FOLDERS: [&str; 19] = [
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "test",
    "tests",
    "testing",
    "__tests__",
    "__mocks__",
    "spec",
    "specs",
    "e2e",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test_data",
    "testsuite",
    "testutil",
    "conftest",
];

const ENDINGS: [&str; 12] = [
    "_test", "_tests", "_spec", ".test", ".tests", ".spec", ".e2e", "-test", "-spec", "Test",
    "Tests", "IT",
];

const SHOWCASES: [&str; 6] = ["example", "examples", "sample", "samples", "demo", "demos"];

/// Whether a file shows how something is used, and is not part of the product.
pub(crate) fn is_showcase(path: &FilePath) -> bool {
    let text = path.to_text();
    text.rsplit_once('/')
        .is_some_and(|(folder, _)| folder.split('/').any(|part| SHOWCASES.contains(&part)))
}

/// Folders of samples for tests.
const SAMPLES: [&str; 8] = [
    "fixtures",
    "__fixtures__",
    "fixture",
    "testdata",
    "test-data",
    "test_data",
    "snapshots",
    "samples",
];

const SUITES: [&str; 6] = ["test", "tests", "__tests__", "spec", "specs", "testsuite"];

/// Whether a file is a sample for tests, such as those of compilers and formatters: its code may be broken
/// on purpose. Deep in a suite, what is not named as a test is one; Java's packages are as deep as its tests.
pub(crate) fn is_sample(path: &FilePath) -> bool {
    let text = path.to_text();
    let Some((folder, name)) = text.rsplit_once('/') else { return false };
    let mut parts = folder.rsplit('/').skip(2);
    let is_deep = parts.any(|part| SUITES.contains(&part));
    is_kept_as_sample(path) || (is_deep && !is_named_as_test(name) && !name.ends_with(".java"))
}

/// Whether the folder says that its files are read as data, and not built or run: those of samples, the
/// data of a suite, and the resources beside the sources of a Java program.
pub(crate) fn is_kept_as_sample(path: &FilePath) -> bool {
    let text = path.to_text();
    let Some((folder, name)) = text.rsplit_once('/') else { return false };
    let parts: Vec<&str> = folder.split('/').collect();
    let is_data_of_suite = |pair: &[&str]| SUITES.contains(&pair[0]) && pair[1] == "data";
    parts.iter().any(|part| {
        SAMPLES.contains(part)
            || is_of_cases(part)
            || part.trim_end_matches('_').ends_with("fixtures")
    }) || parts.windows(2).any(is_data_of_suite)
        || (name.ends_with(".java") && parts.contains(&"resources") && !parts.contains(&"java"))
}

/// `configCases/`, but not `use_cases/`, where programs keep what they are for.
fn is_of_cases(part: &str) -> bool {
    let part = part.to_lowercase().replace(['_', '-'], "");
    part.ends_with("cases") && !part.ends_with("usecases")
}

/// Whether a tool wrote a script from others, or it is a release of another project, which is not fixed here.
pub(crate) fn is_built(path: &FilePath) -> bool {
    let text = path.to_text();
    let stem = [".js", ".mjs", ".cjs"].iter().find_map(|ending| text.strip_suffix(ending));
    stem.is_some_and(|stem| {
        let mut parts = stem.rsplit('/');
        parts.next().is_some_and(is_released) || parts.any(|part| part == "dist")
    })
}

/// `coreapi-0.1.1`: a name that ends with a version.
fn is_released(name: &str) -> bool {
    let Some((_, version)) = name.rsplit_once('-') else { return false };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    version.contains('.') && version.split('.').all(is_number)
}

/// Whether a file holds tests, test data or test support.
pub fn is_test_path(path: &FilePath) -> bool {
    let text = path.to_text();
    let mut parts: Vec<&str> = text.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    if parts.iter().any(|part| FOLDERS.contains(part)) {
        return true;
    }
    is_named_as_test(name)
}

fn is_named_as_test(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem == "conftest"
        || stem == "tests"
        || stem.starts_with("test_")
        || stem.starts_with("test-")
        || ENDINGS.iter().any(|ending| stem.len() > ending.len() && stem.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn showcases_are_known_by_their_folder() {
        for (path, expected) in [
            ("examples/auth/app.js", true),
            ("packages/a/sample/main.ts", true),
            ("src/examples.js", false),
            ("src/sampling/a.py", false),
        ] {
            assert_eq!(is_showcase(&FilePath::from(path)), expected, "{path}");
        }
    }

    #[test]
    fn samples_are_known_by_their_folder() {
        for (path, expected) in [
            ("tests/format/js/optional-chaining/as-key.js", true),
            ("tests/syntax-tests/source/Python/a.py", true),
            ("pkg/testdata/a.go", true),
            ("test/configCases/a/index.js", true),
            ("tests/data/print_function.py", true),
            ("scripts/codemods/__testfixtures__/imports.input.ts", true),
            ("src/docs-examples/resources/com/example/Bad.java", true),
            ("src/main/resources/static/js/main.js", false),
            ("src/data/store.py", false),
            ("src/main/java/com/acme/resources/UserResource.java", false),
            ("app/use_cases/pay.py", false),
            ("tests/unit/api/users.test.ts", false),
            ("tests/unit/api/test_users.py", false),
            ("tests/unit/helpers.js", false),
            ("src/test/java/com/example/Helper.java", false),
            ("src/format/js/a.js", false),
        ] {
            assert_eq!(is_sample(&FilePath::from(path)), expected, "{path}");
        }
    }

    #[test]
    fn built_scripts_are_known_by_their_folder() {
        for (path, expected) in [
            ("dist/axios.js", true),
            ("a/dist/esm/b.mjs", true),
            ("static/js/coreapi-0.1.1.js", true),
            ("src/step-2.js", false),
            ("dist.js", false),
            ("dist/a.py", false),
        ] {
            assert_eq!(is_built(&FilePath::from(path)), expected, "{path}");
        }
    }

    #[test]
    fn test_files_are_known_by_their_path() {
        for path in [
            "tests/api.py",
            "src/app/test_views.py",
            "pkg/store_test.go",
            "src/Button.test.tsx",
            "web/__tests__/util.js",
            "src/test/java/UserServiceTest.java",
            "spec/models/user_spec.rb",
            "conftest.py",
            "src/parse/tests.rs",
        ] {
            assert!(is_test_path(&path.into()), "{path}");
        }
        for path in
            ["src/app.py", "src/contest.py", "src/latest.js", "cmd/attest/main.go", "a/testify.ts"]
        {
            assert!(!is_test_path(&path.into()), "{path}");
        }
    }
}
