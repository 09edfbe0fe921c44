//! Several passes side by side.

use super::scripted::*;
use crate::events::ReviewEvent;
use mala_domain::agent::budget::Profile;
use mala_domain::agent::prompts::Pass;
use mala_domain::conversation::{ChatRequest, ChatTurn, TurnPart};
use mala_domain::finding::VerificationOutcome;
use std::time::Duration;

fn instruction(ask: &ChatRequest) -> Option<Pass> {
    let text = sent(ask);
    Pass::ALL.into_iter().find(|pass| text.contains(pass.instruction().trim_end()))
}

fn stage() -> Stage {
    let mut stage = Stage::new(Profile::Thorough);
    stage.files.insert("AGENTS.md".into(), "Never divide.".into());
    stage
}

#[tokio::test]
async fn passes_share_their_beginning_and_run_side_by_side() {
    let run = stage().run(Scripted::steps(vec![says(PASS)]).slow(Duration::from_millis(400))).await;
    let passes: Vec<Pass> = run.asks.iter().filter_map(instruction).collect();
    assert_eq!((passes.len(), passes[0]), (4, Pass::LineByLine));
    for pass in [Pass::RemovedBehaviour, Pass::CrossFileEffects, Pass::ProjectRules] {
        assert!(passes.contains(&pass), "{pass:?}");
    }
    let beginning = |ask: &ChatRequest| match ask.turns.first() {
        Some(ChatTurn::User(parts)) => {
            (ask.system.clone(), ask.tools.clone(), parts.first().cloned())
        }
        _ => panic!("our turn"),
    };
    let first = beginning(&run.asks[0]);
    assert!(matches!(&first.2, Some(TurnPart::Repeated(_))));
    assert!(run.asks.iter().all(|ask| beginning(ask) == first));
    // The first call warms the cache, then all others go at once.
    assert_eq!(run.waiting, [1, 4, 4, 4]);
    assert_eq!(run.opinion.accounted, [("app.py".into(), vec![0])]);
    let n_started =
        run.events.iter().filter(|it| matches!(it, ReviewEvent::PassStarted { .. })).count();
    assert_eq!(n_started, 4);
}

#[tokio::test]
async fn what_several_passes_find_is_said_once_and_checked() {
    let model = Scripted::new(|_, ask| {
        if ask.system.starts_with("You check claims") {
            checks(&[("c1", "holds")])
        } else {
            review(&[finding(1, 0.9)])
        }
    });
    let run = stage().run(model).await;
    assert_eq!(run.report.issues.len(), 1);
    assert_eq!(run.report.issues[0].verification.outcome, VerificationOutcome::Verified);
    assert_eq!(run.asks.len(), 5);
}

#[tokio::test]
async fn a_pass_without_an_answer_leaves_the_change_unaccounted_for() {
    let model = Scripted::new(|_, ask| match instruction(ask) {
        Some(Pass::RemovedBehaviour) => says("I do not know"),
        _ if ask.system.starts_with("You bring a text") => says("{}"),
        _ => says(PASS),
    });
    let run = stage().run(model).await;
    assert_eq!(run.opinion.accounted, []);
    assert_eq!(run.opinion.failure, None);
    let said = run.report.warnings.join("\n");
    assert!(said.contains("the pass 'removed behaviour' gave no answer: invalid json"), "{said}");
    assert!(run.events.iter().any(|event| matches!(event, ReviewEvent::ReviewWarning { .. })));
}

#[tokio::test]
async fn passes_without_anything_to_look_at_are_left_out() {
    let mut stage = Stage::new(Profile::Thorough);
    stage.diff = DIFF.replace("-    return n and 1 / n\n", "").replace("-1,7", "-1,6");
    let run = stage.run(Scripted::steps(vec![says(PASS)])).await;
    let passes: Vec<Pass> = run.asks.iter().filter_map(instruction).collect();
    assert_eq!(passes, [Pass::LineByLine, Pass::CrossFileEffects]);
}

#[tokio::test]
async fn a_large_change_is_told_in_parts() {
    let mut stage = Stage::new(Profile::Thorough);
    stage.limits.max_prompt_tokens = 4_000;
    for file in ["a.py", "b.py"] {
        let text: String = (0..600).map(|n| format!("x{n} = {n}\n")).collect();
        let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
        stage.diff.push_str(&format!(
            "diff --git a/{file} b/{file}\nnew file mode 100644\n--- /dev/null\n+++ b/{file}\n@@ -0,0 +1,600 @@\n{added}"
        ));
        stage.files.insert(file.into(), text);
    }
    let run = stage.run(Scripted::steps(vec![says(PASS)])).await;
    let mut files: Vec<String> =
        run.opinion.accounted.iter().map(|(file, _)| file.to_string()).collect();
    files.sort();
    assert_eq!(files, ["a.py", "app.py", "b.py"]);
    assert_eq!(run.opinion.failure, None);
    assert_eq!(run.usage.llm_calls, 6, "three passes over each of two parts");
}

#[tokio::test]
async fn a_change_of_names_and_modes_is_put_to_the_model() {
    let mut stage = Stage::new(Profile::Standard);
    stage.diff = "diff --git a/evil.py b/app.py\nsimilarity index 100%\nrename from evil.py\nrename to app.py\n"
        .to_owned();
    let run = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!((run.asks.len(), &run.opinion.failure), (1, &None));
    let text = sent(&run.asks[0]);
    assert!(text.contains("app.py, renamed from evil.py, no line changed"), "{text}");
    let run = stage.run(Scripted::steps(vec![says("")])).await;
    assert!(run.opinion.failure.is_some(), "silence is no pass");
}
