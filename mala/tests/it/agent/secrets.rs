//! What a model writes may hold a secret. It is in no report, no message and no file, and a replay of
//! such a review is the same review.

use super::traffic::timeless;
use super::*;
use mala_testkit::model_server::{AnswerEnd, ServerFault};
use std::time::Duration;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAvvJ8ZtZ1Qk3mYt0uW5bXc7dEf9gH2jK4lM6nP8qR0sT1uV3w\nX5yZ7aB9cD1eF3gH5iJ7kL9mN1oP3qR5sT7uV9wX1yZ3aB5cD7eF9gH1iJ3kL5mN\n-----END RSA PRIVATE KEY-----\n";
/// A line of the key's body.
const KEY_LINE: &str = "MIIEowIBAAKCAQEAvvJ8ZtZ1Qk3mYt0uW5bXc7dEf9gH2jK4lM6nP8qR0sT1uV3w";

fn checked(why: &str) -> ServerStep {
    says(json!({"checks": [{"id": "c1", "outcome": "holds", "why": why}]}).to_string())
}

/// The plain finding, with one of its fields changed.
fn claim(field: &str, value: &str) -> ServerStep {
    let mut answer: Value = serde_json::from_str(PLAIN).unwrap();
    answer["findings"][0][field] = json!(value);
    says(answer.to_string())
}

/// Every way in which a model can write a secret, and the exit code.
fn ways() -> Vec<(&'static str, Vec<ServerStep>, i32)> {
    let verdict = || says(format!(r#"{{"verdict": "{TOKEN}", "findings": []}}"#));
    let denied = json!({"error": {"message": format!("no {TOKEN}")}}).to_string();
    let elsewhere = || claim("file_path", &format!("{TOKEN}.py"));
    vec![
        ("why", vec![says(PLAIN), says(PASS), checked(TOKEN)], 1),
        ("key in why", vec![says(PLAIN), says(PASS), checked(KEY)], 1),
        ("body", vec![claim("body", TOKEN), says(PASS), checked("so")], 1),
        ("key in body", vec![claim("body", KEY), says(PASS), checked("so")], 1),
        ("verdict", vec![verdict(), verdict()], 2),
        ("file", vec![elsewhere(), elsewhere()], 2),
        ("refusal", vec![ModelAnswer::text(TOKEN).end(AnswerEnd::Refusal).into()], 2),
        ("model", vec![ModelAnswer::text(PASS).by(TOKEN).into()], 0),
        ("fault", vec![ServerFault::Status(401, Vec::new(), denied).into()], 2),
    ]
}

#[test]
fn no_secret_that_a_model_writes_gets_out() {
    for (way, steps, expected) in ways() {
        let server = ModelServer::steps(steps);
        let world = with_server(changed(), &server).with_env("MALA_LOG", "debug");
        let args = ["review", "--reviewer", "agent_sdk", "--json", "--debug"];
        let output = world.output(&args, b"");
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert_eq!(output.status.code(), Some(expected), "{way}: {stdout}{stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap();
        let kept = std::fs::read_dir(report["review_log_path"].as_str().unwrap()).unwrap();
        let kept = kept.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
        for text in [stdout.clone(), stderr].into_iter().chain(kept) {
            assert!(!text.contains(TOKEN) && !text.contains(KEY_LINE), "{way}: {text}");
        }
        assert!(way == "fault" || stdout.contains("[redacted:"), "{way}: {stdout}");
    }
}

#[test]
fn a_review_with_secrets_replays_as_the_same_review() {
    let evidence = || {
        let mut answer: Value = serde_json::from_str(PLAIN).unwrap();
        let finding = &mut answer["findings"][0];
        finding["when"] = json!("always");
        finding["then"] = json!("it is known");
        finding["file_path"] = json!("secret.py");
        finding["line_start"] = json!(1);
        finding["line_end"] = json!(1);
        finding["evidence"] = json!(format!("TOKEN = \"{TOKEN}\""));
        says(answer.to_string())
    };
    let late = || says(PASS).after(Duration::from_secs(30));
    let rows = ways().into_iter().chain([
        ("evidence", vec![evidence(), checked("so")], 1),
        ("timeout", vec![late()], 3),
        ("late check", vec![says(PLAIN), late()], 1),
    ]);
    for (way, steps, expected) in rows {
        let server = ModelServer::steps(steps);
        let world = with_server(changed(), &server);
        world.write("secret.py", format!("TOKEN = \"{TOKEN}\"\n"));
        world.git(&["add", "-A"]).git(&["commit", "-qm", "change"]);
        let (home, limit) = (world.home().join("tape"), ["--timeout", "4", "--no-save"]);
        let tape = home.to_str().unwrap();
        let args = |how: &'static str| [&[how, tape, "HEAD~1..HEAD"][..], &limit].concat();
        let (code, live) = review(&world, &args("--record"));
        assert!(code == expected || code == 1, "{way}: {live:#}");
        for entry in std::fs::read_dir(&home).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(!text.contains(TOKEN) && !text.contains(KEY_LINE), "{way}: {text}");
        }
        let world = world.with_env("ANTHROPIC_API_KEY", "").with_env("ANTHROPIC_BASE_URL", "");
        let (again, replayed) = review(&world, &args("--replay"));
        assert_eq!((again, timeless(replayed)), (code, timeless(live)), "{way}");
    }
}

/// 002-097
#[test]
fn the_key_of_the_user_is_never_printed() {
    let key = "my own gateway key 17";
    let claim = PLAIN.replace("Details", &format!("The key is {key}."));
    for wire in [claim, format!("no JSON, but {key}")] {
        let server = ModelServer::always(ModelAnswer::text(wire));
        let world = with_server(changed(), &server).with_env("ANTHROPIC_API_KEY", key);
        let output = world.output(&["review", "--json", "--debug", "--reviewer", "agent_sdk"], b"");
        assert!(!world.show(&output).contains(key), "{}", world.show(&output));
        let runs = world.folder().join(".mala/runs");
        let kept = walk(&runs);
        assert!(!kept.is_empty() && kept.iter().all(|text| !text.contains(key)));
    }
}

/// The texts of all files below a folder.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![std::fs::read_to_string(&path).unwrap()],
        })
        .collect()
}
