//! Authenticates deliveries of forges. All comparisons take the same time for right and wrong
//! values.

use super::http::WebhookRequest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret that a forge proves its deliveries with.
pub type WebhookSecret = crate::models::Secret;

/// The secrets of the forges whose webhooks are taken.
pub struct WebhookSecrets {
    /// The secret of a webhook on GitHub.
    pub github: Option<WebhookSecret>,
    /// The signing token (`whsec_...`) or the secret token of a webhook on GitLab.
    pub gitlab: Option<WebhookSecret>,
}

/// Whether a delivery has the signature of GitHub: a code over its body.
pub(super) fn is_signed_by_github(secret: &WebhookSecret, request: &WebhookRequest) -> bool {
    let signature = request.header("x-hub-signature-256").unwrap_or_default();
    let Some(mac) = code(secret.expose().as_bytes(), &[&request.body]) else { return false };
    let bytes = mac.finalize().into_bytes();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    is_same(secret, &format!("sha256={digits}"), signature)
}

/// Whether a delivery is of GitLab. A signing token (`whsec_...`) is the key of a code over id, time and body; a secret
/// token is sent as it is.
pub(super) fn is_signed_by_gitlab(secret: &WebhookSecret, request: &WebhookRequest) -> bool {
    let header = |name: &str| request.header(name).unwrap_or_default();
    let Some(key) = secret.expose().strip_prefix("whsec_") else {
        return is_same(secret, secret.expose(), header("x-gitlab-token"));
    };
    let (id, time) = (header("webhook-id").as_bytes(), header("webhook-timestamp").as_bytes());
    let key = STANDARD.decode(key).ok().filter(|key| !key.is_empty());
    let mac = key.and_then(|key| code(&key, &[id, b".", time, b".", &request.body]));
    let Some(mac) = mac else { return false };
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    // While a token is replaced, there is a signature with each of both.
    header("webhook-signature").split(' ').any(|given| is_same(secret, &expected, given))
}

fn code(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    parts.iter().for_each(|part| mac.update(part));
    Some(mac)
}

/// Compares two texts by their MACs, so that the time reveals nothing about them.
fn is_same(secret: &WebhookSecret, expected: &str, given: &str) -> bool {
    let key = secret.expose().as_bytes();
    let codes = code(key, &[expected.as_bytes()]).zip(code(key, &[given.as_bytes()]));
    codes.is_some_and(|(expected, given)| {
        given.verify_slice(&expected.finalize().into_bytes()).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_signature_of_github_counts() {
        let secret = WebhookSecret::new("a webhook secret");
        let right = "sha256=e439fb2a63e2fad6fc0c93a823e804bf99b6aa39c1a919075476abea2e4e85a9";
        let rows = [
            ("Hello, World!", right.to_owned(), true),
            ("Hello, World?", right.to_owned(), false),
            ("Hello, World!", right.replace("e439", "e438"), false),
            ("Hello, World!", right.replace("sha256=", "sha1="), false),
            ("Hello, World!", right.get(..60).unwrap_or_default().to_owned(), false),
            ("Hello, World!", String::new(), false),
        ];
        for (body, signature, expected) in rows {
            let request = WebhookRequest::test(&[("x-hub-signature-256", &signature)], body);
            assert_eq!(is_signed_by_github(&secret, &request), expected, "{signature}");
        }
    }

    #[test]
    fn gitlab_sends_its_token_or_a_signature() {
        // The example of the Standard Webhooks specification.
        let signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let body = "{\"test\": 2432232314}";
        let old = format!("v1,bm9wZQ== {right}");
        let rows = [
            (signing, "webhook-signature", right, body, true),
            (signing, "webhook-signature", &old, body, true),
            (signing, "webhook-signature", right, "{}", false),
            (signing, "webhook-signature", "v1,bm9wZQ==", body, false),
            (signing, "webhook-signature", "", body, false),
            (signing, "x-gitlab-token", signing, body, false),
            ("whsec_", "webhook-signature", right, body, false),
            ("plain token", "x-gitlab-token", "plain token", body, true),
            ("plain token", "x-gitlab-token", "plain toke", body, false),
            ("plain token", "x-gitlab-token", "", body, false),
        ];
        for (secret, header, value, body, expected) in rows {
            let headers = [
                (header, value),
                ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
                ("webhook-timestamp", "1614265330"),
            ];
            let request = WebhookRequest::test(&headers, body);
            let found = is_signed_by_gitlab(&WebhookSecret::new(secret), &request);
            assert_eq!(found, expected, "{secret} {header}: {value}");
        }
    }
}
