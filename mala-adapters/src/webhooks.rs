//! Webhooks of GitHub and GitLab: deliveries over HTTP, checked by their signature, and stored before they are answered.

mod http;
mod queue;
mod signature;

pub use queue::{AttemptEnd, Delivery, QueuedReview, WebhookQueue, WebhookQueueError};
pub use signature::{WebhookSecret, WebhookSecrets};

use http::{HttpStatus, WebhookRequest, read_request, respond};
use mala_domain::forge::{WebhookAction, github_webhook, gitlab_webhook};
use serde_json::Value;
use signature::{is_signed_by_github, is_signed_by_gitlab};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Receives deliveries.
pub struct WebhookReceiver {
    /// The storage of deliveries.
    pub queue: Arc<WebhookQueue>,
    /// The secrets that authenticate deliveries.
    pub secrets: WebhookSecrets,
    /// Told about each stored delivery.
    pub stored: Arc<Notify>,
}

/// An event of a forge, and how to parse it.
struct ForgeEvent<'r> {
    name: &'r str,
    /// The id of the delivery; empty if the forge sends none.
    id: &'r str,
    read: fn(&str, &Value) -> WebhookAction,
}

impl WebhookReceiver {
    /// Accepts connections forever; those beyond the limit wait. Open connections are closed when
    /// it is dropped.
    pub async fn serve(&self, listener: &TcpListener) {
        let mut connections = futures_util::stream::FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                    Ok((connection, _)) => connections.push(self.answer(connection)),
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
        let event = match self.event(request) {
            Ok(event) => event,
            Err(status) => return status,
        };
        let Ok(payload) = serde_json::from_slice(&request.body) else {
            return HttpStatus::BadRequest;
        };
        let (at, asked_by) = match (event.read)(event.name, &payload) {
            WebhookAction::Review(at) => (at, None),
            WebhookAction::ReviewFor(at, login) => (at, Some(login)),
            WebhookAction::Ignore(why) => {
                tracing::info!(event = event.name, why, "ignored a delivery");
                return HttpStatus::Accepted;
            }
        };
        let delivery = Delivery::new(event.id, &request.body, &at, asked_by.as_deref());
        match self.queue.store(delivery).await {
            Ok(is_new) => {
                let event = event.name;
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

    /// The event of a request, if the forge that it names sent it.
    fn event<'r>(&self, request: &'r WebhookRequest) -> Result<ForgeEvent<'r>, HttpStatus> {
        let WebhookSecrets { github, gitlab } = &self.secrets;
        let header = |name: &str| request.header(name).unwrap_or_default();
        if let Some(name) = request.header("x-gitlab-event") {
            let is_signed = gitlab.as_ref().is_some_and(|it| is_signed_by_gitlab(it, request));
            let uuid = || header("x-gitlab-event-uuid");
            let id = request.header("idempotency-key").unwrap_or_else(uuid);
            let event = ForgeEvent { name, id, read: gitlab_webhook };
            return if is_signed { Ok(event) } else { Err(HttpStatus::Unauthorized) };
        }
        if !github.as_ref().is_some_and(|it| is_signed_by_github(it, request)) {
            return Err(HttpStatus::Unauthorized);
        }
        let name = request.header("x-github-event").ok_or(HttpStatus::BadRequest)?;
        let id = request.header("x-github-delivery").ok_or(HttpStatus::BadRequest)?;
        Ok(ForgeEvent { name, id, read: github_webhook })
    }
}

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;
