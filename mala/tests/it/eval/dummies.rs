//! The reviewers that only pretend: they show that the scoring is sound.

use super::*;

/// 002-017, 002-040, 002-130
#[test]
fn the_perfect_reviewer_scores_one_everywhere() {
    let (code, result) = ran(&world(), &["--reviewer", "perfect"]);
    assert_eq!(code, 0);
    for rate in ["recall", "precision", "f1", "avg_confidence_calibration"] {
        assert_eq!(result[rate], 1.0, "{rate}");
    }
    for mode in ["strict", "grouped", "location"] {
        let scores = &result["scores"][mode];
        for slices in ["by_category", "by_severity", "by_language", "by_set"] {
            for (name, rates) in scores[slices].as_object().unwrap() {
                for rate in ["recall", "precision", "f1"] {
                    assert_eq!(rates[rate], 1.0, "{mode} {slices} {name} {rate}");
                }
            }
        }
        assert_eq!(scores["intervals"]["f1"], json!({"low": 1.0, "high": 1.0}));
        assert_eq!(scores["clean"]["false_alarms"], 0);
    }
    assert_eq!(result["notes"], json!([]));
}

#[test]
fn a_run_prints_its_report() {
    let world = world();
    let printed = world.run(&["eval", "run", "--reviewer", "silent"]);
    assert!(printed.starts_with("[exit 0]\n[stdout]\nsilent on starter\n"), "{printed}");
    assert_eq!(printed, world.run(&["eval", "report"]));
}

/// 002-041, 002-016
#[test]
fn the_silent_reviewer_has_no_precision_and_that_is_said() {
    let world = world();
    let (code, result) = ran(&world, &["--reviewer", "silent"]);
    assert_eq!(code, 0);
    assert_eq!((&result["recall"], &result["precision"]), (&json!(0.0), &Value::Null));
    assert_eq!(result["f1"], 0.0);
    assert_eq!(result["notes"], json!(["precision is undefined: nothing was found"]));
    let run = result["run"]["run_id"].as_str().unwrap();
    insta::assert_snapshot!(shown(&world, &["report"], &[(run, "[RUN]")]), @"
    [exit 0]
    [stdout]
    silent on starter

    12 cases: 12 reviewed (2 clean), 0 failed, 0 not run

    - precision is undefined: nothing was found

                          recall  precision                  F1
    strict    0.000 [0.00, 0.00]          -  0.000 [0.00, 0.00]
    grouped   0.000 [0.00, 0.00]          -  0.000 [0.00, 0.00]
    location  0.000 [0.00, 0.00]          -  0.000 [0.00, 0.00]

              found  right  floor recall  floor precision  floor F1
    strict     0/21    0/0         0.190            0.103     0.133
    grouped    0/21    0/0         0.286            0.154     0.200
    location   0/21    0/0         0.381            0.205     0.267

    - floor: one bug finding per changed region
    - calibration - (1 is best), ECE -, Brier -
    - severity of hits agrees in 0 of 0 (-), within one step in 0
    - clean cases: 0 false alarms in 2, 0.00 per 1,000 changed lines
    - cost $0.0000, 0 tokens, 0 model calls, [TIMES]

    category (strict)  recall  precision     F1  found  right
    bug                 0.000          -  0.000    0/7    0/0
    error_handling      0.000          -  0.000    0/3    0/0
    logic               0.000          -  0.000    0/5    0/0
    performance         0.000          -  0.000    0/2    0/0
    security            0.000          -  0.000    0/4    0/0

    severity (strict)  recall  precision     F1  found  right
    critical            0.000          -  0.000    0/5    0/0
    high                0.000          -  0.000   0/12    0/0
    medium              0.000          -  0.000    0/4    0/0

    language (strict)  recall  precision     F1  found  right
    javascript          0.000          -  0.000    0/2    0/0
    python              0.000          -  0.000   0/13    0/0
    typescript          0.000          -  0.000    0/6    0/0

    run [RUN]
    ");
}

#[test]
fn guessing_is_right_as_often_as_chance_has_it() {
    let world = world();
    // Every hundredth of 5,000 lines has a problem: a guess is near one 7 times in 100, and has its
    // category once in six.
    let problems: Vec<(usize, &str)> = (0..50)
        .map(|at| {
            let kinds = ["security", "bug", "error_handling", "performance", "style", "logic"];
            (50 + at * 100, kinds[at % 6])
        })
        .collect();
    let cases: Vec<Value> =
        (0..8).map(|at| case(&format!("large-{at}"), 5_000, &problems)).collect();
    world.write("set.jsonl", lines(&cases));
    let (_, result) = ran(&world, &["--set", "set.jsonl", "--reviewer", "random"]);
    let precision = |mode: &str| result["scores"][mode]["rates"]["precision"].as_f64().unwrap();
    assert!((0.05..0.08).contains(&precision("location")), "{}", precision("location"));
    assert!((0.006..0.018).contains(&precision("strict")), "{}", precision("strict"));
    let (_, shuffled) = ran(&world, &["--set", "set.jsonl", "--reviewer", "shuffled"]);
    assert!(shuffled["recall"].as_f64().unwrap() < 0.1);
    let again = ran(&world, &["--set", "set.jsonl", "--reviewer", "random"]).1;
    assert_eq!(again["scores"]["strict"], result["scores"]["strict"], "chance has a seed");
    let other = ran(&world, &["--set", "set.jsonl", "--reviewer", "random", "--seed", "7"]).1;
    assert_ne!(other["scores"]["strict"], result["scores"]["strict"]);
}

#[test]
fn the_floor_is_what_one_finding_per_region_scores() {
    let (_, result) = ran(&world(), &["--reviewer", "hunks"]);
    for mode in ["strict", "grouped", "location"] {
        assert_eq!(result["scores"][mode]["rates"], result["scores"][mode]["floor"], "{mode}");
    }
}

#[test]
fn trials_are_pooled_and_their_spread_is_told() {
    let world = world();
    let (_, result) = ran(&world, &["--reviewer", "random", "--trials", "3"]);
    assert_eq!(result["scores"]["cases"]["cases"], 12);
    assert_eq!(result["scores"]["cases"]["reviewed"], 36);
    let trials = &result["scores"]["location"]["trials"];
    assert_eq!(trials["trials"].as_array().unwrap().len(), 3);
    assert!(trials["f1"]["deviation"].as_f64().unwrap() > 0.0, "{trials}");
}
