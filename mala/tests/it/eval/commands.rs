//! Looking at runs: show, compare, gate, leaderboard, list.

use super::*;

/// A world with a small set of two cases.
fn small() -> World {
    let world = world();
    let cases = [case("one", 30, &[(4, "bug"), (20, "style")]), case("clean", 10, &[])];
    world.write("set.jsonl", lines(&cases));
    world
}

fn run_of(world: &World, reviewer: &str) -> String {
    let (_, result) = ran(world, &["--set", "set.jsonl", "--reviewer", reviewer]);
    result["run"]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_case_is_shown_with_every_hit_and_miss() {
    let world = small();
    run_of(&world, "hunks");
    insta::assert_snapshot!(world.run(&["eval", "show", "one"]), @"
    [exit 0]
    [stdout]
    one (set, trial 1)

    Add one

    Known problems (strict)

    FOUND app.py:4 bug high (on the same lines, same category)

    - known: problem on 4
    - found: (no text)

    MISSED app.py:20 style high (the nearest finding is 10 lines away)

    - known: problem on 20

    Findings (strict)

    RIGHT app.py:1-30 bug medium hunks 1.00 (on the same lines, same category)

    - it says: (no text)

    Change

        diff --git a/app.py b/app.py
        new file mode 100644
        --- /dev/null
        +++ b/app.py
        @@ -0,0 +1,30 @@
        +value_1 = 1
        +value_2 = 2
        +value_3 = 3
        +value_4 = 4
        +value_5 = 5
        +value_6 = 6
        +value_7 = 7
        +value_8 = 8
        +value_9 = 9
        +value_10 = 10
        +value_11 = 11
        +value_12 = 12
        +value_13 = 13
        +value_14 = 14
        +value_15 = 15
        +value_16 = 16
        +value_17 = 17
        +value_18 = 18
        +value_19 = 19
        +value_20 = 20
        +value_21 = 21
        +value_22 = 22
        +value_23 = 23
        +value_24 = 24
        +value_25 = 25
        +value_26 = 26
        +value_27 = 27
        +value_28 = 28
        +value_29 = 29
        +value_30 = 30
    ");
    let missing = world.run(&["eval", "show", "on"]);
    insta::assert_snapshot!(missing, @r"
    [exit 64]
    [stderr]
    error: case 'on' not found in the run
    hint: did you mean one?
    ");
}

#[test]
fn two_runs_are_compared_case_by_case() {
    let world = small();
    let (before, after) = (run_of(&world, "silent"), run_of(&world, "perfect"));
    let (code, found) = eval(&world, &["compare", &before, &after, "--format", "json"]);
    assert_eq!((code, &found["recall"]["by"]), (0, &json!(1.0)));
    assert_eq!(found["changed"][0]["newly_found"], json!(["app.py:20 style", "app.py:4 bug"]));
    let names = [(before.as_str(), "[SILENT]"), (&after, "[PERFECT]")];
    insta::assert_snapshot!(shown(&world, &["compare", &before, &after], &names), @r"
    [exit 0]
    [stdout]
    [SILENT] -> [PERFECT]

    2 common cases, strict

               before  after  difference       p
    recall      0.000  1.000      +1.000  1.0000
    precision       -  1.000           -       -
    F1          0.000  1.000      +1.000  1.0000

    p: probability of such a difference by chance (paired randomization test)

    case  newly found  newly missed  wrong before  after
    one             2             0             0      0
    ");
    insta::assert_snapshot!(shown(&world, &["compare", &before, "gone"], &names), @r"
    [exit 64]
    [stderr]
    error: no run `gone`
    hint: run `mala eval list` to list the runs
    ");
}

#[test]
fn the_gate_passes_blocks_or_cannot_tell() {
    let world = small();
    let (silent, perfect) = (run_of(&world, "silent"), run_of(&world, "perfect"));
    for (args, code) in [
        (vec!["gate", &perfect, "--min-f1", "1"], 0),
        (vec!["gate", &silent, "--min-f1", "0.1"], 1),
        (vec!["gate", &silent, "--min-precision", "0.1"], 2),
        (vec!["gate", &silent, "--max-drop", "0.05", "--baseline", &perfect], 1),
        (vec!["gate", &perfect, "--max-drop", "0.05", "--baseline", &silent], 0),
        (vec!["gate", &perfect], 64),
        (vec!["gate", "nothing", "--min-f1", "1"], 64),
        // Any limits together: the worst of them decides.
        (vec!["gate", &perfect, "--min-f1", "1", "--max-drop", "0.05", "--baseline", &silent], 0),
        (vec!["gate", &silent, "--min-f1", "0", "--max-drop", "0", "--baseline", &perfect], 1),
        (vec!["gate", &silent, "--min-recall", "0.1", "--min-f1", "0"], 1),
        (vec!["gate", &perfect, "--min-recall", "1", "--min-precision", "1", "--min-f1", "1"], 0),
        (vec!["gate", &silent, "--min-recall", "0", "--min-precision", "0.5"], 2),
        // A limit is a number from 0 to 1.
        (vec!["gate", &silent, "--min-f1", "nan"], 64),
        (vec!["gate", &silent, "--min-recall", "NaN"], 64),
        (vec!["gate", &silent, "--min-precision=-0.1"], 64),
        (vec!["gate", &silent, "--min-f1", "1.5"], 64),
        (vec!["gate", &silent, "--max-drop", "nan", "--baseline", &perfect], 64),
        (vec!["gate", &silent, "--max-drop", "inf", "--baseline", &perfect], 64),
        (vec!["gate", &perfect, "--mode", "semantic", "--min-f1", "0.1"], 64),
    ] {
        let args: Vec<&str> = ["eval"].into_iter().chain(args).collect();
        let shown = world.run(&args);
        assert!(shown.starts_with(&format!("[exit {code}]")), "{args:?}: {shown}");
    }
    let names = [(silent.as_str(), "[SILENT]"), (&perfect, "[PERFECT]")];
    insta::assert_snapshot!(shown(&world, &["gate", &perfect, "--min-f1", "1"], &names), @r"
    [exit 0]
    [stdout]
    F1 1.0000 >= 1.0000: ok
    ");
    insta::assert_snapshot!(shown(&world, &["gate", &silent, "--min-recall", "0.1"], &names), @r"
    [exit 1]
    [stdout]
    recall 0.0000 < 0.1000: failed
    ");
    insta::assert_snapshot!(shown(&world, &["gate", &silent, "--min-precision", "0.1"], &names), @r"
    [exit 2]
    [stdout]
    precision is undefined, minimum 0.1000
    ");
    insta::assert_snapshot!(shown(&world, &["gate", &perfect], &names), @r"
    [exit 64]
    [stderr]
    error: no limit given
    hint: add --min-f1 or another limit
    ");
    insta::assert_snapshot!(shown(&world, &["gate", &perfect, "--min-f1", "nan"], &names), @r"
    [exit 64]
    [stderr]
    error: invalid value 'nan' for '--min-f1 <RATE>': expected a number from 0 to 1

    For more information, try '--help'.
    ");
    // A result that was kept elsewhere is as good as a run.
    let file = format!(".mala/eval/{perfect}/result.json");
    let copied = world.read(&file);
    world.write("baseline.json", copied);
    let args = ["eval", "gate", &silent, "--max-drop", "0.5", "--baseline", "baseline.json"];
    assert!(world.run(&args).starts_with("[exit 1]"));
}

#[test]
fn what_a_run_may_cost_is_an_amount() {
    let world = small();
    let shown = ["nan", "inf", "-1", "much"].map(|amount| {
        world.run(&["eval", "run", "--reviewer", "silent", &format!("--max-cost={amount}")])
    });
    insta::assert_snapshot!(shown.concat(), @"
    [exit 64]
    [stderr]
    error: invalid value 'nan' for '--max-cost <USD>': expected an amount of dollars

    For more information, try '--help'.
    [exit 64]
    [stderr]
    error: invalid value 'inf' for '--max-cost <USD>': expected an amount of dollars

    For more information, try '--help'.
    [exit 64]
    [stderr]
    error: invalid value '-1' for '--max-cost <USD>': expected an amount of dollars

    For more information, try '--help'.
    [exit 64]
    [stderr]
    error: invalid value 'much' for '--max-cost <USD>': expected an amount of dollars

    For more information, try '--help'.
    ");
    let (code, _) = ran(&world, &["--set", "set.jsonl", "--reviewer", "silent", "--max-cost", "0"]);
    assert_eq!(code, 0, "a free reviewer needs no budget");
}

#[test]
fn two_problems_of_one_line_are_two() {
    let world = world();
    world.write("set.jsonl", lines(&[case("one", 30, &[(10, "bug"), (10, "bug")])]));
    // One region is one finding for `hunks`: it finds one of the two.
    let (before, after) = (run_of(&world, "hunks"), run_of(&world, "perfect"));
    let (_, found) = eval(&world, &["compare", &before, &after, "--format", "json"]);
    assert_eq!(
        (&found["recall"]["by"], found["changed"].as_array().unwrap().len()),
        (&json!(0.5), 1)
    );
    assert_eq!(found["changed"][0]["newly_found"], json!(["app.py:10 bug (1 of 2, then 2 of 2)"]));
}

#[test]
fn runs_are_listed_and_ranked() {
    let world = small();
    let (silent, perfect) = (run_of(&world, "silent"), run_of(&world, "perfect"));
    let (_, list) = eval(&world, &["list", "--format", "json"]);
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, [&perfect, &silent]);
    assert_eq!((&list[0]["done"], &list[0]["wanted"]), (&json!(2), &json!(2)));
    let names = [(silent.as_str(), "[SILENT]"), (&perfect, "[PERFECT]")];
    insta::assert_snapshot!(shown(&world, &["list"], &names), @r"
    [exit 0]
    [stdout]
    run                           done  reviewer  sets
    [PERFECT]   2/2   perfect   set
    [SILENT]    2/2    silent   set
    ");
    insta::assert_snapshot!(shown(&world, &["leaderboard"], &names), @r"
    [exit 0]
    [stdout]
    set (2 cases): strict, floor F1 0.500

    #  reviewer                  F1  recall  precision    ECE  alarms/1,000
    1  perfect   1.000 [1.00, 1.00]   1.000      1.000  0.000          0.00
    2  silent    0.000 [0.00, 0.00]   0.000          -      -          0.00

    #  not done     cost  per review                           run
    1         0  $0.0000       [DURATION]  [PERFECT]
    2         0  $0.0000       [DURATION]   [SILENT]
    ");
}

#[test]
fn a_result_is_a_table_and_a_document() {
    let world = small();
    insta::assert_snapshot!(shown(&world, &["report"], &[]), @r"
    [exit 2]
    [stderr]
    error: no runs found
    hint: run `mala eval run` to start one
    ");
    let run = run_of(&world, "hunks");
    insta::assert_snapshot!(shown(&world, &["report"], &[(&run, "[RUN]")]), @r"
    [exit 0]
    [stdout]
    hunks on set

    2 cases: 2 reviewed (1 clean), 0 failed, 0 not run

                          recall           precision                  F1
    strict    0.500 [0.50, 0.50]  0.500 [0.00, 1.00]  0.500 [0.00, 0.67]
    grouped   0.500 [0.50, 0.50]  0.500 [0.00, 1.00]  0.500 [0.00, 0.67]
    location  0.500 [0.50, 0.50]  0.500 [0.00, 1.00]  0.500 [0.00, 0.67]

              found  right  floor recall  floor precision  floor F1
    strict      1/2    1/2         0.500            0.500     0.500
    grouped     1/2    1/2         0.500            0.500     0.500
    location    1/2    1/2         0.500            0.500     0.500

    - floor: one bug finding per changed region
    - calibration 0.500 (1 is best), ECE 0.500, Brier 0.500
    - severity of hits agrees in 0 of 1 (0.000), within one step in 1
    - clean cases: 1 false alarm in 1, 100.00 per 1,000 changed lines
    - cost $0.0000, 0 tokens, 0 model calls, [TIMES]

    category (strict)  recall  precision     F1  found  right
    bug                 1.000      0.500  0.667    1/1    1/2
    style               0.000          -  0.000    0/1    0/0

    severity (strict)  recall  precision  F1  found  right
    high                0.500          -   -    1/2    0/0
    medium                  -      0.500   -    0/0    1/2

    rule (location)  right  wrong  precision  grouped
    hunks                1      1      0.500    0.500

    run [RUN]
    ");
}

#[test]
fn a_result_is_shown_as_markdown() {
    let world = small();
    let run = run_of(&world, "hunks");
    let markdown = shown(&world, &["report", "--format", "markdown"], &[(&run, "[RUN]")]);
    insta::assert_snapshot!(markdown, @r"
    [exit 0]
    [stdout]
    ## hunks on set

    2 cases: 2 reviewed (1 clean), 0 failed, 0 not run

    |  | recall | precision | F1 |
    | --- | --: | --: | --: |
    | strict | 0.500 \[0.50, 0.50\] | 0.500 \[0.00, 1.00\] | 0.500 \[0.00, 0.67\] |
    | grouped | 0.500 \[0.50, 0.50\] | 0.500 \[0.00, 1.00\] | 0.500 \[0.00, 0.67\] |
    | location | 0.500 \[0.50, 0.50\] | 0.500 \[0.00, 1.00\] | 0.500 \[0.00, 0.67\] |

    |  | found | right | floor recall | floor precision | floor F1 |
    | --- | --: | --: | --: | --: | --: |
    | strict | 1\/2 | 1\/2 | 0.500 | 0.500 | 0.500 |
    | grouped | 1\/2 | 1\/2 | 0.500 | 0.500 | 0.500 |
    | location | 1\/2 | 1\/2 | 0.500 | 0.500 | 0.500 |

    - floor: one bug finding per changed region
    - calibration 0.500 (1 is best), ECE 0.500, Brier 0.500
    - severity of hits agrees in 0 of 1 (0.000), within one step in 1
    - clean cases: 1 false alarm in 1, 100.00 per 1,000 changed lines
    - cost \$0.0000, 0 tokens, 0 model calls, [TIMES]

    | category (strict) | recall | precision | F1 | found | right |
    | --- | --: | --: | --: | --: | --: |
    | bug | 1.000 | 0.500 | 0.667 | 1\/1 | 1\/2 |
    | style | 0.000 | \- | 0.000 | 0\/1 | 0\/0 |

    | severity (strict) | recall | precision | F1 | found | right |
    | --- | --: | --: | --: | --: | --: |
    | high | 0.500 | \- | \- | 1\/2 | 0\/0 |
    | medium | \- | 0.500 | \- | 0\/0 | 1\/2 |

    | rule (location) | right | wrong | precision | grouped |
    | --- | --: | --: | --: | --: |
    | hunks | 1 | 1 | 0.500 | 0.500 |

    run [RUN]
    ");
}

/// 002-015, 002-042
#[test]
fn what_is_printed_fits_its_schema() {
    let world = small();
    let run = run_of(&world, "hunks");
    let schema = |name: &str| -> Value {
        let output = world.output(&["schema", name], b"");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let check = |name: &str, value: &Value| {
        let validator = jsonschema::validator_for(&schema(name)).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    };
    check("eval-case", &case("one", 5, &[(2, "bug")]));
    let of_case = &schema("eval-case")["properties"];
    for field in ["repo", "pr_title", "pr_description", "ground_truth"] {
        assert!(of_case[field].is_object(), "{field}: {of_case:#}");
    }
    let result = eval(&world, &["report", "--format", "json"]).1;
    check("eval-result", &result);
    assert_eq!(result["cost_usd"], 0.0, "no model was asked");
    assert!(result["latency_seconds"].is_number(), "{result:#}");
    check("eval-comparison", &eval(&world, &["compare", &run, &run, "--format", "json"]).1);
    let records = world.read(&format!(".mala/eval/{run}/results.jsonl"));
    for line in records.lines() {
        check("eval-record", &serde_json::from_str(line).unwrap());
    }
    let view = eval(&world, &["show", "one", "--format", "json"]).1;
    check("eval-case-view", &view[0]);
}
