//! How a person is told that something needs them.

use super::BoxFuture;

/// What a person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserNotification {
    /// One line.
    pub title: String,
    /// The text below it.
    pub message: String,
    /// The name of a sound.
    pub sound: Option<String>,
}

/// A way to tell a person. That it fails is told to the caller and never changes a result.
pub trait Notifier: Send + Sync {
    /// What users call it, such as `webhook`.
    fn name(&self) -> &str;

    /// Sends a notification. The error says why it was not sent.
    fn notify<'a>(
        &'a self,
        notification: &'a UserNotification,
    ) -> BoxFuture<'a, Result<(), String>>;
}
