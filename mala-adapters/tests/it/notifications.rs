//! Notifications to a local server, a command and a terminal.

use crate::git::wait;
use mala_adapters::models::{HttpClient, Secret};
use mala_adapters::notifications::{
    BellNotifier, CommandNotifier, SIGNATURE_HEADER, WebhookNotifier,
};
use mala_adapters::process::ProcessEnvironment;
use mala_domain::ports::{Notifier, UserNotification};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

fn notification() -> UserNotification {
    UserNotification {
        title: "Review Failed: T1".to_owned(),
        message: "Needs a person".to_owned(),
        sound: Some("Basso".to_owned()),
    }
}

const BODY: &str = r#"{"message":"Needs a person","schema_version":1,"sound":"Basso","title":"Review Failed: T1"}"#;

/// A server that answers with these statuses and returns what it was sent.
fn server(statuses: &'static [u16]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/hook?token=t", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        statuses
            .iter()
            .map(|status| {
                let (mut connection, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                let mut chunk = [0; 4096];
                while !request.ends_with(b"}") {
                    let n = connection.read(&mut chunk).unwrap();
                    request.extend_from_slice(&chunk[..n]);
                }
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                );
                connection.write_all(answer.as_bytes()).unwrap();
                String::from_utf8(request).unwrap()
            })
            .collect()
    });
    (url, served)
}

fn post(url: &str, secret: Option<&str>) -> Result<(), String> {
    let client = HttpClient::new(None).unwrap();
    let webhook = WebhookNotifier::new(client, url, secret.map(Secret::new));
    wait(webhook.notify(&notification()))
}

#[test]
fn a_webhook_is_signed_and_repeated_a_few_times() {
    for (statuses, expected) in [
        (&[204][..], Ok(())),
        (&[503, 429, 200], Ok(())),
        (&[500, 500, 500], Err("the server answered 500 Internal Server Error")),
        (&[404], Err("the server answered 404 Not Found")),
        // Another place is never told.
        (&[302], Err("the server answered 302 Found")),
    ] {
        let (url, served) = server(statuses);
        assert_eq!(post(&url, Some("s3cret")), expected.map_err(str::to_owned), "{statuses:?}");
        let requests = served.join().unwrap();
        assert_eq!(requests.len(), statuses.len());
        for request in requests {
            assert!(request.starts_with("POST /hook?token=t HTTP/1.1\r\n"), "{request}");
            assert!(request.ends_with(BODY), "{request}");
            // printf BODY | openssl dgst -sha256 -hmac s3cret
            let signed = format!(
                "{}: sha256=9709dd4bbe86eb9896d54dc4f1f28806a4e607296b2087e03839c622b81dbd29",
                SIGNATURE_HEADER.to_lowercase()
            );
            assert!(request.to_lowercase().contains(&signed.to_lowercase()), "{request}");
        }
    }
    let (url, served) = server(&[200]);
    assert_eq!(post(&url, None), Ok(()));
    assert!(!served.join().unwrap()[0].to_lowercase().contains(&SIGNATURE_HEADER.to_lowercase()));
}

#[test]
fn a_webhook_that_cannot_be_reached_is_an_error_without_its_url() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/hook?token=t", listener.local_addr().unwrap());
    drop(listener);
    let why = post(&url, None).unwrap_err();
    assert!(!why.contains("token"), "{why}");
}

#[test]
fn a_command_gets_the_notification_on_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let send = |command: &[&str]| {
        let notifier = CommandNotifier {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            dir: folder.path().to_owned(),
            environment: ProcessEnvironment::filtered(std::env::vars_os()),
        };
        wait(notifier.notify(&notification()))
    };
    assert_eq!(send(&["sh", "-c", "cat > notes"]), Ok(()));
    assert_eq!(std::fs::read_to_string(folder.path().join("notes")).unwrap(), format!("{BODY}\n"));
    assert_eq!(send(&["false"]), Err("false: exit code 1".to_owned()));
    assert_eq!(send(&["no-such-program"]), Err("`no-such-program` is not on PATH".to_owned()));
    assert_eq!(send(&[]), Err("the command is empty".to_owned()));
}

#[test]
fn the_bell_rings() {
    let mut terminal = Vec::new();
    assert_eq!(wait(BellNotifier::new(&mut terminal).notify(&notification())), Ok(()));
    assert_eq!(terminal, b"\x07");
}
