//! A real model: a small one that runs on this machine, behind a server that is compatible with
//! OpenAI. Its judgement is poor; protocol, limits, reading and outcome are what is tested.

use crate::world;
use mala_testkit::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/model");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/real_model/server.py");

/// The server with its model. Its process ends with the value.
struct RealModel {
    process: Child,
    url: String,
}

impl RealModel {
    fn start() -> Self {
        let weights = format!("{TOOLS}/model.gguf");
        let missing = "the model is not there: run scripts/install-tools";
        assert!(std::path::Path::new(&weights).is_file(), "{missing}");
        let mut process = Command::new(format!("{TOOLS}/bin/python"))
            .args([SCRIPT, &weights])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        Self { process, url: format!("{}/v1", url.trim()) }
    }
}

impl Drop for RealModel {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().unwrap();
    }
}

/// The world with this model, and what is said of it.
fn with_model(world: World, model: &RealModel, said: &str) -> World {
    let known = "name = \"smollm2\"\nprovider = \"compatible\"\ncontext = 8192";
    let models = format!("[[model]]\n{known}\n{said}\n");
    let folder = world.home().join(".config/mala");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("models.toml"), models).unwrap();
    std::fs::write(folder.join("config.yaml"), "models: {file: models.toml}\n").unwrap();
    world.with_env("OPENAI_BASE_URL", &model.url)
}

fn changed() -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    world.write("mala.yaml", "review: {budget: {profile: quick, allow_unknown_price: true, max_wall_time_seconds: 300}}\n");
    world.write("app.py", "def half(n):\n    return n and 1 / n\n");
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", "start"]);
    world.write("app.py", "def half(n):\n    return 1 / n\n");
    world
}

/// The exit code, the report, and the model's own words.
fn review(world: &World) -> (i32, Value, Vec<Value>) {
    let args = ["review", "--reviewer", "agent_sdk", "--model", "compatible/smollm2"];
    let args: Vec<&str> = args.into_iter().chain(["--json", "--debug"]).collect();
    let output = world.output(&args, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let folder = std::path::PathBuf::from(report["review_log_path"].as_str().unwrap());
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let answers = files.iter().filter(|path| path.to_string_lossy().ends_with("-answer.json"));
    let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap();
    let answers = answers.map(|path| serde_json::from_str(&read(path)).unwrap()).collect();
    (output.status.code().unwrap(), report, answers)
}

fn tokens(answers: &[Value]) -> u64 {
    let sum = |answer: &Value| {
        answer["tokens"]["input"].as_u64().unwrap() + answer["tokens"]["output"].as_u64().unwrap()
    };
    answers.iter().map(sum).sum()
}

/// What holds whatever the model says: every call is answered, counted and within the limits.
fn is_accounted_for(report: &Value, answers: &[Value]) {
    let stats = &report["stats"];
    assert!((1..=2).contains(&answers.len()), "{report:#}");
    assert_eq!(stats["llm_calls"], json!(answers.len()));
    assert_eq!((&stats["tool_calls"], &stats["cost_usd"]), (&json!(0), &Value::Null));
    assert_eq!(stats["tokens_used"], json!(tokens(answers)), "{report:#}");
    assert!(
        answers[0]["tokens"]["input"].as_u64() > Some(500),
        "the prompt was read: {answers:#?}"
    );
    assert_ne!(report["model_used"], "");
}

/// The outcome follows from the model's own words: a whole pass passes, a contradiction is asked for
/// once more and is then no answer.
fn follows(code: i32, report: &Value, answers: &[Value]) {
    let last = answers.last().unwrap();
    assert_eq!((&last["stop"], &last["form_enforced"]), (&json!("Complete"), &json!(false)));
    let said: Value = serde_json::from_str(last["said"]["text"].as_str().unwrap()).unwrap();
    let verdict = said["verdict"].as_str().unwrap();
    if verdict == "PASS" {
        assert_eq!(
            (code, &report["passed"], &report["verdict"]),
            (0, &json!(true), &json!("PASS"))
        );
        assert_eq!(report["stats"]["answers_read"], json!({"strict": 1}));
        assert_eq!(report["files_reviewed"], json!(["app.py"]));
    } else {
        let why = format!("invalid verdict: {verdict} without findings");
        assert_eq!((code, &report["passed"], answers.len()), (2, &json!(false), 2));
        assert_eq!(report["parse_error"], json!(why));
        assert_eq!(report["coverage"]["hunks_accounted"], 0);
    }
}

#[test]
fn a_real_model_is_asked_read_and_held_to_its_limits() {
    let model = RealModel::start();
    let world = with_model(changed(), &model, "max_output = 100\nstructured_output = false");
    let (code, report, answers) = review(&world);
    is_accounted_for(&report, &answers);
    follows(code, &report, &answers);

    let world = with_model(world, &model, "max_output = 16");
    let (code, report, answers) = review(&world);
    is_accounted_for(&report, &answers);
    let cut = "the answer is cut: it reached the limit of 16 tokens";
    assert_eq!((code, &report["parse_error"]), (2, &json!(cut)), "{answers:#?}");
    assert_eq!(answers[0]["tokens"]["output"], 16);
    assert_eq!(answers[0]["form_enforced"], true);
    let text = answers[0]["said"]["text"].as_str().unwrap();
    assert!(text.trim_start().starts_with('{'), "the server keeps the form: {text}");
    assert!(report["stats"]["cache_read_tokens"].as_u64() > Some(100), "{report:#}");
}
