//! Notifications of the desktop, caught by a notification service on a private bus.

use super::{TaskBench, config};
use dbus::Message;
use dbus::arg::{PropMap, RefArg};
use dbus::blocking::Connection;
use dbus::channel::{Channel, MatchingReceiver, Sender};
use dbus::message::MatchRule;
use insta::assert_snapshot;
use mala_testkit::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

const SERVICE: &str = "org.freedesktop.Notifications";

/// A private session bus with a notification service.
pub(super) struct DesktopCapture {
    daemon: Child,
    service: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
    shown: Arc<Mutex<Vec<Value>>>,
}

impl DesktopCapture {
    /// Starts a bus and its service, and a world that uses them.
    pub(super) fn start(world: World) -> (World, Self) {
        let folder = world.home().join("tmp");
        let mut command = world.command("dbus-daemon");
        command.args(["--session", "--nofork", "--nopidfile", "--print-address=1"]);
        command.arg(format!("--address=unix:dir={}", folder.display()));
        let mut daemon = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let (is_over, shown) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (is_ready, ready) = mpsc::channel();
        let (bus, over, kept) = (address.clone(), is_over.clone(), Arc::clone(&shown));
        let service = std::thread::spawn(move || {
            let connection = connect(&bus, kept);
            is_ready.send(()).unwrap();
            while !over.load(Ordering::Relaxed) {
                connection.process(Duration::from_millis(20)).unwrap();
            }
        });
        ready.recv().unwrap();
        let world = world.with_env("DBUS_SESSION_BUS_ADDRESS", &address);
        (world, Self { daemon, service: Some(service), is_over, shown })
    }

    /// Title, message and sound of every notification.
    pub(super) fn notifications(&self) -> Vec<Value> {
        self.shown.lock().unwrap().clone()
    }
}

impl Drop for DesktopCapture {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.service.take().map(JoinHandle::join);
        self.daemon.kill().unwrap();
        self.daemon.wait().unwrap();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// A connection that answers as a desktop does.
fn connect(bus: &str, shown: Arc<Mutex<Vec<Value>>>) -> Connection {
    let mut channel = Channel::open_private(bus).unwrap();
    channel.register().unwrap();
    let connection = Connection::from(channel);
    connection.request_name(SERVICE, false, true, true).unwrap();
    let answer = move |message: Message, connection: &Connection| {
        let reply = message.method_return();
        let reply = match message.member().unwrap().to_string().as_str() {
            "Notify" => {
                shown.lock().unwrap().push(notification(&message));
                reply.append1(1_u32)
            }
            "GetCapabilities" => reply.append1(vec!["body", "sound"]),
            "GetServerInformation" => reply.append3("test", "test", "1").append1("1.2"),
            other => panic!("{other}"),
        };
        connection.send(reply).unwrap();
        true
    };
    connection.start_receive(MatchRule::new_method_call(), Box::new(answer));
    connection
}

/// Title, message and sound of a call of `Notify`.
fn notification(message: &Message) -> Value {
    let (_, _, _, title, text): (&str, u32, &str, &str, &str) = message.read5().unwrap();
    let mut arguments = message.iter_init();
    for _ in 0..6 {
        arguments.next();
    }
    let hints: PropMap = arguments.read().unwrap();
    json!([title, text, hints.get("sound-name").and_then(|sound| sound.0.as_str())])
}

/// Rows 004-067, 004-068 and 004-069, on the desktop.
#[test]
fn the_desktop_shows_title_message_and_sound() {
    let bench = TaskBench::with_config(&config("", "").replace("{command: [note]}", "desktop"));
    let (world, desktop) = DesktopCapture::start(bench.world);
    let bench = TaskBench { world, ..bench };
    assert_snapshot!(bench.world.run(&["notify", "test"]), @"
    [exit 0]
    [stdout]
    desktop: sent
    ");
    let id = bench.task();
    bench.answer("REJECTED");
    assert_eq!(bench.done(&id), (1, "BLOCKED".to_owned()));
    assert_eq!(
        desktop.notifications(),
        [
            json!(["Review Failed: a sample", "Task needs human review after 3 attempts", "Basso"]),
            json!(["Review Rejected: T1", "Blocking issue found: drops the table", "Basso"]),
        ]
    );
}

/// Row 004-072, on the desktop.
#[test]
fn a_desktop_that_is_not_there_is_a_warning() {
    let bench = TaskBench::with_config(&config("", "").replace("{command: [note]}", "desktop"));
    let world = bench.world.with_env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus");
    let bench = TaskBench { world, ..bench };
    bench.answer("REJECTED");
    let id = bench.task();
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["task", "done", &id]), @"
    [exit 1]
    [stdout]
    [TASK]  BLOCKED  T1
    [stderr]
    reviewing with rev
    warning: cannot notify by desktop: Failed to connect to socket /no/such/bus: No such file or directory
    drops the table
    - it deletes data
    hint: a person decides; `mala task reopen [TASK]` and `mala task start [TASK]` allow another attempt
    ");
    assert_snapshot!(bench.world.run(&["notify", "test"]), @"
    [exit 2]
    [stderr]
    error: cannot notify by desktop: Failed to connect to socket /no/such/bus: No such file or directory
    ");
}
