//! A model server for scripts. Prints its URL, and for every line on stdin the sizes of the
//! requests so far. It reports one problem: a function `half_N` that may divide by zero.
//!
//!     model_server [SECONDS]
//!
//! SECONDS is the delay of an answer.

#![expect(clippy::print_stdout, reason = "its output is what scripts read")]

use mala_testkit::model_server::{ModelAnswer, ModelRequest, ModelServer, ServerStep};
use serde_json::json;
use std::io::BufRead;
use std::time::Duration;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let wait = Duration::from_secs_f64(seconds);
    let server = ModelServer::new(move |request| answer(request).after(wait));
    println!("{}", server.url());
    let mut n_counted = 0;
    for _ in std::io::stdin().lock().lines() {
        let requests = server.requests();
        let bytes: Vec<usize> =
            requests.iter().skip(n_counted).map(|request| request.body.to_string().len()).collect();
        n_counted = requests.len();
        let cache = server.cache_count();
        println!("{}", json!({"bytes": bytes, "tokens": cache.tokens, "cached": cache.cached}));
    }
}

fn answer(request: &ModelRequest) -> ServerStep {
    let text = request.user_text();
    let is_check = request.schema().is_some_and(|it| it.to_string().contains("\"checks\""));
    let answer = match text.split("half_").nth(1) {
        Some(_) if is_check => {
            json!({"checks": [{"id": "c1", "outcome": "holds", "why": "n may be 0"}]})
        }
        Some(rest) => {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            json!({"verdict": "FAIL", "findings": [{"file_path": format!("m{number}.py"),
                "line_start": 2, "line_end": 2, "priority": 1, "body": "n may be 0",
                "title": format!("[P1] half_{number} divides by zero")}]})
        }
        None => json!({"verdict": "PASS", "findings": []}),
    };
    ModelAnswer::text(answer.to_string()).into()
}
