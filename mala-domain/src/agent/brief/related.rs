//! The order of files in prompts: production code before tests, the most changed first. With
//! several prompts, related files stay together: files of one folder, and a test with the code that
//! it tests.

use crate::change::{ChangedFile, FilePath, LineKind};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Folders whose files are tests.
const TEST_FOLDERS: [&str; 8] =
    ["test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "snapshots"];

/// The files in one list: production code first, then tests, each with the most changed first.
pub(super) fn by_importance(files: &mut [&ChangedFile]) {
    files.sort_by_key(|file| (is_test(&file.path), Reverse(n_changed(file)), &file.path));
}

/// The files in groups that belong together, the most changed group first.
pub(super) fn groups(mut files: Vec<&ChangedFile>) -> Vec<Vec<&ChangedFile>> {
    by_importance(&mut files);
    let production: Vec<(String, String)> = files
        .iter()
        .filter(|file| !is_test(&file.path))
        .map(|file| (stem(&file.path), folder(&file.path)))
        .collect();
    let mut groups: BTreeMap<String, Vec<&ChangedFile>> = BTreeMap::new();
    for file in files {
        let own = folder(&file.path);
        let tested = production.iter().find(|(name, _)| *name == stem(&file.path));
        let key = match is_test(&file.path) {
            true => tested.map_or(own, |(_, folder)| folder.clone()),
            false => own,
        };
        groups.entry(key).or_default().push(file);
    }
    let mut groups: Vec<Vec<&ChangedFile>> = groups.into_values().collect();
    groups.sort_by_key(|group| {
        let tests_only = group.iter().all(|file| is_test(&file.path));
        (tests_only, Reverse(group.iter().map(|file| n_changed(file)).sum::<usize>()))
    });
    groups
}

fn n_changed(file: &ChangedFile) -> usize {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    lines.filter(|line| line.kind != LineKind::Context).count()
}

fn folder(path: &FilePath) -> String {
    let text = path.to_text();
    text.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default()
}

/// The name of a file without its extension and without test markers such as `_test`.
fn stem(path: &FilePath) -> String {
    let name = path.file_name();
    let name = name.split('.').next().unwrap_or_default();
    let name = name.strip_prefix("test_").unwrap_or(name);
    let ends = ["_test", "_tests", "_spec", "Tests", "Test", "Spec"];
    let end = ends.into_iter().find_map(|end| name.strip_suffix(end));
    end.filter(|it| !it.is_empty()).unwrap_or(name).to_owned()
}

fn is_test(path: &FilePath) -> bool {
    let text = path.to_text();
    let (folders, name) = text.rsplit_once('/').unwrap_or(("", &text));
    let bare = name.split('.').next().unwrap_or_default();
    folders.split('/').any(|folder| TEST_FOLDERS.contains(&folder))
        || name.contains(".test.")
        || name.contains(".spec.")
        || bare == "tests"
        || stem(path) != bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::parse;

    fn change(files: &[(&str, usize)]) -> Vec<ChangedFile> {
        let diff: String = files
            .iter()
            .map(|(path, n)| {
                let lines = "+x\n".repeat(*n);
                format!(
                    "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{n} @@\n{lines}"
                )
            })
            .collect();
        parse(diff.as_bytes()).unwrap_or_default()
    }

    fn names(files: &[&ChangedFile]) -> String {
        files.iter().map(|file| file.path.to_string()).collect::<Vec<_>>().join(" ")
    }

    /// 002-090
    #[test]
    fn production_code_comes_before_tests() {
        let files = change(&[
            ("tests/test_big.py", 9),
            ("a.py", 1),
            ("src/b.test.ts", 5),
            ("b.py", 3),
            ("c_test.go", 7),
            ("src/tests.rs", 2),
        ]);
        let mut all: Vec<&ChangedFile> = files.iter().collect();
        by_importance(&mut all);
        assert_eq!(names(&all), "b.py a.py tests/test_big.py c_test.go src/b.test.ts src/tests.rs");
    }

    #[test]
    fn a_test_stays_with_what_it_tests_and_a_file_with_its_folder() {
        let files = change(&[
            ("web/page.ts", 4),
            ("core/store.py", 9),
            ("core/load.py", 2),
            ("tests/test_store.py", 3),
            ("tests/test_other.py", 30),
        ]);
        let groups = groups(files.iter().collect());
        let shown: Vec<String> = groups.iter().map(|group| names(group)).collect();
        assert_eq!(
            shown,
            [
                "core/store.py core/load.py tests/test_store.py",
                "web/page.ts",
                "tests/test_other.py"
            ]
        );
    }
}
