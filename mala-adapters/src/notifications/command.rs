//! Runs a command of the user with the notification as JSON on its stdin.

use super::payload;
use crate::process::{ProcessEnvironment, ProcessLimits, ProcessSpec, run};
use mala_domain::ports::{BoxFuture, Notifier, UserNotification};
use std::path::PathBuf;
use std::time::Duration;

/// How long the command may take.
const TIME: Duration = Duration::from_secs(10);

/// A command that notifies a person.
pub struct CommandNotifier {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The current folder of the command.
    pub dir: PathBuf,
    /// Its environment.
    pub environment: ProcessEnvironment,
}

impl CommandNotifier {
    async fn send(&self, notification: &UserNotification) -> Result<(), String> {
        let (program, args) =
            self.command.split_first().ok_or_else(|| "the command is empty".to_owned())?;
        let spec = ProcessSpec::new(program, &self.dir, self.environment.clone())
            .args(args)
            .stdin(format!("{}\n", payload(notification)));
        let finished = run(spec, ProcessLimits::within(TIME).stdout(1 << 20)).await;
        let finished = finished.map_err(|error| error.to_string())?;
        match finished.code() {
            Some(0) => Ok(()),
            Some(code) => Err(format!("{program}: exit code {code}")),
            None => Err(format!("{program}: killed by a signal")),
        }
    }
}

impl Notifier for CommandNotifier {
    fn name(&self) -> &str {
        "command"
    }

    fn notify<'a>(
        &'a self,
        notification: &'a UserNotification,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.send(notification))
    }
}
