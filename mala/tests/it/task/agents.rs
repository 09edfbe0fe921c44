//! Slash commands of the real claude, codex and gemini take a task to its end. The model behind them is on loopback.
//! `scripts/install-tools` installs them.

use super::TaskBench;
use crate::gate::real::{after, with_reviewers};
use mala_testkit::ModelServer;
use mala_testkit::model_server::{ModelAnswer, ModelRequest, ServerStep};

/// Reviews with the proof that the prompt asks for, or parses the review.
fn model(request: &ModelRequest) -> ServerStep {
    let prompt = request.user_text();
    if let Some(first) = after(&prompt, "First half: ") {
        let second = after(&prompt, "Second half: ").unwrap();
        let head = after(&prompt, "The commit under review is ").unwrap();
        let answer = format!(
            "I read all of it.\nmala-proof: {first}-{second}\nmala-head: {head}\nmala-result: APPROVED\nmala-reviewed: mine.py: all\n"
        );
        return ModelAnswer::text(answer).into();
    }
    let parsed = r#"{"result": "APPROVED", "issues": [], "summary": "read by the agent", "blocking": false}"#;
    match after(&prompt, "Your `nonce`: ") {
        Some(_) => ModelAnswer::text(parsed).into(),
        None => ModelAnswer::text("fine").into(),
    }
}

fn takes_a_task_to_its_end(agent: &str) {
    let config = format!("tasks: {{review: {{command: /review-task, agent: {agent}}}}}\n");
    let bench = TaskBench::with_config(&config);
    let server = ModelServer::new(model);
    let TaskBench { repo, world } = bench;
    let bench = TaskBench { repo, world: with_reviewers(world, &server.url()) };
    bench.repo.write(".claude/commands/review-task.md", "Look closely at $ARGUMENTS.\n");
    let gemini = "prompt = 'Look closely at {{args}}.'\n";
    bench.repo.write(".gemini/commands/review-task.toml", gemini);
    let prompts = bench.world.home().join(".codex/prompts");
    std::fs::create_dir_all(&prompts).unwrap();
    std::fs::write(prompts.join("review-task.md"), "Look closely at $ARGUMENTS.\n").unwrap();
    bench.repo.commit("slash commands");
    let id = bench.task();
    let (code, stdout, stderr) = bench.mala(&["task", "done", &id]);
    assert_eq!((code, stdout), (0, format!("{id}  COMPLETE  T1\n")), "{agent}: {stderr}");
    let review = bench.last_review(&id);
    assert_eq!(
        (&review["reviewer_command"], &review["summary"]),
        (&"/review-task".into(), &"read by the agent".into()),
        "{agent}: {review:#}"
    );
    let asked = server.requests();
    let is_slash =
        |request: &ModelRequest| request.user_text().contains("Look closely at the task below.");
    assert!(asked.iter().any(is_slash), "{agent}: the text of the slash command was not sent");
    assert_eq!(bench.review_events(), ["ReviewStarted", "ReviewCompleted"], "{agent}");
}

/// Rows 004-049 and 004-053.
#[test]
fn a_slash_command_of_the_real_claude_reviews_a_task() {
    takes_a_task_to_its_end("claude");
}

#[test]
fn a_slash_command_of_the_real_codex_reviews_a_task() {
    takes_a_task_to_its_end("codex");
}

#[test]
fn a_slash_command_of_the_real_gemini_reviews_a_task() {
    takes_a_task_to_its_end("gemini");
}
