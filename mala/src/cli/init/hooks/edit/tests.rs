//! Files as people have them: the hook goes in, nothing else changes, and it comes out again.

use super::*;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

fn with_hook(text: &str) -> String {
    installed(text).unwrap().unwrap()
}

/// JSON without comments, for tests of what it means.
fn meaning(text: &str) -> Value {
    let plain: String = text.lines().map(|line| line.split("//").next().unwrap()).collect();
    serde_json::from_str(&plain).unwrap()
}

#[test]
fn a_file_of_its_own() {
    assert_snapshot!(with_hook(""), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "mala hook start",
                "timeout": 30
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "mala hook stop",
                "timeout": 600
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_eq!(removed(&with_hook("")).unwrap().as_deref(), Some("{}\n"));
}

#[test]
fn what_is_there_stays_and_comes_back_byte_for_byte() {
    let group = r#"{"hooks": [{"type": "command", "command": "other"}]}"#;
    for text in [
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"a\": 1,\n\t\"b\": [1, 2]\n}",
        "{\r\n    \"a\": 1\r\n}\r\n",
        "// ours\n{\n  \"a\": 1 // why\n  // more\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  },\n  \"a\": 1\n}\n",
        &format!("{{\n  \"hooks\": {{\n    \"Stop\": [\n      {group}\n    ]\n  }}\n}}\n"),
    ] {
        let new = with_hook(text);
        assert_ne!(new, text);
        assert_eq!(installed(&new), Ok(None), "twice is once: {new}");
        assert_eq!(removed(&new).unwrap().as_deref(), Some(text), "{new}");
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("//")) {
            assert!(new.contains(line), "{new}");
        }
        for command in ["mala hook start", "mala hook stop"] {
            assert_eq!(new.matches(command).count(), 1, "{new}");
        }
    }
}

#[test]
fn it_looks_like_the_file() {
    assert_snapshot!(with_hook("{\n    \"model\": \"x\", // mine\n    \"hooks\": {\n        \"Stop\": []\n    }\n}\n"), @r#"
    {
        "model": "x", // mine
        "hooks": {
            "Stop": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "mala hook stop",
                            "timeout": 600
                        }
                    ]
                }
            ],
            "SessionStart": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "mala hook start",
                            "timeout": 30
                        }
                    ]
                }
            ]
        }
    }
    "#);
    assert_snapshot!(with_hook("{\n  \"a\": 1, // first\n}\n"), @r#"
    {
      "a": 1, // first
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "mala hook start",
                "timeout": 30
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "mala hook stop",
                "timeout": 600
              }
            ]
          }
        ]
      },
    }
    "#);
}

#[test]
fn a_file_of_one_line_keeps_its_settings_and_comments() {
    let group = r#"{"hooks": [{"type": "command", "command": "other"}]}"#;
    for text in
        [r#"{"a":1}"#.to_owned(), format!(r#"{{ "hooks": {{ "Stop": [{group}] /* all */ }} }}"#)]
    {
        let new = with_hook(&text);
        assert_eq!(installed(&new), Ok(None), "twice is once: {new}");
        let without_space = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(without_space(&removed(&new).unwrap().unwrap()), without_space(&text), "{new}");
    }
}

#[test]
fn only_its_own_commands_are_removed() {
    let text = r#"{"hooks": {"Stop": [
      {"matcher": "*", "hooks": [
        {"type": "command", "command": "first"},
        {"type": "command", "command": "/opt/bin/mala hook stop --timeout 100", "timeout": 120},
        {"type": "command", "command": "mala review"}
      ]},
      {"hooks": [{"type": "command", "command": "mala hook stop", "timeout": 600}]},
      {"hooks": [{"type": "command", "command": "mala hook stop", "timeout": 60}]},
      {"hooks": [{"type": "command", "command": "mala hook stop", "timeout": 600, "async": true}]},
      {"hooks": [{"type": "command", "command": "not-mala hook stop"}]}
    ]}}"#;
    let left = meaning(&removed(text).unwrap().unwrap());
    let groups = left["hooks"]["Stop"].as_array().unwrap();
    let commands: Vec<&str> = groups
        .iter()
        .flat_map(|group| group["hooks"].as_array().unwrap())
        .map(|command| command["command"].as_str().unwrap())
        .collect();
    let by_hand = "/opt/bin/mala hook stop --timeout 100";
    let other = "mala hook stop";
    assert_eq!(commands, ["first", by_hand, "mala review", other, other, "not-mala hook stop"]);
    assert_eq!(groups[0]["matcher"], "*");
    assert_eq!(has_hook(text), Ok(true));
    let new = installed(text).unwrap().unwrap();
    assert_eq!(new.matches("hook stop").count(), text.matches("hook stop").count());
    assert!(new.contains("mala hook start"), "one of them is enough, and the other comes to it");
    assert_eq!(removed("{\"hooks\": {\"Stop\": []}}"), Ok(None));
}

#[test]
fn what_cannot_be_understood_is_refused() {
    for (text, why) in [
        ("{", "unterminated object on line 1 column 1"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "expected comma on line 2 column 9"),
        ("[]", "it is not an object"),
        ("{\"hooks\": []}", "`hooks` is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not a list"),
        ("{\"hooks\": {\"SessionStart\": 1}}", "`hooks.SessionStart` is not a list"),
        ("{\"hooks\": {}, \"hooks\": {}}", "duplicate key `hooks`"),
        ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "duplicate key `Stop`"),
        ("{} {}", "text cannot contain more than one JSON value on line 1 column 4"),
        ("{\"a\": nope}", "unexpected token on line 1 column 7"),
        ("{\"a\": \"", "unterminated string literal on line 1 column 7"),
        ("/* {}", "unterminated comment block on line 1 column 1"),
    ] {
        assert_eq!(installed(text), Err(why.to_owned()), "{text}");
    }
    assert!(installed(&"[".repeat(1_000_000)).is_err(), "deep files are refused, not followed");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:/*a \\\\\n\u{e9}]{0,60}") {
        installed(&text).ok();
        removed(&text).ok();
    }

    #[test]
    fn any_settings_keep_their_meaning(keys in proptest::collection::btree_map("[a-g]{1,6}", 0_u8..9, 0..5)) {
        let before = serde_json::to_value(&keys).unwrap();
        for text in [serde_json::to_string(&keys).unwrap(), serde_json::to_string_pretty(&keys).unwrap()] {
            let new = with_hook(&text);
            let mut after: Value = serde_json::from_str(&new).unwrap();
            prop_assert!(after.as_object_mut().unwrap().remove("hooks").is_some());
            prop_assert_eq!(&after, &before);
            prop_assert_eq!(meaning(&removed(&new).unwrap().unwrap()), before.clone());
        }
    }
}
