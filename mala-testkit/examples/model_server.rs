//! A model server for scripts. Prints its URL, and for every line on stdin the sizes of the
//! requests so far. It reports one problem: a function `half_N` that may divide by zero.
//!
//!     model_server [SECONDS] [explore]
//!
//! SECONDS is the delay of an answer. With `explore`, it makes six tool calls in each conversation that offers
//! tools, reports up to three findings on changed lines, confirms them, and writes 1,500 tokens with every answer.

#![expect(clippy::print_stdout, reason = "its output is what scripts read")]

use mala_testkit::model_server::{ModelAnswer, ModelRequest, ModelServer, ServerStep};
use serde_json::json;
use std::io::BufRead;
use std::time::Duration;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let wait = Duration::from_secs_f64(seconds);
    let explores = std::env::args().nth(2).is_some_and(|mode| mode == "explore");
    let server = ModelServer::new(move |request| {
        if explores { explore(request).after(wait) } else { answer(request).after(wait) }
    });
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

/// The tool calls of a conversation, two at a time.
const EXPLORATION: [(&str, &str); 6] = [
    ("git_log", "{}"),
    ("list_files", "{}"),
    ("search_code", r#"{"query": "TODO"}"#),
    ("read_file", r#"{"path": "README.md"}"#),
    ("search_code", r#"{"query": "error"}"#),
    ("git_diff", "{}"),
];

/// What a model writes with an answer besides the JSON, as white space: its thinking.
const THINKING_BYTES: usize = 4 * 1_500;

fn explore(request: &ModelRequest) -> ServerStep {
    let thinking = " ".repeat(THINKING_BYTES);
    let n_results = request.tool_results().len();
    if !request.tools().is_empty() && n_results < EXPLORATION.len() {
        let mut answer = ModelAnswer::text(thinking);
        for (name, arguments) in EXPLORATION.iter().skip(n_results).take(2) {
            answer = answer.and_call(name, serde_json::from_str(arguments).unwrap_or_default());
        }
        return answer.into();
    }
    let form = request.schema().map(ToString::to_string).unwrap_or_default();
    let ids = claim_ids(&request.user_text());
    let answer = if form.contains("\"checks\"") {
        let holds = |id: &String| json!({"id": id, "outcome": "holds", "why": "it is so"});
        json!({"checks": ids.iter().map(holds).collect::<Vec<_>>()})
    } else if form.contains("\"groups\"") {
        json!({"groups": ids.iter().map(|id| [id]).collect::<Vec<_>>()})
    } else if form.contains("\"tier\"") {
        json!({"findings": []})
    } else {
        draft(&request.user_text())
    };
    ModelAnswer::text(format!("{answer}{thinking}")).into()
}

/// The ids of the claims that a request lists: lines such as `c1: a.py:3`.
fn claim_ids(text: &str) -> Vec<String> {
    let is_id = |id: &&str| id.strip_prefix('c').is_some_and(|n| n.parse::<u32>().is_ok());
    let ids = text.lines().filter_map(|line| line.split_once(": ").map(|(id, _)| id));
    ids.filter(is_id).map(str::to_owned).collect()
}

/// Findings on the first, the middle and the last added line that the prompt shows.
fn draft(text: &str) -> serde_json::Value {
    let mut added: Vec<(&str, u32, &str)> = Vec::new();
    let mut file = "";
    for line in text.lines() {
        if let Some((label, _)) =
            line.strip_prefix("<mala-fence of=\"").and_then(|it| it.split_once('"'))
        {
            file = label.split_once(", modified").map_or("", |(file, _)| file);
        }
        let parts = line.split_once('+').filter(|(_, code)| code.trim().len() > 8);
        if let Some((number, code)) = parts
            && let Ok(number) = number.parse()
            && !file.is_empty()
        {
            added.push((file, number, code));
        }
    }
    let places = [0, added.len() / 2, added.len().saturating_sub(1)];
    let mut findings = Vec::new();
    for (n, at) in places.into_iter().enumerate() {
        let Some((file, line, code)) = added.get(at) else { continue };
        findings.push(json!({"file_path": file, "line_start": line, "line_end": line,
            "priority": n + 1, "title": format!("[P{}] Problem {n} at {file}:{line}", n + 1),
            "body": format!("Problem number {n} is at line {line}."), "category": "bug",
            "when": "always", "then": format!("case {n} fails"), "evidence": code,
            "suggestion": "", "confidence": 0.8}));
    }
    let verdict = if findings.is_empty() { "PASS" } else { "FAIL" };
    json!({"verdict": verdict, "findings": findings})
}
