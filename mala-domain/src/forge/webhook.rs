//! What a webhook of GitHub asks for.

use super::{PullRequestRef, RepositoryName, parse_command};
use serde_json::Value;

/// What to do about a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookAction {
    /// Review this pull request.
    Review(PullRequestRef),
    /// Nothing, for this reason.
    Ignore(&'static str),
}

/// The action of a delivery. Comments of programs never start a review, so that two programs cannot answer each other
/// for ever; comments of people do so only with a command, from a member of the project.
pub fn webhook_action(event: &str, payload: &Value) -> WebhookAction {
    let action = payload["action"].as_str().unwrap_or_default();
    let number = match (event, action) {
        ("pull_request", "opened" | "reopened" | "synchronize" | "ready_for_review") => {
            match payload["pull_request"]["draft"].as_bool() {
                Some(true) => return WebhookAction::Ignore("a draft"),
                _ => &payload["pull_request"]["number"],
            }
        }
        ("issue_comment", "created") if payload["issue"]["pull_request"].is_object() => {
            match refused_comment(&payload["comment"]) {
                Some(why) => return WebhookAction::Ignore(why),
                None => &payload["issue"]["number"],
            }
        }
        ("pull_request_review_comment", "created") => match refused_comment(&payload["comment"]) {
            Some(why) => return WebhookAction::Ignore(why),
            None => &payload["pull_request"]["number"],
        },
        ("pull_request_review_thread", "resolved" | "unresolved") => {
            match is_program(&payload["sender"]) {
                true => return WebhookAction::Ignore("by a program"),
                false => &payload["pull_request"]["number"],
            }
        }
        _ => return WebhookAction::Ignore("not about a review"),
    };
    let repository = &payload["repository"];
    let name = RepositoryName::new(
        repository["owner"]["login"].as_str().unwrap_or_default(),
        repository["name"].as_str().unwrap_or_default(),
    );
    match (name, number.as_u64().filter(|number| *number > 0)) {
        (Some(repository), Some(number)) => {
            WebhookAction::Review(PullRequestRef { repository, number })
        }
        _ => WebhookAction::Ignore("no pull request"),
    }
}

/// Why a comment starts no review.
fn refused_comment(comment: &Value) -> Option<&'static str> {
    let member = ["OWNER", "MEMBER", "COLLABORATOR"];
    if is_program(&comment["user"]) {
        return Some("by a program");
    }
    let is_command = comment["body"].as_str().is_some_and(|body| parse_command(body).is_some());
    let is_member = comment["author_association"].as_str().is_some_and(|it| member.contains(&it));
    match (is_command, is_member) {
        (false, _) => Some("no command"),
        (true, false) => Some("not by a member of the project"),
        (true, true) => None,
    }
}

fn is_program(user: &Value) -> bool {
    user["type"] == "Bot" || user["login"].as_str().is_some_and(|login| login.ends_with("[bot]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn deliveries_start_reviews_only_for_people_and_changes() {
        let repository = json!({"name": "r", "owner": {"login": "o"}});
        let pull = |action: &str, draft: bool| {
            json!({"action": action, "repository": repository,
                   "pull_request": {"number": 7, "draft": draft}})
        };
        let comment = |body: &str, kind: &str, by: &str| {
            json!({"action": "created", "repository": repository,
                   "issue": {"number": 7, "pull_request": {}}, "pull_request": {"number": 7},
                   "comment": {"body": body, "author_association": by,
                               "user": {"login": "ada", "type": kind}}})
        };
        let thread = |login: &str| {
            json!({"action": "resolved", "repository": repository,
                   "pull_request": {"number": 7}, "sender": {"login": login, "type": "User"}})
        };
        let rows = [
            ("pull_request", pull("opened", false), "o/r#7"),
            ("pull_request", pull("synchronize", false), "o/r#7"),
            ("pull_request", pull("opened", true), "a draft"),
            ("pull_request", pull("ready_for_review", false), "o/r#7"),
            ("pull_request", pull("closed", false), "not about a review"),
            ("issue_comment", comment("/mala review", "User", "OWNER"), "o/r#7"),
            ("issue_comment", comment("/mala review", "Bot", "OWNER"), "by a program"),
            (
                "issue_comment",
                comment("/mala review", "User", "NONE"),
                "not by a member of the project",
            ),
            ("issue_comment", comment("thanks", "User", "OWNER"), "no command"),
            ("pull_request_review_comment", comment("/mala waive x", "User", "MEMBER"), "o/r#7"),
            ("pull_request_review_thread", thread("ada"), "o/r#7"),
            ("pull_request_review_thread", thread("mala[bot]"), "by a program"),
            ("ping", json!({"zen": "x"}), "not about a review"),
            ("pull_request", json!({"action": "opened"}), "no pull request"),
        ];
        for (event, payload, expected) in rows {
            let found = match webhook_action(event, &payload) {
                WebhookAction::Review(at) => at.to_string(),
                WebhookAction::Ignore(why) => why.to_owned(),
            };
            assert_eq!(found, expected, "{event} {payload}");
        }
    }
}
