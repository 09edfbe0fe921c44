//! Every command of the README runs. Those that build or test the workspace are run by CI itself.

use crate::world;
use std::path::Path;

fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read_to_string(root.join(name)).unwrap()
}

fn commands() -> Vec<String> {
    let text = file("README.md");
    let outside_fences = text.split("```").step_by(2).collect::<String>();
    outside_fences
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// The words of a command; those between quotes are one.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('"').enumerate();
    parts
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        })
        .collect()
}

#[test]
fn every_command_of_the_readme_runs() {
    let commands = commands();
    assert!(commands.len() >= 8, "{commands:?}");
    let by_ci = file(".ci/run");
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]).write("app.py", "x = 1\n");
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", "start"]);
    world.write("change.diff", "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n");
    for command in &commands {
        let words = words(command);
        match words.split_first() {
            Some((&"mala", args)) => {
                let shown = world.run(args);
                assert!(shown.starts_with("[exit 0]"), "{command}: {shown}");
            }
            _ => assert!(by_ci.lines().any(|line| line == command), "who runs `{command}`?"),
        }
    }
}

#[test]
fn the_sample_of_the_readme_is_what_the_demo_prints() {
    let readme = file("README.md");
    let sample = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let shown = world().run(&["demo"]);
    assert!(shown.contains(sample), "README.md shows:\n{sample}\n\nmala demo prints:\n{shown}");
}
