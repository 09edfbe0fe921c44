//! The reviewers that only pretend: they show that the scoring is sound.

use super::*;

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
fn the_silent_reviewer_has_no_precision_and_that_is_said() {
    let world = world();
    let (code, result) = ran(&world, &["--reviewer", "silent"]);
    assert_eq!(code, 0);
    assert_eq!((&result["recall"], &result["precision"]), (&json!(0.0), &Value::Null));
    assert_eq!(result["f1"], 0.0);
    assert_eq!(result["notes"], json!(["precision is undefined: nothing was found"]));
    let text = world.run(&["eval", "report"]);
    assert!(text.contains("precision is undefined: nothing was found"), "{text}");
    assert!(!text.contains("NaN"), "{text}");
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
