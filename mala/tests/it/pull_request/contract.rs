//! Every request body against GitHub's published description of its API, which scripts/install-tools installs.

use super::{FLAW, PullRequestBench, is_write, status};
use mala_testkit::forge_server::ForgeRequest;
use serde_json::{Value, json};
use std::path::Path;

/// The description of the API.
struct ApiDescription(Value);

impl ApiDescription {
    fn load() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/github/node_modules");
        let path = folder.join("@octokit/openapi/generated/api.github.com.json");
        let text = std::fs::read(&path).unwrap_or_else(|_| panic!("run scripts/install-tools"));
        Self(serde_json::from_slice(&text).unwrap())
    }

    /// The operation of a request.
    fn operation(&self, request: &ForgeRequest) -> &Value {
        let parts: Vec<&str> = request.resource().split('/').collect();
        let paths = self.0["paths"].as_object().unwrap();
        let method = request.method.to_ascii_lowercase();
        let fits = |template: &str| {
            let names: Vec<&str> = template.split('/').collect();
            names.len() == parts.len()
                && names
                    .iter()
                    .zip(&parts)
                    .all(|(name, part)| name.starts_with('{') || name == part)
        };
        // A path without a parameter is more specific.
        let mut found: Vec<_> = paths.iter().filter(|(template, _)| fits(template)).collect();
        found.sort_by_key(|(template, _)| template.matches('{').count());
        let operation = found.iter().map(|(_, item)| &item[&method]).find(|it| !it.is_null());
        operation.unwrap_or_else(|| panic!("unknown: {} {}", request.method, request.path))
    }

    /// Checks the body of a request.
    fn check(&self, request: &ForgeRequest) {
        let operation = self.operation(request);
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            assert!(request.body.is_empty(), "{} {}", request.method, request.path);
            return;
        }
        let root = json!({"allOf": [schema], "components": self.0["components"]});
        let validator =
            jsonschema::options().with_draft(jsonschema::Draft::Draft4).build(&root).unwrap();
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&body).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{} {}: {errors:?}\n{body:#}", request.method, request.path);
        let properties = schema["properties"].as_object();
        for key in body.as_object().unwrap().keys() {
            let is_known = properties.is_none_or(|known| known.contains_key(key));
            assert!(is_known, "{} {}: {key}", request.method, request.path);
        }
    }
}

#[test]
fn request_bodies_follow_the_description_of_the_api() {
    let bench = PullRequestBench::new();
    bench.github.allow_writes("ada");
    for number in 0..60 {
        bench.repo.write(format!("more/m{number}.py"), FLAW);
    }
    bench.repo.write("wide.py", "def ask():\n    return eval(\n        input()\n    )\n");
    bench.repo.commit("many flaws");
    // One refused position makes mala post the comments one by one.
    bench.github.fail(|request| {
        let text = String::from_utf8_lossy(&request.body);
        let is_refused = request.path.contains("/pulls/7/") && text.contains("m3.py");
        is_refused.then(|| status(422, &[], "line must be part of the diff"))
    });
    bench.pr(&["--post", "review,check"]);
    bench.github.heal();
    let first = bench.github.inline_comments()[0].id;
    bench.github.add_reply(first, "ada", "/mala explain");
    bench.repo.write("other.py", FLAW);
    bench.repo.commit("another flaw");
    bench.pr(&["--post", "review,check"]);
    // A copy of the summary, as of two runs at the same time, is deleted.
    let summary = bench.github.comments().pop().unwrap().body;
    bench.github.add_comment("mala-bot", &summary);
    bench.pr(&["--post", "review"]);
    let description = ApiDescription::load();
    let requests = bench.github.take_requests();
    let api: Vec<_> =
        requests.iter().filter(|it| !it.is_git() && it.resource() != "/graphql").collect();
    api.iter().for_each(|request| description.check(request));
    let mut written: Vec<String> = api
        .iter()
        .filter(|request| is_write(request))
        .map(|request| {
            let path: Vec<&str> = request.resource().split('/').skip(4).collect();
            let words = path.into_iter().filter(|part| part.parse::<u64>().is_err());
            format!("{} {}", request.method, words.collect::<Vec<_>>().join("/"))
        })
        .collect();
    written.sort();
    written.dedup();
    insta::assert_snapshot!(written.join("\n"), @r"
    DELETE issues/comments
    PATCH check-runs
    PATCH issues/comments
    POST check-runs
    POST issues/comments
    POST pulls/comments
    POST pulls/comments/replies
    POST pulls/reviews
    ");
}
