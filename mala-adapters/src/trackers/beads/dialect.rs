//! The options of the programs named `bd`. Values are given as `--name=value`, so that no text is an option.

use mala_domain::run::issue::{IssueDraft, IssueId, IssueKind};
use serde_json::Value;

/// The program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BeadsDialect {
    /// `bd` of the beads project itself.
    Upstream,
    /// `beads-rs`: a daemon, and claims that are leases.
    BeadsRs,
    /// `rusty-beads`: few options, no notes, and edges separate from issues.
    RustyBeads,
}

impl BeadsDialect {
    /// Detects the program from the output of `bd --help`.
    pub(super) fn of_help(help: &str) -> Self {
        let has = |command: &str| {
            help.lines().any(|line| line.split_whitespace().next() == Some(command))
        };
        match (has("claim") && has("unclaim"), has("search")) {
            (true, _) => Self::BeadsRs,
            (false, true) => Self::Upstream,
            (false, false) => Self::RustyBeads,
        }
    }

    /// A call that prints JSON.
    pub(super) fn with_json(self, arguments: Vec<String>) -> Vec<String> {
        let first: &[&str] = match self {
            Self::Upstream => &["--json"],
            // Without a value, it treats the next argument as one.
            Self::BeadsRs => &["--json=true"],
            Self::RustyBeads => &["--json", "--no-daemon"],
        };
        first.iter().map(ToString::to_string).chain(arguments).collect()
    }

    /// All issues, closed ones too.
    pub(super) fn list(self) -> Vec<String> {
        words(match self {
            Self::Upstream => &["list", "--all", "--limit=0"],
            Self::BeadsRs => &["list"],
            Self::RustyBeads => &["list", "--all", "--limit=1000000"],
        })
    }

    pub(super) fn show(self, id: &IssueId) -> Vec<String> {
        words(&["show", id.as_str()])
    }

    /// The edges of an issue, where `show` does not print them.
    pub(super) fn edges(self, id: &IssueId) -> Option<Vec<String>> {
        (self == Self::RustyBeads).then(|| words(&["dep", "list", id.as_str()]))
    }

    pub(super) fn claim(self, id: &IssueId, owner: &str) -> Vec<String> {
        let assignee = format!("--assignee={owner}");
        match self {
            Self::BeadsRs => words(&["claim", id.as_str(), "--lease-secs=86400"]),
            Self::Upstream | Self::RustyBeads => {
                words(&["update", id.as_str(), "--status=in_progress", &assignee])
            }
        }
    }

    /// Whether the stored issue has the claim that this answer confirmed. Only for programs that do
    /// not store the owner; for others, the assignee is enough.
    pub(super) fn is_own_claim(self, answer: &Value, stored: &Value) -> bool {
        let expires = &answer["expires"];
        self == Self::BeadsRs && expires.is_u64() && *expires == stored["assignee_expires"]
    }

    /// Whether the assignee of an issue is the owner that claimed it. The daemon of `beads-rs`
    /// claims in its own name for all clients.
    pub(super) fn knows_owners(self) -> bool {
        self != Self::BeadsRs
    }

    /// The calls that open a claimed issue again.
    pub(super) fn release(self, id: &IssueId, reason: &str) -> Vec<Vec<String>> {
        let id = id.as_str();
        match self {
            Self::Upstream => {
                let notes = format!("--append-notes={reason}");
                vec![words(&["update", id, "--status=open", "--assignee=", &notes])]
            }
            Self::BeadsRs => {
                let notes = format!("--notes={reason}");
                vec![words(&["unclaim", id]), words(&["update", id, "--status=open", &notes])]
            }
            Self::RustyBeads => vec![words(&["update", id, "--status=open", "--assignee="])],
        }
    }

    pub(super) fn close(self, id: &IssueId, reason: &str) -> Vec<String> {
        words(&["close", id.as_str(), &format!("--reason={reason}")])
    }

    /// Creates an issue with all of its texts in one call, so that it is never incomplete.
    pub(super) fn create(self, draft: &IssueDraft) -> Vec<String> {
        let name = if self == Self::RustyBeads { "--issue-type" } else { "--type" };
        let kind = if draft.kind == IssueKind::Epic { "epic" } else { "task" };
        let mut call = words(&[
            "create",
            &format!("--title={}", draft.title),
            &format!("--description={}", draft.body),
            &format!("--priority={}", draft.priority),
            &format!("{name}={kind}"),
        ]);
        call.extend(draft.parent.iter().map(|parent| format!("--parent={parent}")));
        if !draft.labels.is_empty() {
            call.push(format!("--labels={}", draft.labels.join(",")));
        }
        call
    }

    /// Links an issue to the one that it was found in.
    pub(super) fn relate(self, id: &IssueId, other: &IssueId) -> Vec<String> {
        let kind = if self == Self::BeadsRs { "discovered_from" } else { "discovered-from" };
        self.link(kind, id, other)
    }

    /// Says that an issue waits for another one.
    pub(super) fn block(self, id: &IssueId, blocker: &IssueId) -> Vec<String> {
        self.link("blocks", id, blocker)
    }

    fn link(self, kind: &str, id: &IssueId, other: &IssueId) -> Vec<String> {
        let name = match self {
            Self::Upstream => "--type",
            Self::BeadsRs => "--kind",
            Self::RustyBeads => "--dep-type",
        };
        words(&["dep", "add", &format!("{name}={kind}"), id.as_str(), other.as_str()])
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}
