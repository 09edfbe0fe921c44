//! The spine: one review, from what changed to the report. Each stage takes the former's value; a
//! stage does not know the next one. After the report nothing is decided any more.

pub(crate) mod admit;
mod ask;
pub mod context;
mod publish;
mod scope;

pub use publish::{Started, publish};
pub use scope::narrow;

use crate::events::{Event, EventSink};
use mala_domain::change::FilePath;
use mala_domain::config::PathGlobs;
use mala_domain::ports::{Reviewer, ScopeError, Scoped};
use mala_domain::report::{Gathered, Report, assemble};
use mala_domain::review::suppress::SuppressionPolicy;
use mala_domain::review::{Coverage, ReviewRequest, decide};
use mala_domain::verdict::Threshold;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a change is to be reviewed.
pub struct Ask {
    /// Files that nobody reviews.
    pub ignore: PathGlobs,
    /// More files that tools make.
    pub generated: PathGlobs,
    /// From which priority on findings fail.
    pub fail_on: Threshold,
    /// What fails where a panel objects to the change as a whole.
    pub fail_on_objection: Threshold,
    /// Which inline comments set findings aside.
    pub suppressions: SuppressionPolicy,
    /// How long the reviewers may take.
    pub timeout: Duration,
    /// The version of the rules or prompts, for the review's id.
    pub prompt_version: String,
    /// The model, for the review's id; without one, the reviewers' names stand for it.
    pub model: Option<String>,
    /// The limits' name, for the review's id.
    pub budget_profile: String,
    /// What to say before everything else.
    pub preface: Option<String>,
    /// What the settings already had to warn of.
    pub warnings: Vec<String>,
    /// Gives the ids of all rules, for comments that name none of them.
    pub rule_ids: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}

/// What a reviewer would be told about a change, without telling anybody.
pub async fn request(ask: &Ask, scoped: Scoped) -> Result<ReviewRequest, ScopeError> {
    let scoped = narrow(scoped, &ask.ignore, &ask.generated);
    let read = context::gather(&scoped).await?;
    Ok(ask::request(&scoped, &read, ask.timeout))
}

/// A report, with what outputs show beside it.
pub struct Reviewed {
    /// The result.
    pub report: Report,
    /// The texts at head of the files with findings.
    pub sources: BTreeMap<FilePath, String>,
}

/// Reviews a change. An error means that its tree cannot be read; everything else, failures of
/// reviewers included, is in the report.
pub async fn review(
    ask: &Ask,
    scoped: Scoped,
    reviewers: &[Arc<dyn Reviewer>],
    events: EventSink<'_>,
) -> Result<Reviewed, ScopeError> {
    let started = Instant::now();
    let scoped = narrow(scoped, &ask.ignore, &ask.generated);
    events(Event::Scoped { files: scoped.scope.files, hunks: scoped.scope.hunks });
    let read = context::gather(&scoped).await?;
    let heard = ask::ask(&scoped, &read, ask.timeout, reviewers, events).await;
    let mut admitted = admit::admit(&heard, &scoped, read, ask).await?;
    let coverage = Coverage::over(&scoped.change, &heard.accounted());
    let failures = heard.failures();
    let fail_on = if heard.objects() { ask.fail_on_objection } else { ask.fail_on };
    if let Some(max) = heard.max_findings() {
        admitted.keep_worst(max, fail_on);
    }
    let outcome = decide::decide(&admitted.findings, &coverage, &failures, fail_on);
    events(Event::Decided { findings: admitted.findings.len() });
    let report = assemble(Gathered {
        review_id: scope::review_id(ask, &scoped.scope, reviewers),
        outcome,
        reviewers: heard.reports(&admitted.findings, &admitted.dropped),
        warnings: ask.warnings.iter().cloned().chain(heard.warnings(&admitted)).collect(),
        findings: admitted.findings,
        suppressed: admitted.suppressed,
        coverage,
        cut_short: heard.is_cut_short() || admitted.n_left_out > 0,
        failures,
        fail_on,
        preface: ask.preface.clone(),
        seconds: started.elapsed().as_secs_f64(),
        scope: scoped.scope,
    });
    Ok(Reviewed { report, sources: admitted.sources })
}
