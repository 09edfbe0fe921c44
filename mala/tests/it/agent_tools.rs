//! The agent's tools over a real repository that is full of ways out of it. Whatever is asked, no
//! byte of what lies outside the reviewed tree comes back.

use mala_adapters::git::Git;
use mala_adapters::process::ProcessEnvironment;
use mala_domain::conversation::{ToolCall, ToolResult};
use mala_domain::review::{FileTexts, ReviewContext};
use mala_domain::scope::ReviewTarget;
use mala_pipeline::agent::tools::{ShownImports, ToolLimits, Toolbox, catalogue};
use mala_testkit::TestRepo;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// Stands in every place that is not part of the reviewed tree.
const OUTSIDE: &str = "kept-away-from-reviewers";

fn hostile() -> TestRepo {
    let repo = TestRepo::with_files(&[
        (".gitignore", ".env\nignored/\n"),
        ("src/app.py", "import os\n\ndef run():\n    return os.getpid()\n"),
        ("src/user.py", "from app import run\n\nrun()\n"),
        ("was/secret.txt", "harmless\n"),
        ("-rf", "run\n"),
        (":(exclude)src", "run\n"),
        ("data.bin", "\0\0\0"),
    ]);
    let outside = repo.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), format!("run {OUTSIDE}\n")).unwrap();
    repo.write(".env", format!("run={OUTSIDE}\n"));
    repo.write("ignored/run.py", format!("run = '{OUTSIDE}'\n"));
    repo.write(".git/run.txt", format!("run {OUTSIDE}\n"));
    repo.link("link", outside.join("secret.txt"));
    repo.link("folder", &outside);
    repo.link("up", "..");
    repo.write("sub/run.py", format!("run = '{OUTSIDE}'\n"));
    repo.git(&["init", "-q", "sub"]);
    repo.git(&["-C", "sub", "add", "."]);
    repo.git(&["-C", "sub", "commit", "-q", "-m", OUTSIDE]);
    repo.commit("links");
    repo.branch("elsewhere");
    repo.write("src/elsewhere.py", format!("run = '{OUTSIDE}'\n"));
    repo.commit(OUTSIDE);
    repo.checkout("main");
    repo.write("src/app.py", "import os\n\ndef run():\n    return os.getppid()\n");
    repo.commit("change");
    repo.write("src/app.py", "import os\n\ndef run(x):\n    return os.getppid()\n");
    std::fs::remove_dir_all(repo.path("was")).unwrap();
    repo.link("was", &outside);
    repo
}

fn targets() -> [ReviewTarget; 4] {
    let patch = "--- a/src/user.py\n+++ b/src/user.py\n@@ -1,3 +1,3 @@\n from app import run\n \n\
                 -run()\n+run(1)\n";
    [
        ReviewTarget::Range { base: "HEAD~1".to_owned(), head: "HEAD".to_owned() },
        ReviewTarget::Staged,
        ReviewTarget::WorkingTree,
        ReviewTarget::Patch(patch.into()),
    ]
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn toolbox(repo: &TestRepo, target: &ReviewTarget) -> Toolbox {
    let environment =
        ProcessEnvironment::filtered(std::env::vars_os()).with("HOME", repo.beside("home"));
    let git = Git::open(repo.root(), &environment).await.unwrap();
    let scoped = git.change(target, &[]).await.map_err(|error| error.to_string()).unwrap();
    Toolbox::new(ReviewContext::new(scoped, FileTexts::default()), ToolLimits::default())
}

async fn ask(toolbox: &Toolbox, name: &str, arguments: &Value) -> ToolResult {
    let (id, name, arguments) = ("1".to_owned(), name.to_owned(), arguments.to_string());
    toolbox.call(&ToolCall { id, name, arguments }, &ShownImports::default()).await
}

const WAYS_OUT: &[&str] = &[
    "link",
    "folder",
    "folder/secret.txt",
    "up/outside/secret.txt",
    "was",
    "was/secret.txt",
    "sub",
    "sub/run.py",
    ".env",
    "ignored",
    "ignored/run.py",
    ".git/run.txt",
    "src/../.git/run.txt",
    "../outside/secret.txt",
    "src/elsewhere.py",
    "elsewhere:src/elsewhere.py",
    ":/src/elsewhere.py",
    "-rf",
    ":(exclude)src",
    "--no-index",
    "--output=x",
    "/etc/passwd",
];

/// 000-117, 002-079
#[test]
fn no_path_leads_out_of_any_state() {
    let repo = hostile();
    let elsewhere = repo.id("elsewhere");
    for target in targets() {
        runtime().block_on(async {
            let toolbox = toolbox(&repo, &target).await;
            for path in WAYS_OUT {
                for (tool, arguments) in [
                    ("read_file", json!({ "path": path })),
                    ("read_file", json!({ "path": path, "ref": "base" })),
                    ("get_function_context", json!({ "path": path, "symbol": "run" })),
                    ("git_blame", json!({ "path": path })),
                    ("git_log", json!({ "path": path })),
                    ("list_files", json!({ "path": path })),
                    ("search_code", json!({ "query": "run", "path": path })),
                    ("search_code", json!({ "query": ".", "mode": "regex", "path": path })),
                    ("find_references", json!({ "symbol": "run", "path": path })),
                    ("git_show", json!({ "commit": elsewhere, "path": path })),
                ] {
                    let result = ask(&toolbox, tool, &arguments).await;
                    let said = format!("{target:?} {tool} {arguments}: {}", result.text);
                    assert!(!result.text.contains(OUTSIDE), "{said}");
                    assert!(!result.text.contains("cannot be read"), "{said}");
                }
            }
        });
    }
}

#[test]
fn what_is_in_the_tree_is_shown() {
    let repo = hostile();
    for target in targets() {
        runtime().block_on(async {
            let toolbox = toolbox(&repo, &target).await;
            for (tool, arguments, shown) in [
                ("read_file", json!({ "path": "src/user.py" }), "1| from app import run"),
                ("read_file", json!({ "path": "-rf" }), "1| run"),
                ("read_file", json!({ "path": ":(exclude)src" }), "1| run"),
                ("list_files", json!({}), "sub (submodule)"),
                ("search_code", json!({ "query": "^from", "mode": "regex" }), "src/user.py:1:"),
                ("find_references", json!({ "symbol": "run" }), "src/user.py:1: [import]"),
                (
                    "get_function_context",
                    json!({ "path": "src/app.py", "symbol": "run" }),
                    "run (function)",
                ),
                ("git_log", json!({}), "Ada: start"),
                ("git_blame", json!({ "path": "-rf" }), "| run"),
                ("git_diff", json!({}), "@@ -"),
                ("git_show", json!({ "commit": repo.id("HEAD~1") }), "file: link (added"),
            ] {
                // The index is the same as HEAD.
                if tool == "git_diff" && target == ReviewTarget::Staged {
                    continue;
                }
                let result = ask(&toolbox, tool, &arguments).await;
                let said = format!("{target:?} {tool} {arguments}: {}", result.text);
                assert!(!result.is_error && result.text.contains(shown), "{said}");
            }
        });
    }
}

/// Mostly what a field's schema asks for, else anything.
fn value(schema: &Value) -> BoxedStrategy<Value> {
    let choices = schema["enum"].as_array().cloned();
    let fitting = match (choices, schema["type"].as_str()) {
        (Some(choices), _) => prop::sample::select(choices).boxed(),
        (None, Some("integer")) => (1..9_u32).prop_map(Value::from).boxed(),
        _ => {
            let ways_out = prop::sample::select(WAYS_OUT).prop_map(Value::from);
            let words = vec!["run", ".", "secret", r"\w+", "r.n", "src"];
            prop_oneof![3 => ways_out, 1 => prop::sample::select(words).prop_map(Value::from)]
                .boxed()
        }
    };
    prop_oneof![
        9 => fitting,
        1 => prop_oneof![
            ".{0,8}".prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            Just(json!([{ "path": "link" }])),
        ],
    ]
    .boxed()
}

/// A call with arguments of the tool's own.
fn call() -> impl Strategy<Value = (String, Value)> {
    prop::sample::select(catalogue()).prop_flat_map(|tool| {
        let fields = tool.arguments["properties"].as_object().unwrap();
        let given: Vec<_> = fields
            .iter()
            .map(|(name, schema)| {
                let is_needed = ["path", "query", "symbol"].contains(&name.as_str());
                let weight = if is_needed { 0.9 } else { 0.3 };
                (Just(name.clone()), prop::option::weighted(weight, value(schema)))
            })
            .collect();
        given.prop_map(move |given| {
            let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
            (tool.name.clone(), Value::Object(given.collect()))
        })
    })
}

#[test]
fn no_call_shows_a_byte_from_outside() {
    let repo = hostile();
    let calls = prop::collection::vec(call(), 80);
    let config = ProptestConfig { cases: 4, failure_persistence: None, ..Default::default() };
    proptest!(config, |(calls in calls)| {
        for target in targets() {
            runtime().block_on(async {
                let toolbox = toolbox(&repo, &target).await;
                for (name, arguments) in &calls {
                    let result = ask(&toolbox, name, arguments).await;
                    let said = format!("{target:?} {name} {arguments}: {}", result.text);
                    prop_assert!(!result.text.contains(OUTSIDE), "{}", said);
                }
                Ok(())
            })?;
        }
    });
}
