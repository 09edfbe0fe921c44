//! Tests of queries, in small.

use super::*;
use crate::import::ImportFile;

fn source(path: &str, text: &str) -> ImportFile {
    ImportFile { name: path.to_owned(), path: FilePath::from(path), text: text.to_owned() }
}

fn places(claims: &[DraftProblem]) -> Vec<String> {
    let place = |claim: &DraftProblem| match &claim.place {
        DraftLocation::Lines(file, span) => {
            let kind = claim.kind.as_deref().unwrap_or("-");
            format!("{file}:{span} {} {kind}: {}", claim.category.name(), claim.description)
        }
        DraftLocation::Untold => "untold".to_owned(),
    };
    claims.iter().map(place).collect()
}

#[test]
fn markers_are_the_truth_and_leave_the_code() {
    let code = "run(a) // $ Alert[js/run] ImportFile=x // NOT OK\n\
                run(b); // $ MISSING: Alert: why\nrun(\"c\"); // $ SPURIOUS: Alert\n// GOOD: no input\nrun(1);";
    let files = [
        source("Security/CWE-078/run.js", code),
        source(
            "Security/CWE-078/Run.qlref",
            "query: Security/CWE-078/Run.ql\npostprocess: utils/InlineExpectationsTestQuery.ql\n",
        ),
        source(
            "Security/CWE-078/Run.expected",
            "#select\n| run.js:1:5:1:5 | a | run.js:1:1:1:2 | b | run.js:1:5:1:5 | a | This runs $@. | run.js:1:5:1:5 | a | user input |\nedges\n| run.js:5:1:5:2 | x | y |\n",
        ),
    ];
    let imported = read(&files);
    assert_eq!(imported.passed_over, []);
    let [draft] = imported.drafts.as_slice() else { panic!("{imported:?}") };
    assert_eq!(
        places(&draft.truths),
        [
            "Security/CWE-078/run.js:1 security js/run: This runs user input.",
            "Security/CWE-078/run.js:2 security Security/CWE-078/Run: Security/CWE-078/Run",
        ]
    );
    assert_eq!(draft.rejected.len(), 1);
    let DraftCode::Added(files) = &draft.code else { panic!("{draft:?}") };
    let text = files.values().next().unwrap();
    assert_eq!(text, "run(a)\nrun(b);\nrun(\"c\");\n\nrun(1);");
}

#[test]
fn without_markers_the_results_are_the_truth() {
    let files = [
        source("t/Exceptions/a.py", "try:\n    f()\nexcept:\n    pass\n"),
        source("t/Exceptions/lib/b.py", "x = 1\n"),
        source("t/Exceptions/lib/rightGood.py", "x = 1\n"),
        source("t/Exceptions/Empty.qlref", "Exceptions/Empty.ql"),
        source(
            "t/Exceptions/Empty.expected",
            "| a.py:3:1:4:8 | ExceptStmt | It does nothing. |\n| gone.py:1:1:1:2 | X | No. |\n",
        ),
        source("t/Exceptions/Table.expected", "| a.py:1:1:1:2 | X | Not a query. |\n"),
    ];
    let imported = read(&files);
    assert_eq!(
        places(&imported.drafts[0].truths),
        ["t/Exceptions/a.py:3-4 error_handling Exceptions/Empty: It does nothing."]
    );
    assert_eq!(imported.drafts[1].truths, [], "its name says that it is good");
    let why: Vec<String> = imported.passed_over.iter().map(ToString::to_string).collect();
    assert_eq!(
        why,
        [
            "t/Exceptions/lib/b.py:1: nothing says whether it has problems",
            "t/Exceptions/Empty.expected:2: t/Exceptions/gone.py was not read",
        ]
    );
}

#[test]
fn plain_words_count_where_no_query_is() {
    let files = [
        source("a.go", "f() // BAD: why\ng() // badly named\nh() // OK\n"),
        source("b.py", "f()  # GOOD\nurl = 'http://good.com'\n"),
    ];
    let imported = read(&files);
    assert_eq!(places(&imported.drafts[0].truths), ["a.go:1 bug -: marked as bad"]);
    assert_eq!(
        (imported.drafts[1].truths.len(), imported.passed_over.len()),
        (0, 0),
        "it is clean"
    );
    let DraftCode::Added(files) = &imported.drafts[0].code else { panic!() };
    assert_eq!(files.values().next().unwrap(), "f()\ng() // badly named\nh()\n");
}
