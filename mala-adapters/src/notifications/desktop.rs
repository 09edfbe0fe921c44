//! Notifications of the desktop: freedesktop over D-Bus, and macOS. A service that does not answer is given up.

use super::clean;
use mala_domain::ports::{BoxFuture, Notifier, UserNotification};
use notify_rust::Notification;
use std::time::Duration;

/// How long the desktop may take.
const TIME: Duration = Duration::from_secs(3);

/// The desktop of the user.
pub struct DesktopNotifier;

impl DesktopNotifier {
    async fn send(&self, notification: &UserNotification) -> Result<(), String> {
        let mut shown = Notification::new();
        shown
            .appname("mala")
            .summary(&clean(&notification.title))
            .body(&escaped(&clean(&notification.message)));
        if let Some(sound) = &notification.sound {
            shown.sound_name(sound);
        }
        let sent = tokio::time::timeout(TIME, show(shown)).await;
        sent.map_err(|_| format!("no answer within {} s", TIME.as_secs()))?
    }
}

/// The crate waits for an answer on its own thread, for at most two seconds each time.
async fn show(notification: Notification) -> Result<(), String> {
    let shown = tokio::task::spawn_blocking(move || notification.show().map(drop));
    let shown = shown.await.map_err(|error| error.to_string())?;
    shown.map_err(|error| error.to_string())
}

/// Desktops read markup in the text of a notification.
fn escaped(text: &str) -> String {
    if cfg!(target_os = "macos") {
        return text.to_owned();
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Notifier for DesktopNotifier {
    fn name(&self) -> &str {
        "desktop"
    }

    fn notify<'a>(
        &'a self,
        notification: &'a UserNotification,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.send(notification))
    }
}
