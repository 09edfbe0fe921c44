//! What a job of a CI service is about, from the variables and the event file that the service sets.

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
        /// Whether it comes from a fork: the job has no secrets and may not write.
        is_from_fork: bool,
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
    /// A range of commits: a push, or a merge request on GitLab in a job that cannot post on it.
    Commits {
        /// The commit before the change; `None` for a new branch.
        base: Option<String>,
        /// The last commit.
        head: String,
        /// The service, which decides about the form of the result.
        service: CiService,
    },
    /// A comment that asks for nothing, or that is not by a member of the project: it starts no review.
    Comment,
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
    /// No service that mala knows.
    #[error("no CI service was detected: neither GITHUB_ACTIONS nor GITLAB_CI is true")]
    Unknown,
    /// A variable or a part of the event is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
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
    let name = variable("GITHUB_REPOSITORY").ok_or(CiError::Missing("GITHUB_REPOSITORY"))?;
    let repository =
        name.split_once('/').and_then(|(owner, repo)| RepositoryName::new(owner, repo));
    let repository = repository.ok_or(CiError::Missing("GITHUB_REPOSITORY"))?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(number) = event["pull_request"]["number"].as_u64() {
        let head = event["pull_request"]["head"]["repo"]["full_name"].as_str();
        let is_own = head.is_some_and(|head| head.eq_ignore_ascii_case(&name));
        return Ok(CiJob::PullRequest { repository, number, is_from_fork: !is_own });
    }
    if event["issue"]["pull_request"].is_object() {
        // A comment starts the workflow of the default branch, with its secrets.
        if !is_command(&event["comment"]) {
            return Ok(CiJob::Comment);
        }
        let number = event["issue"]["number"].as_u64().ok_or(CiError::Missing("issue.number"))?;
        return Ok(CiJob::PullRequest { repository, number, is_from_fork: false });
    }
    let run = &event["workflow_run"];
    if run.is_object() {
        let missing = || CiError::Missing("the branch of the workflow run");
        return Ok(CiJob::FinishedWorkflow(PullRequestBranch {
            repository,
            owner: text(&run["head_repository"]["owner"]["login"]).ok_or_else(missing)?,
            name: text(&run["head_branch"]).ok_or_else(missing)?,
            head: text(&run["head_sha"]).ok_or_else(missing)?,
        }));
    }
    let head = text(&event["after"]).or_else(|| variable("GITHUB_SHA"));
    Ok(CiJob::Commits {
        base: text(&event["before"]).filter(|id| is_commit(id)),
        head: head.ok_or(CiError::Missing("GITHUB_SHA"))?,
        service: CiService::GitHubActions,
    })
}

/// Whether a comment is a command of a member of the project.
fn is_command(comment: &Value) -> bool {
    let member = ["OWNER", "MEMBER", "COLLABORATOR"];
    comment["author_association"].as_str().is_some_and(|it| member.contains(&it))
        && comment["body"].as_str().is_some_and(|body| parse_command(body).is_some())
}

fn gitlab_job(variable: &dyn Fn(&str) -> Option<String>) -> Result<CiJob, CiError> {
    let number = variable("CI_MERGE_REQUEST_IID");
    // The token that each job has (CI_JOB_TOKEN) cannot read or write discussions.
    if let (Some(number), Some(_)) = (&number, variable("GITLAB_TOKEN")) {
        let path = "CI_MERGE_REQUEST_PROJECT_PATH";
        let repository = variable(path).and_then(|path| RepositoryName::in_group(&path));
        return Ok(CiJob::MergeRequest {
            repository: repository.ok_or(CiError::Missing(path))?,
            number: number.parse().map_err(|_| CiError::Missing("CI_MERGE_REQUEST_IID"))?,
        });
    }
    let base = match number {
        Some(_) => {
            let name = "CI_MERGE_REQUEST_DIFF_BASE_SHA";
            Some(variable(name).ok_or(CiError::Missing(name))?)
        }
        None => variable("CI_COMMIT_BEFORE_SHA").filter(|id| is_commit(id)),
    };
    let head = variable("CI_COMMIT_SHA").ok_or(CiError::Missing("CI_COMMIT_SHA"))?;
    Ok(CiJob::Commits { base, head, service: CiService::GitLab })
}

/// Whether an id names a commit: services write zeros for none.
fn is_commit(id: &str) -> bool {
    !id.is_empty() && id.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The job as words.
    fn words(variables: &[(&str, &str)], event: Option<Value>) -> String {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        match ci_job(&variable, event.as_ref()) {
            Ok(CiJob::PullRequest { repository, number, is_from_fork }) => {
                format!("{repository}#{number} fork: {is_from_fork}")
            }
            Ok(CiJob::MergeRequest { repository, number }) => format!("{repository}!{number}"),
            Ok(CiJob::FinishedWorkflow(PullRequestBranch { repository, owner, name, head })) => {
                format!("{repository} {owner}:{name} at {head}")
            }
            Ok(CiJob::Commits { base, head, service }) => {
                format!("{}..{head} {service:?}", base.unwrap_or_default())
            }
            Ok(CiJob::Comment) => "nothing".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn jobs_follow_from_variables_and_events() {
        let github =
            [("GITHUB_ACTIONS", "true"), ("GITHUB_REPOSITORY", "o/r"), ("GITHUB_SHA", "s")];
        let pull = |head: &str| json!({"pull_request": {"number": 7, "head": {"repo": {"full_name": head}}}});
        let comment = |body: &str, by: &str| {
            json!({"issue": {"number": 7, "pull_request": {}},
                   "comment": {"body": body, "author_association": by}})
        };
        let zeros = "0000000000000000000000000000000000000000";
        let run = json!({"workflow_run": {
            "head_sha": "h", "head_branch": "topic", "head_repository": {"owner": {"login": "eve"}},
        }});
        let rows = [
            (Some(pull("O/R")), "o/r#7 fork: false"),
            (Some(pull("eve/r")), "o/r#7 fork: true"),
            (Some(comment("/mala review", "MEMBER")), "o/r#7 fork: false"),
            (Some(comment("/mala review", "NONE")), "nothing"),
            (Some(comment("looks good", "OWNER")), "nothing"),
            (Some(json!({"before": "a", "after": "b"})), "a..b GitHubActions"),
            (Some(json!({"before": zeros, "after": "b"})), "..b GitHubActions"),
            (Some(json!({"schedule": "daily"})), "..s GitHubActions"),
            (Some(run), "o/r eve:topic at h"),
            (None, "the file of GITHUB_EVENT_PATH is missing"),
        ];
        for (event, expected) in rows {
            assert_eq!(words(&github, event.clone()), expected, "{event:?}");
        }
        let gitlab = ("GITLAB_CI", "true");
        let iid = ("CI_MERGE_REQUEST_IID", "3");
        let base = ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "b");
        let head = ("CI_COMMIT_SHA", "h");
        let before = ("CI_COMMIT_BEFORE_SHA", zeros);
        let token = ("GITLAB_TOKEN", "t");
        let project = ("CI_MERGE_REQUEST_PROJECT_PATH", "g/sub/p");
        for (variables, expected) in [
            (vec![gitlab, iid, base, head, before], "b..h GitLab"),
            (vec![gitlab, iid, token, project, base, head], "g/sub/p!3"),
            (vec![gitlab, iid, token, base, head], "CI_MERGE_REQUEST_PROJECT_PATH is missing"),
            (vec![gitlab, token, head, before], "..h GitLab"),
            (vec![gitlab, head, before], "..h GitLab"),
            (vec![gitlab, iid, head], "CI_MERGE_REQUEST_DIFF_BASE_SHA is missing"),
            (vec![], "no CI service was detected: neither GITHUB_ACTIONS nor GITLAB_CI is true"),
        ] {
            assert_eq!(words(&variables, None), expected);
        }
    }
}
