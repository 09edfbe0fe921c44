//! What leaves the machine, and what is kept of it.

use super::*;
use mala_domain::agent::prompts;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

#[test]
fn the_model_gets_the_prompt_of_the_repository_the_change_and_the_task() {
    let server = ModelServer::always(Answer::text(PASS));
    let world = with_server(changed(), &server);
    world.write("context.md", "Halving must be fast.");
    world.write("REVIEW.md", "Rules of the head.");
    review(&world, &["--context-file", "context.md", "app.py"]);
    let request = &server.requests()[0];
    assert_eq!(request.system(), prompts::SYSTEM);
    let told = request.user_text();
    for part in ["2 +     return 1 / n", "-     return n and 1 / n", "Halving must be fast."] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("Rules of the head."), "rules come from the trusted side");
    assert!(request.schema().is_some());
}

#[test]
fn no_secret_leaves_and_none_is_kept() {
    let server = ModelServer::steps(vec![
        Answer::call("read_file", json!({"path": "secret.py"})).into(),
        says(format!("{{\"verdict\": \"PASS\", \"findings\": [], \"summary\": \"{TOKEN}\"}}")),
    ]);
    let world = with_server(changed(), &server);
    world.write("secret.py", format!("TOKEN = \"{TOKEN}\"\n"));
    world.write("context.md", format!("use {TOKEN}"));
    let record = ["--context-file", "context.md", "--debug", "--record", "tape"];
    let (_, report) = review(&world, &record);
    for request in server.requests() {
        assert!(!request.body.to_string().contains(TOKEN));
    }
    assert!(server.requests()[1].tool_results()[0].contains("TOKEN ="));
    let kept = std::path::PathBuf::from(report["review_log_path"].as_str().unwrap());
    let names: Vec<String> = std::fs::read_dir(&kept)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(
        names.iter().any(|name| name.starts_with("debug-01-") && name.contains("prompt")),
        "{names:?}"
    );
    let tape = world.folder().join("tape");
    for folder in [kept, tape] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains(TOKEN), "{}", path.display());
        }
    }
}

#[test]
fn prompts_are_kept_only_when_asked_for() {
    let (_, report, _) = reviewed(vec![says(PASS)], &["--no-save"]);
    assert_eq!(report["review_log_path"], Value::Null);
    let server = ModelServer::always(Answer::text(PASS));
    let world = with_server(changed(), &server);
    let (_, report) = review(&world, &[]);
    let n_files = std::fs::read_dir(report["review_log_path"].as_str().unwrap()).unwrap().count();
    assert_eq!(n_files, 3, "review.md, review.json, telemetry.json");
}

#[test]
fn a_recording_replays_without_a_model() {
    let server = ModelServer::steps(vec![says(PLAIN), holds()]);
    let world = with_server(changed(), &server);
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", "change"]);
    let tape = world.home().join("tape");
    let tape = tape.to_str().unwrap();
    let (code, first) = review(&world, &["--record", tape, "--no-save", "HEAD~1..HEAD"]);
    assert_eq!((code, server.requests().len()), (1, 2));
    let world = world.with_env("ANTHROPIC_API_KEY", "").with_env("ANTHROPIC_BASE_URL", "");
    let (code, again) = review(&world, &["--replay", tape, "--no-save", "HEAD~1..HEAD"]);
    assert_eq!((code, server.requests().len()), (1, 2), "nobody was asked");
    assert_eq!(first["issues"], again["issues"]);
    assert_eq!(first["review_id"], again["review_id"]);
    world.write("app.py", "def half(n):\n    return 2 / n\n");
    let (code, other) = review(&world, &["--replay", tape, "--no-save"]);
    assert_eq!((code, &other["passed"]), (2, &json!(false)), "another change is not in it");
}
