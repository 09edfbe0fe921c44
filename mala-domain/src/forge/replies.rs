//! Commands in comments, such as `/mala waive <reason>`, and resolved threads: what people decided about findings.
//! They count only from accounts with write access to the repository.

use super::{
    CommentedFinding, Discussion, ForgeAuthor, InlineComment, answered_command, commented_finding,
    finding_id,
};
use crate::ledger::FindingId;
use crate::ledger::states::FindingEvent;
use std::collections::BTreeSet;

/// A command in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyCommand {
    /// Accept the finding, for this reason.
    Waive(String),
    /// The finding is wrong, for this reason.
    Dispute(String),
    /// Review the pull request again.
    Review,
    /// Explain the finding.
    Explain,
}

/// The command on the first line of a comment. A waiver and a dispute need a reason.
pub fn parse_command(body: &str) -> Option<ReplyCommand> {
    let line = body.trim_start().lines().next()?;
    let mut words = line.split_whitespace();
    if words.next()? != "/mala" {
        return None;
    }
    let command = words.next()?;
    let rest = words.collect::<Vec<_>>().join(" ");
    match (command, rest.is_empty()) {
        ("waive", false) => Some(ReplyCommand::Waive(rest)),
        ("dispute", false) => Some(ReplyCommand::Dispute(rest)),
        ("review", true) => Some(ReplyCommand::Review),
        ("explain", true) => Some(ReplyCommand::Explain),
        _ => None,
    }
}

/// A finding with a comment of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct PostedFinding {
    /// Its id.
    pub id: FindingId,
    /// What the comment remembers of it.
    pub remembered: CommentedFinding,
}

/// What a person decided about a finding on the pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadDecision {
    /// The finding.
    pub id: FindingId,
    /// `Waived` or `Disputed`.
    pub event: FindingEvent,
    /// The reason, with the address of the comment.
    pub reason: String,
    /// The login.
    pub by: String,
}

impl Discussion {
    /// The first comments of our threads with the ids of their findings, oldest first.
    pub fn threads(&self) -> impl Iterator<Item = (&InlineComment, &str)> {
        let first = self.inline.iter().filter(|comment| comment.reply_to.is_none());
        let ours = first.filter(|comment| self.is_ours(&comment.author));
        ours.filter_map(|comment| Some((comment, finding_id(&comment.body)?)))
    }

    /// The comments of a thread after its first one, oldest first.
    pub fn replies(&self, to: u64) -> Vec<&InlineComment> {
        let mut replies: Vec<_> =
            self.inline.iter().filter(|comment| comment.reply_to == Some(to)).collect();
        replies.sort_by_key(|comment| comment.id);
        replies
    }

    /// The findings that our comments remember.
    pub fn posted_findings(&self) -> Vec<PostedFinding> {
        let found = self.threads().filter_map(|(comment, id)| {
            let remembered = commented_finding(&comment.body)?;
            Some(PostedFinding { id: FindingId(id.to_owned()), remembered })
        });
        found.collect()
    }

    /// The logins whose words count only with write access.
    pub fn speakers(&self) -> BTreeSet<String> {
        let comments = self.comments.iter().map(|one| (&one.author, one.body.as_str()));
        let inline = self.inline.iter().map(|one| (&one.author, one.body.as_str()));
        let commands = comments
            .chain(inline)
            .filter(|(author, body)| !author.is_bot && parse_command(body).is_some());
        let commands = commands.map(|(author, _)| author.login.clone());
        let ours: BTreeSet<u64> = self.threads().map(|(first, _)| first.id).collect();
        let resolved = self.resolved.iter().filter(|thread| ours.contains(&thread.first));
        let resolvers = resolved.filter_map(|thread| thread.by.clone());
        commands.chain(resolvers.filter(|login| !self.is_viewer(login))).collect()
    }

    /// What people decided about findings: the last command of a thread, or that they resolved the thread.
    pub fn decisions(&self) -> Vec<ThreadDecision> {
        let decided = self.threads().filter_map(|(first, id)| {
            let replies = self.replies(first.id);
            let said = replies.into_iter().rev().find_map(|reply| self.decision(reply));
            let (event, reason, by) = said.or_else(|| self.resolution(first))?;
            Some(ThreadDecision { id: FindingId(id.to_owned()), event, reason, by })
        });
        decided.collect()
    }

    fn decision(&self, reply: &InlineComment) -> Option<(FindingEvent, String, String)> {
        let (event, reason) = match parse_command(&reply.body)? {
            ReplyCommand::Waive(reason) => (FindingEvent::Waived, reason),
            ReplyCommand::Dispute(reason) => (FindingEvent::Disputed, reason),
            ReplyCommand::Review | ReplyCommand::Explain => return None,
        };
        let by = reply.author.login.clone();
        self.can_write(&reply.author).then(|| (event, format!("{reason} ({})", reply.url), by))
    }

    /// A person who resolves a thread accepts its finding.
    fn resolution(&self, first: &InlineComment) -> Option<(FindingEvent, String, String)> {
        let thread = self.resolved.iter().find(|thread| thread.first == first.id)?;
        let by = thread.by.clone().filter(|login| !self.is_viewer(login))?;
        let reason = format!("the thread was resolved ({})", first.url);
        self.writers.contains(&by).then_some((FindingEvent::Waived, reason, by))
    }

    /// The last comment on the pull request as a whole with `/mala review`; 0 when there is none.
    pub fn last_review_command(&self) -> u64 {
        let asked = self.comments.iter().filter(|one| {
            parse_command(&one.body) == Some(ReplyCommand::Review) && self.can_write(&one.author)
        });
        asked.map(|one| one.id).max().unwrap_or(0)
    }

    /// The requests to explain a finding that have no answer: the thread, the command and the finding.
    pub fn unanswered_questions(&self) -> Vec<(u64, u64, &str)> {
        let mut open = Vec::new();
        for (first, id) in self.threads() {
            let replies = self.replies(first.id);
            let ours = replies.iter().filter(|reply| self.is_ours(&reply.author));
            let answered: BTreeSet<u64> =
                ours.filter_map(|reply| answered_command(&reply.body)).collect();
            let asked = replies.iter().filter(|reply| {
                parse_command(&reply.body) == Some(ReplyCommand::Explain)
                    && self.can_write(&reply.author)
                    && !answered.contains(&reply.id)
            });
            open.extend(asked.map(|reply| (first.id, reply.id, id)));
        }
        open
    }

    fn can_write(&self, author: &ForgeAuthor) -> bool {
        !author.is_bot && self.writers.contains(&author.login)
    }

    fn is_viewer(&self, login: &str) -> bool {
        login.ends_with("[bot]")
            || self.viewer.as_ref().is_some_and(|viewer| viewer.eq_ignore_ascii_case(login))
    }
}
