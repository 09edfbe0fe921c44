//! Only an answer to this session counts.

use super::*;

fn binding() -> AnswerBinding {
    AnswerBinding { nonce: Nonce::over(&[b"session"]), head: "a".repeat(40) }
}

/// A pass with these fields replaced.
fn pass(fields: Value) -> String {
    let mut answer = json!({
        "nonce": binding().nonce.as_str(),
        "head_sha": binding().head,
        "verdict": "PASS",
        "summary": "fine",
        "findings": [],
        "reviewed": [{"file_path": "a.py", "hunks": [1, 2]}],
    });
    for (name, value) in fields.as_object().unwrap() {
        answer[name] = value.clone();
    }
    answer.to_string()
}

#[test]
fn a_bound_answer_counts_with_its_account() {
    let answer = read(&pass(json!({})), &binding(), "codex").unwrap();
    assert_eq!(answer.verdict, Verdict::Pass);
    assert_eq!(answer.accounted, [(FilePath::from("a.py"), vec![0, 1])]);
}

#[test]
fn what_is_not_bound_is_no_answer() {
    let other = Nonce::over(&[b"another session"]);
    for (fields, why) in [
        (json!({"nonce": ""}), "the answer does not have this session's nonce"),
        (json!({"nonce": null}), "the answer does not have this session's nonce"),
        (json!({"nonce": other.as_str()}), "the answer does not have this session's nonce"),
        (
            json!({"head_sha": "bbbb"}),
            "the answer is for the commit `bbbb`, not for the one under review",
        ),
        (
            json!({"head_sha": null}),
            "the answer is for the commit ``, not for the one under review",
        ),
        (json!({"reviewed": null}), "missing field: reviewed"),
        (json!({"reviewed": [{"file_path": "a.py", "hunks": [0]}]}), "invalid format"),
        (json!({"reviewed": [{"file_path": "a.py"}]}), "invalid format"),
        (json!({"verdict": "FAIL"}), "invalid verdict: FAIL without findings"),
        (json!({"verdict": "APPROVED"}), "invalid verdict: APPROVED"),
    ] {
        let problem = read(&pass(fields), &binding(), "codex").unwrap_err();
        assert_eq!(problem.to_string(), why);
    }
}

#[test]
fn without_a_commit_nothing_is_bound() {
    let nowhere = AnswerBinding { head: String::new(), ..binding() };
    assert!(read(&pass(json!({"head_sha": ""})), &nowhere, "codex").is_err());
}

#[test]
fn a_claim_that_leaves_fields_empty_is_a_claim_and_paths_are_those_of_the_change() {
    let finding = json!({
        "file_path": "/var/tmp/x/tree/a.py", "line_start": 1, "line_end": 1, "priority": 0,
        "title": "t", "body": "b", "when": "", "then": "", "evidence": "",
    });
    let fields = json!({
        "verdict": "FAIL", "findings": [finding],
        "reviewed": [{"file_path": "/var/tmp/x/tree/a.py", "hunks": [1]}, {"file_path": "./b.py", "hunks": []}],
    });
    let answer = read(&pass(fields), &binding(), "codex").unwrap();
    assert_eq!(answer.claims.len(), 1);
    assert_eq!(answer.claims[0].evidence, None);
    let change = Change { files: Vec::new() };
    let answer = answer.inside(&["/elsewhere".to_owned(), "/var/tmp/x/tree".to_owned()], &change);
    assert_eq!(answer.claims[0].file, FilePath::from("a.py"));
    let files: Vec<&FilePath> = answer.accounted.iter().map(|(file, _)| file).collect();
    assert_eq!(files, [&FilePath::from("a.py"), &FilePath::from("b.py")]);
}

#[test]
fn a_path_of_the_change_is_taken_as_it_is_written() {
    let diff = "diff --git a/ a.py b/ a.py\n--- a/ a.py\n+++ b/ a.py\n@@ -1 +1 @@\n-x\n+y\n";
    let change = Change { files: crate::change::parse(diff.as_bytes()).unwrap() };
    assert_eq!(change.files[0].path, FilePath::from(" a.py"));
    for (named, is) in
        [(" a.py", " a.py"), (" b.py ", "b.py"), ("./b.py", "b.py"), ("b.py", "b.py")]
    {
        let finding = json!({
            "file_path": named, "line_start": 1, "line_end": 1, "priority": 0, "title": "t", "body": "b",
        });
        let reviewed = json!([{"file_path": named, "hunks": [1]}]);
        let fields = json!({"verdict": "FAIL", "findings": [finding], "reviewed": reviewed});
        let answer = read(&pass(fields), &binding(), "codex").unwrap().inside(&[], &change);
        assert_eq!(answer.claims[0].file, FilePath::from(is), "{named:?}");
        assert_eq!(answer.accounted[0].0, FilePath::from(is), "{named:?}");
    }
}

#[test]
fn a_priority_may_be_null_and_not_missing() {
    let claim = |priority: Option<Value>, title: &str| {
        let mut finding = json!({"file_path": "a.py", "line_start": 1, "line_end": 1, "title": title, "body": "b"});
        if let Some(priority) = priority {
            finding["priority"] = priority;
        }
        let answer =
            read(&pass(json!({"verdict": "FAIL", "findings": [finding]})), &binding(), "x");
        let claim = answer.map(|mut answer| answer.claims.remove(0));
        claim.map(|claim| (claim.priority, claim.title)).map_err(|problem| problem.to_string())
    };
    assert_eq!(claim(Some(json!(null)), "t"), Ok((None, "t".to_owned())));
    let urgent = (Some(crate::finding::Priority::P0), "[P0] t".to_owned());
    assert_eq!(claim(Some(json!(null)), "[P0] t"), Ok(urgent.clone()), "the title says it");
    assert_eq!(claim(Some(json!(0)), "[P2] t"), Ok(urgent));
    assert_eq!(claim(None, "t"), Err("missing field: priority".to_owned()));
    assert_eq!(claim(Some(json!("P1")), "t"), Err("invalid format".to_owned()));
}

#[test]
fn two_answers_that_contradict_each_other_are_none() {
    let finding = json!({
        "file_path": "a.py", "line_start": 1, "line_end": 1, "priority": 1, "title": "t", "body": "b",
    });
    let good = pass(json!({}));
    let bad = pass(json!({"verdict": "FAIL", "findings": [finding]}));
    let unbound = bad.replace(binding().nonce.as_str(), "");
    let wrapped = json!({ "result": bad }).to_string();
    let beside = pass(json!({"issues": [finding]}));
    for (text, is_answer) in [
        (format!("{good}\n{good}"), true),
        (format!("{unbound}\n{good}"), true),
        (format!("{bad}\n{good}"), false),
        (format!("{good}\nno, wait:\n{bad}"), false),
        (format!("{wrapped}\n{good}"), false),
        (pass(json!({"issues": []})), true),
        (beside, false),
    ] {
        let read = read(&text, &binding(), "codex");
        match is_answer {
            true => assert_eq!(read.unwrap().verdict, Verdict::Pass, "{text}"),
            false => assert_eq!(
                read.unwrap_err().to_string(),
                "invalid verdict: two answers that contradict each other"
            ),
        }
    }
}

#[test]
fn no_objection_of_a_lane_is_lost() {
    let finding = |priority: u8, title: &str| {
        json!({
            "file_path": "a.py", "line_start": 1, "line_end": 1, "priority": priority, "title": title, "body": "b",
        })
    };
    let fail = |findings: Value| pass(json!({"verdict": "FAIL", "findings": findings}));
    let (one, two) = (finding(0, "t"), finding(1, "u"));
    let (first, second) = (fail(json!([one])), fail(json!([two])));
    let both = fail(json!([two, one]));
    let good = pass(json!({}));
    let nested = |key: &str, inner: &str| {
        let inner: Value = serde_json::from_str(inner).unwrap();
        let mut outer: Value = serde_json::from_str(&good).unwrap();
        outer[key] = inner;
        outer.to_string()
    };
    let broken = first.replace("\"body\"", "body");
    let unbound = broken.replace(binding().nonce.as_str(), "");
    let cut = good.get(..good.len() / 2).unwrap();
    let braces = "{".repeat(2_500);
    for (text, is_answer) in [
        // The last one has all that was said before it.
        (format!("{first}\n{first}"), true),
        (format!("{first}\n{both}"), true),
        (format!("{first}\n{second}"), false),
        (format!("{both}\n{first}"), false),
        // Wherever it stands.
        (nested("draft", &first), false),
        (nested("drafts", &json!([first]).to_string()), false),
        (nested("copy", &good), true),
        (format!("{good}\n{braces}\n{first}"), false),
        (format!("{good}\n{braces}"), false),
        // One that cannot be read objects all the same.
        (format!("{broken}\n{good}"), false),
        (format!("{}\n{good}", json!(broken)), false),
        (format!("{broken}\n{first}"), true),
        (format!("{unbound}\n{good}"), true),
        (format!("{cut}\n{good}"), true),
    ] {
        assert_eq!(read(&text, &binding(), "codex").is_ok(), is_answer, "{text}");
    }
    for (text, expected) in [
        (first.as_str(), true),
        (broken.as_str(), true),
        (&nested("draft", &first), true),
        (&fail(json!([])), true),
        (&pass(json!({"verdict": null})), true),
        (&good, false),
        (&unbound, false),
        ("FAIL", false),
    ] {
        assert_eq!(objects(text, &binding()), expected, "{text}");
    }
}

#[test]
fn two_checks_that_contradict_each_other_are_none() {
    let check = |outcome: &str| {
        let (nonce, head) = (binding().nonce, binding().head);
        let checks = json!([{"id": "c1", "outcome": outcome, "why": "w"}]);
        json!({"nonce": nonce.as_str(), "head_sha": head, "checks": checks}).to_string()
    };
    assert!(read_check(&check("holds"), &binding()).is_ok());
    let both = format!("{}\n{}", check("holds"), check("refuted"));
    assert!(read_check(&both, &binding()).is_err());
}

#[test]
fn text_that_says_approved_is_no_answer() {
    let nonce = binding().nonce;
    let echo = format!("The id of this run's fences, and your nonce: {}\nAPPROVED", nonce.as_str());
    for text in ["APPROVED", "No issues found. PASS", "", "{}", "[]", &echo] {
        assert!(read(text, &binding(), "codex").is_err(), "{text}");
    }
}

#[test]
fn an_answer_inside_of_other_text_counts_with_all_of_its_marks() {
    let text = format!("I looked at it.\n{}\nDone.", pass(json!({})));
    assert!(read(&text, &binding(), "codex").is_ok());
    let unmarked = text.replace(binding().nonce.as_str(), "");
    assert!(read(&unmarked, &binding(), "codex").is_err());
}

#[test]
fn the_schemas_are_closed_and_ask_for_the_marks() {
    for (schema, fields) in [
        (review_schema(), vec!["nonce", "verdict", "findings", "summary", "head_sha", "reviewed"]),
        (check_schema(), vec!["nonce", "checks", "head_sha"]),
    ] {
        assert_eq!(schema["required"], json!(fields));
        assert_eq!(schema["properties"].as_object().unwrap().len(), fields.len());
        assert_eq!(schema["additionalProperties"], json!(false));
    }
}
