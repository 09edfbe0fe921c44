//! Several looks, and changes in parts.

use super::scripted::*;
use crate::events::ReviewEvent;
use mala_domain::agent::budget::Profile;
use mala_domain::agent::prompts::Look;
use mala_domain::conversation::{ChatRequest, ChatTurn, TurnPart};
use serde_json::json;
use std::collections::HashSet;

fn look(ask: &ChatRequest) -> Option<Look> {
    let text = sent(ask);
    Look::ALL.into_iter().find(|look| text.contains(look.instruction().trim_end()))
}

#[tokio::test]
async fn looks_share_their_beginning_and_a_follow_up_knows_what_was_reported() {
    let model = Scripted::new(|_, ask| match look(ask) {
        Some(Look::First) => review(&[finding(1, 0.9)]),
        Some(Look::FollowUp) => says(PASS),
        Some(Look::Second) => {
            let mut other = finding(2, 0.7);
            other["title"] = json!("[P2] The module has no caller");
            other["body"] = json!("Nothing imports it.");
            other["line_start"] = json!(1);
            other["line_end"] = json!(1);
            other["evidence"] = json!("import os");
            review(&[other])
        }
        None if ask.system.starts_with("You check claims") => {
            checks(&[("c1", "holds"), ("c2", "unsure")])
        }
        None => edit(&[("c1", ""), ("c2", "")]),
    });
    let run = Stage::new(Profile::Thorough).run(model).await;
    let looks: Vec<Look> = run.asks.iter().filter_map(look).collect();
    let all: HashSet<Look> = looks.iter().copied().collect();
    assert_eq!((looks.len(), all), (3, HashSet::from(Look::ALL)));
    assert_eq!(looks.last(), Some(&Look::FollowUp));
    let first_title = finding(1, 0.9)["title"].as_str().unwrap().to_owned();
    let told = run.asks.iter().take(3).map(|ask| sent(ask).contains(&first_title));
    assert_eq!(told.collect::<Vec<_>>(), [false, false, true], "drafts are independent");
    let beginning = |ask: &ChatRequest| match ask.turns.first() {
        Some(ChatTurn::User(parts)) => {
            (ask.system.clone(), ask.tools.clone(), parts.first().cloned())
        }
        _ => panic!("our turn"),
    };
    let first = beginning(&run.asks[0]);
    assert!(matches!(&first.2, Some(TurnPart::Repeated(_))));
    for later in &run.asks[1..3] {
        assert_eq!(beginning(later), first);
    }
    assert_eq!((run.report.issues.len(), run.report.notes.len()), (1, 1));
    assert_eq!(run.asks.len(), 5, "three looks, one check of both claims, one edit");
}

#[tokio::test]
async fn a_later_look_without_an_answer_is_said_and_the_first_one_counts() {
    let model = Scripted::new(|_, ask| match look(ask) {
        Some(Look::Second | Look::FollowUp) => says("I do not know"),
        _ if ask.system.starts_with("You bring a text") => says("{}"),
        _ => says(PASS),
    });
    let run = Stage::new(Profile::Thorough).run(model).await;
    assert_eq!(run.opinion.accounted, [("app.py".into(), vec![0])]);
    assert_eq!(run.opinion.failure, None);
    let said = run.report.warnings.join("\n");
    assert!(said.contains("the follow-up gave no answer: invalid json"), "{said}");
    assert!(said.contains("the second draft gave no answer: invalid json"), "{said}");
    assert!(run.opinion.cut_short);
    assert!(run.events.iter().any(|event| matches!(event, ReviewEvent::ReviewWarning { .. })));
}

#[tokio::test]
async fn a_problem_of_a_later_look_that_cannot_be_read_is_no_pass() {
    let model = Scripted::new(|_, ask| match look(ask) {
        Some(Look::Second) if sent(ask).contains("could not be read") => says(PASS),
        Some(Look::Second) => says("The verdict is FAIL: half divides by zero."),
        _ if ask.system.starts_with("You bring a text") => says("{}"),
        _ => says(PASS),
    });
    let run = Stage::new(Profile::Standard).run(model).await;
    assert!(run.opinion.accounted.is_empty(), "{:?}", run.opinion.accounted);
    assert!(!run.report.passed);
}

/// A change of three files that does not fit one prompt.
fn large(profile: Profile) -> Stage {
    let mut stage = Stage::new(profile);
    stage.limits.max_prompt_tokens = 4_000;
    for file in ["x/a.py", "y/b.py"] {
        let text: String = (0..500).map(|n| format!("x{n} = {n}\n")).collect();
        let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
        stage.diff.push_str(&format!(
            "diff --git a/{file} b/{file}\nnew file mode 100644\n--- /dev/null\n+++ b/{file}\n@@ -0,0 +1,500 @@\n{added}"
        ));
        stage.files.insert(file.into(), text);
    }
    stage
}

/// 002-080
#[tokio::test]
async fn a_large_change_is_reviewed_in_parts() {
    let run = large(Profile::Standard).run(Scripted::steps(vec![says(PASS)])).await;
    let mut files: Vec<String> =
        run.opinion.accounted.iter().map(|(file, _)| file.to_string()).collect();
    files.sort();
    assert_eq!(files, ["app.py", "x/a.py", "y/b.py"]);
    assert_eq!(run.opinion.failure, None);
    assert_eq!(run.usage.llm_calls, 4, "two looks at each part");
    let is_second = |text: &String| text.contains("reviewed in 2 parts, and this is part 2");
    let text = run.asks.iter().map(sent).find(is_second).expect("part 2");
    assert!(text.contains("x/a.py, added +500 -0 (part 1)"), "{text}");
    assert!(run.report.passed);
}

#[tokio::test]
async fn a_follow_up_of_a_part_is_told_what_was_reported_in_its_files() {
    let model = Scripted::new(|_, ask| {
        let is_about_app = sent(ask).contains("def half");
        match look(ask) {
            Some(Look::First) if is_about_app => review(&[finding(1, 0.9)]),
            Some(_) => says(PASS),
            None if ask.system.starts_with("You check claims") => checks(&[("c1", "holds")]),
            None => edit(&[("c1", "")]),
        }
    });
    let run = large(Profile::Thorough).run(model).await;
    let title = finding(1, 0.9)["title"].as_str().unwrap().to_owned();
    let follow_ups = run.asks.iter().filter(|ask| look(ask) == Some(Look::FollowUp));
    let told: Vec<(bool, bool)> = follow_ups
        .map(|ask| (sent(ask).contains("def half"), sent(ask).contains(&title)))
        .collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|(is_own, is_told)| is_own == is_told), "{told:?}");
    assert!(told.contains(&(true, true)), "{told:?}");
}

#[tokio::test]
async fn code_that_tools_show_is_reviewed() {
    let mut stage = large(Profile::Standard);
    stage.limits.max_briefs = 1;
    let pass = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert!(!pass.report.passed, "a file is not shown");
    assert!(sent(&pass.asks[0]).contains("(not shown here; git_diff has it)"));
    let unshown = if pass.opinion.accounted.iter().any(|(file, _)| *file == "x/a.py".into()) {
        "y/b.py"
    } else {
        "x/a.py"
    };
    for (tool, arguments) in [
        ("git_diff", json!({"path": unshown})),
        ("read_file", json!({"path": unshown, "start_line": 1, "end_line": 500})),
    ] {
        let steps = vec![calls(&[(tool, arguments)]), says(PASS)];
        let run = stage.run(Scripted::steps(steps)).await;
        let files: Vec<String> =
            run.opinion.accounted.iter().map(|(file, _)| file.to_string()).collect();
        assert!(files.contains(&unshown.to_owned()), "{tool}: {files:?}");
        assert!(run.report.passed, "{tool}: {:?}", run.report.warnings);
    }
}

#[tokio::test]
async fn a_change_of_names_and_modes_is_put_to_the_model() {
    let mut stage = Stage::new(Profile::Standard);
    stage.diff = "diff --git a/evil.py b/app.py\nsimilarity index 100%\nrename from evil.py\nrename to app.py\n"
        .to_owned();
    let run = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!((run.asks.len(), &run.opinion.failure), (2, &None));
    let text = sent(&run.asks[0]);
    assert!(text.contains("app.py, renamed from evil.py, no line changed"), "{text}");
    let run = stage.run(Scripted::steps(vec![says("")])).await;
    assert!(run.opinion.failure.is_some(), "silence is no pass");
}
