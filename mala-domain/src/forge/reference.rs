//! The names of pull requests: `OWNER/REPO#N`, a URL, or the remote of a clone.

use thiserror::Error;

/// A repository on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryName {
    /// The user or organization.
    pub owner: String,
    /// The name.
    pub repo: String,
}

/// A pull request on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestRef {
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

/// Why a word does not name a pull request.
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
        let is_plain = |name: &str| {
            !name.is_empty()
                && !name.starts_with(['-', '.'])
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        let is_name = is_plain(owner) && is_plain(repo);
        is_name.then(|| Self { owner: owner.to_owned(), repo: repo.to_owned() })
    }
}

impl std::fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.owner, self.repo)
    }
}

impl PullRequestRef {
    /// Parses `OWNER/REPO#N`, or the URL of a pull request on this host.
    pub fn parse(text: &str, api_host: &str) -> Result<Self, ReferenceError> {
        let malformed = || ReferenceError::Malformed(text.to_owned());
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
        match host.eq_ignore_ascii_case(api_host) {
            true => Ok(found),
            false => Err(ReferenceError::OtherHost {
                host: (*host).to_owned(),
                api_host: api_host.to_owned(),
            }),
        }
    }

    fn new(owner: &str, repo: &str, number: &str) -> Option<Self> {
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|number| is_number && *number > 0)?;
        Some(Self { repository: RepositoryName::new(owner, repo)?, number })
    }
}

impl std::fmt::Display for PullRequestRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.repository, self.number)
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
    let (owner, repo) = path.trim_matches('/').split_once('/')?;
    RepositoryName::new(owner, repo)
}
