//! Patterns that check URLs or host names and let more through than they seem to: an unescaped
//! dot, a wildcard in front of the domain, a missing anchor.

use super::ast::{Assertion, Ast, Form, NodeId, NodeKind};
use super::{Anchoring, Flags, RegexProblem, RegexProblemKind};

/// Top-level domains that mark a sequence of literals as a host name.
const TOP_LEVEL: &[&str] =
    &["com", "org", "net", "edu", "gov", "io", "uk", "dev", "app", "info", "biz", "mil"];

/// The host-name problems of a pattern.
pub(super) fn find(ast: &Ast, pattern: &str, flags: Flags) -> Vec<RegexProblem> {
    if !TOP_LEVEL.iter().any(|domain| pattern.contains(domain)) {
        return Vec::new();
    }
    let concats = (0..ast.nodes.len()).filter(|id| matches!(ast.kind(*id), NodeKind::Concat(_)));
    let found = concats.filter_map(|id| incomplete(&spine(ast, id)));
    let mut problems: Vec<RegexProblem> = found.collect();
    problems.sort_by_key(|problem| (problem.start, problem.end));
    problems.dedup_by_key(|problem| (problem.start, problem.end));
    let searched = flags.anchoring == Anchoring::Search;
    if searched && let Some(problem) = unanchored(ast) {
        problems.push(problem);
    }
    problems
}

/// One step of a pattern as far as host names are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// One of several names.
    Name,
    /// An unescaped dot.
    Dot,
    /// A dot that is repeated.
    Wildcard,
    Start,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    token: Token,
    start: usize,
    end: usize,
}

fn spine(ast: &Ast, id: NodeId) -> Vec<Step> {
    let mut steps = Vec::new();
    collect(ast, id, &mut steps);
    steps
}

fn collect(ast: &Ast, id: NodeId, steps: &mut Vec<Step>) {
    let node = ast.node(id);
    let token = match &node.kind {
        NodeKind::Concat(parts) => {
            parts.iter().for_each(|part| collect(ast, *part, steps));
            return;
        }
        NodeKind::Group { body, .. } if !matches!(ast.kind(*body), NodeKind::Alternate(_)) => {
            return collect(ast, *body, steps);
        }
        NodeKind::Group { body, .. } if is_choice_of_names(ast, *body) => Token::Name,
        NodeKind::Chars { form: Form::Literal(point), .. } => {
            char::from_u32(*point).map_or(Token::Other, |c| Token::Literal(c.to_ascii_lowercase()))
        }
        NodeKind::Chars { form: Form::Dot, .. } => Token::Dot,
        NodeKind::Chars { form: Form::Class, set } if *set == super::charset::CharSet::one(46) => {
            Token::Literal('.')
        }
        // What is optional is taken to be there, unless it is one character.
        NodeKind::Repeat { body, max: Some(1), .. }
            if matches!(ast.kind(*body), NodeKind::Group { .. }) =>
        {
            return collect(ast, *body, steps);
        }
        NodeKind::Repeat { body, max: None, .. } => match ast.kind(ast.bare(*body)) {
            NodeKind::Chars { form: Form::Dot, .. } => Token::Wildcard,
            _ => Token::Other,
        },
        NodeKind::Assert(Assertion::TextStart | Assertion::LineStart) => Token::Start,
        _ => Token::Other,
    };
    steps.push(Step { token, start: node.start, end: node.end });
}

fn label(step: &Step) -> bool {
    match step.token {
        Token::Literal(c) => c.is_ascii_alphanumeric() || c == '-',
        Token::Name => true,
        Token::Dot | Token::Wildcard | Token::Start | Token::Other => false,
    }
}

/// `(one|two)`, where each branch is a name of a host or a domain.
fn is_choice_of_names(ast: &Ast, body: NodeId) -> bool {
    let NodeKind::Alternate(branches) = ast.kind(body) else { return false };
    branches.iter().all(|branch| {
        let steps = spine(ast, *branch);
        steps.len() >= 2 && steps.iter().all(label)
    })
}

/// Where a registered name such as `example.com` starts and ends among the steps, if it ends at
/// the top-level domain that begins at `at`.
fn domain_at(steps: &[Step], at: usize) -> Option<(usize, usize)> {
    let tail: String = steps[at..]
        .iter()
        .map_while(|step| match step.token {
            Token::Literal(c) if c.is_ascii_alphanumeric() || c == '-' => Some(c),
            _ => None,
        })
        .collect();
    if !TOP_LEVEL.contains(&tail.as_str()) {
        return None;
    }
    let end = at + tail.len();
    let more = steps.get(end).map(|step| step.token);
    if matches!(more, Some(Token::Literal('.' | '_') | Token::Dot)) {
        return None;
    }
    let dot = at.checked_sub(1)?;
    if !matches!(steps[dot].token, Token::Dot | Token::Literal('.')) {
        return None;
    }
    let name = steps[..dot].iter().rev().take_while(|step| label(step));
    let (length, choice) =
        name.fold((0, false), |(n, choice), step| (n + 1, choice || step.token == Token::Name));
    (length >= 2 || choice).then_some((dot - length, end))
}

/// An unescaped dot or a wildcard in front of the registered name.
fn incomplete(steps: &[Step]) -> Option<RegexProblem> {
    if is_prose(steps) {
        return None;
    }
    (1..steps.len()).find_map(|at| {
        let (start, end) = domain_at(steps, at)?;
        let front = steps[..start].last()?;
        let before = start.checked_sub(2).and_then(|index| steps.get(index));
        let named = before.is_some_and(|step| label(step) || step.token == Token::Other);
        let dotted = front.token == Token::Dot && named;
        let wildcard = if front.token == Token::Wildcard { Some(front) } else { before }
            .filter(|step| step.token == Token::Wildcard)
            .filter(|_| follows_scheme(steps, start));
        let blamed = if dotted { front } else { wildcard? };
        let kind = RegexProblemKind::IncompleteHostname;
        let mut problem = RegexProblem::at(kind, blamed.start, blamed.end);
        problem.witness = Some(spelled(&steps[start..end]));
        Some(problem)
    })
}

/// Whether a wildcard shortly before `start` comes right after `//`.
fn follows_scheme(steps: &[Step], start: usize) -> bool {
    let wildcard = steps[..start].iter().rposition(|step| step.token == Token::Wildcard);
    let Some(at) = wildcard.and_then(|at| at.checked_sub(2)) else { return false };
    let is_of_web = match at.checked_sub(2) {
        Some(before) => {
            matches!(steps[before].token, Token::Literal('s') | Token::Other)
                || ends_http(&steps[..at - 1])
        }
        None => true,
    };
    is_of_web && steps[at..at + 2].iter().all(|step| step.token == Token::Literal('/'))
}

/// Whether the letters `http` come last.
fn ends_http(steps: &[Step]) -> bool {
    steps.len() >= 4 && spelled(&steps[steps.len() - 4..]) == "http"
}

fn spelled(steps: &[Step]) -> String {
    let letters = steps.iter().map(|step| match step.token {
        Token::Literal(c) => c,
        Token::Name => '*',
        _ => '.',
    });
    letters.collect()
}

/// A pattern that starts with a URL or a host name, with nothing to tie it to the start.
fn unanchored(ast: &Ast) -> Option<RegexProblem> {
    let branches = match ast.kind(ast.bare(ast.root)) {
        NodeKind::Alternate(parts) => parts.clone(),
        _ => vec![ast.root],
    };
    let all = branches.iter().all(|branch| starts_with_host(&spine(ast, *branch)));
    let root = ast.node(ast.root);
    all.then(|| RegexProblem::at(RegexProblemKind::MissingAnchor, root.start, root.end))
}

fn starts_with_host(steps: &[Step]) -> bool {
    let at = scheme_length(steps);
    let host: &[Step] = &steps[at..];
    (1..host.len()).find_map(|at| domain_at(host, at)).is_some_and(|(start, end)| {
        let lead = host[..start].iter().all(|step| {
            label(step) || matches!(step.token, Token::Dot | Token::Literal('.') | Token::Wildcard)
        });
        let next = host.get(end).map(|step| step.token);
        lead && !is_prose(host)
            && matches!(next, None | Some(Token::Literal('/' | ':' | '?') | Token::Other))
    })
}

/// Whether the pattern is about text that mentions a URL.
fn is_prose(steps: &[Step]) -> bool {
    steps.iter().any(|step| step.token == Token::Literal(' '))
}

/// The length of `http://`, `https?://` or `//` at the start.
fn scheme_length(steps: &[Step]) -> usize {
    let word: String = steps
        .iter()
        .take(10)
        .map(|step| match step.token {
            Token::Literal(c) => c,
            Token::Other | Token::Name => '?',
            _ => ' ',
        })
        .collect();
    let schemes = ["http?://", "https://", "http://", "?://", "//"];
    schemes.iter().find(|scheme| word.starts_with(**scheme)).map_or(0, |scheme| scheme.len())
}
