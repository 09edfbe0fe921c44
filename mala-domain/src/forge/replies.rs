//! Decisions about findings on a pull request: commands in comments, such as `/mala waive
//! <reason>`, and resolved threads. They count only from accounts with write access to the
//! repository.

use super::{
    CommentedFinding, Discussion, ForgeAuthor, InlineComment, answered_command, commented_finding,
    finding_id, read_summary,
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
    /// An unknown command, or a waiver or a dispute without a reason.
    Invalid,
}

/// The command on the first line of a comment; `None` when it does not start with `/mala`. What mala wrote itself is
/// never a command, even if an explanation starts like one.
pub fn parse_command(body: &str) -> Option<ReplyCommand> {
    if is_marked(body) {
        return None;
    }
    let line = body.trim_start().lines().next()?;
    let mut words = line.split_whitespace();
    if words.next()? != "/mala" {
        return None;
    }
    let command = words.next().unwrap_or_default();
    let rest = words.collect::<Vec<_>>().join(" ");
    Some(match (command, rest.is_empty()) {
        ("waive", false) => ReplyCommand::Waive(rest),
        ("dispute", false) => ReplyCommand::Dispute(rest),
        ("review", true) => ReplyCommand::Review,
        ("explain", true) => ReplyCommand::Explain,
        _ => ReplyCommand::Invalid,
    })
}

/// A command that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnansweredCommand<'d> {
    /// The comment with the command.
    pub id: u64,
    /// The first comment of its thread; `None` for a comment on the pull request as a whole.
    pub thread: Option<u64>,
    /// The content of the answer.
    pub answer: CommandAnswer<'d>,
}

/// The content of the answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandAnswer<'d> {
    /// Why the finding with this id is reported.
    Explanation(&'d str),
    /// Why the command has no effect.
    NoEffect(&'static str),
}

/// The answer that a command gets in the thread of a finding, or on the pull request as a whole.
fn command_answer<'d>(
    command: &ReplyCommand,
    finding: Option<&'d str>,
) -> Option<CommandAnswer<'d>> {
    match (command, finding) {
        (ReplyCommand::Waive(_) | ReplyCommand::Dispute(_), Some(_))
        | (ReplyCommand::Review, None) => None,
        (ReplyCommand::Explain, Some(finding)) => Some(CommandAnswer::Explanation(finding)),
        (ReplyCommand::Review, Some(_)) => Some(CommandAnswer::NoEffect(
            "A review is asked for in a comment on the pull request, not in a reply.",
        )),
        (ReplyCommand::Waive(_) | ReplyCommand::Dispute(_) | ReplyCommand::Explain, None) => {
            Some(CommandAnswer::NoEffect(
                "This command is about a finding: write it in a reply to the comment of that finding.",
            ))
        }
        (ReplyCommand::Invalid, _) => {
            Some(CommandAnswer::NoEffect("This command is not known, or its reason is missing."))
        }
    }
}

/// A finding with a comment of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct PostedFinding {
    /// Its id.
    pub id: FindingId,
    /// The data that the comment stores.
    pub remembered: CommentedFinding,
}

/// A person's decision about a finding on the pull request.
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
        self.marked_threads().filter(|(comment, _)| self.is_ours(&comment.author))
    }

    /// The first comments of threads with the marker of a finding, by any account.
    pub fn marked_threads(&self) -> impl Iterator<Item = (&InlineComment, &str)> {
        let first = self.inline.iter().filter(|comment| comment.reply_to.is_none());
        first.filter_map(|comment| Some((comment, finding_id(&comment.body)?)))
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

    /// The logins that need write access for their comments to count: those that give commands,
    /// resolve threads, or write comments with our markers.
    pub fn speakers(&self) -> BTreeSet<String> {
        let comments = self.comments.iter().map(|one| (&one.author, one.body.as_str()));
        let inline = self.inline.iter().map(|one| (&one.author, one.body.as_str()));
        let counts = |(author, body): &(&ForgeAuthor, &str)| {
            let is_command = !author.is_bot && parse_command(body).is_some();
            is_command || (is_marked(body) && !self.is_own(author))
        };
        let authors = comments.chain(inline).filter(counts).map(|(author, _)| author.login.clone());
        let ours: BTreeSet<u64> = self.marked_threads().map(|(first, _)| first.id).collect();
        let resolved = self.resolved.iter().filter(|thread| ours.contains(&thread.first));
        let resolvers = resolved.filter_map(|thread| thread.by.clone());
        authors.chain(resolvers.filter(|login| !self.is_viewer(login))).collect()
    }

    /// The decisions about findings: the last command of a thread, or the resolved thread.
    pub fn decisions(&self) -> Vec<ThreadDecision> {
        let decided = self.threads().filter_map(|(first, id)| {
            let replies = self.replies(first.id);
            let said = replies.into_iter().rev().find_map(|reply| self.decision(reply));
            let (event, reason, by) = said.or_else(|| self.resolution(first))?;
            Some(ThreadDecision { id: FindingId(id.to_owned()), event, reason, by })
        });
        decided.collect()
    }

    /// Whether a decision with this reason was made on this pull request and its source is gone: the thread was opened
    /// again, or the reply was deleted or changed.
    pub fn is_taken_back(&self, id: &FindingId, reason: &str) -> bool {
        let Some((first, _)) = self.threads().find(|(_, known)| *known == id.0) else {
            return false;
        };
        if reason == resolution_reason(first) {
            let is_resolved = self.resolved.iter().any(|thread| thread.first == first.id);
            return self.has_resolved && !is_resolved;
        }
        let page = first.url.split('#').next().unwrap_or_default();
        let is_here = !page.is_empty() && reason.contains(&format!("({page}#"));
        let is_source = |reply: &&InlineComment| matches!(stated_decision(reply), Some((_, stated)) if stated == reason);
        is_here && !self.replies(first.id).iter().any(is_source)
    }

    fn decision(&self, reply: &InlineComment) -> Option<(FindingEvent, String, String)> {
        let (event, reason) = stated_decision(reply)?;
        let by = reply.author.login.clone();
        self.can_write(&reply.author).then_some((event, reason, by))
    }

    /// A person who resolves a thread accepts its finding. When the account that wrote the thread resolves it, that may
    /// have been mala.
    fn resolution(&self, first: &InlineComment) -> Option<(FindingEvent, String, String)> {
        let thread = self.resolved.iter().find(|thread| thread.first == first.id)?;
        let is_person = |login: &String| !self.is_viewer(login) && *login != first.author.login;
        let by = thread.by.clone().filter(is_person)?;
        let reason = resolution_reason(first);
        self.writers.contains(&by).then_some((FindingEvent::Waived, reason, by))
    }

    /// The number of the last comment with `/mala review` on the pull request as a whole; 0 if
    /// there is none.
    pub fn last_review_command(&self) -> u64 {
        let asked = self.comments.iter().filter(|one| {
            parse_command(&one.body) == Some(ReplyCommand::Review) && self.can_write(&one.author)
        });
        asked.map(|one| one.id).max().unwrap_or(0)
    }

    /// The commands without an answer that need one: questions, and commands without an effect.
    pub fn unanswered_commands(&self) -> Vec<UnansweredCommand<'_>> {
        let comments = self.comments.iter().map(|one| (one.id, &one.author, one.body.as_str()));
        let mut open = self.unanswered_among(&comments.collect::<Vec<_>>(), None);
        for (first, finding) in self.threads() {
            let replies = self.replies(first.id).into_iter();
            let replies = replies.map(|one| (one.id, &one.author, one.body.as_str()));
            let thread = Some((first.id, finding));
            open.extend(self.unanswered_among(&replies.collect::<Vec<_>>(), thread));
        }
        open
    }

    /// The same among the comments of one thread, or of the pull request as a whole.
    fn unanswered_among<'d>(
        &self,
        said: &[(u64, &ForgeAuthor, &str)],
        thread: Option<(u64, &'d str)>,
    ) -> Vec<UnansweredCommand<'d>> {
        let ours = said.iter().filter(|(_, author, _)| self.is_ours(author));
        let answered: BTreeSet<u64> =
            ours.filter_map(|(_, _, body)| answered_command(body)).collect();
        let open =
            said.iter().filter(|(id, author, _)| self.can_write(author) && !answered.contains(id));
        let open = open.filter_map(|(id, _, body)| {
            let answer = command_answer(&parse_command(body)?, thread.map(|it| it.1))?;
            Some(UnansweredCommand { id: *id, thread: thread.map(|it| it.0), answer })
        });
        open.collect()
    }

    fn can_write(&self, author: &ForgeAuthor) -> bool {
        !author.is_bot && self.writers.contains(&author.login)
    }

    fn is_viewer(&self, login: &str) -> bool {
        login.ends_with("[bot]")
            || self.viewer.as_ref().is_some_and(|viewer| viewer.eq_ignore_ascii_case(login))
    }
}

/// The decision in a reply, with the address of the reply in its reason.
fn stated_decision(reply: &InlineComment) -> Option<(FindingEvent, String)> {
    let (event, reason) = match parse_command(&reply.body)? {
        ReplyCommand::Waive(reason) => (FindingEvent::Waived, reason),
        ReplyCommand::Dispute(reason) => (FindingEvent::Disputed, reason),
        ReplyCommand::Review | ReplyCommand::Explain | ReplyCommand::Invalid => return None,
    };
    Some((event, format!("{reason} ({})", reply.url)))
}

/// Whether a comment has one of our markers.
fn is_marked(body: &str) -> bool {
    finding_id(body).is_some() || answered_command(body).is_some() || read_summary(body).is_some()
}

fn resolution_reason(first: &InlineComment) -> String {
    format!("the thread was resolved ({})", first.url)
}
