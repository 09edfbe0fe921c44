//! Asks every reviewer, side by side, each within its time. One reviewer's failure never cancels
//! another.

use super::admit::Admitted;
use super::context::Read;
use crate::events::{Event, EventSink};
use futures_util::future::join_all;
use mala_domain::change::FilePath;
use mala_domain::finding::Finding;
use mala_domain::gate::check::voices;
use mala_domain::ports::{Reviewer, ReviewerFailure, Scoped};
use mala_domain::report::ReviewerReport;
use mala_domain::review::admit::Dropped;
use mala_domain::review::{Hearing, ReviewRequest, Usage, Voice};
use mala_domain::verdict::Verdict;
use std::sync::Arc;
use std::time::Duration;

/// What all reviewers said.
pub(super) struct Heard {
    pub(super) hearings: Vec<(String, Result<Hearing, ReviewerFailure>)>,
}

pub(super) async fn ask(
    scoped: &Scoped,
    read: &Read,
    timeout: Duration,
    reviewers: &[Arc<dyn Reviewer>],
    events: EventSink<'_>,
) -> Heard {
    if scoped.change.is_empty() {
        return Heard { hearings: Vec::new() };
    }
    if reviewers.is_empty() {
        let nobody = ReviewerFailure::Unavailable("no reviewer is configured".to_owned());
        return Heard { hearings: vec![("none".to_owned(), Err(nobody))] };
    }
    let request = request(scoped, read, timeout);
    let hearings = reviewers.iter().map(|reviewer| one(reviewer.as_ref(), &request, events));
    Heard { hearings: join_all(hearings).await }
}

/// What a reviewer is told.
pub(super) fn request(scoped: &Scoped, read: &Read, timeout: Duration) -> ReviewRequest {
    ReviewRequest {
        change: scoped.change.clone(),
        tree: scoped.tree.clone(),
        scope: scoped.scope.clone(),
        texts: read.texts.clone(),
        timeout,
    }
}

async fn one(
    reviewer: &dyn Reviewer,
    request: &ReviewRequest,
    events: EventSink<'_>,
) -> (String, Result<Hearing, ReviewerFailure>) {
    let name = reviewer.name().to_owned();
    events(Event::ReviewerStarted { reviewer: name.clone() });
    tracing::info!("Starting review for {} with {name}", request.scope.target);
    let heard = tokio::time::timeout(request.timeout, reviewer.review(request))
        .await
        .unwrap_or(Err(ReviewerFailure::TimedOut));
    let claims = match (&heard, failure(&heard)) {
        (Ok(hearing), None) => Some(hearing.candidates.len()),
        _ => None,
    };
    events(Event::ReviewerEnded { reviewer: name.clone(), claims });
    (name, heard)
}

/// Why a reviewer could not review, or could not finish.
fn failure(heard: &Result<Hearing, ReviewerFailure>) -> Option<&ReviewerFailure> {
    match heard {
        Ok(hearing) => hearing.failure.as_ref(),
        Err(failure) => Some(failure),
    }
}

impl Heard {
    fn given(&self) -> impl Iterator<Item = &Hearing> {
        self.hearings.iter().filter_map(|(_, heard)| heard.as_ref().ok())
    }

    /// The hunks that reviewers account for.
    pub(super) fn accounted(&self) -> Vec<(FilePath, Vec<usize>)> {
        self.given().flat_map(|hearing| hearing.accounted.iter().cloned()).collect()
    }

    /// Whether a reviewer could not do all that it wanted to.
    pub(super) fn is_cut_short(&self) -> bool {
        self.given().any(|hearing| hearing.cut_short)
    }

    /// The most findings that are reported, if a reviewer sets a limit.
    pub(super) fn max_findings(&self) -> Option<usize> {
        self.given().filter_map(|hearing| hearing.max_findings).max()
    }

    /// Why reviewers failed.
    pub(super) fn failures(&self) -> Vec<ReviewerFailure> {
        self.hearings.iter().filter_map(|(_, heard)| failure(heard).cloned()).collect()
    }

    /// The reviewers' warnings, then what admission says.
    pub(super) fn warnings(&self, admitted: &Admitted) -> Vec<String> {
        let own = self.given().flat_map(|hearing| hearing.warnings.iter().cloned());
        let dropped = admitted
            .dropped
            .iter()
            .map(|dropped| format!("{}: dropped a finding: {}", dropped.reviewer, dropped.why));
        own.chain(dropped).chain(admitted.warnings.iter().cloned()).collect()
    }

    /// One entry per reviewer; those whom a reviewer speaks for have theirs in its place.
    /// Whether somebody objects to the change by a rule of its own.
    pub(super) fn objects(&self) -> bool {
        let hearings = self.hearings.iter().filter_map(|(_, heard)| heard.as_ref().ok());
        hearings.into_iter().any(|hearing| hearing.objects)
    }

    pub(super) fn reports(&self, findings: &[Finding], dropped: &[Dropped]) -> Vec<ReviewerReport> {
        self.hearings
            .iter()
            .flat_map(|(name, heard)| match heard {
                Ok(hearing) if hearing.failure.is_none() && !hearing.voices.is_empty() => {
                    let log = &hearing.log;
                    hearing.voices.iter().map(|voice| (voice.clone(), log.clone())).collect()
                }
                _ => vec![(voice(name, heard), heard.as_ref().ok().and_then(|it| it.log.clone()))],
            })
            .map(|(voice, log)| {
                let name = &voice.name;
                let own = || findings.iter().filter(|it| voices(it).any(|voice| voice == *name));
                ReviewerReport {
                    verdict: voice.error.is_none().then(|| Verdict::over(own())),
                    findings: own().count(),
                    dropped: dropped.iter().filter(|dropped| dropped.reviewer == *name).count(),
                    reviewer: voice.name,
                    model: voice.model,
                    error: voice.error,
                    log,
                    usage: voice.usage,
                }
            })
            .collect()
    }
}

/// A reviewer that speaks for itself.
fn voice(name: &str, heard: &Result<Hearing, ReviewerFailure>) -> Voice {
    let hearing = heard.as_ref().ok();
    Voice {
        name: name.to_owned(),
        model: hearing.and_then(|hearing| hearing.model.clone()),
        error: failure(heard).map(ToString::to_string),
        usage: hearing.map_or_else(Usage::default, |hearing| hearing.usage.clone()),
    }
}
