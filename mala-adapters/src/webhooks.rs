//! Webhooks: deliveries over HTTP, checked by their signature, and stored before they are answered.

mod http;
mod queue;

pub use queue::{Delivery, QueuedReview, WebhookQueue, WebhookQueueError};

use hmac::{Hmac, KeyInit, Mac};
use http::{HttpStatus, WebhookRequest, read_request, respond};
use mala_domain::forge::{WebhookAction, webhook_action};
use sha2::Sha256;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The secret that GitHub signs deliveries with.
pub type WebhookSecret = crate::models::Secret;

/// Receives deliveries.
pub struct WebhookReceiver {
    /// Where they are stored.
    pub queue: Arc<WebhookQueue>,
    /// The secret of their signatures.
    pub secret: WebhookSecret,
    /// Told about each stored delivery.
    pub stored: Arc<Notify>,
}

impl WebhookReceiver {
    /// Answers connections for ever. The connections that are open when it is dropped are closed.
    pub async fn serve(&self, listener: &TcpListener) {
        let mut connections = futures_util::stream::FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((connection, _)) if connections.len() < MAX_CONNECTIONS => {
                        connections.push(self.answer(connection));
                    }
                    Ok(_) => tracing::warn!("too many connections"),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    }
                },
                Some(()) = futures_util::StreamExt::next(&mut connections) => {}
            }
        }
    }

    async fn answer(&self, mut connection: TcpStream) {
        let status = match read_request(&mut connection).await {
            Ok(request) => self.status(&request).await,
            Err(status) => status,
        };
        if let Err(error) = respond(&mut connection, status).await {
            tracing::debug!(%error, "cannot answer a delivery");
        }
    }

    async fn status(&self, request: &WebhookRequest) -> HttpStatus {
        if request.path != "/webhooks" {
            return HttpStatus::NotFound;
        }
        if request.method != "POST" {
            return HttpStatus::MethodNotAllowed;
        }
        let signature = request.header("x-hub-signature-256").unwrap_or_default();
        if !is_signed(&self.secret, &request.body, signature) {
            return HttpStatus::Unauthorized;
        }
        let (Some(id), Some(event)) =
            (request.header("x-github-delivery"), request.header("x-github-event"))
        else {
            return HttpStatus::BadRequest;
        };
        let Ok(payload) = serde_json::from_slice(&request.body) else {
            return HttpStatus::BadRequest;
        };
        let at = match webhook_action(event, &payload) {
            WebhookAction::Review(at) => at,
            WebhookAction::Ignore(why) => {
                tracing::info!(event, why, "ignored a delivery");
                return HttpStatus::Accepted;
            }
        };
        let delivery = Delivery::new(id, &request.body, &at);
        match self.queue.store(delivery).await {
            Ok(is_new) => {
                tracing::info!(event, is_new, pull_request = %at, "stored a delivery");
                self.stored.notify_one();
                HttpStatus::Accepted
            }
            Err(error) => {
                tracing::error!(%error, "cannot store a delivery");
                HttpStatus::Unavailable
            }
        }
    }
}

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;

/// Whether a body has this signature, compared in constant time.
fn is_signed(secret: &WebhookSecret, body: &[u8], signature: &str) -> bool {
    let Some(digits) = signature.strip_prefix("sha256=").filter(|digits| digits.len() == 64) else {
        return false;
    };
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    let expected: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    let (Some(expected), Ok(mut mac)) =
        (expected, Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()))
    else {
        return false;
    };
    mac.update(body);
    mac.verify_slice(&expected).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_signature_counts() {
        let secret = WebhookSecret::new("a webhook secret");
        let right = "sha256=e439fb2a63e2fad6fc0c93a823e804bf99b6aa39c1a919075476abea2e4e85a9";
        let rows = [
            ("Hello, World!", right.to_owned(), true),
            ("Hello, World?", right.to_owned(), false),
            ("Hello, World!", right.replace("e439", "e438"), false),
            ("Hello, World!", right.replace("sha256=", "sha1="), false),
            ("Hello, World!", right.get(..60).unwrap_or_default().to_owned(), false),
            ("Hello, World!", right.replace("e4", "zz"), false),
            ("Hello, World!", String::new(), false),
        ];
        for (body, signature, expected) in rows {
            assert_eq!(is_signed(&secret, body.as_bytes(), &signature), expected, "{signature}");
        }
    }
}
