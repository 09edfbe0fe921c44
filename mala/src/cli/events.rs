//! `mala events`: the append-only log of tasks.

use super::task::TaskFormat;
use crate::console::{self, harmless, to_the_second};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::settings::UserSettings;
use crate::wiring::task::TaskRepository;
use clap::Args;
use mala_domain::ports::TaskEvent;
use serde_json::{Value, json};
use std::time::Duration;

/// The polling interval.
const PAUSE: Duration = Duration::from_millis(200);

/// Print the log of events of tasks
///
/// The log is append-only. The status of every task follows from it.
#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Go on printing events as they happen
    #[arg(long)]
    follow: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TaskFormat,
}

pub(super) fn run(args: &EventsArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let tasks = TaskRepository::open(here, UserSettings::load(here)?).await?;
        let mut last = 0;
        loop {
            let events = tasks.store().events_after(last).await?;
            let text: String = events.iter().map(|event| line(event, args.format)).collect();
            console::data(&text)?;
            last = events.last().map_or(last, |event| event.number);
            if !args.follow {
                return Ok(Exit::Passed);
            }
            tokio::time::sleep(PAUSE).await;
        }
    })
}

fn line(event: &TaskEvent, format: TaskFormat) -> String {
    let mut value: Value = serde_json::from_str(&event.event).unwrap_or_default();
    if format == TaskFormat::Json {
        if let Value::Object(fields) = &mut value {
            fields.insert("schema_version".to_owned(), json!(1));
            fields.insert("number".to_owned(), json!(event.number));
            fields.insert("at".to_owned(), json!(event.at));
        }
        return format!("{value}\n");
    }
    let word = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let more = match word("/event") {
        "StatusChanged" => word("/to").to_owned(),
        _ => {
            let result = value.pointer("/review/result").and_then(Value::as_str);
            let attempt = value.pointer("/review/attempt").and_then(Value::as_u64);
            let reason = value.pointer("/reason").and_then(Value::as_str);
            let attempt = format!("attempt {}", attempt.unwrap_or_default());
            match result.or(reason).filter(|_| word("/event") != "ReviewStarted") {
                Some(result) => format!("{attempt}: {result}"),
                None => attempt,
            }
        }
    };
    let at = to_the_second(&event.at);
    let text = format!("{at}  {}  {}  {more}", word("/task_id"), word("/event"));
    format!("{}\n", harmless(&text).replace('\n', " "))
}
