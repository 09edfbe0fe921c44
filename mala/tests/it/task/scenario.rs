//! A plan with ten tasks, worked through by a scripted agent.

use super::desktop::DesktopCapture;
use super::states::rebuilt;
use super::{TaskBench, config};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// Takes every pending task, changes a file, and goes on until the task is complete or a person must look.
const AGENT: &str = r#"
for id in $(mala task list --status pending | cut -d' ' -f1); do
    mala task start "$id"
    for attempt in 1 2 3; do
        echo "$id = $attempt" >"$id.py"
        git add -A && git commit -q -m "work on $id"
        mala task done "$id" && break
        mala task list --status blocked | grep -q "^$id " && break
    done
done
"#;

/// A server that accepts notifications.
struct WebhookReceiver {
    url: String,
    received: Arc<Mutex<Vec<(String, Value)>>>,
}

impl WebhookReceiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let kept = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let (mut length, mut signature) = (0, String::new());
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let line = line.trim().to_ascii_lowercase();
                    if let Some(value) = line.strip_prefix("content-length: ") {
                        length = value.parse().unwrap();
                    }
                    if let Some(value) = line.strip_prefix("x-mala-signature-256: ") {
                        signature = value.to_owned();
                    }
                    if line.is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                kept.lock().unwrap().push((signature, serde_json::from_slice(&body).unwrap()));
                let answer = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
                reader.get_mut().write_all(answer).unwrap();
            }
        });
        Self { url, received }
    }

    fn notifications(&self) -> Vec<(String, Value)> {
        self.received.lock().unwrap().clone()
    }
}

/// Ten tasks of a plan, of which the scripted agent fails two at first, one is rejected and one review fails.
fn worked_through(webhook: &WebhookReceiver) -> (TaskBench, DesktopCapture) {
    let channels = format!("desktop, {{webhook: '{}'}}", webhook.url);
    let settings = config("", "").replace("{command: [note]}", &channels);
    let bench = TaskBench::with_config(&settings);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_mala")).display().to_string();
    let world = bench
        .world
        .with_program("mala", &format!("exec {bin} \"$@\""))
        .with_env("MALA_WEBHOOK_SECRET", "a secret");
    let (world, desktop) = DesktopCapture::start(world);
    let bench = TaskBench { world, ..bench };
    let plan: String =
        (1..=10).map(|n| format!("- [ ] Step {n} <!-- mala: id=t{n} -->\n  Do {n}.\n")).collect();
    bench.world.write("plan.md", &plan);
    bench.repo.commit("plan");
    assert_eq!(bench.mala(&["task", "import", "plan.md"]).0, 0);
    for (id, behaviour) in
        [("t3", "NEEDS_REVISION"), ("t5", "NEEDS_REVISION"), ("t7", "REJECTED"), ("t9", "crash")]
    {
        bench.set(&format!("queue-{id}"), &format!("{behaviour}\n"));
    }
    let output = bench.world.command("sh").args(["-c", AGENT]).output().unwrap();
    assert!(output.status.success(), "{}", bench.world.show(&output));
    (bench, desktop)
}

/// The reviews that ended, a line each.
fn ended_reviews(events: &[Value]) -> String {
    let is_end = |event: &&Value| {
        let name = event["event"].as_str().unwrap();
        name.starts_with("Review") && name != "ReviewStarted"
    };
    let line = |event: &Value| {
        let word = |key: &str| event[key].as_str().unwrap().to_owned();
        let result = event["review"]["result"].as_str().unwrap_or("not done");
        format!("{} {} {result}\n", word("task_id"), word("event"))
    };
    events.iter().filter(is_end).map(line).collect()
}

/// Rows 004-075, 004-096 and 004-106.
#[test]
fn ten_tasks_of_a_plan_are_worked_through() {
    let webhook = WebhookReceiver::start();
    let (bench, desktop) = worked_through(&webhook);
    assert_snapshot!(bench.world.run(&["task", "list"]), @"
    [exit 0]
    [stdout]
    t1  COMPLETE  Step 1
    t2  COMPLETE  Step 2
    t3  COMPLETE  Step 3
    t4  COMPLETE  Step 4
    t5  COMPLETE  Step 5
    t6  COMPLETE  Step 6
    t7  BLOCKED  Step 7
    t8  COMPLETE  Step 8
    t9  COMPLETE  Step 9
    t10  COMPLETE  Step 10
    ");
    let events = bench.events();
    assert_snapshot!(ended_reviews(&events), @"
    t1 ReviewCompleted APPROVED
    t2 ReviewCompleted APPROVED
    t3 ReviewFailed NEEDS_REVISION
    t3 ReviewCompleted APPROVED
    t4 ReviewCompleted APPROVED
    t5 ReviewFailed NEEDS_REVISION
    t5 ReviewCompleted APPROVED
    t6 ReviewCompleted APPROVED
    t7 ReviewFailed REJECTED
    t8 ReviewCompleted APPROVED
    t9 ReviewFailed not done
    t9 ReviewCompleted APPROVED
    t10 ReviewCompleted APPROVED
    ");
    assert_eq!(rebuilt(&events), bench.statuses(), "004-106");
    for (id, revisions) in [("t3", 1), ("t5", 1), ("t7", 0), ("t9", 0)] {
        assert_eq!(bench.show(id)["revision_count"], revisions, "{id}");
    }
    check_notifications(&webhook, &desktop);
}

/// Rows 004-066, 004-067, 004-068, 004-069 and 004-073.
fn check_notifications(webhook: &WebhookReceiver, desktop: &DesktopCapture) {
    let sent = webhook.notifications();
    let told: Vec<Value> =
        sent.iter().map(|(_, it)| json!([it["title"], it["message"], it["sound"]])).collect();
    assert_eq!(
        told,
        [
            json!(["Review Rejected: Step 7", "Blocking issue found: drops the table", "Basso"]),
            json!(["Review Not Done: Step 9", told[1][1], "Basso"]),
        ]
    );
    assert_eq!(desktop.notifications(), told);
    assert!(told[1][1].as_str().unwrap().contains("exit 7"), "{told:?}");
    assert!(sent.iter().all(|(signature, _)| signature.starts_with("sha256=")), "{sent:?}");
}
