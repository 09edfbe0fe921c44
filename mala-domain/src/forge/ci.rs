//! Detects the pull request of a CI job from the variables and the event file that the service
//! sets.

use super::{PullRequestBranch, RepositoryName, parse_command};
use serde_json::Value;
use thiserror::Error;

/// The change of a CI job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CiJob {
    /// A pull request on GitHub.
    PullRequest {
        /// Its repository.
        repository: RepositoryName,
        /// Its number.
        number: u64,
        /// Whether the job may write to it. Jobs for forks and for Dependabot may not, and have no secrets.
        may_write: bool,
        /// The account whose comment requested the review; `None` if the pull request changed.
        asked_by: Option<String>,
    },
    /// A merge request on GitLab, in a job with a token that can post on it.
    MergeRequest {
        /// Its repository.
        repository: RepositoryName,
        /// Its number.
        number: u64,
    },
    /// A workflow that reviewed a pull request without secrets, and has ended.
    FinishedWorkflow(PullRequestBranch),
    /// Commits: a push, a merge queue, or a merge request on GitLab in a job that cannot post on it.
    Commits(JobCommits),
    /// A comment without a command: it starts no review.
    Comment,
}

/// The commits of a CI job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCommits {
    /// The commit before them; `None` for a new branch and for a rewritten one.
    pub base: Option<String>,
    /// The default branch, unless the job runs on it. If the base is unknown, the review covers
    /// what the head adds to this branch.
    pub default_branch: Option<String>,
    /// The last commit.
    pub head: String,
    /// The service, which decides about the form of the result.
    pub service: CiService,
    /// Whether they come from a fork.
    pub is_from_fork: bool,
}

/// A CI service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CiService {
    /// GitHub Actions.
    GitHubActions,
    /// GitLab CI.
    GitLab,
}

/// Why a job cannot be reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CiError {
    /// A service that mala does not know.
    #[error("no CI service was detected: neither GITHUB_ACTIONS nor GITLAB_CI is true")]
    Unknown,
    /// A variable or a part of the event is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// The job runs on the default branch, and the commit before is not known.
    #[error("cannot tell which commits are new: the job names no commit before them")]
    NoBase,
}

/// The service that sets these variables.
pub fn ci_service(variable: &dyn Fn(&str) -> Option<String>) -> Result<CiService, CiError> {
    let is_true = |name: &str| variable(name).as_deref() == Some("true");
    match (is_true("GITHUB_ACTIONS"), is_true("GITLAB_CI")) {
        (true, _) => Ok(CiService::GitHubActions),
        (false, true) => Ok(CiService::GitLab),
        (false, false) => Err(CiError::Unknown),
    }
}

/// The change of the current job. `event` is the event file of GitHub Actions.
pub fn ci_job(
    variable: &dyn Fn(&str) -> Option<String>,
    event: Option<&Value>,
) -> Result<CiJob, CiError> {
    match ci_service(variable)? {
        CiService::GitHubActions => {
            github_job(variable, event.ok_or(CiError::Missing("the file of GITHUB_EVENT_PATH"))?)
        }
        CiService::GitLab => gitlab_job(variable),
    }
}

fn github_job(variable: &dyn Fn(&str) -> Option<String>, event: &Value) -> Result<CiJob, CiError> {
    let required = |name: &'static str| variable(name).ok_or(CiError::Missing(name));
    let name = required("GITHUB_REPOSITORY")?;
    let repository =
        name.split_once('/').and_then(|(owner, repo)| RepositoryName::new(owner, repo));
    let repository = repository.ok_or(CiError::Missing("GITHUB_REPOSITORY"))?;
    // Other events than changes contain a pull request too.
    match required("GITHUB_EVENT_NAME")?.as_str() {
        "pull_request" | "pull_request_target" => Ok(CiJob::PullRequest {
            repository,
            number: number(&event["pull_request"]["number"])?,
            may_write: is_own(event, &name)
                && variable("GITHUB_ACTOR").as_deref() != Some(DEPENDABOT),
            asked_by: None,
        }),
        "issue_comment" | "pull_request_review_comment" => match commanded_by(event) {
            Some((number, login)) => Ok(CiJob::PullRequest {
                repository,
                number,
                // A comment on the whole pull request starts the workflow of the default branch, with its secrets.
                may_write: event["issue"].is_object() || is_own(event, &name),
                asked_by: Some(login),
            }),
            None => Ok(CiJob::Comment),
        },
        "pull_request_review" => Ok(CiJob::Comment),
        "workflow_run" => {
            let run = &event["workflow_run"];
            let missing = || CiError::Missing("the branch of the workflow run");
            Ok(CiJob::FinishedWorkflow(PullRequestBranch {
                repository,
                owner: text(&run["head_repository"]["owner"]["login"]).ok_or_else(missing)?,
                name: text(&run["head_branch"]).ok_or_else(missing)?,
                head: text(&run["head_sha"]).ok_or_else(missing)?,
            }))
        }
        _ => pushed_commits(variable, event).map(CiJob::Commits),
    }
}

/// The account whose jobs GitHub treats like those of forks.
const DEPENDABOT: &str = "dependabot[bot]";

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn number(value: &Value) -> Result<u64, CiError> {
    value.as_u64().ok_or(CiError::Missing("the number of the pull request"))
}

/// Whether the branch of the pull request is in this repository.
fn is_own(event: &Value, repository: &str) -> bool {
    let head = event["pull_request"]["head"]["repo"]["full_name"].as_str();
    head.is_some_and(|head| head.eq_ignore_ascii_case(repository))
}

/// The pull request of a comment with a command, and the author of the comment.
fn commanded_by(event: &Value) -> Option<(u64, String)> {
    let (comment, issue) = (&event["comment"], &event["issue"]);
    let number = match issue["pull_request"].is_object() {
        true => issue["number"].as_u64()?,
        false => event["pull_request"]["number"].as_u64()?,
    };
    let is_command = event["action"] == "created"
        && comment["user"]["type"] != "Bot"
        && comment["body"].as_str().is_some_and(|body| parse_command(body).is_some());
    Some((number, text(&comment["user"]["login"])?)).filter(|_| is_command)
}

/// The commits of a push, of a merge queue, or of a job that was started by hand or by the clock.
fn pushed_commits(
    variable: &dyn Fn(&str) -> Option<String>,
    event: &Value,
) -> Result<JobCommits, CiError> {
    let queue = &event["merge_group"];
    let is_here = |name: &String| {
        variable("GITHUB_REF").is_some_and(|it| it.strip_prefix("refs/heads/") == Some(name))
    };
    let default_branch = text(&event["repository"]["default_branch"]);
    let default_branch = default_branch.filter(|name| !is_here(name));
    let is_rewritten = event["forced"] == true && default_branch.is_some();
    let before = text(&event["before"]).filter(|id| is_commit(id) && !is_rewritten);
    let after = text(&queue["head_sha"]).or_else(|| text(&event["after"]));
    let commits = JobCommits {
        base: text(&queue["base_sha"]).or(before),
        default_branch,
        head: after.or_else(|| variable("GITHUB_SHA")).ok_or(CiError::Missing("GITHUB_SHA"))?,
        service: CiService::GitHubActions,
        is_from_fork: false,
    };
    commits.with_start()
}

impl JobCommits {
    fn with_start(self) -> Result<Self, CiError> {
        match (&self.base, &self.default_branch) {
            (None, None) => Err(CiError::NoBase),
            _ => Ok(self),
        }
    }
}

fn gitlab_job(variable: &dyn Fn(&str) -> Option<String>) -> Result<CiJob, CiError> {
    let required = |name: &'static str| variable(name).ok_or(CiError::Missing(name));
    let service = CiService::GitLab;
    let Some(number) = variable("CI_MERGE_REQUEST_IID") else {
        let default_branch = variable("CI_DEFAULT_BRANCH");
        let commits = JobCommits {
            base: variable("CI_COMMIT_BEFORE_SHA").filter(|id| is_commit(id)),
            default_branch: default_branch.filter(|_| !is_on_default_branch(variable)),
            head: required("CI_COMMIT_SHA")?,
            service,
            is_from_fork: false,
        };
        return commits.with_start().map(CiJob::Commits);
    };
    let path = "CI_MERGE_REQUEST_PROJECT_PATH";
    // The token that each job has (CI_JOB_TOKEN) cannot read or write discussions.
    if variable("GITLAB_TOKEN").is_some() {
        let repository = variable(path).and_then(|path| RepositoryName::in_group(&path));
        return Ok(CiJob::MergeRequest {
            repository: repository.ok_or(CiError::Missing(path))?,
            number: number.parse().map_err(|_| CiError::Missing("CI_MERGE_REQUEST_IID"))?,
        });
    }
    // In a pipeline for merged results, CI_COMMIT_SHA is the merge with the target branch.
    let merged = variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").filter(|id| is_commit(id));
    Ok(CiJob::Commits(JobCommits {
        base: Some(required("CI_MERGE_REQUEST_DIFF_BASE_SHA")?),
        default_branch: None,
        head: merged.map_or_else(|| required("CI_COMMIT_SHA"), Ok)?,
        service,
        is_from_fork: variable("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH") != variable(path),
    }))
}

fn is_on_default_branch(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    variable("CI_COMMIT_BRANCH") == variable("CI_DEFAULT_BRANCH")
}

/// Whether an id is a commit: services write zeros for no commit.
fn is_commit(id: &str) -> bool {
    !id.is_empty() && id.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The job as words.
    fn words(variables: &[(&str, &str)], event: Option<&Value>) -> String {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        match ci_job(&variable, event) {
            Ok(CiJob::PullRequest { repository, number, may_write, asked_by }) => {
                let access = if may_write { "" } else { " read-only" };
                let asked = asked_by.map(|login| format!(" for {login}")).unwrap_or_default();
                format!("{repository}#{number}{access}{asked}")
            }
            Ok(CiJob::MergeRequest { repository, number }) => format!("{repository}!{number}"),
            Ok(CiJob::FinishedWorkflow(PullRequestBranch { repository, owner, name, head })) => {
                format!("{repository} {owner}:{name} at {head}")
            }
            Ok(CiJob::Commits(JobCommits { base, default_branch, head, is_from_fork, .. })) => {
                let base = base.into_iter().chain(default_branch.map(|name| format!("({name})")));
                let fork = if is_from_fork { " of a fork" } else { "" };
                format!("{}..{head}{fork}", base.collect::<Vec<_>>().join(" or "))
            }
            Ok(CiJob::Comment) => "nothing".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    const ZEROS: &str = "0000000000000000000000000000000000000000";
    const NO_BASE: &str = "cannot tell which commits are new: the job names no commit before them";

    fn check_github(rows: &[(&str, &str, Value, &str)]) {
        for (name, reference, event, expected) in rows {
            let variables = [
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_REPOSITORY", "o/r"),
                ("GITHUB_SHA", "s"),
                ("GITHUB_EVENT_NAME", name),
                ("GITHUB_REF", reference),
            ];
            assert_eq!(words(&variables, Some(event)), *expected, "{name} {event}");
        }
    }

    #[test]
    fn pull_requests_follow_from_the_event() {
        let pull = |head: &str| json!({"pull_request": {"number": 7, "head": {"repo": {"full_name": head}}}});
        let said = |action: &str, body: &str, kind: &str| {
            let user = json!({"login": "ada", "type": kind});
            let pull = json!({"number": 7, "head": {"repo": {"full_name": "eve/r"}}});
            json!({"action": action, "comment": {"body": body, "user": user}, "pull_request": pull})
        };
        let on_whole = |action: &str, body: &str, kind: &str| {
            let mut event = said(action, body, kind);
            event["issue"] = json!({"number": 7, "pull_request": {}});
            event["pull_request"] = Value::Null;
            event
        };
        let mut on_an_issue = on_whole("created", "/mala review", "User");
        on_an_issue["issue"]["pull_request"] = Value::Null;
        let run = json!({"workflow_run": {
            "head_sha": "h", "head_branch": "topic", "head_repository": {"owner": {"login": "eve"}},
        }});
        let (whole, lines) = ("issue_comment", "pull_request_review_comment");
        let review = "/mala review";
        check_github(&[
            ("pull_request", "", pull("O/R"), "o/r#7"),
            ("pull_request", "", pull("eve/r"), "o/r#7 read-only"),
            ("pull_request", "", json!({}), "the number of the pull request is missing"),
            (whole, "", on_whole("created", review, "User"), "o/r#7 for ada"),
            (whole, "", on_whole("deleted", review, "User"), "nothing"),
            (whole, "", on_whole("created", review, "Bot"), "nothing"),
            (whole, "", on_whole("created", "looks good", "User"), "nothing"),
            (whole, "", on_an_issue, "nothing"),
            (lines, "", said("created", "/mala waive known", "User"), "o/r#7 read-only for ada"),
            (lines, "", said("created", "looks good", "User"), "nothing"),
            (lines, "", said("edited", "/mala waive known", "User"), "nothing"),
            ("pull_request_review", "", said("submitted", review, "User"), "nothing"),
            ("workflow_run", "", run, "o/r eve:topic at h"),
        ]);
        let mut variables = vec![("GITHUB_ACTIONS", "true"), ("GITHUB_REPOSITORY", "o/r")];
        let event = pull("o/r");
        assert_eq!(words(&variables, Some(&event)), "GITHUB_EVENT_NAME is missing");
        assert_eq!(words(&variables, None), "the file of GITHUB_EVENT_PATH is missing");
        variables.extend([("GITHUB_EVENT_NAME", "pull_request"), ("GITHUB_ACTOR", DEPENDABOT)]);
        assert_eq!(words(&variables, Some(&event)), "o/r#7 read-only");
    }

    #[test]
    fn commits_follow_from_the_event() {
        let push = |before: &str, forced: bool| {
            json!({"before": before, "after": "b", "forced": forced,
                   "repository": {"default_branch": "main"}})
        };
        let by_hand = json!({"repository": {"default_branch": "main"}});
        let queue = json!({"merge_group": {"base_sha": "a", "head_sha": "q"},
                           "repository": {"default_branch": "main"}});
        let (main, topic) = ("refs/heads/main", "refs/heads/topic");
        check_github(&[
            ("push", main, push("a", false), "a..b"),
            ("push", main, push("a", true), "a..b"),
            ("push", main, push(ZEROS, false), NO_BASE),
            ("push", topic, push("a", false), "a or (main)..b"),
            ("push", topic, push("a", true), "(main)..b"),
            ("push", topic, push(ZEROS, false), "(main)..b"),
            ("push", "refs/tags/v1", push(ZEROS, false), "(main)..b"),
            ("merge_group", "refs/heads/gh-readonly-queue/main/pr-7", queue, "a or (main)..q"),
            ("workflow_dispatch", topic, by_hand.clone(), "(main)..s"),
            ("workflow_dispatch", main, by_hand, NO_BASE),
            ("schedule", main, json!({"schedule": "daily"}), NO_BASE),
        ]);
    }

    #[test]
    fn jobs_of_gitlab_follow_from_variables() {
        let gitlab = ("GITLAB_CI", "true");
        let iid = ("CI_MERGE_REQUEST_IID", "3");
        let base = ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "b");
        let head = ("CI_COMMIT_SHA", "h");
        let before = ("CI_COMMIT_BEFORE_SHA", ZEROS);
        let token = ("GITLAB_TOKEN", "t");
        let project = ("CI_MERGE_REQUEST_PROJECT_PATH", "g/sub/p");
        let own = ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "g/sub/p");
        let fork = ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "eve/p");
        let source = ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "t");
        let detached = ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "");
        let default = ("CI_DEFAULT_BRANCH", "main");
        let on = |branch| ("CI_COMMIT_BRANCH", branch);
        for (variables, expected) in [
            (vec![gitlab, iid, base, head, before, default], "b..h"),
            (vec![gitlab, iid, base, head, project, own, detached], "b..h"),
            (vec![gitlab, iid, base, head, project, own, source], "b..t"),
            (vec![gitlab, iid, base, head, project, fork, source], "b..t of a fork"),
            (vec![gitlab, iid, token, project, base, head], "g/sub/p!3"),
            (vec![gitlab, iid, token, base, head], "CI_MERGE_REQUEST_PROJECT_PATH is missing"),
            (vec![gitlab, iid, head], "CI_MERGE_REQUEST_DIFF_BASE_SHA is missing"),
            (vec![gitlab, token, head, before, default, on("topic")], "(main)..h"),
            (vec![gitlab, head, before, default, on("main")], NO_BASE),
            (vec![gitlab, head, ("CI_COMMIT_BEFORE_SHA", "a"), default, on("main")], "a..h"),
            (vec![], "no CI service was detected: neither GITHUB_ACTIONS nor GITLAB_CI is true"),
        ] {
            assert_eq!(words(&variables, None), expected);
        }
    }
}
