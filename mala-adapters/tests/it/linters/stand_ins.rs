//! Linters that cannot be installed everywhere, as scripts that print their documented output.

use super::*;
use crate::git::range;

/// A linter that expects exactly these arguments and prints this output.
fn program(repo: &TestRepo, name: &str, wants: &str, says: &str) -> ProcessEnvironment {
    let script = format!(
        "[ \"$*\" = '{wants}' ] || {{ echo \"error: got $*\" >&2; exit 2; }}\n\
         cat <<'END'\n{says}\nEND\nexit 1"
    );
    with_program(repo, name, &script)
}

#[test]
fn hadolint() {
    let repo = TestRepo::with_files(&[("Dockerfile", "FROM debian\n")]);
    repo.write("Dockerfile", "FROM debian\nRUN cd /tmp\nCOPY a\n");
    let says = r#"[{"code":"DL3006","column":1,"file":"./Dockerfile","level":"warning","line":1,"message":"Always tag the version of an image explicitly"},
        {"code":"DL3003","column":1,"file":"./Dockerfile","level":"warning","line":2,"message":"Use WORKDIR to switch to a directory"},
        {"code":"DL3021","column":1,"file":"./Dockerfile","level":"error","line":3,"message":"COPY with more than 2 arguments"}]"#;
    let environment = program(&repo, "hadolint", "--format json ./Dockerfile", says);
    assert_eq!(
        lint(&repo, ReviewTarget::WorkingTree, &[], &environment),
        "Dockerfile:2 P3 style hadolint/DL3003: Use WORKDIR to switch to a directory\n\
         Dockerfile:3 P2 bug hadolint/DL3021: COPY with more than 2 arguments"
    );
}

#[test]
fn actionlint() {
    let config = ".github/actionlint.yaml";
    let repo = TestRepo::with_files(&[(config, "self-hosted-runner: {}\n")]);
    repo.write(".github/workflows/ci.yml", "on: push\njobs: {}\n");
    repo.commit("change");
    let says = r#"[{"message":"\"github.event.issue.title\" is potentially untrusted. avoid using it directly in inline scripts","filepath":".github/workflows/ci.yml","line":2,"column":1,"kind":"expression","snippet":"","end_column":5}]"#;
    let wants = "-format {{json .}} -shellcheck= -pyflakes= -config-file ./.github/actionlint.yaml \
                 ./.github/workflows/ci.yml";
    let environment = program(&repo, "actionlint", wants, says);
    assert_eq!(
        lint(&repo, range("HEAD~1", "HEAD"), &[], &environment),
        ".github/workflows/ci.yml:2 P2 security actionlint/expression: \"github.event.issue.title\" is \
         potentially untrusted. avoid using it directly in inline scripts"
    );
}

#[test]
fn semgrep_is_given_the_rules_of_the_project() {
    let repo = TestRepo::with_files(&[(".semgrep/rules.yml", "rules: []\n"), ("a.py", "x = 1\n")]);
    repo.write("a.py", "x = 1\neval(x)\n");
    let says = r#"{"version":"1.90.0","results":[{"check_id":"semgrep.no-eval","path":"a.py","start":{"line":2,"col":1,"offset":6},"end":{"line":2,"col":8,"offset":13},"extra":{"message":"eval runs what it is given","severity":"ERROR","metadata":{"category":"security"},"lines":"eval(x)"}}],"errors":[],"paths":{"scanned":["a.py"]}}"#;
    let wants = "scan --json --quiet --metrics off --disable-version-check --config \
                 ./.semgrep/rules.yml ./a.py";
    let environment = program(&repo, "semgrep", wants, says);
    assert_eq!(
        lint(&repo, ReviewTarget::WorkingTree, &[], &environment),
        "a.py:2 P2 security semgrep/semgrep.no-eval: eval runs what it is given"
    );
}

#[test]
fn golangci_lint_runs_when_it_is_listed() {
    let repo =
        TestRepo::with_files(&[(".golangci.yml", "version: \"2\"\n"), ("a.go", "package a\n")]);
    repo.write("a.go", "package a\n\nfunc f() {\n\tg()\n}\n");
    let says = r#"{"Issues":[{"FromLinter":"errcheck","Text":"Error return value is not checked","Severity":"","SourceLines":["\tg()"],"Pos":{"Filename":"a.go","Offset":24,"Line":4,"Column":3},"ExpectNoLint":false,"ExpectedNoLintLinter":""},{"FromLinter":"revive","Text":"package comment","Pos":{"Filename":"a.go","Offset":0,"Line":1,"Column":1}}],"Report":{}}"#;
    let wants = "run --output.json.path stdout --show-stats=false";
    let environment = program(&repo, "golangci-lint", wants, says);
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &environment), "");
    assert_eq!(
        lint(&repo, ReviewTarget::WorkingTree, &[LinterName::GolangciLint], &environment),
        "a.go:4 P2 error_handling golangci-lint/errcheck: Error return value is not checked"
    );
}
