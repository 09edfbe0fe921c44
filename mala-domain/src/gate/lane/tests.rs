//! The table holds what it promises, and answers are found where it says.

use super::*;

fn lane(name: &str) -> Lane {
    LaneTable::known().unwrap().get(name).unwrap().clone()
}

fn own(yaml: &str) -> BTreeMap<String, LaneSettings> {
    serde_saphyr::from_str(yaml).unwrap()
}

#[test]
fn the_known_lanes_are_complete() {
    let names: Vec<String> =
        LaneTable::known().unwrap().lanes().map(|lane| lane.name.clone()).collect();
    assert_eq!(names, ["claude", "codex", "gemini"]);
    for name in names {
        let lane = lane(&name);
        assert_eq!(lane.program(), name, "found on the path by its own name");
        for pattern in lane.settings.signs.iter().flatten() {
            regex::Regex::new(pattern).unwrap();
        }
        let settings = lane.settings;
        assert!(settings.version.is_some() && settings.install.is_some(), "{name}");
        assert!(settings.keep.is_some_and(|names| names.contains(&"https_proxy".to_owned())));
        assert!(settings.signed_in.is_some() && settings.usage.is_some(), "{name}");
    }
}

#[test]
fn lanes_are_read_only_every_time() {
    for (name, flags) in [
        ("codex", &["read-only", "approval_policy=never", "--ignore-user-config"][..]),
        ("claude", &["--safe-mode", "dontAsk", "Read,Grep,Glob"]),
        ("gemini", &["plan"]),
    ] {
        let lane = lane(name);
        let arguments: Vec<&str> = lane.arguments().collect();
        assert!(flags.iter().all(|flag| arguments.contains(flag)), "{name}: {arguments:?}");
    }
}

#[test]
fn answers_are_found_where_they_are() {
    let claude = r#"{"is_error":false,"result":"x","structured_output":{"a":1}}"#;
    let failed = r#"{"is_error":true,"subtype":"success","result":"limit","structured_output":{}}"#;
    let codex = concat!(
        "{\"type\":\"thread.started\"}\n",
        "{\"type\":\"item.completed\",\"item\":{\"type\":\"error\",\"message\":\"m\"}}\n",
        "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"first\"}}\n",
        "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"last\"}}\n",
    );
    let codex_failed = "{\"type\":\"turn.failed\",\"error\":{\"message\":\"429\"}}\n";
    let answer = |text: &str| LaneOutput::Answer(text.to_owned());
    for (name, stdout, expected) in [
        ("claude", claude, answer(r#"{"a":1}"#)),
        ("claude", failed, LaneOutput::Failed("limit".to_owned())),
        (
            "claude",
            r#"{"is_error":false,"result":"plain text"}"#,
            LaneOutput::Failed("plain text".into()),
        ),
        ("claude", "You have hit your usage limit", LaneOutput::Nothing),
        ("codex", codex, answer("last")),
        ("codex", codex_failed, LaneOutput::Failed("429".to_owned())),
        ("codex", "", LaneOutput::Nothing),
        ("gemini", r#"{"session_id":"s","response":"{}"}"#, answer("{}")),
        ("gemini", r#"{"session_id":"s","response":""}"#, LaneOutput::Nothing),
    ] {
        let stream = LaneStreams { stdout, file: None };
        assert_eq!(lane_output(&lane(name).answer(), stream), expected, "{name}: {stdout}");
    }
}

#[test]
fn usage_is_read_and_unknown_usage_is_not_zero() {
    let gemini = r#"{"stats":{"models":{"a":{"tokens":{"prompt":10,"candidates":2,"cached":1}},
        "b":{"tokens":{"prompt":5,"candidates":1,"cached":0}}}}}"#;
    let used = usage(&lane("gemini"), gemini);
    assert_eq!((used.tokens_used, used.cache_read_tokens), (Some(18), Some(1)));
    let claude = r#"{"usage":{"input_tokens":3,"output_tokens":4},"total_cost_usd":0.5}"#;
    let used = usage(&lane("claude"), claude);
    assert_eq!((used.tokens_used, used.cost_usd), (Some(7), Some(0.5)));
    assert_eq!(usage(&lane("claude"), "garbage").tokens_used, None);
}

#[test]
fn a_users_lane_is_laid_over_a_known_one() {
    let table =
        LaneTable::with(&own("codex: {args: [-c, model=m], keep: [K]}\nmine: {command: [x]}"));
    let table = table.unwrap();
    let codex = table.get("codex").unwrap();
    assert!(codex.arguments().any(|it| it == "read-only"), "the flags of the known one stay");
    assert_eq!(codex.arguments().last(), Some("model=m"));
    assert!(codex.settings.keep.iter().flatten().any(|it| it == "CODEX_API_KEY"));
    assert_eq!(table.get("mine").unwrap().program(), "x");
    assert!(table.is_own("mine") && !table.is_own("claude"));
}

#[test]
fn what_agents_obey_is_hidden_unless_a_lane_says_otherwise() {
    let own = own("mine: {command: [x]}\nsame: {like: claude}\ncodex: {args: [x]}\n\
         none: {command: [x], hide: []}\nfew: {like: codex, hide: [a]}");
    let table = LaneTable::with(&own).unwrap();
    for name in ["mine", "same", "codex", "claude", "gemini"] {
        let lane = table.get(name).unwrap();
        assert_eq!(lane.hidden(), AGENT_SETTINGS, "{name}");
    }
    assert_eq!(table.get("none").unwrap().hidden(), [""; 0]);
    assert_eq!(table.get("few").unwrap().hidden(), ["a"]);
}

#[test]
fn what_is_no_lane_is_refused() {
    for (yaml, why) in [
        ("mine: {}", "the lane `mine` has no command"),
        ("mine: {like: codx}", "no lane is named `codx`: did you mean `codex`?"),
        (
            "mine: {command: [x], signs: ['(']}",
            "invalid regular expression `(` in `signs` of the lane `mine`",
        ),
        (
            "../x: {command: [x]}",
            "invalid lane name `../x`: use up to 40 letters, digits, `-` and `_`",
        ),
    ] {
        assert_eq!(LaneTable::with(&own(yaml)).unwrap_err().to_string(), why);
    }
    let unknown = LaneTable::known().unwrap().get("gemni").unwrap_err().to_string();
    assert_eq!(unknown, "no lane is named `gemni`: did you mean `gemini`?");
}

#[test]
fn only_known_names_are_filled_in() {
    let values = [("home", "/h"), ("schema", "{tree}")];
    assert_eq!(filled("{home}/x {schema} {other} {home", &values), "/h/x {tree} {other} {home");
}

#[test]
fn errors_are_the_lanes_own_words() {
    for (printed, message, limit) in [
        ("", None, None),
        ("cannot go on\n", Some("cannot go on"), None),
        (
            "starting\n{\n  \"error\": {\"message\": \"no such model\"}\n}\n",
            Some("no such model"),
            None,
        ),
        ("{\"error\":\"bad key: 401\"}\n", Some("bad key: 401"), Some("not signed in (401)")),
        ("API Error: 429 too many\n}\n", Some("API Error: 429 too many"), Some("rate limit (429)")),
        ("line 14290\n", Some("line 14290"), None),
        ("ValueError: line 429 of it\n", Some("ValueError: line 429 of it"), None),
        ("HTTP/1.1 401 no\n", Some("HTTP/1.1 401 no"), Some("not signed in (401)")),
        ("status 529\n", Some("status 529"), Some("overloaded (529)")),
        (
            "You've hit your usage limit.\n",
            Some("You've hit your usage limit."),
            Some("usage limit"),
        ),
        ("}\n]\n", None, None),
    ] {
        assert_eq!(error_message(printed).as_deref(), message, "{printed}");
        assert_eq!(known_limit(printed), limit, "{printed}");
    }
}

#[test]
fn no_repository_chooses_the_settings_of_its_reviewer() {
    let table = LaneTable::known().unwrap();
    let claude: Vec<&str> = table.get("claude").unwrap().arguments().collect();
    assert!(claude.windows(2).any(|pair| pair == ["--setting-sources", "user"]), "{claude:?}");
    let gemini = &table.get("gemini").unwrap().settings;
    let always = gemini.set_default.as_ref().and_then(|set| set.get("GOOGLE_GEMINI_BASE_URL"));
    assert!(always.is_some_and(|url| url.starts_with("https://")));
    assert!(gemini.keep.iter().flatten().any(|name| name == "GOOGLE_GEMINI_BASE_URL"));
}

#[test]
fn the_reviewers_of_mala_have_no_program_and_are_never_there_by_default() {
    let table = LaneTable::known().unwrap();
    for name in IN_PROCESS {
        assert!(table.get(name).unwrap().is_in_process(), "{name}");
        assert!(table.lanes().all(|lane| lane.name != name), "{name}");
    }
    let own = LaneSettings { command: Some(vec!["x".to_owned()]), ..LaneSettings::default() };
    let table = LaneTable::with(&BTreeMap::from([("agent".to_owned(), own)])).unwrap();
    assert!(!table.get("agent").unwrap().is_in_process(), "a lane of the user goes first");
}
