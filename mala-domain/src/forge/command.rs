//! Commands in replies, such as `/mala waive <reason>`.

/// A command in a reply.
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

/// The command on the first line of a reply, if its author may write to the repository. A waiver and a
/// dispute need a reason.
pub fn parse_command(body: &str, can_write: bool) -> Option<ReplyCommand> {
    let line = body.trim_start().lines().next()?;
    let mut words = line.split_whitespace();
    if words.next()? != "/mala" || !can_write {
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
