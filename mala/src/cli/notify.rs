//! `mala notify`: tries the notifications that are configured.

use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::until_interrupted;
use crate::wiring::task::notifiers;
use crate::wiring::trusted_settings::WorkingTreeSettings;
use clap::{Args, Subcommand};
use mala_domain::config::Config;
use mala_domain::ports::UserNotification;
use mala_domain::task::review::SOUND;

/// Try the notifications of `tasks.notify`
#[derive(Debug, Args)]
pub struct NotifyArgs {
    #[command(subcommand)]
    command: NotifySubcommand,
}

/// The commands of `mala notify`
#[derive(Debug, Subcommand)]
enum NotifySubcommand {
    /// Send a sample in every configured way
    Test,
}

pub(super) fn run(args: &NotifyArgs, here: &Environment) -> anyhow::Result<Exit> {
    let NotifySubcommand::Test = args.command;
    let settings = WorkingTreeSettings::read(here)?.settings(Config::default())?;
    let notifiers = notifiers(&settings.tasks, here)?;
    if notifiers.is_empty() {
        let hint = "set it in mala.yaml, such as `tasks: {notify: [desktop]}`";
        return Err(Failure::usage("`tasks.notify` is empty").hint(hint).into());
    }
    let sample = UserNotification {
        title: "Review Failed: a sample".to_owned(),
        message: "Task needs human review after 3 attempts".to_owned(),
        sound: Some(SOUND.to_owned()),
    };
    until_interrupted(async {
        let mut exit = Exit::Passed;
        for notifier in &notifiers {
            match notifier.notify(&sample).await {
                Ok(()) => console::data(&format!("{}: sent\n", notifier.name()))?,
                Err(why) => {
                    let text = format!("error: cannot notify by {}: {why}", notifier.name());
                    console::say(&harmless(&text));
                    exit = Exit::CouldNotReview;
                }
            }
        }
        Ok(exit)
    })
}
