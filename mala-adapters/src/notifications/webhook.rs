//! Posts the notification as JSON. With a secret, the body is signed as GitHub signs its webhooks: the receiver
//! computes the same HMAC and compares.

use super::payload;
use crate::models::{HttpClient, Secret};
use hmac::{Hmac, KeyInit, Mac};
use mala_domain::ports::{BoxFuture, Notifier, UserNotification};
use sha2::Sha256;
use std::time::Duration;

/// The header with the signature, `sha256=` and hexadecimal digits.
pub const SIGNATURE_HEADER: &str = "X-Mala-Signature-256";

/// Maximum number of attempts, and the time limit of each.
const MAX_TRIES: u32 = 3;
const TIME: Duration = Duration::from_secs(5);

/// The pause before the second try; it doubles.
const PAUSE: Duration = Duration::from_millis(250);

/// A URL that receives notifications.
pub struct WebhookNotifier {
    client: HttpClient,
    url: String,
    secret: Option<Secret>,
}

impl WebhookNotifier {
    /// Posts to this URL, signed with the secret if there is one.
    pub fn new(client: HttpClient, url: impl Into<String>, secret: Option<Secret>) -> Self {
        Self { client, url: url.into(), secret }
    }

    async fn send(&self, notification: &UserNotification) -> Result<(), String> {
        let body = payload(notification).to_string();
        let signature = self.secret.as_ref().map(|secret| signature(secret, &body)).transpose()?;
        let mut pause = PAUSE;
        let mut tries = 1;
        loop {
            match self.post(&body, signature.as_deref()).await {
                Err(TryError::Again(_)) if tries < MAX_TRIES => {}
                Err(TryError::Again(why) | TryError::Final(why)) => return Err(why),
                Ok(()) => return Ok(()),
            }
            tokio::time::sleep(pause).await;
            (pause, tries) = (pause * 2, tries + 1);
        }
    }

    async fn post(&self, body: &str, signature: Option<&str>) -> Result<(), TryError> {
        let client = self.client.client(&self.url).map_err(|error| TryError::Final(error.what))?;
        let mut request = client
            .post(&self.url)
            .timeout(TIME)
            .header("Content-Type", "application/json")
            .body(body.to_owned());
        if let Some(signature) = signature {
            request = request.header(SIGNATURE_HEADER, signature);
        }
        let answer = request.send().await;
        // The URL may have a token in it.
        let answer = answer.map_err(|error| TryError::Again(error.without_url().to_string()))?;
        let status = answer.status();
        match status {
            _ if status.is_success() => Ok(()),
            _ if status.is_server_error() || status.as_u16() == 429 => {
                Err(TryError::Again(format!("the server answered {status}")))
            }
            _ => Err(TryError::Final(format!("the server answered {status}"))),
        }
    }
}

/// Why a try failed.
enum TryError {
    /// Another try may help.
    Again(String),
    /// It will not.
    Final(String),
}

fn signature(secret: &Secret, body: &str) -> Result<String, String> {
    let mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes());
    let mut mac = mac.map_err(|error| error.to_string())?;
    mac.update(body.as_bytes());
    Ok(format!("sha256={}", crate::git::hex(&mac.finalize().into_bytes())))
}

impl Notifier for WebhookNotifier {
    fn name(&self) -> &str {
        "webhook"
    }

    fn notify<'a>(
        &'a self,
        notification: &'a UserNotification,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.send(notification))
    }
}
