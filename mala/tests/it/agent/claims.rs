//! What the authors of a change say of it: told to the model as a claim, behind fences, bounded and
//! without secrets.

use super::*;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// What the model is told of a review with these flags.
fn told(world: World, args: &[&str]) -> String {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(world, &server);
    let args: Vec<&str> = args.iter().copied().chain(["--no-save"]).collect();
    let (code, report) = review(&world, &args);
    assert_eq!(code, 0, "{report:#}");
    server.requests()[0].user_text()
}

/// The part of a prompt that stands behind a fence of this name.
fn fenced<'t>(told: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = told.split_once(&format!("<mala-fence of=\"{name}\""))?;
    let (_, rest) = rest.split_once(" starts>\n")?;
    rest.split_once("</mala-fence").map(|(inside, _)| inside)
}

const MESSAGES: &str = "task: commit messages, a claim";

#[test]
fn the_messages_of_the_reviewed_commits_are_told() {
    let world = changed();
    let message = format!("halve faster\n\nBob checked it with {TOKEN}.");
    world.git(&["commit", "-qam", &message]);
    world.write("app.py", "def half(n):\n    return 2 / n\n").git(&["commit", "-qam", "go on"]);
    let text = told(world, &["HEAD~2..HEAD"]);
    let messages = fenced(&text, MESSAGES).unwrap();
    let lines: Vec<&str> = messages.lines().collect();
    assert!(lines[0].ends_with(" halve faster") && lines[3].ends_with(" go on"), "{messages}");
    assert!(messages.contains("Bob checked it with [redacted:"), "{messages}");
    assert!(!messages.contains("start"), "only those of the range: {messages}");
}

#[test]
fn of_picked_commits_only_their_own_messages_are_told() {
    let world = changed();
    world.git(&["commit", "-qam", "first of mine"]);
    world.write("other.py", "x = 1\n").git(&["add", "-A"]).git(&["commit", "-qm", "by others"]);
    world.write("app.py", "def half(n):\n    return 2 / n\n").git(&["commit", "-qam", "second"]);
    let text = told(world, &["--commit", "HEAD~2", "--commit", "HEAD"]);
    let messages = fenced(&text, MESSAGES).unwrap();
    assert!(messages.contains("first of mine") && messages.contains("second"), "{messages}");
    assert!(!messages.contains("by others"), "{messages}");
}

#[test]
fn what_is_not_committed_has_no_message() {
    assert_eq!(fenced(&told(changed(), &[]), MESSAGES), None);
    let staged = changed();
    staged.git(&["add", "-A"]);
    assert_eq!(fenced(&told(staged, &["--staged"]), MESSAGES), None);
}

#[test]
fn many_and_long_messages_are_cut_and_it_is_said() {
    let world = changed();
    for n in 0..24 {
        world.write("app.py", format!("def half(n):\n    return {n} / n\n"));
        let message = format!("step {n}\n\n{}", "word ".repeat(if n > 20 { 500 } else { 1 }));
        world.git(&["commit", "-qam", &message]);
    }
    let text = told(world, &["HEAD~24..HEAD"]);
    let messages = fenced(&text, MESSAGES).unwrap();
    assert!(messages.len() < 6_200, "{}", messages.len());
    assert!(messages.starts_with("[older commits are left out]\n"), "{messages}");
    assert!(messages.contains(" step 23\n") && !messages.contains(" step 1\n"), "{messages}");
    assert!(messages.contains("w [cut]\n"), "{messages}");
}

#[test]
fn the_title_and_the_text_of_a_pull_request_are_told() {
    let world = changed();
    std::fs::write(world.home().join("pr.md"), format!("Twice as fast. {TOKEN}\n")).unwrap();
    let file = world.home().join("pr.md");
    let flags = ["--pr-title", "Faster halves", "--pr-text", file.to_str().unwrap()];
    let text = told(world, &flags);
    let title = fenced(&text, "task: title of the pull request, a claim");
    assert_eq!(title, Some("Faster halves\n"));
    let body = fenced(&text, "task: text of the pull request, a claim").unwrap();
    assert!(body.starts_with("Twice as fast. [redacted:"), "{body}");
}

/// 000-065
#[test]
fn a_text_that_cannot_be_read_is_a_mistake_of_the_caller() {
    let args = ["review", "--reviewer", "agent_sdk", "--pr-text", "nowhere.md"];
    insta::assert_snapshot!(changed().run(&args), @"
    [exit 64]
    [stderr]
    error: cannot read the text of the pull request nowhere.md: no such file
    ");
}
