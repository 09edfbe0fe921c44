//! The commands at the top of `docs/tasks.md`, as a new user types them.

use crate::world;
use insta::assert_snapshot;

const GUIDE: &str = include_str!("../../../../docs/tasks.md");

/// The commands of the first example, without comments.
fn commands() -> Vec<Vec<String>> {
    let block = GUIDE.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let words = |line: &str| {
        let line = line.split(" #").next().unwrap().trim();
        let mut words = Vec::new();
        for (number, part) in line.split('"').enumerate() {
            match number % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    };
    block.lines().map(words).collect()
}

#[test]
fn four_commands_lead_to_a_reviewed_task() {
    let commands = commands();
    assert_eq!(commands.len(), 4);
    let world = world();
    world.git(&["init", "-q", "-b", "main"]).commit_file("README.md", "a project\n");
    let mut id = String::new();
    let mut shown = String::new();
    for command in &commands {
        let command: Vec<String> = command.iter().map(|word| word.replace("ID", &id)).collect();
        let args: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
        if args.contains(&"done") {
            world.commit_file("total.py", "def total(items):\n    return sum(items)\n");
        }
        let output = world.output(&args, b"");
        shown += &format!("$ {}\n{}", command.join(" "), world.show(&output));
        if args.contains(&"add") {
            let text = String::from_utf8(output.stdout).unwrap();
            id = text.split_whitespace().next().unwrap().to_owned();
        }
    }
    let is_fixed =
        |line: &&str| !line.starts_with("started at:") && !line.starts_with("attempt 1:");
    let fixed: Vec<&str> = shown.lines().filter(is_fixed).collect();
    assert_snapshot!(fixed.join("\n"), @"
    $ mala task add Add a total function --acceptance total([1, 2]) is 3
    [exit 0]
    [stdout]
    ntfmy  PENDING  Add a total function
    $ mala task start ntfmy
    [exit 0]
    [stdout]
    ntfmy  IN_PROGRESS  Add a total function
    $ mala task done ntfmy
    [exit 0]
    [stdout]
    ntfmy  COMPLETE  Add a total function
    [stderr]
    reviewing with builtin
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file: no findings.
    $ mala task show ntfmy
    [exit 0]
    [stdout]
    ntfmy Add a total function
    status: COMPLETE
    revisions: 0 of 3
    tests: none configured

    ## Acceptance Criteria
    total([1, 2]) is 3

    ## Reviews
      Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file: no findings.
    ");
}
