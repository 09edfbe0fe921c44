//! Decides what to do about a webhook delivery of GitHub or GitLab. Comments of programs never
//! start a review, so that two programs cannot answer each other forever; comments of people do so
//! only with a command. Their write access is checked later, because GitHub's author association
//! does not show it.

use super::{ForgeService, PullRequestRef, RepositoryName, parse_command};
use serde_json::Value;
use std::time::Duration;

/// What to do about a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookAction {
    /// Review this pull request: it changed.
    Review(PullRequestRef),
    /// Review this pull request if this account may write to its repository.
    ReviewFor(PullRequestRef, String),
    /// Nothing, for this reason.
    Ignore(&'static str),
}

use WebhookAction::Ignore;

/// The action of a delivery of GitHub.
pub fn github_webhook(event: &str, payload: &Value) -> WebhookAction {
    let action = payload["action"].as_str().unwrap_or_default();
    let pull = &payload["pull_request"];
    let (number, asked) = match (event, action) {
        ("pull_request", "opened" | "reopened" | "synchronize" | "ready_for_review" | "edited") => {
            // Of all edits, only a new base branch changes the commits.
            if action == "edited" && !payload["changes"]["base"].is_object() {
                return Ignore("not about a review");
            }
            if pull["draft"] == true {
                return Ignore("a draft");
            }
            (&pull["number"], None)
        }
        ("issue_comment", "created") if payload["issue"]["pull_request"].is_object() => {
            (&payload["issue"]["number"], Some(&payload["comment"]["user"]))
        }
        ("pull_request_review_comment", "created") => {
            (&pull["number"], Some(&payload["comment"]["user"]))
        }
        ("pull_request_review_thread", "resolved") => (&pull["number"], Some(&payload["sender"])),
        _ => return Ignore("not about a review"),
    };
    let repository = &payload["repository"];
    let repository = RepositoryName::new(
        repository["owner"]["login"].as_str().unwrap_or_default(),
        repository["name"].as_str().unwrap_or_default(),
    );
    let Some(at) = pull_request(ForgeService::GitHub, repository, number) else {
        return Ignore("no pull request");
    };
    let Some(user) = asked else { return WebhookAction::Review(at) };
    let login = user["login"].as_str().unwrap_or_default();
    if user["type"] == "Bot" || login.ends_with("[bot]") {
        return Ignore("by a program");
    }
    let comment = &payload["comment"];
    if comment.is_object() && !is_command(&comment["body"]) {
        return Ignore("no command");
    }
    WebhookAction::ReviewFor(at, login.to_owned())
}

fn is_command(body: &Value) -> bool {
    body.as_str().is_some_and(|body| parse_command(body).is_some())
}

/// The action of a delivery of GitLab.
pub fn gitlab_webhook(event: &str, payload: &Value) -> WebhookAction {
    let it = &payload["object_attributes"];
    let (number, asked) = match event {
        "Merge Request Hook" => match merge_request_change(payload) {
            Ok(asked) => (&it["iid"], asked),
            Err(why) => return Ignore(why),
        },
        "Note Hook" if it["noteable_type"] == "MergeRequest" && it["action"] != "update" => {
            match is_command(&it["note"]) {
                true => (&payload["merge_request"]["iid"], true),
                false => return Ignore("no command"),
            }
        }
        _ => return Ignore("not about a review"),
    };
    let path = payload["project"]["path_with_namespace"].as_str();
    let repository = path.and_then(RepositoryName::in_group);
    let Some(at) = pull_request(ForgeService::GitLab, repository, number) else {
        return Ignore("no pull request");
    };
    if !asked {
        return WebhookAction::Review(at);
    }
    match payload["user"]["username"].as_str() {
        Some(login) if is_gitlab_program(login) => Ignore("by a program"),
        Some(login) => WebhookAction::ReviewFor(at, login.to_owned()),
        None => Ignore("no author"),
    }
}

/// Whether an event about a merge request is about a person's decision (`true`) or about commits (`false`).
fn merge_request_change(payload: &Value) -> Result<bool, &'static str> {
    let (it, changes) = (&payload["object_attributes"], &payload["changes"]);
    if it["draft"] == true || it["work_in_progress"] == true {
        return Err("a draft");
    }
    let is_ready = changes["draft"]["current"] == false;
    let has_other_target = changes["target_branch"].is_object();
    match it["action"].as_str() {
        Some("open" | "reopen") => Ok(false),
        Some("update") if it["oldrev"].is_string() || is_ready || has_other_target => Ok(false),
        // The last open thread was resolved.
        Some("update") if changes["blocking_discussions_resolved"]["current"] == true => Ok(true),
        _ => Err("not about a review"),
    }
}

/// Whether a user of GitLab is a program: those of project and group access tokens are called `project_1_bot_2`.
pub fn is_gitlab_program(login: &str) -> bool {
    let of_token = login.starts_with("project_") || login.starts_with("group_");
    of_token && login.contains("_bot")
}

/// Why a review has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptFailure {
    /// The forge did not answer, before the review or after it.
    NotPosted,
    /// The change could not be reviewed. It may have cost money.
    Incomplete,
    /// Another attempt would end in the same way, as with invalid settings.
    Permanent,
}

/// The waits between the attempts when the forge does not answer, in minutes. A rate limit lasts up to an hour.
const WAITS: [u64; 5] = [1, 5, 25, 2 * 60, 6 * 60];

/// The time to wait before the next attempt after this number of attempts; `None` to give up.
pub fn retry_wait(failure: AttemptFailure, n_attempts: u32) -> Option<Duration> {
    let n_more = match failure {
        AttemptFailure::NotPosted => WAITS.len(),
        AttemptFailure::Incomplete => 1,
        AttemptFailure::Permanent => 0,
    };
    let index = usize::try_from(n_attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let minutes = WAITS.get(..n_more)?.get(index)?;
    Some(Duration::from_secs(minutes * 60))
}

fn pull_request(
    service: ForgeService,
    repository: Option<RepositoryName>,
    number: &Value,
) -> Option<PullRequestRef> {
    let number = number.as_u64().filter(|number| *number > 0)?;
    Some(PullRequestRef { service, repository: repository?, number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn words(action: WebhookAction) -> String {
        match action {
            WebhookAction::Review(at) => at.to_string(),
            WebhookAction::ReviewFor(at, login) => format!("{at} for {login}"),
            Ignore(why) => why.to_owned(),
        }
    }

    #[test]
    fn deliveries_of_github_start_reviews_only_for_people_and_changes() {
        let repository = json!({"name": "r", "owner": {"login": "o"}});
        let pull = |action: &str, draft: bool| {
            json!({"action": action, "repository": repository,
                   "pull_request": {"number": 7, "draft": draft}})
        };
        let comment = |action: &str, body: &str, kind: &str| {
            json!({"action": action, "repository": repository,
                   "issue": {"number": 7, "pull_request": {}}, "pull_request": {"number": 7},
                   "comment": {"body": body, "author_association": "NONE",
                               "user": {"login": "ada", "type": kind}}})
        };
        let edited = |what: &str| {
            let mut event = pull("edited", false);
            event["changes"] = json!({what: {"from": "x"}});
            event
        };
        let thread = |login: &str| {
            json!({"action": "resolved", "repository": repository,
                   "pull_request": {"number": 7}, "sender": {"login": login, "type": "User"}})
        };
        let (whole, lines) = ("issue_comment", "pull_request_review_comment");
        let rows = [
            ("pull_request", pull("opened", false), "o/r#7"),
            ("pull_request", pull("synchronize", false), "o/r#7"),
            ("pull_request", pull("opened", true), "a draft"),
            ("pull_request", pull("ready_for_review", false), "o/r#7"),
            ("pull_request", pull("closed", false), "not about a review"),
            ("pull_request", edited("base"), "o/r#7"),
            ("pull_request", edited("title"), "not about a review"),
            (whole, comment("created", "/mala review", "User"), "o/r#7 for ada"),
            (whole, comment("created", "/mala review", "Bot"), "by a program"),
            (whole, comment("created", "/mala revue", "User"), "o/r#7 for ada"),
            (whole, comment("created", "thanks", "User"), "no command"),
            (whole, comment("deleted", "/mala review", "User"), "not about a review"),
            (lines, comment("created", "/mala waive x", "User"), "o/r#7 for ada"),
            (lines, comment("created", "thanks", "User"), "no command"),
            ("pull_request_review_thread", thread("ada"), "o/r#7 for ada"),
            ("pull_request_review_thread", thread("mala[bot]"), "by a program"),
            ("ping", json!({"zen": "x"}), "not about a review"),
            ("pull_request", json!({"action": "opened"}), "no pull request"),
        ];
        for (event, payload, expected) in rows {
            assert_eq!(words(github_webhook(event, &payload)), expected, "{event} {payload}");
        }
    }

    #[test]
    fn deliveries_of_gitlab_start_reviews_only_for_people_and_changes() {
        let project = json!({"path_with_namespace": "g/sub/p"});
        let merge = |attributes: Value, changes: Value, login: &str| {
            let mut it = json!({"iid": 7, "draft": false});
            it.as_object_mut().unwrap().extend(attributes.as_object().unwrap().clone());
            json!({"project": project, "object_attributes": it, "changes": changes,
                   "user": {"username": login}})
        };
        let note = |text: &str, kind: &str, login: &str| {
            json!({"project": project, "merge_request": {"iid": 7}, "user": {"username": login},
                   "object_attributes": {"note": text, "noteable_type": kind, "action": "create"}})
        };
        let (change, comment) = ("Merge Request Hook", "Note Hook");
        let resolved = json!({"blocking_discussions_resolved": {"current": true}});
        let update = json!({"action": "update"});
        let bot = "project_1_bot_2a";
        let rows = [
            (change, merge(json!({"action": "open"}), json!({}), "ada"), "g/sub/p!7"),
            (change, merge(json!({"action": "open", "draft": true}), json!({}), "ada"), "a draft"),
            (
                change,
                merge(json!({"action": "update", "oldrev": "a"}), json!({}), bot),
                "g/sub/p!7",
            ),
            (change, merge(update.clone(), json!({"title": {}}), "ada"), "not about a review"),
            (change, merge(update.clone(), json!({"target_branch": {}}), "ada"), "g/sub/p!7"),
            (
                change,
                merge(
                    update.clone(),
                    json!({"draft": {"previous": true, "current": false}}),
                    "ada",
                ),
                "g/sub/p!7",
            ),
            (change, merge(update.clone(), resolved.clone(), "ada"), "g/sub/p!7 for ada"),
            (change, merge(update, resolved, bot), "by a program"),
            (change, merge(json!({"action": "merge"}), json!({}), "ada"), "not about a review"),
            (comment, note("/mala review", "MergeRequest", "ada"), "g/sub/p!7 for ada"),
            (comment, note("/mala review", "MergeRequest", bot), "by a program"),
            (comment, note("/mala review", "Issue", "ada"), "not about a review"),
            (comment, note("thanks", "MergeRequest", "ada"), "no command"),
            ("Push Hook", json!({}), "not about a review"),
            (change, json!({"object_attributes": {"action": "open"}}), "no pull request"),
        ];
        for (event, payload, expected) in rows {
            assert_eq!(words(gitlab_webhook(event, &payload)), expected, "{event} {payload}");
        }
    }

    #[test]
    fn only_what_may_succeed_is_tried_again() {
        use AttemptFailure::{Incomplete, NotPosted, Permanent};
        for (failure, expected) in
            [(NotPosted, &[1, 5, 25, 120, 360][..]), (Incomplete, &[1]), (Permanent, &[])]
        {
            let waits = (1..10).map_while(|attempts| retry_wait(failure, attempts));
            let minutes: Vec<u64> = waits.map(|wait| wait.as_secs() / 60).collect();
            assert_eq!(minutes, expected, "{failure:?}");
        }
    }
}
