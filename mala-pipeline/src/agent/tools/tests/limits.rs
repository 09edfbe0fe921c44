//! Answers have a size, files outside the change have a budget, and secrets stay.

use super::*;
use std::collections::BTreeSet;

fn small() -> ToolLimits {
    ToolLimits { max_lines: 8, max_bytes: 4096, ..ToolLimits::default() }
}

#[tokio::test]
async fn a_long_file_is_cut_and_the_rest_can_be_asked_for() {
    let toolbox = toolbox(small());
    let first = ask(&toolbox, "read_file", r#"{"path":"a.py"}"#).await.text;
    assert!(first.contains("lines 1-8:"), "{first}");
    assert!(first.ends_with("cut: 12 more lines; ask for lines 9-20"), "{first}");
    let rest = ask(&toolbox, "read_file", r#"{"path":"a.py","start_line":17}"#).await.text;
    assert!(rest.ends_with("lines 17-20:\n17| line 17\n18| line 18\n19| line 19\n20| line 20"));
    let read = toolbox.lines_read().lines.remove(&"a.py".into()).unwrap();
    assert_eq!(read, [LineSpan::between(1, 8), LineSpan::between(17, 20)]);
}

/// 002-087, 002-088, 002-131
#[tokio::test]
async fn files_outside_the_change_have_a_budget() {
    let limits = ToolLimits {
        max_extra_files: Some(1),
        max_lines_per_extra_file: Some(6),
        ..ToolLimits::default()
    };
    let toolbox = toolbox(limits);
    let first = ask(&toolbox, "read_file", r#"{"path":"src/server.py"}"#).await;
    assert!(first.text.ends_with("cut: 5 more lines; no more of this file may be read"));
    for (tool, arguments, what) in [
        ("read_file", r#"{"path":"src/server.py","start_line":7}"#, "6 lines of src/server.py"),
        ("get_function_context", r#"{"path":"src/server.py","symbol":"run"}"#, "6 lines of"),
        ("git_blame", r#"{"path":"notes.txt"}"#, "1 files outside the change were read"),
        ("read_file", r#"{"path":"notes.txt","ref":"base"}"#, "1 files outside the change"),
    ] {
        let result = ask(&toolbox, tool, arguments).await;
        assert!(result.is_error && result.text.contains(what), "{}", result.text);
    }
    for (tool, arguments) in [
        ("read_file", r#"{"path":"a.py"}"#),
        ("read_file", r#"{"path":"src/server.py","end_line":3}"#),
        ("search_code", r#"{"query":"three"}"#),
    ] {
        assert!(!ask(&toolbox, tool, arguments).await.is_error, "{arguments}");
    }
}

#[tokio::test]
async fn the_diff_is_cut_between_hunks_and_only_whole_ones_count() {
    let toolbox = toolbox(small());
    let first = ask(&toolbox, "git_diff", "{}").await.text;
    assert!(first.ends_with("cut in hunk 2 of 2 of a.py, 0 more files; pass path a.py and hunk 2"));
    let seen = |toolbox: &Toolbox| toolbox.lines_read().hunks.remove(&"a.py".into()).unwrap();
    assert_eq!(seen(&toolbox), BTreeSet::from([0]));
    ask(&toolbox, "git_diff", r#"{"path":"a.py","hunk":2}"#).await;
    assert_eq!(seen(&toolbox), BTreeSet::from([0, 1]));
}

#[tokio::test]
async fn secrets_are_hidden_wherever_they_show() {
    let body = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpJ\n".repeat(9);
    let key =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nafter\n");
    let mut tree = tree();
    tree.files.insert("key.py".into(), key);
    let toolbox = Toolbox::new(request(tree), ToolLimits::default());
    for (tool, arguments) in [
        ("read_file", r#"{"path":"key.py","start_line":4,"end_line":6}"#),
        ("search_code", r#"{"query":"MIIE"}"#),
        ("search_code", r#"{"query":"[A-Za-z0-9+/]{40}","mode":"regex"}"#),
        ("get_function_context", r#"{"path":"key.py","line":5}"#),
        ("git_blame", r#"{"path":"key.py","start_line":5}"#),
    ] {
        let result = ask(&toolbox, tool, arguments).await;
        assert!(!result.is_error, "{}", result.text);
        assert!(!result.text.contains("MIIE"), "{}", result.text);
    }
}

/// 002-124, 002-131
#[tokio::test]
async fn a_call_that_hangs_is_given_up() {
    struct Stuck;
    impl Linters for Stuck {
        fn lint<'a>(
            &'a self,
            _: &'a ReviewContext,
            _: LinterName,
            _: &'a FilePath,
        ) -> BoxFuture<'a, Result<Vec<LintMessage>, LintFailure>> {
            Box::pin(std::future::pending())
        }
    }
    let toolbox =
        toolbox(ToolLimits { timeout: Duration::from_millis(50), ..ToolLimits::default() })
            .with_linters(Arc::new(Stuck));
    let result = ask(&toolbox, "run_linter", r#"{"linter":"ruff","path":"a.py"}"#).await;
    assert!(result.is_error);
    assert!(result.text.starts_with("error: no answer within 0.05 s"), "{}", result.text);
}

#[tokio::test]
async fn many_matches_are_counted_and_a_few_are_shown() {
    let mut tree = tree();
    tree.files.insert("many.txt".into(), "needle in hay\n".repeat(5000));
    let toolbox = Toolbox::new(request(tree), ToolLimits::default());
    let text = ask(&toolbox, "search_code", r#"{"query":"needle"}"#).await.text;
    assert!(text.starts_with("matches: 5000\nmany.txt:1: needle in hay\n"), "{text}");
    assert!(text.ends_with("cut: 50 are shown; pass a longer query, a path or a language"));
    let text = ask(&toolbox, "find_references", r#"{"symbol":"needle"}"#).await.text;
    assert!(text.starts_with("references: 5000"), "{text}");
    assert!(text.len() < 16 * 1024);
}

#[tokio::test]
async fn an_ordinary_file_is_read_in_one_call() {
    let mut tree = tree();
    tree.files.insert("long.py".into(), "x = 1\n".repeat(500));
    let toolbox = Toolbox::new(request(tree), ToolLimits::default());
    let text = ask(&toolbox, "read_file", r#"{"path":"long.py"}"#).await.text;
    assert!(text.contains("lines 1-500:") && !text.contains("cut:"), "{text}");
}

/// 002-070
#[tokio::test]
async fn matches_in_code_come_before_those_in_translations() {
    let mut tree = tree();
    tree.files.insert("locales/de.json".into(), "\"needle\": 1\n".repeat(90));
    tree.files.insert("src/i18n/de.py".into(), "needle = 1\n".repeat(90));
    tree.files.insert("src/zebra.py".into(), "needle = 1\n".into());
    let toolbox = Toolbox::new(request(tree), ToolLimits::default());
    for arguments in [r#"{"query":"needle"}"#, r#"{"query":"needle","path":""}"#] {
        let text = ask(&toolbox, "search_code", arguments).await.text;
        assert!(text.starts_with("matches: 181\nsrc/zebra.py:1: needle = 1\n"), "{text}");
    }
}

/// 002-076
#[tokio::test]
async fn imports_are_shown_once_in_a_conversation() {
    let mut tree = tree();
    let text = "import os\n\ndef f():\n    return os\n\ndef g():\n    return os\n";
    tree.files.insert("two.py".into(), text.into());
    let toolbox = Toolbox::new(request(tree), ToolLimits::default());
    let function = async |name: &str, imports: &ShownImports| {
        let arguments = format!(r#"{{"path":"two.py","symbol":"{name}"}}"#);
        toolbox.call(&call("get_function_context", &arguments), imports).await.text
    };
    let has_imports = |text: &str| text.contains("imports:\n1| import os");
    let (one, other) = (ShownImports::default(), ShownImports::default());
    let unknown = function("no_such", &one).await;
    assert!(unknown.starts_with("error: "), "{unknown}");
    // Calls of one answer run side by side, and the first one has the imports.
    let (first, second) =
        futures_util::future::join(function("f", &one), function("g", &one)).await;
    assert!(has_imports(&first) && !has_imports(&second), "{first}\n{second}");
    assert!(second.contains("def g()"), "{second}");
    assert!(has_imports(&function("g", &other).await), "another conversation did not see them");
    let before = call("get_function_context", r#"{"path":"two.py","symbol":"f","ref":"base"}"#);
    assert!(has_imports(&toolbox.call(&before, &one).await.text), "the other side has its own");
}
