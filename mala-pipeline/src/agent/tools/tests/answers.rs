//! What each tool shows.

use super::*;
use insta::assert_snapshot;

/// 002-067, 002-131
#[tokio::test]
async fn files_are_read_and_listed() {
    assert_snapshot!(say("read_file", r#"{"path":"src/user.py"}"#).await, @"
    path: src/user.py
    language: python
    line_count: 3
    lines 1-3:
    1| from server import Server
    2| Server().run()
    3| # run it
    ");
    assert_snapshot!(say("read_file", r#"{"path":"empty.txt"}"#).await, @"
    path: empty.txt
    language: unknown
    line_count: 0
    the file is empty
    ");
    assert_snapshot!(say("list_files", "{}").await, @"
    files: 8
    a.py
    big.txt
    empty.txt
    logo.png
    notes.txt
    src/server.py
    src/user.py
    passwd (symbolic link)
    ");
    assert_snapshot!(say("list_files", r#"{"path":"src","language":"python"}"#).await, @"
    files: 2
    src/server.py
    src/user.py
    ");
    let few = toolbox(ToolLimits { max_lines: 7, ..ToolLimits::default() });
    assert_snapshot!(ask(&few, "list_files", "{}").await.text, @"
    files: 8; folders are shown with how many files they have
    src/ (2 files)
    a.py
    big.txt
    empty.txt
    logo.png
    notes.txt
    passwd (symbolic link)
    ");
}

#[tokio::test]
async fn the_change_and_its_history_are_shown() {
    assert_snapshot!(say("git_diff", r#"{"path":"a.py"}"#).await, @"
    file: a.py (modified, 2 hunks)
    @@ -1,2 +1,2 @@ def f():
         1| same
    -    2| old
    +    2| new
    @@ -11,2 +11,2 @@ def f():
        11| same
    -   12| old
    +   12| new
    ");
    assert_snapshot!(say("git_log", r#"{"max":2}"#).await, @"
    0123456789 2024-01-31 Ada: add it
    0123456789 2024-01-31 Ada: add it
    ");
    assert_snapshot!(say("git_show", r#"{"commit":"0123456"}"#).await, @"
    commit: 0123456789abcdef0123456789abcdef01234567
    by: Ada, 2024-01-31
    add it

    Why.

    file: a.py (modified, 2 hunks)
    @@ -1,2 +1,2 @@ def f():
         1| same
    -    2| old
    +    2| new
    @@ -11,2 +11,2 @@ def f():
        11| same
    -   12| old
    +   12| new
    ");
    assert_snapshot!(say("git_blame", r#"{"path":"a.py","end_line":3}"#).await, @"
    path: a.py
    line_count: 20
    lines 1-3:
    1| 0123456789 2024-01-31 | line 1
    2| not committed | line 2
    3| 0123456789 2024-01-31 | line 3
    ");
}

/// 002-070, 002-131
#[tokio::test]
async fn texts_are_found() {
    assert_snapshot!(say("search_code", r#"{"query":"run"}"#).await, @"
    matches: 5
    src/server.py:7: def run(self):
    src/server.py:11: self.run()
    src/user.py:2: Server().run()
    src/user.py:3: # run it
    notes.txt:2: to run
    ");
    let arguments = r#"{"query":"def \\w+\\(","mode":"regex","language":"python","path":"src"}"#;
    assert_snapshot!(say("search_code", arguments).await, @"
    matches: 2
    src/server.py:7: def run(self):
    src/server.py:10: def stop(self):
    ");
    assert_snapshot!(say("search_code", r#"{"query":"nowhere to be found"}"#).await, @"matches: 0");
}

/// 002-075, 002-076, 002-131
#[tokio::test]
async fn functions_are_shown_with_their_imports() {
    let arguments = r#"{"path":"src/server.py","symbol":"Server::run"}"#;
    assert_snapshot!(say("get_function_context", arguments).await, @"
    path: src/server.py
    language: python
    line_count: 11
    symbol: Server.run (method)
    start_line: 7
    end_line: 8
    imports:
    1| import os
    2| from math import (
    3|     pi,
    definition, lines 7-8:
    7|     def run(self):
    8|         return os.getpid()
    ");
    let arguments = r#"{"path":"src/server.py","line":11}"#;
    assert_snapshot!(say("get_function_context", arguments).await, @"
    path: src/server.py
    language: python
    line_count: 11
    symbol: Server.stop (method)
    start_line: 10
    end_line: 11
    imports:
    1| import os
    2| from math import (
    3|     pi,
    definition, lines 10-11:
    10|     def stop(self):
    11|         self.run()
    ");
    let arguments = r#"{"path":"notes.txt","symbol":"run"}"#;
    assert_snapshot!(say("get_function_context", arguments).await, @"
    path: notes.txt
    language: unknown
    line_count: 3
    note: this file has no known grammar; these are the lines around line 2
    lines 1-3:
    1| one
    2| to run
    3| three
    ");
}

/// 002-075, 002-077, 002-078
#[tokio::test]
async fn functions_are_found_by_their_grammar() {
    let python = "@cached\n@named(\n    'x'\n)\ndef decorated():\n    return 1\n\n\nasync def outer(\n    a,\n    b=2,\n):\n    def inner():\n        return a\n\n    return inner\n";
    let script = "import fs from 'fs';\nfunction plain() {\n  return 1;\n}\nconst arrow = () => {\n  return 2;\n};\nclass Box {\n  open() {\n    return 3;\n  }\n}\nexport default function main() {\n  return 4;\n}\n";
    let mut tree = tree();
    tree.files.insert("f.py".into(), python.into());
    for file in ["f.js", "f.ts", "f.tsx"] {
        tree.files.insert(file.into(), script.into());
    }
    let toolbox = Toolbox::new(request(tree), ToolLimits::default());
    let scripts = ["f.js", "f.ts", "f.tsx"].into_iter().flat_map(|file| {
        let functions = [("plain", 2, 4), ("arrow", 5, 7), ("Box.open", 9, 11), ("main", 13, 15)];
        functions.map(|(name, first, last)| (file, name, first, last))
    });
    let functions = [("decorated", 1, 6), ("outer", 9, 16), ("inner", 13, 14)];
    let python = functions.map(|(name, first, last)| ("f.py", name, first, last));
    for (file, name, first, last) in python.into_iter().chain(scripts) {
        let arguments = format!(r#"{{"path":"{file}","symbol":"{name}"}}"#);
        let text = ask(&toolbox, "get_function_context", &arguments).await.text;
        let lines = format!("start_line: {first}\nend_line: {last}\n");
        assert!(text.contains(&lines), "{file} {name}: {text}");
    }
}

#[tokio::test]
async fn references_say_what_they_do() {
    assert_snapshot!(say("find_references", r#"{"symbol":"Server.run"}"#).await, @"
    references: 5
    src/server.py:11: [call in Server.stop] self.run()
    src/user.py:2: [call] Server().run()
    src/server.py:7: [definition in Server] def run(self):
    notes.txt:2: [mention] to run
    src/user.py:3: [mention] # run it
    ");
    assert_snapshot!(say("find_references", r#"{"symbol":"Server"}"#).await, @"
    references: 3
    src/user.py:2: [call] Server().run()
    src/user.py:1: [import] from server import Server
    src/server.py:6: [definition] class Server:
    ");
}

/// 002-131
#[tokio::test]
async fn a_linter_says_what_it_finds() {
    assert_snapshot!(say("run_linter", r#"{"linter":"ruff","path":"a.py"}"#).await, @"
    path: a.py
    linter: ruff
    findings: 1
    line 1 warning F401: unused import
    ");
}
