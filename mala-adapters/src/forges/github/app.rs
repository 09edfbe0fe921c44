//! Authentication as a GitHub App: a signed JWT is exchanged for a token of the app's installation
//! in a repository. Uses the signing keys of rustls, which is a dependency for HTTPS anyway.

use super::{SERVICE, bodies};
use crate::forges::cache::ResponseCache;
use crate::forges::client::{ApiClient, ApiRequest, WaitNotice};
use crate::models::{HttpClient, Secret};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mala_domain::forge::RepositoryName;
use mala_domain::ports::ForgeError;
use reqwest::Method;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The account of an app.
pub struct AppAccount {
    /// The id of the app, or its client id.
    pub id: String,
    /// Its private key, as a PEM file has it.
    pub key: Secret,
}

/// The lifetime of the JWT; GitHub allows 10 minutes.
const LIFETIME: Duration = Duration::from_secs(9 * 60);
/// How far the clock of the server may be behind.
const CLOCK_SKEW: Duration = Duration::from_secs(60);

impl AppAccount {
    /// The token of the app's installation in a repository.
    pub async fn installation_token(
        &self,
        (http, base): (HttpClient, &str),
        repository: &RepositoryName,
        (cache, notice): (PathBuf, WaitNotice),
    ) -> Result<Secret, ForgeError> {
        let jwt = self.statement(SystemTime::now()).map_err(|why| ForgeError::Forbidden {
            what: format!("cannot sign as the GitHub App: {why}"),
            hint: "GITHUB_APP_PRIVATE_KEY is the text of the app's private key (PEM)".to_owned(),
        })?;
        let token = Secret::new(&jwt);
        let cache = ResponseCache::new(cache, &self.id);
        let api = ApiClient::new(&SERVICE, (http, base), token, (cache, notice));
        let path = format!("/repos/{repository}/installation");
        let found = api.get(&path, "the app installed in the repository").await?;
        let unreadable =
            || ForgeError::Unavailable("cannot read the installation of the app".into());
        let id = found["id"].as_u64().ok_or_else(unreadable)?;
        let request = ApiRequest {
            method: Method::POST,
            path: format!("/app/installations/{id}/access_tokens"),
            body: Some(json!({"repositories": [repository.repo]})),
            permission: "the app installed in the repository",
            is_repeatable: true,
        };
        let answer = api.ask(&request).await?;
        bodies::token(&answer).map(Secret::new).ok_or_else(unreadable)
    }

    /// The signed statement: a JSON Web Token with RS256.
    fn statement(&self, now: SystemTime) -> Result<String, String> {
        let seconds = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
        };
        let claims = json!({
            "iss": self.id, "iat": seconds(now - CLOCK_SKEW), "exp": seconds(now + LIFETIME),
        });
        let header = json!({"alg": "RS256", "typ": "JWT"});
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&header), part(&claims));
        let key = PrivateKeyDer::from_pem_slice(self.key.expose().as_bytes())
            .map_err(|_| "the key is not in the PEM format".to_owned())?;
        let key = any_supported_type(&key).map_err(|_| "the key is not supported".to_owned())?;
        let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
        let signer = signer.ok_or_else(|| "the key is not an RSA key".to_owned())?;
        let signature = signer.sign(message.as_bytes()).map_err(|error| error.to_string())?;
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn openssl(folder: &std::path::Path, args: &[&str]) {
        let done = Command::new("openssl").args(args).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn the_statement_is_signed_with_the_key_of_the_app() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        openssl(at, &["genrsa", "-traditional", "-out", "key.pem", "2048"]);
        openssl(at, &["rsa", "-in", "key.pem", "-pubout", "-out", "public.pem"]);
        let key = Secret::new(&std::fs::read_to_string(at.join("key.pem")).unwrap());
        let account = AppAccount { id: "12345".to_owned(), key };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let jwt = account.statement(now).unwrap();
        let (message, signature) = jwt.rsplit_once('.').unwrap();
        std::fs::write(at.join("message"), message).unwrap();
        let padded = signature.replace('-', "+").replace('_', "/");
        let padded = format!("{padded}{}\n", "=".repeat((4 - padded.len() % 4) % 4));
        std::fs::write(at.join("signature.txt"), padded).unwrap();
        let decode = ["base64", "-d", "-A", "-in", "signature.txt", "-out", "signature"];
        openssl(at, &decode);
        let check = ["dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"];
        openssl(at, &[&check[..], &["message"]].concat());
        assert_eq!(
            message,
            "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjEwMDA1NDAsImlhdCI6OTk5OTQwLCJpc3MiOiIxMjM0NSJ9"
        );
    }

    #[test]
    fn a_key_of_another_kind_is_an_error() {
        for key in
            ["", "no key", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"]
        {
            let account = AppAccount { id: "1".to_owned(), key: Secret::new(key) };
            assert!(account.statement(SystemTime::now()).is_err(), "{key}");
        }
    }
}
