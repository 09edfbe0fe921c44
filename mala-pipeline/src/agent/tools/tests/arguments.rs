//! What is wrong with an argument is said, with what would be right.

use super::*;

/// Tool, arguments, what is wrong, what would be right.
const WRONG: &[(&str, &str, &str, &str)] = &[
    ("rm", "{}", "there is no tool \"rm\"", "call one of git_diff"),
    ("read_file", "{", "the arguments are no JSON", "path, start_line (optional)"),
    ("read_file", "[]", "the arguments are no JSON object", "a JSON object with path"),
    ("read_file", "\"a.py\"", "the arguments are no JSON object", "a JSON object with path"),
    ("read_file", "", "path is missing", "pass path"),
    ("read_file", "{}", "path is missing", "pass path"),
    ("read_file", r#"{"path":null}"#, "path is missing", "pass path"),
    ("read_file", r#"{"path":"a.py","repo":"x"}"#, "has no argument \"repo\"", "path, start_line"),
    ("read_file", r#"{"path":7}"#, "path is no text", "1 to 1024 characters"),
    ("read_file", r#"{"path":""}"#, "path is the root of the tree", "list_files shows them"),
    ("read_file", r#"{"path":"a\u0000.py"}"#, "path has a NUL in it", "without NUL"),
    ("read_file", r#"{"path":"."}"#, "path is the root of the tree", "list_files shows them"),
    ("read_file", r#"{"path":"/etc/passwd"}"#, "leads out of the reviewed tree", "relative"),
    ("read_file", r#"{"path":"../x"}"#, "leads out of the reviewed tree", "relative"),
    ("read_file", r#"{"path":"src/../../x"}"#, "leads out of the reviewed tree", "relative"),
    ("read_file", r#"{"path":".//etc/passwd"}"#, "leads out of the reviewed tree", "relative"),
    ("read_file", r#"{"path":"\"../x\""}"#, "leads out of the reviewed tree", "relative"),
    ("read_file", r#"{"path":"\"a\\000b\""}"#, "leads out of the reviewed tree", "relative"),
    ("read_file", r#"{"path":".git/config"}"#, "is git's own folder", "use git_log"),
    ("read_file", r#"{"path":"sub/.GIT/config"}"#, "is git's own folder", "use git_log"),
    ("read_file", r#"{"path":"-rf"}"#, "has no file -rf at head", "look with list_files"),
    ("read_file", r#"{"path":":(exclude)a.py"}"#, "has no file :(exclude)a.py", "list_files"),
    ("read_file", r#"{"path":"*.py"}"#, "has no file *.py at head", "look with list_files"),
    ("read_file", r#"{"path":"\"\\377.py\""}"#, "has no file \"\\377.py\"", "list_files"),
    ("read_file", r#"{"path":"passwd"}"#, "is a symbolic link", "read the file"),
    ("read_file", r#"{"path":"src"}"#, "src is a folder", "list_files shows"),
    ("read_file", r#"{"path":"logo.png"}"#, "is a binary file", "read text files only"),
    ("read_file", r#"{"path":"big.txt"}"#, "has 5242880 bytes", "search_code"),
    ("read_file", r#"{"path":"a.py","start_line":0}"#, "start_line is \"0\"", "from 1 to"),
    ("read_file", r#"{"path":"a.py","start_line":-3}"#, "start_line is \"-3\"", "from 1 to"),
    ("read_file", r#"{"path":"a.py","start_line":1.5}"#, "start_line is \"1.5\"", "from 1 to"),
    ("read_file", r#"{"path":"a.py","start_line":1e99}"#, "start_line is", "from 1 to"),
    ("read_file", r#"{"path":"a.py","end_line":[]}"#, "end_line is \"[]\"", "from 1 to"),
    (
        "read_file",
        r#"{"path":"a.py","start_line":9,"end_line":2}"#,
        "is after end_line 2",
        "start_line 2",
    ),
    ("read_file", r#"{"path":"a.py","start_line":99}"#, "has 20 lines", "lines from 1 to 20"),
    (
        "read_file",
        r#"{"path":"a.py","ref":"main"}"#,
        "ref is \"\\\"main\\\"\"",
        "one of head, base",
    ),
    ("read_file", r#"{"path":"a.py","ref":"--all"}"#, "ref is", "one of head, base"),
    ("git_diff", r#"{"path":"src"}"#, "no changed file is there", "pass one of a.py"),
    ("git_show", "{}", "commit is missing", "pass commit"),
    ("git_show", r#"{"commit":"HEAD"}"#, "commit \"HEAD\" is no id", "hexadecimal digits"),
    ("git_show", r#"{"commit":"--output=/tmp/x"}"#, "is no id", "hexadecimal digits"),
    ("git_show", r#"{"commit":"abc"}"#, "is no id", "7 or more"),
    ("git_show", r#"{"commit":"fffffff"}"#, "no commit fffffff leads to", "from git_log"),
    ("git_log", r#"{"max":"many"}"#, "max is", "a whole number"),
    ("git_blame", r#"{"path":"empty.txt"}"#, "empty.txt is empty", "it has no lines"),
    ("git_blame", r#"{"path":"no.py"}"#, "has no file no.py", "list_files"),
    ("list_files", r#"{"path":"no/such"}"#, "has nothing at no/such", "a folder that list_files"),
    ("list_files", r#"{"language":"cobol"}"#, "language is", "one of python"),
    ("search_code", "{}", "query is missing", "pass query"),
    ("search_code", r#"{"query":"a\nb"}"#, "query has several lines", "a part of one line"),
    ("search_code", r#"{"query":"(","mode":"regex"}"#, "is no regular expression", "mode literal"),
    (
        "search_code",
        r#"{"query":"(a)\\1","mode":"regex"}"#,
        "is no regular expression",
        "back-references",
    ),
    (
        "search_code",
        r#"{"query":"(a{999}){999}","mode":"regex"}"#,
        "it is too large",
        "mode literal",
    ),
    ("search_code", r#"{"query":"x","mode":"glob"}"#, "mode is", "one of literal, regex"),
    ("search_code", r#"{"query":"x","path":"../"}"#, "leads out of the reviewed tree", "relative"),
    ("get_function_context", r#"{"path":"a.py"}"#, "symbol and line are missing", "one of them"),
    ("get_function_context", r#"{"path":"a.py","line":99}"#, "has 20 lines", "a line from 1 to 20"),
    (
        "get_function_context",
        r#"{"path":"src/server.py","symbol":"go"}"#,
        "has no such name",
        "\"Server.run\"",
    ),
    ("find_references", "{}", "symbol is missing", "pass symbol"),
    ("find_references", r#"{"symbol":"a b"}"#, "symbol \"a b\" is no name", "such as run"),
    ("find_references", r#"{"symbol":"-e"}"#, "symbol \"-e\" is no name", "such as run"),
    ("find_references", r#"{"symbol":"a."}"#, "is no name", "such as run"),
    ("run_linter", r#"{"path":"a.py"}"#, "linter is missing", "pass linter"),
    ("run_linter", r#"{"linter":"sh","path":"a.py"}"#, "linter is", "one of ruff"),
    ("run_linter", r#"{"linter":"ruff","path":"../a.py"}"#, "leads out", "relative"),
    ("run_linter", r#"{"linter":"ruff","path":"no.py"}"#, "has no file no.py", "list_files"),
    ("run_linter", r#"{"linter":"tsc","path":"a.py"}"#, "does not configure it", "another linter"),
];

/// 002-066, 002-068, 002-075, 002-079, 002-131
#[tokio::test]
async fn what_is_wrong_is_said_with_what_is_right() {
    for (tool, arguments, what, instead) in WRONG {
        let text = say(tool, arguments).await;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{tool} {arguments}: {text}");
        assert!(lines[0].starts_with("error: ") && lines[0].contains(what), "{arguments}: {text}");
        assert!(
            lines[1].starts_with("instead: ") && lines[1].contains(instead),
            "{arguments}: {text}"
        );
    }
}

#[tokio::test]
async fn long_arguments_are_not_read() {
    let long = format!(r#"{{"path":"{}"}}"#, "a".repeat(2000));
    assert!(say("read_file", &long).await.contains("path is too long"));
    let longer = format!(r#"{{"path":"{}"}}"#, "a".repeat(20_000));
    assert!(say("read_file", &longer).await.contains("the arguments have 20011 bytes"));
    let deep = format!("{{\"path\":{}", "[".repeat(10_000));
    assert!(say("read_file", &deep).await.contains("the arguments are no JSON"));
}

/// 002-069: both names of the language.
#[tokio::test]
async fn what_models_write_a_little_wrong_is_understood() {
    let plain = say("read_file", r#"{"path":"a.py","start_line":2,"end_line":3}"#).await;
    for other in [
        r#"{"path":"./a.py","start_line":2,"end_line":3}"#,
        r#"{"path":"a.py","start_line":"2","end_line":3.0,"ref":null}"#,
        r#"{"path":"a.py","start_line":2,"end_line":3,"ref":"head"}"#,
        r#"{"path":"\"a.py\"","start_line":2,"end_line":3}"#,
    ] {
        assert_eq!(say("read_file", other).await, plain, "{other}");
    }
    let plain = say("search_code", r#"{"query":"run","language":"python"}"#).await;
    assert!(!plain.contains("notes.txt"), "{plain}");
    let other = r#"{"query":"run","language_filter":"python"}"#;
    assert_eq!(say("search_code", other).await, plain);
}

#[tokio::test]
async fn a_patch_alone_has_no_history() {
    let request = request(InMemory { is_patch: true, ..tree() });
    let toolbox = Toolbox::new(request, ToolLimits::default());
    for (tool, arguments) in [
        ("git_log", "{}"),
        ("git_show", r#"{"commit":"0123456"}"#),
        ("git_blame", r#"{"path":"a.py"}"#),
    ] {
        let result = ask(&toolbox, tool, arguments).await;
        assert!(result.is_error && result.text.contains("has no history"), "{}", result.text);
    }
    let result = ask(&toolbox, "run_linter", r#"{"linter":"ruff","path":"a.py"}"#).await;
    assert!(result.is_error && result.text.contains("no linter can be run here"));
}
