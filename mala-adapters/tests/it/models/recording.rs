//! Recordings: a replay gives the recorded answers.

use super::{TestProvider, ask, model, wait};
use mala_adapters::models::recording::{Recording, RecordingError, Replay};
use mala_domain::conversation::{ChatReply, ChatRequest, ChatTurn, ToolResult, TurnPart};
use mala_domain::ports::{LanguageModel, ModelFailure, ModelFailureKind};
use mala_testkit::ModelServer;
use mala_testkit::model_server::{ModelAnswer, ServerFault, ServerStep};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(9);

/// A key that secret scanners detect, assembled so that they do not report it here.
fn secret() -> String {
    format!("ghp_{}", "wJalrXUtnFEMIK7MDENGbPxRfiCY3Q2T9z8L")
}

/// A short conversation: the same call twice, a call with an earlier answer, and a call that
/// fails.
fn converse(model: &dyn LanguageModel) -> Vec<Result<ChatReply, ModelFailure>> {
    let ask = ask();
    let first = wait(model.ask(&ask, PATIENCE.into()));
    let again = wait(model.ask(&ask, PATIENCE.into()));
    let mut later = ask.clone();
    let said = first.as_ref().unwrap().said.clone();
    let call = said.calls[0].clone();
    let result = ToolResult { call, text: "text".into(), is_error: false };
    later.turns.extend([ChatTurn::Model(said), ChatTurn::User(vec![TurnPart::ToolResult(result)])]);
    let third = wait(model.ask(&later, PATIENCE.into()));
    let failing = ChatRequest { system: "fail".into(), ..ask };
    vec![first, again, third, wait(model.ask(&failing, PATIENCE.into()))]
}

fn script() -> ModelServer {
    let leak = json!({"path": secret()});
    ModelServer::steps([
        ServerStep::from(ModelAnswer::call("read_file", leak)),
        ModelAnswer::text("second").into(),
        ModelAnswer::text(format!("the key is {}", secret())).into(),
        ServerFault::status(401).into(),
    ])
}

fn record(folder: &Path) -> Vec<Result<ChatReply, ModelFailure>> {
    let server = script();
    let recording = Recording::start(folder, "nonce-1").unwrap();
    let inner: Arc<dyn LanguageModel> = Arc::from(model(TestProvider::Anthropic, &server));
    let outcomes = converse(recording.wrap(inner).as_ref());
    assert_eq!(recording.problem(), None);
    outcomes
}

#[test]
fn a_replay_gives_the_same_answers_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = record(folder.path());
    let replay = Replay::open(folder.path()).unwrap();
    assert_eq!(replay.nonce(), "nonce-1");
    let replayed = converse(&replay);
    assert_eq!(replayed[1], recorded[1], "the same call has a second answer");
    assert_eq!(replayed[1].as_ref().unwrap().said.text, "second");
    assert_eq!(replayed[3], recorded[3], "failures are kept too");
    assert_eq!(replayed[3].as_ref().unwrap_err().kind, ModelFailureKind::Unauthorized);
    let tokens = |outcome: &Result<ChatReply, ModelFailure>| outcome.as_ref().unwrap().tokens;
    assert_eq!(tokens(&replayed[2]), tokens(&recorded[2]));
    assert!(recorded[2].as_ref().unwrap().said.text.contains(&secret()), "the run sees it all");
    assert_eq!(converse(&Replay::open(folder.path()).unwrap()), replayed, "every time");
}

#[test]
fn no_secret_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 5, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&secret()), "{}", file.display());
        assert!(!text.contains(super::KEY), "{}", file.display());
    }
}

#[test]
fn what_was_not_recorded_has_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    let replay = Replay::open(folder.path()).unwrap();
    let other = ChatRequest { max_output_tokens: 1, ..ask() };
    let failure = wait(replay.ask(&other, PATIENCE.into())).unwrap_err();
    assert_eq!(failure.kind, ModelFailureKind::NotRecorded);
    for _ in 0..2 {
        wait(replay.ask(&ask(), PATIENCE.into())).unwrap();
    }
    let third = wait(replay.ask(&ask(), PATIENCE.into())).unwrap_err();
    assert_eq!(third.kind, ModelFailureKind::NotRecorded, "it was asked twice, not three times");
}

#[test]
fn a_folder_holds_one_recording() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Replay::open(folder.path()), Err(RecordingError::Missing(_))));
    Recording::start(folder.path(), "a").unwrap();
    assert!(matches!(Recording::start(folder.path(), "b"), Err(RecordingError::Exists(_))));
    fs::write(folder.path().join("recording.json"), r#"{"schema_version": 9, "nonce": "x"}"#)
        .unwrap();
    assert!(matches!(Replay::open(folder.path()), Err(RecordingError::Foreign { .. })));
    fs::write(folder.path().join("recording.json"), "not json").unwrap();
    assert!(matches!(Replay::open(folder.path()), Err(RecordingError::Foreign { .. })));
}

#[test]
fn a_broken_file_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name != "recording.json") {
            fs::write(path, "{}").unwrap();
        }
    }
    let replay = Replay::open(folder.path()).unwrap();
    let failure = wait(replay.ask(&ask(), PATIENCE.into())).unwrap_err();
    assert_eq!(failure.kind, ModelFailureKind::NotRecorded);
    assert!(failure.what.contains("missing field"), "{}", failure.what);
}
