//! Tables for commands and for what coders print.

use super::*;

fn call(is_resumed: bool, is_confined: bool, max_cost: Option<&str>) -> CoderCall<'static> {
    let values =
        ["session", "prompt_file", "tree", "issue", "prefix", "home", "objects", "git_dir"];
    CoderCall {
        is_resumed,
        is_confined,
        max_cost: max_cost.map(str::to_owned),
        values: values.iter().map(|name| (*name, format!("<{name}>"))).collect(),
    }
}

fn template(command: &[&str], resume: Option<&[&str]>) -> CoderTemplate {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    CoderTemplate { command: owned(command), resume: resume.map(owned), ..CoderTemplate::default() }
}

#[test]
fn every_known_coder_repeats_its_permissions_on_every_resume() {
    for (name, spec) in CoderSpec::known().unwrap() {
        for is_confined in [true, false] {
            let start = spec.arguments(&call(false, is_confined, None)).join(" ");
            let resume = spec.arguments(&call(true, is_confined, None)).join(" ");
            let permissions = if is_confined { &spec.confined } else { &spec.unconfined };
            let permissions: Vec<String> =
                permissions.iter().map(|it| call(false, false, None).fill(it)).collect();
            assert!(!permissions.is_empty(), "{name}");
            for command in [&start, &resume] {
                assert!(command.contains(&permissions.join(" ")), "{name}: {command}");
                assert!(!command.contains('{'), "{name}: {command}");
            }
            assert!(resume.contains("<session>"), "{name}: {resume}");
        }
        assert!(spec.reads_stdin(false) && spec.reads_stdin(true), "{name}");
    }
}

#[test]
fn a_budget_is_named_only_when_there_is_one() {
    let claude = CoderSpec::known().unwrap().remove("claude").unwrap();
    let with = claude.arguments(&call(false, true, Some("1.5"))).join(" ");
    assert!(with.contains("--max-budget-usd 1.5"), "{with}");
    let without = claude.arguments(&call(false, true, None)).join(" ");
    assert!(!without.contains("--max-budget-usd"), "{without}");
}

#[test]
fn templates_expand_their_placeholders() {
    let own = BTreeMap::from([
        ("a".to_owned(), template(&["./a.sh", "{prompt_file}", "{tree}/x", "{issue}"], None)),
        ("b".to_owned(), template(&["b", "{other}"], Some(&["b", "-r", "{session}"]))),
        ("codex".to_owned(), CoderTemplate { args: vec!["-x".to_owned()], ..Default::default() }),
    ]);
    let a = CoderSpec::find("a", &own).unwrap();
    let expected = ["./a.sh", "<prompt_file>", "<tree>/x", "<issue>"];
    assert_eq!(a.arguments(&call(false, false, None)), expected);
    assert_eq!(a.arguments(&call(true, true, Some("1"))), expected);
    assert!(!a.reads_stdin(false) && a.is_template);
    let b = CoderSpec::find("b", &own).unwrap();
    assert_eq!(b.arguments(&call(false, false, None)), ["b", "{other}"]);
    assert_eq!(b.arguments(&call(true, false, None)), ["b", "-r", "<session>"]);
    assert!(b.reads_stdin(false));
    let codex = CoderSpec::find("codex", &own).unwrap();
    assert!(codex.arguments(&call(true, false, None)).contains(&"-x".to_owned()));
    let problem = CoderSpec::find("gemin", &own).unwrap_err().to_string();
    assert_eq!(problem, "no coder is named `gemin`: did you mean `gemini`?");
}

/// Feeds lines to the reader of a coder.
fn read(name: &str, lines: &[&str]) -> (CoderReader, Vec<String>) {
    let spec = CoderSpec::find(name, &BTreeMap::from([("x".to_owned(), template(&["x"], None))]));
    let output = spec.unwrap().output;
    let mut reader = CoderReader::default();
    let texts = lines.iter().filter_map(|line| reader.read(output.as_ref(), line));
    let shown = texts.collect::<Vec<_>>().iter().filter_map(|text| shown_line(text)).collect();
    (reader, shown)
}

#[test]
fn the_output_of_each_known_coder_is_read() {
    let (claude, shown) = read(
        "claude",
        &[
            r#"{"type":"system","subtype":"init","session_id":"s-1"}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I will.\nMore"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"command":"git add a"}}]}}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.5}"#,
        ],
    );
    assert_eq!((claude.session.as_deref(), claude.message.as_str()), (Some("s-1"), "Done."));
    assert_eq!((claude.cost_usd, claude.failure), (Some(0.5), None));
    assert_eq!(shown, ["I will.", "git add a"]);
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"result":"401"}"#;
    assert_eq!(read("claude", &[refused]).0.failure.as_deref(), Some("401"));

    let (codex, _) = read(
        "codex",
        &[
            r#"{"type":"thread.started","thread_id":"t-1"}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"first"}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"last"}}"#,
            r#"{"type":"turn.failed","error":{"message":"429"}}"#,
        ],
    );
    assert_eq!((codex.session.as_deref(), codex.message.as_str()), (Some("t-1"), "last"));
    assert_eq!(codex.failure.as_deref(), Some("429"));

    let (gemini, _) = read(
        "gemini",
        &[
            r#"{"type":"init","session_id":"g-1"}"#,
            r#"{"type":"message","role":"assistant","content":"I will.","delta":true}"#,
            r#"{"type":"tool_result","status":"success"}"#,
            r#"{"type":"message","role":"assistant","content":"Do","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"ne.","delta":true}"#,
            r#"{"type":"result","status":"success"}"#,
        ],
    );
    assert_eq!((gemini.session.as_deref(), gemini.message.as_str()), (Some("g-1"), "Done."));
}

#[test]
fn hostile_lines_are_only_text() {
    let lines = [
        "",
        "{",
        "[]",
        "null",
        "\u{1b}[2J",
        "{\"type\":1}",
        r#"{"type":"result","is_error":"true","result":7,"total_cost_usd":-1}"#,
        r#"{"type":"result","total_cost_usd":1e400}"#,
    ];
    for name in ["claude", "codex", "gemini"] {
        let (reader, shown) = read(name, &lines);
        assert_eq!((reader.session, reader.message.as_str(), reader.cost_usd), (None, "", None));
        assert_eq!(shown, [""; 0]);
    }
    let (reader, shown) = read("x", &["one\u{1b}[31m", "", "two"]);
    assert_eq!(reader.message, "one\u{1b}[31m\n\ntwo\n");
    assert_eq!(shown, ["one[31m", "two"]);
    let long = "x".repeat(10_000);
    let many: Vec<&str> = (0..100).map(|_| long.as_str()).collect();
    assert!(read("x", &many).0.message.len() < 200_000);
}
