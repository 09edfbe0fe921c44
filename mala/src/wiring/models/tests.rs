//! Which key goes where, with a server that says what it got.

use super::*;
use mala_domain::conversation::{AnswerFormat, ChatRequest, ChatTurn, ToolChoice, TurnPart};
use mala_testkit::ModelServer;
use mala_testkit::model_server::ModelAnswer;
use std::fs;
use tempfile::TempDir;

/// A home folder with the user's file, and environment variables.
struct Home {
    folder: TempDir,
    here: Environment,
}

fn home(config: &str, variables: &[(&str, &str)]) -> Home {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join(".config/mala");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("config.yaml"), config).unwrap();
    let mut variables: std::collections::BTreeMap<_, _> =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    variables.insert("HOME".into(), folder.path().into());
    variables.insert("PATH".into(), "/usr/bin:/bin".into());
    let here = Environment { folder: folder.path().to_owned(), variables, columns: None };
    Home { folder, here }
}

/// Asks a model once, and gives the headers that its server got.
fn headers(
    home: &Home,
    name: &str,
    server: &ModelServer,
) -> Result<Vec<(String, String)>, ModelUnavailable> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let models = {
        let user = settings::UserSettings::load(&home.here).unwrap();
        Models::new(&home.here, &user.models, connections(&home.here).unwrap()).unwrap()
    };
    let choice = models.choose(name)?;
    runtime.block_on(async {
        let model = models.model(&choice).await?;
        let ask = ChatRequest {
            model: choice.name.clone(),
            system: "s".into(),
            tools: Vec::new(),
            tool_choice: ToolChoice::Free,
            turns: vec![ChatTurn::User(vec![TurnPart::Text("hi".into())])],
            form: AnswerFormat::Text,
            max_output_tokens: 10,
        };
        model.ask(&ask, Duration::from_secs(9).into()).await.unwrap();
        Ok(server.requests().pop().unwrap().headers)
    })
}

fn value(headers: &[(String, String)], name: &str) -> Option<String> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

#[test]
fn other_variables_may_have_the_key() {
    let server = ModelServer::always(ModelAnswer::text("hi"));
    let url = server.url();
    let home = home(
        "",
        &[
            ("ANTHROPIC_AUTH_TOKEN", "key-a"),
            ("GOOGLE_API_KEY", "key-g"),
            ("ANTHROPIC_BASE_URL", &url),
            ("GOOGLE_GEMINI_BASE_URL", &url),
        ],
    );
    let sent = headers(&home, "sonnet", &server).unwrap();
    assert_eq!(value(&sent, "authorization").as_deref(), Some("Bearer key-a"));
    assert_eq!(value(&sent, "x-api-key"), None);
    let sent = headers(&home, "gemini-2.5-pro", &server).unwrap();
    assert_eq!(value(&sent, "x-goog-api-key").as_deref(), Some("key-g"));
}

/// 000-112
#[test]
fn each_provider_gets_its_own_key_at_its_own_address() {
    let server = ModelServer::always(ModelAnswer::text("hi"));
    let url = server.url();
    let home = home(
        "",
        &[
            ("ANTHROPIC_API_KEY", "key-a"),
            ("OPENAI_API_KEY", "key-o"),
            ("GEMINI_API_KEY", "key-g"),
            ("ANTHROPIC_BASE_URL", &url),
            ("OPENAI_BASE_URL", &url),
            ("GOOGLE_GEMINI_BASE_URL", &url),
        ],
    );
    for (name, header, expected) in [
        ("sonnet", "x-api-key", "key-a"),
        ("gpt-4.1-mini", "authorization", "Bearer key-o"),
        ("openai-chat/gpt-4.1-mini", "authorization", "Bearer key-o"),
        ("gemini-pro", "x-goog-api-key", "key-g"),
        ("compatible/llama3", "authorization", "Bearer key-o"),
    ] {
        let headers = headers(&home, name, &server).unwrap();
        assert_eq!(value(&headers, header).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn openais_key_does_not_go_to_another_server() {
    let server = ModelServer::always(ModelAnswer::text("hi"));
    let config = format!("models:\n  base_urls:\n    compatible: {}/v1\n", server.url());
    let home = home(&config, &[("OPENAI_API_KEY", "key-o")]);
    let headers = headers(&home, "compatible/llama3", &server).unwrap();
    assert_eq!(value(&headers, "authorization"), None);
}

#[test]
fn a_key_command_is_run_when_no_variable_holds_the_key() {
    let server = ModelServer::always(ModelAnswer::text("hi"));
    let config = format!(
        "models:\n  key_commands:\n    anthropic: [sh, -c, 'echo \" printed-key \"']\n  \
         base_urls:\n    anthropic: {}\n",
        server.url()
    );
    let printed = headers(&home(&config, &[]), "sonnet", &server).unwrap();
    assert_eq!(value(&printed, "x-api-key").as_deref(), Some("printed-key"));
    let set = home(&config, &[("ANTHROPIC_API_KEY", "set-key")]);
    let set = headers(&set, "sonnet", &server).unwrap();
    assert_eq!(value(&set, "x-api-key").as_deref(), Some("set-key"));
}

#[test]
fn what_is_missing_is_named() {
    let server = ModelServer::always(ModelAnswer::text("hi"));
    let command =
        |script: &str| format!("models:\n  key_commands:\n    openai: [sh, -c, '{script}']\n");
    for (config, name, expected) in [
        (String::new(), "sonnet", "ANTHROPIC_API_KEY is not set"),
        (String::new(), "gpt-4.1", "OPENAI_API_KEY is not set"),
        (String::new(), "gemini-pro", "GEMINI_API_KEY is not set"),
        (String::new(), "llama3", "unknown model 'llama3'"),
        (String::new(), "compatible/llama3", "no URL is set for the OpenAI-compatible server"),
        (command("exit 3"), "gpt-4.1", "models.key_commands.openai: sh failed: exit status: 3"),
        (command("true"), "gpt-4.1", "models.key_commands.openai: sh printed no key"),
    ] {
        let error = headers(&home(&config, &[]), name, &server).unwrap_err();
        assert_eq!(error.what, expected);
        assert!(!error.hint.is_empty());
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_key_command_does_not_run_in_the_reviewed_folder() {
    let config = "models:\n  key_commands:\n    anthropic: [./tool]\n";
    let home = home(config, &[]);
    let tool = home.folder.path().join("tool");
    fs::write(&tool, "#!/bin/sh\necho evil\n").unwrap();
    let server = ModelServer::always(ModelAnswer::text("hi"));
    let error = headers(&home, "sonnet", &server).unwrap_err();
    assert!(error.what.contains("is not on PATH"), "{}", error.what);
}
