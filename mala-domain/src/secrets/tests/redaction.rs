//! Tests of redaction.

use super::forge::{forge, jwt, pem, with_base62_checksum};
use super::samples;
use crate::secrets::{redact, scan};
use std::borrow::Cow;

#[test]
fn a_secret_is_replaced_by_its_rule() {
    let token = with_base62_checksum("ghp_");
    let text = format!("git push https://x:{token}@github.com/a/b");
    assert_eq!(redact(&text), "git push https://x:[redacted:github-pat]@github.com/a/b");
}

#[test]
fn a_wrong_checksum_is_redacted_anyway() {
    assert_eq!(redact(&forge("see ghp_«a36» there")), "see [redacted:github-pat] there");
    assert_eq!(redact(&forge("npm_«a36»")), "[redacted:npm-token]");
}

#[test]
fn longer_tokens_are_redacted_completely() {
    assert_eq!(redact(&forge("ghp_«a50»-«a5» end")), "[redacted:github-pat] end");
}

#[test]
fn complete_and_partial_keys_are_redacted() {
    let key = pem("RSA PRIVATE KEY", "\n");
    let hidden = redact(&key);
    assert_eq!(hidden.trim_end(), "[redacted:private-key]");
    assert_eq!(hidden.lines().count(), key.lines().count(), "line numbers stay");
    let cut: String = key.lines().take(4).collect::<Vec<_>>().join("\n");
    assert_eq!(redact(&cut).trim_end(), "[redacted:private-key-part]");
    let in_diff = pem("RSA PRIVATE KEY", "\n+");
    let hidden = redact(&in_diff);
    assert!(
        hidden.starts_with("[redacted:private-key]\n") && hidden.ends_with("\n+"),
        "{hidden:?}"
    );
}

#[test]
fn what_logs_and_prompts_hold_is_hidden() {
    let token = jwt(r#"{"sub":"u"}"#);
    for (text, expected) in [
        (format!("authorization: Bearer {token}"), "authorization: Bearer [redacted:bearer-token]"),
        (forge("Cookie: session=«a32»; theme=dark"), "Cookie: [redacted:cookie-header]"),
        (forge("retry with password='«s12»'"), "retry with password='[redacted:generic-password]'"),
        (forge("API_TOKEN=«a32» cargo run"), "API_TOKEN=[redacted:config-secret] cargo run"),
        (forge(r"\u001b[32mglpat-«w20»"), r"\u001b[32m[redacted:gitlab-pat]"),
        (forge(r#"{"out":"\nAKIA«u16»\n"}"#), r#"{"out":"\n[redacted:aws-access-key-id]\n"}"#),
    ] {
        assert_eq!(redact(&text), expected);
    }
}

/// A redaction hides values, not the code around them.
#[test]
fn code_next_to_a_secret_stays_visible() {
    let base64 = forge("«a64»");
    for (text, visible) in [
        ("DB_PASSWORD=x&&/opt/evil.sh".to_owned(), "x&&/opt/evil.sh"),
        (forge("DB_PASSWORD=«s12»&&/opt/evil.sh"), "&&/opt/evil.sh"),
        (forge("DB_PASSWORD=«s12»||curl"), "||curl"),
        (forge("DB_PASSWORD=«s12»&./evil.sh"), "&./evil.sh"),
        (forge("DB_PASSWORD=«s12»$(evil)"), "$(evil)"),
        (forge("# cookie: a=«a16» os.system(evil)"), " os.system(evil)"),
        (format!("exec(b64(\"{base64}\"))\nexec(b64(\"{base64}\"))"), base64.as_str()),
    ] {
        assert!(redact(&text).contains(visible), "{text}: {}", redact(&text));
    }
    assert!(!redact(&forge("DB_PASSWORD=«s12»&&run")).contains(&forge("«s12»")));
}

#[test]
fn ordinary_text_comes_back_as_it_is() {
    for text in [
        "",
        "fn main() { println!(\"token: {}\", token); }",
        "password = get_password(user)",
        "HTTP basic authentication is a scheme",
        "token = os.environ['API_TOKEN']",
        "\"password\": \"Passwort vergessen?\"",
        "let cookie: string = \"\";",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "already [redacted:github-pat] here",
    ] {
        assert!(matches!(redact(text), Cow::Borrowed(same) if same == text), "{text}");
    }
}

#[test]
fn redacting_twice_changes_nothing() {
    for text in [
        forge("password=\"«s20»\" token=\"«a40»\""),
        forge("token: «a40»«a40»ghp_«a36»"),
        forge("https://a:«a20»@b.c/https://a:«a20»@b.c"),
        forge("secret=[redacted:x]«a40» key=AKIA«u16»[redacted:"),
    ] {
        let once = redact(&text).into_owned();
        assert_eq!(redact(&once), once, "{text}");
    }
}

/// Everything that is reported is also redacted, in any surrounding text.
#[test]
fn every_sample_is_redacted() {
    let surroundings: [fn(&str) -> String; 8] = [
        |text| text.to_owned(),
        |text| format!("+{text}\n-{text}\n {text}\n"),
        |text| format!("  12 | {text}\n"),
        |text| format!("```\n{text}\n```"),
        |text| format!("\u{1b}[32m{text}\u{1b}[0m"),
        |text| format!("error: request failed: {text}; retrying"),
        |text| format!("({text})"),
        |text| format!("{{\"content\":{}}}", serde_json::json!(text)),
    ];
    let mut survivors = Vec::new();
    for (id, path, text) in samples::all() {
        for secret in scan(path, &text).iter().map(|found| found.secret()) {
            let hidden = surroundings.map(|surround| redact(&surround(&text)).into_owned());
            survivors.extend(
                hidden.into_iter().filter(|text| text.contains(secret)).map(|text| (id, text)),
            );
        }
    }
    assert!(survivors.is_empty(), "{survivors:#?}");
}
