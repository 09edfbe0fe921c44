//! Tables for the decisions on pull requests.

use super::*;
use crate::change::{Change, FilePath, LineSpan, parse};
use crate::finding::Finding;
use crate::render::markdown::render_inline;

#[test]
fn pull_requests_have_names_and_addresses() {
    let rows = [
        ("o/r#7", Some("o/r#7")),
        ("my-org/a.b_c#12", Some("my-org/a.b_c#12")),
        ("https://github.com/o/r/pull/7", Some("o/r#7")),
        ("https://GitHub.com/o/r/pull/7/files?w=1#diff", Some("o/r#7")),
        ("http://github.com/o/r/pull/7#issuecomment-1", Some("o/r#7")),
        ("https://evil.example/o/r/pull/7", None),
        ("https://github.com/o/r/issues/7", None),
        ("https://github.com/o/r/pull/", None),
        ("o/r#0", None),
        ("o/r#+7", None),
        ("o/r#x", None),
        ("o/../r#7", None),
        ("../r#7", None),
        ("-o/r#7", None),
        ("o/r", None),
        ("#7", None),
        ("", None),
        ("g/p!3", Some("g/p!3")),
        ("g/sub/p!3", Some("g/sub/p!3")),
        ("https://github.com/g/sub/p/-/merge_requests/3", Some("g/sub/p!3")),
        ("https://github.com/g/p/-/merge_requests/3/diffs?x#note_1", Some("g/p!3")),
        ("https://evil.example/g/p/-/merge_requests/3", None),
        ("g/../p!3", None),
        ("p!3", None),
        ("g/p!0", None),
    ];
    for (text, expected) in rows {
        let parsed = PullRequestRef::parse(text, "github.com").ok();
        assert_eq!(parsed.map(|found| found.to_string()).as_deref(), expected, "{text}");
    }
}

#[test]
fn the_remote_of_a_clone_names_its_repository() {
    let rows = [
        ("https://github.com/o/r.git", Some("o/r")),
        ("https://github.com/o/r", Some("o/r")),
        ("git@github.com:o/r.git", Some("o/r")),
        ("ssh://git@github.com:22/o/r.git", Some("o/r")),
        ("https://gitlab.com/o/r.git", None),
        ("https://github.com.evil.example/o/r", None),
        ("/srv/git/r.git", None),
        ("https://github.com/group/sub/r", Some("group/sub/r")),
        ("https://github.com/o/../r", None),
    ];
    for (url, expected) in rows {
        let found = remote_repository(url, "github.com");
        assert_eq!(found.map(|found| found.to_string()).as_deref(), expected, "{url}");
    }
    let hosts = [
        ("https://api.github.com", "github.com"),
        ("https://git.example.org/api/v3", "git.example.org"),
        ("https://api.acme.ghe.com", "acme.ghe.com"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
    ];
    for (api, host) in hosts {
        assert_eq!(web_host(api), host);
    }
}

#[test]
fn commands_need_a_reason() {
    let waive = ReplyCommand::Waive("known and accepted".to_owned());
    let rows = [
        ("/mala waive known and  accepted", Some(waive.clone())),
        ("  /mala waive known and accepted\nmore", Some(waive)),
        ("/mala waive", Some(ReplyCommand::Invalid)),
        (
            "/mala dispute x is never null",
            Some(ReplyCommand::Dispute("x is never null".to_owned())),
        ),
        ("/mala review", Some(ReplyCommand::Review)),
        ("/mala explain", Some(ReplyCommand::Explain)),
        ("/mala review now", Some(ReplyCommand::Invalid)),
        ("/mala wave x", Some(ReplyCommand::Invalid)),
        ("please /mala review", None),
        ("> /mala review", None),
        ("/malar review", None),
        ("/mala", Some(ReplyCommand::Invalid)),
        ("/mala waive so says an answer of mala\n\n<!-- mala:answer=3 -->\n", None),
        ("", None),
    ];
    for (body, expected) in rows {
        assert_eq!(parse_command(body), expected, "{body}");
    }
}

/// What people decided, as words.
fn decided(discussion: &Discussion) -> String {
    let words = discussion
        .decisions()
        .into_iter()
        .map(|it| format!("{} {:?} by {}: {}", it.id, it.event, it.by, it.reason));
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn decisions_need_write_access_and_a_thread_of_ours() {
    let ours = inline_comment(1, None, "mala[bot]", &finding_marker("a", None));
    let by = |login| inline_comment(1, None, login, &finding_marker("a", None));
    let reply = |id, login, body| inline_comment(id, Some(1), login, body);
    let rows = [
        ("nothing", vec![ours.clone()], None, ""),
        (
            "a waiver",
            vec![ours.clone(), reply(2, "ada", "/mala waive known")],
            None,
            "a Waived by ada: known (u2)",
        ),
        ("no write access", vec![ours.clone(), reply(2, "eve", "/mala waive known")], None, ""),
        ("a program", vec![ours.clone(), reply(2, "ada[bot]", "/mala waive known")], None, ""),
        (
            "the last one",
            vec![
                ours.clone(),
                reply(2, "ada", "/mala waive known"),
                reply(3, "bob", "/mala dispute no"),
                reply(4, "ada", "fine"),
            ],
            None,
            "a Disputed by bob: no (u3)",
        ),
        ("a copied marker", vec![by("eve"), reply(2, "ada", "/mala waive known")], None, ""),
        (
            "written with another account",
            vec![by("bob"), reply(2, "ada", "/mala waive known")],
            None,
            "a Waived by ada: known (u2)",
        ),
        ("resolved by the account that wrote it", vec![by("bob")], Some("bob"), ""),
        (
            "a resolved thread",
            vec![ours.clone()],
            Some("ada"),
            "a Waived by ada: the thread was resolved (u1)",
        ),
        ("resolved without write access", vec![ours.clone()], Some("eve"), ""),
        ("resolved by mala", vec![ours.clone()], Some("mala[bot]"), ""),
        (
            "words before the resolution",
            vec![ours.clone(), reply(2, "ada", "/mala dispute no")],
            Some("ada"),
            "a Disputed by ada: no (u2)",
        ),
    ];
    for (name, inline, resolver, expected) in rows {
        let resolved = resolver.map(|by| ResolvedThread { first: 1, by: Some(by.to_owned()) });
        let found = Discussion {
            resolved: resolved.into_iter().collect(),
            writers: ["ada", "bob", "ada[bot]", "mala[bot]"].map(str::to_owned).into(),
            ..discussion(&[], inline)
        };
        assert_eq!(decided(&found), expected, "{name}");
    }
}

#[test]
fn questions_are_answered_once_and_reviews_asked_for_by_the_last_command() {
    let ours = inline_comment(1, None, "mala[bot]", &finding_marker("a", None));
    let reply = |id, login, body: &str| inline_comment(id, Some(1), login, body);
    let comments = [(5, "ada", "/mala review"), (9, "eve", "/mala review"), (4, "ada", "hello")];
    let asked = vec![ours, reply(2, "ada", "/mala explain"), reply(3, "eve", "/mala explain")];
    let mut found =
        Discussion { writers: ["ada".to_owned()].into(), ..discussion(&comments, asked) };
    assert_eq!(found.last_review_command(), 5);
    assert_eq!(found.speakers(), ["ada", "eve"].map(str::to_owned).into());
    let question =
        UnansweredCommand { id: 2, thread: Some(1), answer: CommandAnswer::Explanation("a") };
    assert_eq!(found.unanswered_commands(), [question]);
    found.inline.push(reply(6, "mala[bot]", &format!("because\n\n{}", answer_marker(2))));
    assert_eq!(found.unanswered_commands(), []);
    let copied = inline_comment(7, None, "bob", &finding_marker("b", None));
    found.inline.push(copied);
    assert!(found.speakers().contains("bob"), "the marker counts only with write access");
}

#[test]
fn commands_without_an_effect_get_an_answer() {
    let ours = inline_comment(1, None, "mala[bot]", &finding_marker("a", None));
    let (known, wrong) = ("not known", "in a reply to");
    for (body, in_thread, on_whole) in [
        ("/mala waive known", "", wrong),
        ("/mala dispute no", "", wrong),
        ("/mala explain", "a", wrong),
        ("/mala review", "not in a reply", ""),
        ("/mala waive", known, known),
        ("/mala wave known", known, known),
        ("thanks", "", ""),
    ] {
        for (login, counts) in [("ada", true), ("eve", false), ("ada[bot]", false)] {
            let reply = inline_comment(2, Some(1), login, body);
            let mut found = discussion(&[(5, login, body)], vec![ours.clone(), reply]);
            found.writers = ["ada".to_owned()].into();
            for (thread, expected) in [(Some(1), in_thread), (None, on_whole)] {
                let open = found.unanswered_commands();
                let answer = open.iter().find(|it| it.thread == thread).map(|it| it.answer);
                let said = match answer {
                    Some(CommandAnswer::Explanation(text) | CommandAnswer::NoEffect(text)) => text,
                    None => "",
                };
                let expected = if counts { expected } else { "" };
                assert_eq!(said.is_empty(), expected.is_empty(), "{login}: {body}: {said}");
                assert!(said.contains(expected), "{login}: {body}: {said}");
            }
            found
                .comments
                .extend(discussion(&[(6, "mala[bot]", &answer_marker(5))], vec![]).comments);
            assert!(found.unanswered_commands().iter().all(|it| it.id != 5), "{body}: once");
        }
    }
}

#[test]
fn comments_remember_their_finding() {
    let hostile = Finding {
        title: "ends --> <b>".to_owned(),
        evidence_snippet: "a --> b\n\"x\"".to_owned(),
        ..finding("a.py", 3, 4)
    };
    let remembered = CommentedFinding::of(&hostile, "0123").unwrap();
    let body = format!("text\n\n{}", finding_marker("abcd", Some(&remembered)));
    assert_eq!(body.matches("-->").count(), 1, "{body}");
    assert_eq!(finding_id(&body), Some("abcd"));
    assert_eq!(commented_finding(&body), Some(remembered.clone()));
    let again = remembered.finding();
    assert_eq!((&again.dedupe_key, again.span()), (&hostile.dedupe_key, hostile.span()));
    assert_eq!(again.evidence_snippet, hostile.evidence_snippet);
    let edited = format!("{body}\nI agree.\n");
    assert_eq!(finding_id(&edited), Some("abcd"), "a person added text");
    let long = Finding { evidence_snippet: "x".repeat(3000), ..hostile };
    assert_eq!(CommentedFinding::of(&long, "0123"), None);
    assert_eq!(commented_finding(&finding_marker("abcd", None)), None);
}

const DIFF: &str = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2,3 +2,4 @@\n two\n+three\n four\n five\n@@ -20,2 +21,3 @@\n x\n+y\n z\ndiff --git a/d.py b/d.py\ndeleted file mode 100644\n--- a/d.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";

fn finding(file: &str, start: u32, end: u32) -> Finding {
    let json = serde_json::json!({
        "file": file, "line_start": start, "line_end": end, "priority": 1, "severity": "high",
        "category": "bug", "title": "Wrong sum", "body": "It adds twice.",
        "suggestion": null, "evidence_snippet": "three", "confidence": 0.9,
        "reviewer": "agent_sdk", "dedupe_key": "00112233445566aa",
    });
    serde_json::from_value(json).unwrap()
}

#[test]
fn comments_are_only_on_lines_of_the_diff() {
    let change = Change { files: parse(DIFF.as_bytes()).unwrap() };
    let rows = [
        ("a.py", (3, 3), Some((3, 3))),
        ("a.py", (2, 5), Some((2, 5))),
        ("a.py", (1, 3), Some((2, 3))),
        ("a.py", (5, 30), Some((21, 23))),
        ("a.py", (1, 1), None),
        ("a.py", (6, 20), None),
        ("b.py", (3, 3), None),
        ("d.py", (1, 1), None),
    ];
    for (file, (start, end), expected) in rows {
        let placed = place(&change, &finding(file, start, end));
        let expected = expected.map(|(start, end)| LineSpan::between(start, end));
        assert_eq!(placed, expected, "{file}:{start}-{end}");
    }
}

#[test]
fn lines_of_a_comment_have_numbers_on_both_sides() {
    let change = Change { files: parse(DIFF.as_bytes()).unwrap() };
    let mut report = crate::render::tests::sample::full().report;
    let rows = [
        ((3, 3), None, (3, 3, true)),
        ((2, 5), Some((2, 2, false)), (5, 4, false)),
        ((3, 4), Some((3, 3, true)), (4, 3, false)),
        ((22, 23), Some((22, 21, true)), (23, 21, false)),
    ];
    for ((start, end), first, last) in rows {
        report.issues = vec![finding("a.py", start, end)];
        let found = inline_findings(&report, &change, &Default::default()).pop().unwrap();
        let draft = found.draft.unwrap();
        let numbers = |it: CommentLine| (it.line, it.old_line, it.is_added);
        assert_eq!((draft.start.map(numbers), numbers(draft.end)), (first, last), "{start}-{end}");
    }
}

#[test]
fn suggestions_replace_whole_lines_that_are_still_there() {
    let head = "one\ntwo\nthree\n";
    let block = "```python\nTHREE\n```";
    let rows = [
        (block, "three", (3, 3), (3, 3), Some("THREE")),
        ("```\nA\nB\n```", "two\nthree", (2, 3), (2, 3), Some("A\nB")),
        ("Use THREE", "three", (3, 3), (3, 3), None),
        ("Like this:\n```\nTHREE\n```", "three", (3, 3), (3, 3), None),
        ("```\nthree\n```", "three", (3, 3), (3, 3), None),
        ("```\nTHREE\n```\n```\nx\n```", "three", (3, 3), (3, 3), None),
        (block, "thre", (3, 3), (3, 3), None),
        (block, "two\nthree", (2, 3), (3, 3), None),
        (block, "four", (4, 4), (4, 4), None),
    ];
    for (suggestion, evidence, lines, placed, expected) in rows {
        let finding = Finding {
            suggestion: Some(suggestion.to_owned()),
            evidence_snippet: evidence.to_owned(),
            ..finding("a.py", lines.0, lines.1)
        };
        let placed = LineSpan::between(placed.0, placed.1);
        assert_eq!(suggested_lines(&finding, placed, head), expected, "{suggestion}");
    }
}

fn author(login: &str) -> ForgeAuthor {
    ForgeAuthor { login: login.to_owned(), is_bot: login.ends_with("[bot]") }
}

fn inline_comment(id: u64, reply_to: Option<u64>, login: &str, body: &str) -> InlineComment {
    let (author, body, url) = (author(login), body.to_owned(), format!("u{id}"));
    InlineComment { id, reply_to, author, body, is_outdated: true, url }
}

fn discussion(comments: &[(u64, &str, &str)], inline: Vec<InlineComment>) -> Discussion {
    let comments = comments.iter().map(|(id, login, body)| ForgeComment {
        id: *id,
        author: author(login),
        body: (*body).to_owned(),
    });
    Discussion {
        viewer: Some("mala[bot]".to_owned()),
        comments: comments.collect(),
        inline,
        ..Discussion::default()
    }
}

fn inline_finding(id: &str) -> InlineFinding {
    let path = FilePath::from("a.py");
    let draft = InlineDraft {
        path,
        old_path: None,
        start: None,
        end: CommentLine { line: 3, old_line: 3, is_added: true },
        body: finding_marker(id, None),
    };
    InlineFinding { id: id.to_owned(), key: id.to_owned(), draft: Some(draft) }
}

/// The writes as words.
fn words(writes: &[ForgeWrite]) -> String {
    let words = writes.iter().map(|write| match write {
        ForgeWrite::CreateComment { .. } => "create".to_owned(),
        ForgeWrite::UpdateComment { id, body } => {
            let started = read_summary(body).unwrap_or_default().started;
            format!("update {id} to {started}")
        }
        ForgeWrite::DeleteComment { id } => format!("delete {id}"),
        ForgeWrite::CreateReview { comments, .. } => {
            let ids = comments.iter().filter_map(|comment| finding_id(&comment.body));
            format!("review {}", ids.collect::<Vec<_>>().join("+"))
        }
        ForgeWrite::CreateInlineComment { .. } => "comment".to_owned(),
        ForgeWrite::DeleteInlineComment { id } => format!("delete inline {id}"),
        ForgeWrite::ReplyToThread { to, .. } => format!("reply to {to}"),
        ForgeWrite::ResolveThread { id } => format!("resolve {id}"),
        ForgeWrite::CreateCheck { check } => format!("check {}", check.annotations.len()),
        ForgeWrite::UpdateCheck { id, check } => format!("add {} to {id}", check.annotations.len()),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn findings_are_posted_once() {
    let mark = |id: &str| format!("text\n\n{}", finding_marker(id, None));
    let ours = |id, finding: &str| inline_comment(id, None, "mala[bot]", &mark(finding));
    let reply = |id, to, login| inline_comment(id, Some(to), login, "no");
    let fresh = |comment: InlineComment| InlineComment { is_outdated: false, ..comment };
    let other = |id, finding: &str| inline_comment(id, None, "ada", &mark(finding));
    // The finding `c` is gone, and these are the replies in its thread.
    let gone =
        |replies: &[InlineComment]| [&[ours(1, "a"), ours(2, "b"), ours(3, "c")], replies].concat();
    let rows = [
        ("new", vec![], "review a+b"),
        ("one is there", vec![ours(1, "a")], "review b"),
        ("a copied marker does not count", vec![ours(1, "a"), other(2, "b")], "review b"),
        ("two runs at once", vec![ours(1, "a"), ours(2, "b"), ours(3, "a")], "delete inline 3"),
        (
            "an answered copy stays",
            vec![ours(1, "a"), ours(2, "b"), ours(3, "a"), reply(4, 3, "ada")],
            "",
        ),
        ("a fixed one", gone(&[]), "resolve 3"),
        ("lines unchanged", vec![ours(1, "a"), ours(2, "b"), fresh(ours(3, "c"))], ""),
        ("a person had the last word", gone(&[reply(4, 3, "ada")]), ""),
        (
            "a program had the last word",
            gone(&[reply(4, 3, "ada"), reply(5, 3, "ci[bot]")]),
            "resolve 3",
        ),
        ("a waived one", vec![ours(1, "a"), ours(2, "b"), ours(3, "w")], ""),
        (
            "our own answer had the last word",
            gone(&[reply(4, 3, "ada"), inline_comment(5, Some(3), "mala[bot]", &answer_marker(4))]),
            "resolve 3",
        ),
        ("resolved before", vec![ours(1, "a"), ours(2, "b"), ours(9, "c")], ""),
    ];
    let before = SummaryState { resolved: vec![9], ..SummaryState::default() };
    let none = RefusedWrites::default();
    let review = |is_complete| InlineReview {
        head: "h".to_owned(),
        findings: vec![inline_finding("a"), inline_finding("b")],
        set_aside: ["w".to_owned()].into(),
        is_complete,
    };
    for (name, inline, expected) in rows {
        let discussion = discussion(&[], inline);
        let plan = plan_inline(&review(true), &discussion, &before, &none);
        assert_eq!(words(&plan.writes), expected, "{name}");
        let partial = plan_inline(&review(false), &discussion, &before, &none);
        assert!(!words(&partial.writes).contains("resolve"), "{name}: not after a partial review");
        let refused = RefusedWrites { threads: [3].into(), ..RefusedWrites::default() };
        let plan = plan_inline(&review(true), &discussion, &before, &refused);
        assert!(!words(&plan.writes).contains("resolve"), "{name}: the token may not resolve");
        assert_eq!(plan.resolved, [9], "{name}: what stays open is not remembered as resolved");
    }
}

#[test]
fn comments_of_another_account_count_with_write_access() {
    let by = |id, login: &str, finding: &str| {
        inline_comment(id, None, login, &format!("text\n\n{}", finding_marker(finding, None)))
    };
    let review = InlineReview { findings: vec![inline_finding("a")], ..InlineReview::default() };
    for (name, inline, refused, expected) in [
        ("without write access", vec![by(1, "eve", "a")], None, "review a"),
        ("with write access", vec![by(1, "bob", "a")], None, ""),
        ("a copy", vec![by(1, "mala[bot]", "a"), by(2, "bob", "a")], None, "delete inline 2"),
        ("a copy that stays", vec![by(1, "mala[bot]", "a"), by(2, "bob", "a")], Some(2), ""),
    ] {
        let found = Discussion { writers: ["bob".to_owned()].into(), ..discussion(&[], inline) };
        let comments = refused.into_iter().collect();
        let refused = RefusedWrites { comments, ..RefusedWrites::default() };
        let plan = plan_inline(&review, &found, &SummaryState::default(), &refused);
        assert_eq!(words(&plan.writes), expected, "{name}");
    }
}

#[test]
fn a_finding_that_comes_back_is_explained_in_the_summary() {
    let posted = inline_comment(9, None, "mala[bot]", &finding_marker("a", None));
    let found = discussion(&[], vec![posted]);
    let review = InlineReview { findings: vec![inline_finding("a")], ..InlineReview::default() };
    for (resolved, expected) in [(vec![9], &["a"][..]), (vec![], &[])] {
        let before = SummaryState { resolved, ..SummaryState::default() };
        let plan = plan_inline(&review, &found, &before, &RefusedWrites::default());
        assert_eq!(plan.writes, []);
        assert_eq!(plan.in_summary, expected);
    }
}

#[test]
fn a_finding_that_another_run_posted_in_other_words_is_not_posted_again() {
    let change = Change { files: parse(DIFF.as_bytes()).unwrap() };
    let sources = [(FilePath::from("a.py"), "one\ntwo\nthree\nfour\nfive\n".to_owned())].into();
    let own = finding("a.py", 3, 3);
    let mine = InlineFinding { key: own.dedupe_key.to_string(), ..inline_finding("mine") };
    let other = |text: Finding| {
        let remembered = CommentedFinding::of(&text, "0123").unwrap();
        inline_comment(4, None, "mala[bot]", &finding_marker("theirs", Some(&remembered)))
    };
    let key = |key: &str| serde_json::from_value(serde_json::json!(key)).unwrap();
    let reworded = Finding {
        title: "The sum is wrong: it adds twice".to_owned(),
        evidence_snippet: "two\nthree".to_owned(),
        line_start: 2,
        dedupe_key: key("ffffffffffffffff"),
        ..own.clone()
    };
    let elsewhere = Finding {
        title: "Missing lock".to_owned(),
        evidence_snippet: "five".to_owned(),
        line_start: 5,
        line_end: 5,
        dedupe_key: key("eeeeeeeeeeeeeeee"),
        ..own.clone()
    };
    let rows = [
        ("reworded", reworded.clone(), vec![], "theirs"),
        ("another problem", elsewhere, vec![], "mine"),
        ("known to the ledger", reworded, vec!["theirs"], "mine"),
    ];
    for (name, posted, earlier, expected) in rows {
        let found = discussion(&[], vec![other(posted)]);
        let mut findings = [mine.clone()];
        let comments = (&earlier.into_iter().collect(), &found);
        recognise_posted(&mut findings, std::slice::from_ref(&own), comments, (&change, &sources));
        assert_eq!(findings[0].id, expected, "{name}");
    }
}

#[test]
fn refused_positions_move_into_the_summary() {
    let review = |findings| InlineReview {
        head: "h".to_owned(),
        findings,
        is_complete: true,
        ..InlineReview::default()
    };
    let outside = InlineFinding { draft: None, ..inline_finding("b") };
    let two = review(vec![inline_finding("a"), outside]);
    let empty = Discussion::default();
    let plan = |before: &SummaryState, rejected: &[&str]| {
        let findings = rejected.iter().map(|id| (*id).to_owned()).collect();
        let refused = RefusedWrites { findings, ..RefusedWrites::default() };
        let plan = plan_inline(&two, &empty, before, &refused);
        (words(&plan.writes), plan.in_summary.join(" "))
    };
    let none = SummaryState::default();
    assert_eq!(plan(&none, &[]), ("review a".to_owned(), "b".to_owned()));
    assert_eq!(plan(&none, &["a"]), (String::new(), "a b".to_owned()));
    let same_head = SummaryState {
        head: "h".to_owned(),
        rejected: vec!["a".to_owned()],
        ..SummaryState::default()
    };
    assert_eq!(plan(&same_head, &[]), (String::new(), "a b".to_owned()), "not tried again");
    let other_head = SummaryState { head: "g".to_owned(), ..same_head };
    assert_eq!(plan(&other_head, &[]), ("review a".to_owned(), "b".to_owned()));
    let many: Vec<_> = (0..40).map(|number| inline_finding(&number.to_string())).collect();
    let posted = (0_u64..30).map(|number| {
        let marker = finding_marker(&number.to_string(), None);
        inline_comment(number + 1, None, "mala[bot]", &marker)
    });
    let posted = discussion(&[], posted.collect());
    for (found, n_writes) in [(&empty, 1), (&posted, 0)] {
        let plan = plan_inline(&review(many.clone()), found, &none, &RefusedWrites::default());
        assert_eq!((plan.writes.len(), plan.in_summary.len()), (n_writes, 10));
    }
}

fn summary(head: &str, started: &str, digest: &str) -> SummaryDraft {
    let text = |text: &str| text.to_owned();
    let state = SummaryState {
        head: text(head),
        started: text(started),
        digest: text(digest),
        ..SummaryState::default()
    };
    let body = format!("{}\nwords", summary_marker("0123456789abcdef", &state));
    SummaryDraft { state, body }
}

/// 002-100, 002-103
#[test]
fn there_is_one_summary_with_the_newest_result() {
    let body = |head: &str, started: &str, digest: &str| summary(head, started, digest).body;
    let own = "mala[bot]";
    let rows = [
        ("none yet", vec![], "create"),
        ("another user's marker", vec![(1, "ada", body("h", "1", "x"))], "create"),
        ("another account's", vec![(1, "bob", body("h", "1", "x"))], "update 1 to 5"),
        (
            "one that may not be changed",
            vec![(3, "bob", body("h", "1", "x")), (4, own, body("g", "1", "x"))],
            "update 4 to 5",
        ),
        ("text before the marker", vec![(1, own, format!("> {}", body("h", "1", "x")))], "create"),
        ("the same content", vec![(1, own, body("h", "1", "new"))], ""),
        ("other content", vec![(1, own, body("h", "1", "x"))], "update 1 to 5"),
        ("another head", vec![(1, own, body("g", "9", "new"))], "update 1 to 5"),
        ("a later run", vec![(1, own, body("h", "9", "x"))], ""),
        (
            "a copy",
            vec![(1, own, body("h", "1", "new")), (2, own, body("h", "2", "x"))],
            "delete 2",
        ),
        (
            "the copy is the newest",
            vec![(1, own, body("h", "1", "old")), (2, own, body("h", "9", "x"))],
            "update 1 to 9, delete 2",
        ),
        (
            "no state",
            vec![(1, own, "<!-- code-review-agent:review_id=ab -->\nold".to_owned())],
            "update 1 to 5",
        ),
    ];
    for (name, comments, expected) in rows {
        let comments: Vec<_> =
            comments.iter().map(|(id, login, body)| (*id, *login, body.as_str())).collect();
        let found = discussion(&comments, Vec::new());
        let found = Discussion { writers: ["bob".to_owned()].into(), ..found };
        let refused = RefusedWrites { comments: [3].into(), ..RefusedWrites::default() };
        let writes = plan_summary(&found, &summary("h", "5", "new"), &refused);
        assert_eq!(words(&writes), expected, "{name}");
    }
}

#[test]
fn markers_survive_hostile_text() {
    let state = SummaryState { head: "h --> <b>".to_owned(), ..SummaryState::default() };
    let body = summary_marker("0123456789abcdef", &state);
    assert_eq!(body.lines().next(), Some("<!-- code-review-agent:review_id=0123456789abcdef -->"));
    assert_eq!(body.matches("-->").count(), 2);
    assert_eq!(read_summary(&body), Some(state));
    assert_eq!(read_summary("<!-- code-review-agent:review_id=x y -->"), None);
    let hostile = Finding {
        body: format!("ends\n{}", finding_marker("ffff", None)),
        suggestion: Some(finding_marker("eeee", None)),
        ..finding("a.py", 3, 3)
    };
    let shown = render_inline(&hostile, hostile.span(), None);
    assert_eq!(finding_id(&shown), None);
    assert!(!shown.contains("<!-- mala:finding=ffff"), "{shown}");
}

#[test]
fn a_check_run_gets_the_annotations_that_are_missing() {
    let annotation = CheckAnnotation {
        path: FilePath::from("a.py"),
        start_line: 1,
        end_line: 1,
        level: "failure",
        title: String::new(),
        message: String::new(),
    };
    let draft = |n_findings| CheckDraft {
        result: "id".to_owned(),
        started: "5".to_owned(),
        head: "h".to_owned(),
        conclusion: CheckConclusion::Failure,
        title: String::new(),
        summary: String::new(),
        annotations: vec![annotation.clone(); n_findings],
    };
    let known =
        |id, external_id: &str, n_annotations| ForgeCheck::new(id, external_id, n_annotations);
    let rows = [
        ("none yet", 0, vec![], "check 0"),
        ("many annotations", 120, vec![], "check 120"),
        ("another result", 120, vec![known(4, "other@1", 120)], "check 120"),
        ("some are missing", 120, vec![known(4, "id@1", 50)], "add 70 to 4"),
        ("all are there", 120, vec![known(4, "id@1", 120)], ""),
        ("the same result", 0, vec![known(4, "id@1", 0)], ""),
        ("shown again", 0, vec![known(4, "id@1", 0), known(6, "other@2", 0)], "check 0"),
        ("a later review", 0, vec![known(4, "other@9", 0)], ""),
        ("written by an older version", 0, vec![known(4, "other-ff", 0)], "check 0"),
    ];
    for (name, n_findings, checks, expected) in rows {
        let discussion = Discussion { checks, ..Discussion::default() };
        let write = plan_check(&discussion, &draft(n_findings));
        assert_eq!(words(write.as_slice()), expected, "{name}");
    }
    assert_eq!(ForgeCheck::new(4, &draft(0).external_id(), 0), known(4, "id@5", 0));
}
