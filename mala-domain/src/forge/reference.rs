//! The names of pull requests: `OWNER/REPO#N` on GitHub, `GROUP/PROJECT!N` on GitLab, a URL, or the remote of a
//! clone.

use thiserror::Error;

/// A service that hosts repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeService {
    /// GitHub.
    GitHub,
    /// GitLab, whose pull requests are called merge requests.
    GitLab,
}

impl ForgeService {
    /// The service whose form of a name this is.
    pub fn of_name(name: &str) -> Self {
        let is_short = !name.contains("://") && name.contains('!');
        match is_short || name.contains(MERGE_REQUESTS) {
            true => Self::GitLab,
            false => Self::GitHub,
        }
    }
}

const MERGE_REQUESTS: &str = "/-/merge_requests/";

/// A repository on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryName {
    /// The user or organization; on GitLab, the group with its parents (`group/subgroup`).
    pub owner: String,
    /// The name.
    pub repo: String,
}

/// A pull request on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestRef {
    /// The kind of forge.
    pub service: ForgeService,
    /// Its repository.
    pub repository: RepositoryName,
    /// Its number.
    pub number: u64,
}

/// The branch of a pull request whose number is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestBranch {
    /// The repository of the pull request.
    pub repository: RepositoryName,
    /// The account that owns the branch.
    pub owner: String,
    /// The branch.
    pub name: String,
    /// Its last commit, as far as it is known.
    pub head: String,
}

/// Why a text is not a reference to a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReferenceError {
    /// It has another form.
    #[error("'{0}' is not a pull request")]
    Malformed(String),
    /// It is on another host than the API.
    #[error("the pull request is on {host}, but the API is on {api_host}")]
    OtherHost {
        /// The host of the URL.
        host: String,
        /// The host of the forge's web pages.
        api_host: String,
    },
}

impl RepositoryName {
    /// A repository, if both names are plain.
    pub fn new(owner: &str, repo: &str) -> Option<Self> {
        let repo = repo.strip_suffix(".git").unwrap_or(repo);
        let is_name = is_plain(owner) && is_plain(repo);
        is_name.then(|| Self { owner: owner.to_owned(), repo: repo.to_owned() })
    }

    /// A repository in a group, which may have parents, if all names are plain.
    pub fn in_group(path: &str) -> Option<Self> {
        let (group, repo) = path.rsplit_once('/')?;
        let repo = repo.strip_suffix(".git").unwrap_or(repo);
        let is_name = group.split('/').all(is_plain) && is_plain(repo);
        is_name.then(|| Self { owner: group.to_owned(), repo: repo.to_owned() })
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '.'])
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

impl std::fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.owner, self.repo)
    }
}

impl PullRequestRef {
    /// Parses `OWNER/REPO#N`, `GROUP/PROJECT!N`, or the URL of a pull request on this host.
    pub fn parse(text: &str, api_host: &str) -> Result<Self, ReferenceError> {
        let malformed = || ReferenceError::Malformed(text.to_owned());
        if ForgeService::of_name(text) == ForgeService::GitLab {
            return Self::parse_merge_request(text, api_host);
        }
        if let Some((repository, number)) = text.split_once('#')
            && !text.contains("://")
        {
            let (owner, repo) = repository.split_once('/').ok_or_else(malformed)?;
            return Self::new(owner, repo, number).ok_or_else(malformed);
        }
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let path = rest.ok_or_else(malformed)?.split(['?', '#']).next().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').collect();
        let [host, owner, repo, "pull", number, ..] = parts.as_slice() else {
            return Err(malformed());
        };
        let found = Self::new(owner, repo, number).ok_or_else(malformed)?;
        same_host(host, api_host)?;
        Ok(found)
    }

    fn parse_merge_request(text: &str, api_host: &str) -> Result<Self, ReferenceError> {
        let malformed = || ReferenceError::Malformed(text.to_owned());
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let (project, number) = match rest {
            Some(rest) => {
                let (path, number) = rest.split_once(MERGE_REQUESTS).ok_or_else(malformed)?;
                let (host, project) = path.split_once('/').ok_or_else(malformed)?;
                same_host(host, api_host)?;
                (project, number.split(['/', '?', '#']).next().unwrap_or_default())
            }
            None => text.split_once('!').ok_or_else(malformed)?,
        };
        let repository = RepositoryName::in_group(project).ok_or_else(malformed)?;
        let number = positive(number).ok_or_else(malformed)?;
        Ok(Self { service: ForgeService::GitLab, repository, number })
    }

    fn new(owner: &str, repo: &str, number: &str) -> Option<Self> {
        let repository = RepositoryName::new(owner, repo)?;
        Some(Self { service: ForgeService::GitHub, repository, number: positive(number)? })
    }
}

fn positive(number: &str) -> Option<u64> {
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|number| is_number && *number > 0)
}

fn same_host(host: &str, api_host: &str) -> Result<(), ReferenceError> {
    match host.eq_ignore_ascii_case(api_host) {
        true => Ok(()),
        false => {
            Err(ReferenceError::OtherHost { host: host.to_owned(), api_host: api_host.to_owned() })
        }
    }
}

impl std::fmt::Display for PullRequestRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = match self.service {
            ForgeService::GitHub => '#',
            ForgeService::GitLab => '!',
        };
        write!(f, "{}{sign}{}", self.repository, self.number)
    }
}

/// The host of a forge's web pages, from the URL of its API.
pub fn web_host(api: &str) -> &str {
    let rest = api.split_once("://").map_or(api, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    match host {
        "api.github.com" => "github.com",
        // GitHub Enterprise Cloud with data residency.
        host if host.ends_with(".ghe.com") => host.strip_prefix("api.").unwrap_or(host),
        host => host,
    }
}

/// The repository that the URL of a remote names, if it is on this host.
pub fn remote_repository(url: &str, host: &str) -> Option<RepositoryName> {
    let path = match url.split_once("://") {
        Some((_, rest)) => {
            let (place, path) = rest.split_once('/')?;
            let named = place.rsplit('@').next().unwrap_or_default();
            // An address of ssh may have another port than the web pages.
            let without_port = named.split(':').next().unwrap_or_default();
            (named == host || without_port == host).then_some(path)?
        }
        None => {
            let (place, path) = url.split_once(':')?;
            (place.rsplit('@').next() == Some(host)).then_some(path)?
        }
    };
    RepositoryName::in_group(path.trim_matches('/'))
}
