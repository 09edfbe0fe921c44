//! Parses two answers: which claims have the same cause, and how findings are to be reported.

use super::fields::{cut, list, object, optional_text, percent, text};
use super::json_object::{self, ParseMethod};
use super::{ParseProblem, RawAnswer};

/// Claims with the same cause, by their ids.
pub type CauseGroups = Vec<Vec<String>>;

/// How to report one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFinding {
    /// The id of the finding.
    pub id: String,
    /// The id of another finding with the same cause.
    pub same_as: Option<String>,
    /// A short title.
    pub title: String,
    /// What goes wrong, and when.
    pub body: String,
    /// How many of 100 maintainers would call it worth a comment.
    pub worth: Option<u8>,
}

const MAX_ITEMS: usize = 500;

/// Parses the groups of claims with the same cause. Groups with a single claim are dropped.
pub fn read_groups(raw: &RawAnswer<'_>) -> Result<(CauseGroups, ParseMethod), ParseProblem> {
    let (found, method) = json_object::find(raw, &["groups"])?;
    json_object::require_agreement(raw, &["groups"])?;
    let groups = list(&found, "groups")?.iter().take(MAX_ITEMS).map(|group| {
        let ids = group.as_array().ok_or(ParseProblem::InvalidFormat)?.iter().take(MAX_ITEMS);
        ids.map(|id| id.as_str().map(|id| cut(id, 40)).ok_or(ParseProblem::InvalidFormat)).collect()
    });
    let groups: CauseGroups = groups.collect::<Result<_, _>>()?;
    Ok((groups.into_iter().filter(|group| group.len() > 1).collect(), method))
}

/// Parses how to report the findings, the most important first.
pub fn read_edit(raw: &RawAnswer<'_>) -> Result<(Vec<EditedFinding>, ParseMethod), ParseProblem> {
    let (found, method) = json_object::find(raw, &["findings"])?;
    json_object::require_agreement(raw, &["findings"])?;
    let findings = list(&found, "findings")?.iter().take(MAX_ITEMS).map(|value| {
        let finding = object(value)?;
        let same_as = optional_text(finding, "same_as")?.map(str::trim).unwrap_or_default();
        Ok(EditedFinding {
            id: cut(text(finding, "id")?, 40),
            same_as: Some(cut(same_as, 40)).filter(|id| !id.is_empty()),
            title: cut(optional_text(finding, "title")?.unwrap_or_default().trim(), 300),
            body: cut(optional_text(finding, "body")?.unwrap_or_default().trim(), 4_000),
            worth: finding.get("worth").and_then(percent),
        })
    });
    Ok((findings.collect::<Result<_, _>>()?, method))
}
