//! Notifications: the desktop, a webhook, a command, and the bell of a terminal.

mod command;
mod desktop;
mod webhook;

pub use command::CommandNotifier;
pub use desktop::DesktopNotifier;
pub use webhook::{SIGNATURE_HEADER, WebhookNotifier};

use mala_domain::ports::{BoxFuture, Notifier, UserNotification};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The longest text of a notification, in characters.
const MAX_TEXT: usize = 4000;

/// A notification as JSON, without secrets.
fn payload(notification: &UserNotification) -> Value {
    json!({
        "schema_version": 1,
        "title": clean(&notification.title),
        "message": clean(&notification.message),
        "sound": notification.sound,
    })
}

/// A bounded text without secrets.
fn clean(text: &str) -> String {
    let text: String = text.chars().take(MAX_TEXT).collect();
    mala_domain::secrets::redact(&text).into_owned()
}

/// Rings the bell of a terminal.
pub struct BellNotifier<W> {
    terminal: Mutex<W>,
}

impl<W: Write + Send> BellNotifier<W> {
    /// The bell of this terminal.
    pub fn new(terminal: W) -> Self {
        Self { terminal: Mutex::new(terminal) }
    }
}

impl<W: Write + Send> Notifier for BellNotifier<W> {
    fn name(&self) -> &str {
        "bell"
    }

    fn notify<'a>(&'a self, _: &'a UserNotification) -> BoxFuture<'a, Result<(), String>> {
        let mut terminal = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let rung = terminal.write_all(b"\x07").and_then(|()| terminal.flush());
        let rung = rung.map_err(|error| format!("bell: {error}"));
        Box::pin(std::future::ready(rung))
    }
}
