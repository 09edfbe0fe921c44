//! What leaves the machine, and what is kept of it.

use super::*;
use mala_domain::agent::prompts;
use mala_testkit::model_server::ServerFault;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// 000-060, 000-063, 000-064
#[test]
fn the_model_gets_the_prompt_of_the_repository_the_change_and_the_task() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    world.write("context.md", "Halving must be fast.");
    world.write("REVIEW.md", "Rules of the head.");
    review(&world, &["--context-file", "context.md", "app.py"]);
    let request = &server.requests()[0];
    assert_eq!(request.system(), prompts::SYSTEM);
    let told = request.user_text();
    for part in ["2+    return 1 / n", "-    return n and 1 / n", "Halving must be fast."] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("Rules of the head."), "rules come from the trusted side");
    assert!(request.schema().is_some());
}

/// 002-096, 002-099
#[test]
fn no_secret_leaves_and_none_is_kept() {
    let server = ModelServer::steps(vec![
        ModelAnswer::call("read_file", json!({"path": "secret.py"})).into(),
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

/// 000-119
#[test]
fn prompts_are_kept_only_when_asked_for() {
    let (_, report, _) = reviewed(vec![says(PASS)], &["--no-save"]);
    assert_eq!(report["review_log_path"], Value::Null);
    let server = ModelServer::always(ModelAnswer::text(PASS));
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
    assert_eq!((code, server.requests().len()), (1, 2), "no request is made");
    assert_eq!(first["issues"], again["issues"]);
    assert_eq!(first["review_id"], again["review_id"]);
    world.write("app.py", "def half(n):\n    return 2 / n\n");
    let (code, other) = review(&world, &["--replay", tape, "--no-save"]);
    assert_eq!((code, &other["passed"]), (2, &json!(false)), "another change is not in it");
}

/// The files of a folder, by name.
fn files(folder: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
    });
    named.collect()
}

/// The report without what a clock says.
pub(super) fn timeless(mut report: Value) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !name.starts_with("latency_seconds"));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut report);
    report.to_string()
}

#[test]
fn recordings_and_replays_are_the_same_byte_for_byte() {
    let steps = || {
        vec![
            ServerFault::retry_after(429, "0.01").into(),
            ModelAnswer::call("read_file", json!({"path": "app.py"})).into(),
            says(PLAIN),
            holds(),
        ]
    };
    let world = changed();
    world.git(&["add", "-A"]).git(&["commit", "-qm", "change"]);
    std::fs::create_dir_all(world.home().join(".config/mala")).unwrap();
    let own = world.home().join(".config/mala/config.yaml");
    std::fs::write(own, "review: {budget: {max_llm_calls: 3}}\n").unwrap();
    let tapes = [world.home().join("one"), world.home().join("two")];
    let mut world = world;
    let mut live = Vec::new();
    for tape in &tapes {
        let server = ModelServer::steps(steps());
        world = with_server(world, &server);
        let args = ["--record", tape.to_str().unwrap(), "--no-save", "HEAD~1..HEAD"];
        let (code, report) = review(&world, &args);
        assert_eq!((code, server.requests().len()), (1, 4), "{report:#}");
        live.push(timeless(report));
    }
    assert_eq!(files(&tapes[0]), files(&tapes[1]), "the same traffic is the same recording");
    assert_eq!(files(&tapes[0]).len(), 4, "three calls, and the run");
    let world = world.with_env("ANTHROPIC_API_KEY", "").with_env("ANTHROPIC_BASE_URL", "");
    for tape in tapes.iter().chain([&tapes[0]]) {
        let before = files(tape);
        let args = ["--replay", tape.to_str().unwrap(), "--no-save", "HEAD~1..HEAD"];
        let (code, report) = review(&world, &args);
        assert_eq!(code, 1);
        assert_eq!(timeless(report), live[0], "the retry counts in a replay too");
        assert_eq!(files(tape), before, "a replay changes nothing");
    }
}
