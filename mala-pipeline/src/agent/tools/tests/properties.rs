//! No arguments make a tool panic, or answer with more than its size.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (1..30_u32).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        r"[a-z(|)*+?.\[\]{}\\0-9]{0,10}".prop_map(Value::from),
        prop::sample::select(vec![
            "a.py",
            "src",
            "src/server.py",
            "notes.txt",
            "empty.txt",
            "passwd",
            "../x",
            "Server.run",
            "0123456",
            "regex",
            "literal",
            "head",
            "base",
            "ignore",
            "python",
            "ruff",
            "run",
            "line",
        ])
        .prop_map(Value::from),
        Just(json!([1, {"a": "b"}])),
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    let fields = prop::sample::select(vec![
        "path",
        "start_line",
        "end_line",
        "ref",
        "commit",
        "max",
        "query",
        "mode",
        "case",
        "language",
        "symbol",
        "line",
        "linter",
        "hunk",
        "other",
    ]);
    prop_oneof![
        9 => prop::collection::btree_map(fields, value(), 0..5)
            .prop_map(|fields| json!(fields).to_string()),
        1 => ".{0,40}",
    ]
}

/// Arguments of the tool's own, mostly.
fn call() -> impl Strategy<Value = (String, String)> {
    let names: Vec<String> = catalogue().into_iter().map(|tool| tool.name).collect();
    (prop::sample::select(names), arguments())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_call_has_an_answer((name, arguments) in call()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let limits = ToolLimits { max_lines: 10, max_bytes: 1024, ..ToolLimits::default() };
        let result = runtime.block_on(ask(&toolbox(limits), &name, &arguments));
        prop_assert!(!result.text.is_empty());
        prop_assert!(result.text.len() <= 1024, "{}", result.text);
        prop_assert_eq!(result.is_error, result.text.starts_with("error: "));
    }
}
