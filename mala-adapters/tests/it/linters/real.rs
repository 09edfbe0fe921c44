//! The real linters that `scripts/install-tools` installs, and clippy.

use super::*;
use crate::git::range;

/// The environment of the tests, in which these linters are found.
fn with_real(repo: &TestRepo, programs: &[&str]) -> ProcessEnvironment {
    let environment = environment(repo);
    for program in programs {
        assert!(environment.find(program).is_some(), "{program} is missing: run scripts/test");
    }
    environment
}

const PYTHON: &str = "import os\n\n\ndef old():\n    return missing\n";
const RUFF: &str = "[lint]\nselect = [\"F\"]\n";

#[test]
fn ruff_speaks_of_added_lines_only() {
    let repo = TestRepo::with_files(&[("ruff.toml", RUFF), ("pkg/a.py", PYTHON)]);
    repo.write("pkg/a.py", format!("{PYTHON}\n\ndef added():\n    return undefined_thing\n"));
    repo.write("pkg/broken.py", "def f(:\n");
    let found = lint(&repo, ReviewTarget::WorkingTree, &[], &with_real(&repo, &["ruff"]));
    assert_eq!(
        found,
        "pkg/a.py:9 P1 bug ruff/F821: Undefined name `undefined_thing`\n\
         pkg/broken.py:1 P0 bug ruff/syntax: Expected a parameter or the end of the parameter list"
    );
}

#[test]
fn a_commit_is_linted_with_the_settings_before_it() {
    let repo = TestRepo::with_files(&[("ruff.toml", RUFF), ("a.py", "x = 1\n")]);
    // The commit turns the rule off, and the tree on disk is another one.
    repo.write("ruff.toml", "[lint]\nselect = [\"E9\"]\n");
    repo.write("a.py", "x = 1\nprint(undefined_thing)\n");
    repo.commit("change");
    repo.write("a.py", "\n\n\n");
    let environment = with_real(&repo, &["ruff"]);
    let found = lint(&repo, range("HEAD~1", "HEAD"), &[], &environment);
    assert_eq!(found, "a.py:2 P1 bug ruff/F821: Undefined name `undefined_thing`");
}

#[test]
fn staged_text_is_linted_and_not_what_lies_on_disk() {
    let repo = TestRepo::with_files(&[("pyproject.toml", "[tool.ruff.lint]\nselect = [\"F\"]\n")]);
    repo.write("a.py", "print(undefined_thing)\n");
    repo.stage();
    repo.write("a.py", "\n\nprint(another_thing)\n");
    let found = lint(&repo, ReviewTarget::Staged, &[], &with_real(&repo, &["ruff"]));
    assert_eq!(found, "a.py:1 P1 bug ruff/F821: Undefined name `undefined_thing`");
}

#[test]
fn a_project_without_a_sign_of_a_linter_is_left_alone() {
    let repo = TestRepo::with_files(&[("a.py", "x = 1\n"), ("a.js", "let x;\n")]);
    repo.write("a.py", "print(undefined_thing)\n");
    repo.write("a.js", "debugger;\n");
    let environment = with_real(&repo, &["ruff", "eslint", "oxlint", "biome"]);
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &LinterName::ALL, &environment), "");
}

#[test]
fn shellcheck_needs_no_setup() {
    let repo = TestRepo::with_files(&[("run", "#!/bin/sh\necho $1\n")]);
    repo.write("run", "#!/bin/sh\necho $1\nrm -rf \"$1/\"\n");
    let found = lint(&repo, ReviewTarget::WorkingTree, &[], &with_real(&repo, &["shellcheck"]));
    assert_eq!(
        found,
        "run:3 P2 bug shellcheck/SC2115: Use \"${var:?}\" to ensure this never expands to / ."
    );
}

const SCRIPT: &str = "const x = 1;\ndebugger;\nx = 2;\n";

#[test]
fn oxlint_and_biome_and_eslint() {
    let repo = TestRepo::with_files(&[
        (".oxlintrc.json", "{}"),
        ("biome.json", "{\"linter\": {\"rules\": {\"style\": \"off\"}}}"),
        ("eslint.config.mjs", "export default [{rules: {'no-debugger': 'error'}}];\n"),
        ("a.js", "const x = 1;\n"),
    ]);
    repo.write("a.js", SCRIPT);
    repo.write("bad[1].js", "let x = ;\n");
    let environment = with_real(&repo, &["oxlint", "biome", "eslint"]);
    assert_eq!(
        lint(&repo, ReviewTarget::WorkingTree, &[], &environment),
        "a.js:2 P2 bug biome/suspicious/noDebugger: This is an unexpected use of the debugger \
         statement.\n\
         a.js:2 P2 bug eslint/no-debugger: Unexpected 'debugger' statement.\n\
         a.js:2 P2 bug oxlint/no-debugger: `debugger` statement is not allowed\n\
         a.js:3 P1 bug biome/correctness/noConstAssign: Can't assign x because it's a constant.\n\
         a.js:3 P1 bug oxlint/no-const-assign: Unexpected re-assignment of `const` variable x.\n\
         a.js:3 P3 style oxlint/no-unused-vars: Variable 'x' is assigned a value but never used. \
         Unused variables should start with a '_'.\n\
         bad[1].js:1 P0 bug biome/syntax: Expected an expression, or an assignment but instead found \
         ';'.\n\
         bad[1].js:1 P0 bug oxlint/syntax: Unexpected token\n\
         bad[1].js:1 P2 bug eslint/syntax: Parsing error: Unexpected token ;\n\
         bad[1].js:1 P3 style biome/correctness/noUnusedVariables: This variable x is unused."
    );
}

#[test]
fn a_commit_of_others_runs_no_project_code() {
    let repo = TestRepo::with_files(&[(".oxlintrc.json", "{}")]);
    let ran = repo.beside("ran");
    let config = format!(
        "import fs from 'node:fs';\nfs.writeFileSync('{}', '');\nexport default [];\n",
        ran.display()
    );
    repo.write("eslint.config.mjs", &config);
    repo.commit("set up eslint");
    repo.write("a.js", "debugger;\n");
    repo.write("oxlint.config.ts", &config);
    repo.commit("change");
    let environment = with_real(&repo, &["oxlint", "eslint"]);
    assert_eq!(
        lint(&repo, range("HEAD~1", "HEAD"), &[], &environment),
        "a.js:1 P2 bug oxlint/no-debugger: `debugger` statement is not allowed"
    );
    assert!(!ran.exists());
    // The same settings run in the user's own tree: the test above can fail.
    repo.git(&["rm", "-q", "oxlint.config.ts"]);
    repo.write("a.js", "debugger;\n\n");
    lint(&repo, ReviewTarget::WorkingTree, &[], &environment);
    assert!(ran.exists());
}

#[test]
fn eslint_without_its_packages_is_one_warning() {
    let repo = TestRepo::with_files(&[("eslint.config.mjs", "import 'no-such-plugin';\n")]);
    repo.write("a.js", SCRIPT);
    let found = lint(&repo, ReviewTarget::WorkingTree, &[], &with_real(&repo, &["eslint"]));
    let start = "warning: cannot run eslint: ";
    assert!(found.starts_with(start) && found.contains("Cannot find package"), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn broken_settings_are_one_warning_each() {
    let repo = TestRepo::with_files(&[("ruff.toml", "x = [\n"), ("biome.json", "nonsense")]);
    repo.write("a.js", SCRIPT);
    repo.write("a.py", PYTHON);
    let found = lint(&repo, ReviewTarget::WorkingTree, &[], &with_real(&repo, &["ruff", "biome"]));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 2, "{found}");
    assert!(lines[0].starts_with("warning: cannot run ruff: "), "{found}");
    assert!(lines[1].starts_with("warning: cannot run biome: "), "{found}");
}

#[test]
fn tsc_runs_when_it_is_listed() {
    let config = "{\"compilerOptions\": {\"strict\": true, \"types\": []}}";
    let repo = TestRepo::with_files(&[("web/tsconfig.json", config), ("web/a.ts", "export {};\n")]);
    repo.write("web/a.ts", "export {};\nexport const n: number = 'x';\n");
    let environment = with_real(&repo, &["tsc"]);
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &environment), "");
    let found = lint(&repo, ReviewTarget::WorkingTree, &[LinterName::Tsc], &environment);
    let said = "Type 'string' is not assignable to type 'number'.";
    assert_eq!(found, format!("web/a.ts:2 P1 bug tsc/TS2322: {said}"));
    assert_eq!(repo.git(&["status", "--short", "--untracked-files=all"]).trim(), "M web/a.ts");
}

#[test]
fn tsc_without_packages_is_one_warning() {
    let repo = TestRepo::with_files(&[("tsconfig.json", "{\"compilerOptions\": {\"types\": []}}")]);
    repo.write("a.ts", "import { x } from 'no-such-package';\nexport const n: number = 'x' + x;\n");
    let environment = with_real(&repo, &["tsc"]);
    let found = lint(&repo, ReviewTarget::WorkingTree, &[LinterName::Tsc], &environment);
    assert_eq!(found, "warning: cannot run tsc: the project's packages are not installed");
}

#[test]
fn clippy_runs_when_it_is_listed_and_only_in_the_own_tree() {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let repo = TestRepo::with_files(&[
        ("Cargo.toml", manifest),
        (".gitignore", "/target\nCargo.lock\n"),
        ("src/lib.rs", "pub fn old(x: i32) -> i32 {\n    return x;\n}\n"),
    ]);
    let text = "pub fn old(x: i32) -> i32 {\n    return x;\n}\n\npub fn same(x: i32) -> bool {\n    x == x\n}\n";
    repo.write("src/lib.rs", text);
    // Toolchains are found through the home of the current user.
    let home = std::env::var_os("HOME").unwrap();
    let environment = with_real(&repo, &["cargo-clippy"]).with("HOME", home);
    let also = [LinterName::Clippy];
    let found = lint(&repo, ReviewTarget::WorkingTree, &also, &environment);
    assert_eq!(
        found,
        "src/lib.rs:6 P2 bug clippy/clippy::eq_op: equal expressions as operands to `==`"
    );
    repo.commit("change");
    let found = lint(&repo, range("HEAD~1", "HEAD"), &also, &environment);
    assert_eq!(
        found,
        "warning: cannot run clippy: it runs project code, and the reviewed state is not the \
         work tree"
    );
}
