//! Many reviews at once in one process: each gets its own answer, once.

#[path = "../../examples/many_reviews/reviews.rs"]
mod reviews;

use mala::environment::Environment;
use mala_testkit::TestRepo;
use mala_testkit::model_server::{ModelAnswer, ModelServer, ServerStep};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

const N_REVIEWS: usize = 20;

/// A repository with as many changes as there are reviews, each to a function of its own.
fn repo() -> (TestRepo, Vec<String>) {
    let text = |index: usize, result: &str| format!("def half_{index}(n):\n    return {result}\n");
    let repo = TestRepo::new();
    let write = |index, result| repo.write(format!("m{index}.py"), text(index, result));
    (0..N_REVIEWS).for_each(|index| write(index, "n and 1 / n"));
    let mut base = repo.commit("start");
    let ranges = (0..N_REVIEWS).map(|index| {
        write(index, "1 / n");
        let head = repo.commit("change");
        let range = format!("{base}..{head}");
        base = head;
        range
    });
    let ranges = ranges.collect();
    (repo, ranges)
}

/// A finding that names the function that it was asked about.
fn server() -> ModelServer {
    ModelServer::new(|request| {
        let text = request.user_text();
        let named = text.split("half_").nth(1).unwrap_or_default();
        let number: String = named.chars().take_while(char::is_ascii_digit).collect();
        let finding = json!({
            "file_path": format!("m{number}.py"), "line_start": 2, "line_end": 2, "priority": 2,
            "title": format!("[P2] half_{number}"), "body": "n may be 0",
        });
        let answer = json!({"verdict": "NEEDS_WORK", "findings": [finding]});
        ServerStep::from(ModelAnswer::text(answer.to_string())).after(Duration::from_millis(300))
    })
}

#[test]
fn no_result_is_lost_or_doubled() {
    let (repo, ranges) = repo();
    let server = server();
    let path = std::env::var_os("PATH").unwrap();
    let home = repo.beside("home");
    let variables = [
        ("PATH", path),
        ("HOME", home.into()),
        ("ANTHROPIC_API_KEY", "test-key".into()),
        ("ANTHROPIC_BASE_URL", server.url().into()),
    ];
    let variables = variables.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let here = Environment { folder: repo.root().to_owned(), variables, columns: None };
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let all = reviews::all(&here, &ranges, |range, result| {
        told.entry(range.to_owned()).or_default().push(result.to_owned());
    });
    runtime.block_on(all).unwrap();
    for (index, range) in ranges.iter().enumerate() {
        assert_eq!(told.remove(range).unwrap(), [format!("Passed [P2] half_{index}")]);
    }
    assert!(told.is_empty(), "{told:?}");
    let is_draft = |body: &str| body.contains("Review a change to a code base");
    let drafts = server.requests().into_iter().filter(|it| is_draft(&it.body.to_string())).count();
    assert_eq!(drafts, 2 * N_REVIEWS, "two drafts each");
}
