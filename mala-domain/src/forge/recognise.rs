//! Recognises comments that appeared while a review ran: a concurrent run may have posted the same
//! findings with other wording, and so with other ids.

use super::{Discussion, InlineFinding, PostedFinding};
use crate::change::{Change, FilePath};
use crate::finding::{Finding, FindingState};
use crate::ledger::delta::ReviewedLines;
use crate::ledger::matching::{KnownFindings, match_all};
use crate::ledger::{LedgerFinding, Standing};
use crate::ports::Blob;
use crate::review::FileTexts;
use std::collections::{BTreeMap, BTreeSet};

impl PostedFinding {
    /// The finding as a ledger has an open one, reported in this change at this time.
    pub fn as_known(&self, subject: &str, at: &str) -> LedgerFinding {
        let Self { id, remembered } = self;
        LedgerFinding {
            id: id.clone(),
            state: FindingState::Open,
            subject: subject.to_owned(),
            standing: Some(Standing::New),
            first_seen: remembered.review.clone(),
            first_seen_at: at.to_owned(),
            last_seen_at: at.to_owned(),
            n_occurrences: 1,
            waiver: None,
            paths: Vec::new(),
            code: None,
            finding: remembered.finding(),
        }
    }
}

/// Gives findings without a comment the ids of the comments that are about them. Comments about findings that are
/// `earlier` are left out, because the ledger decided about those. `issues` are the findings of the report, and `sources`
/// the files at head.
pub fn recognise_posted(
    findings: &mut [InlineFinding],
    issues: &[Finding],
    (earlier, discussion): (&BTreeSet<&str>, &Discussion),
    (change, sources): (&Change, &BTreeMap<FilePath, String>),
) {
    let current: BTreeSet<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    let is_candidate = |it: &PostedFinding| {
        !earlier.contains(it.id.0.as_str()) && !current.contains(it.id.0.as_str())
    };
    let posted = discussion.posted_findings().into_iter().filter(is_candidate);
    let known: Vec<LedgerFinding> = posted.map(|it| it.as_known("", "")).collect();
    if known.is_empty() {
        return;
    }
    let commented: BTreeSet<&str> = discussion.threads().map(|(_, id)| id).collect();
    let unposted = findings.iter_mut().filter(|it| !commented.contains(it.id.as_str()));
    let (unposted, wanted): (Vec<&mut InlineFinding>, Vec<Finding>) = unposted
        .filter_map(|it| {
            let issue = issues.iter().find(|issue| issue.dedupe_key.as_str() == it.key)?;
            Some((it, issue.clone()))
        })
        .unzip();
    let text = |(path, text): (&FilePath, &String)| (path.clone(), Blob::Text(text.clone()));
    let texts = FileTexts { base: BTreeMap::new(), head: sources.iter().map(text).collect() };
    let facts = KnownFindings {
        findings: &known,
        renames: &BTreeMap::new(),
        delta: None,
        added: &ReviewedLines::of(change),
        texts: &texts,
    };
    for (finding, decision) in unposted.into_iter().zip(match_all(&wanted, &facts)) {
        finding.id = decision.id.map_or_else(|| finding.id.clone(), |id| id.0);
    }
}
