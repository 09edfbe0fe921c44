//! Canaries: planted defects that the lanes of a panel review, so that the recall of each lane is known.

use crate::KnownProblem;
use crate::matching::{MatchMode, MatchRule, ProblemLocation};
use crate::plant::{PlantedDefect, PlantedDefects, SurveyedChange};
use mala_domain::finding::{Category, Finding};
use mala_domain::gate::canary::LaneTally;
use mala_domain::ports::BoxFuture;
use mala_pipeline::gate::LaneFindings;
use std::collections::BTreeMap;

/// Has the lanes of a panel review a change with a planted defect.
pub trait CanaryPanel: Send + Sync {
    /// Lets each lane review the change with this defect, the `number`th of the run.
    fn review<'a>(
        &'a self,
        number: usize,
        change: &'a SurveyedChange,
        defect: &'a PlantedDefect,
    ) -> BoxFuture<'a, Result<Vec<LaneFindings>, String>>;
}

/// Gives the lanes one defect after the other, until the reported cost reaches the limit.
pub async fn measure_lanes(
    panel: &dyn CanaryPanel,
    planted: &PlantedDefects,
    mut tallies: BTreeMap<String, LaneTally>,
    max_cost_usd: f64,
    warn: &(dyn Fn(&str) + Sync),
) -> Result<BTreeMap<String, LaneTally>, String> {
    let mut spent = 0.0;
    for (number, (change, defect)) in planted.defects.iter().enumerate() {
        let Some(change) = planted.changes.get(*change) else { continue };
        if spent >= max_cost_usd {
            warn("stopping: the cost limit for canaries is reached");
            break;
        }
        let truth = defect.truth();
        for LaneFindings { lane, findings, cost_usd } in
            panel.review(number + 1, change, defect).await?
        {
            spent += cost_usd.unwrap_or_default();
            let Some(tally) = tallies.get_mut(&lane) else { continue };
            tally.pay(cost_usd);
            match findings {
                Ok(findings) => tally.reviewed(defect.kind.name(), is_found(&findings, &truth)),
                Err(why) => {
                    tally.could_not_review += 1;
                    warn(&format!("{lane}: {why}"));
                }
            }
        }
    }
    Ok(tallies)
}

/// Whether a finding is on the lines of the defect. Any category counts except style.
fn is_found(findings: &[Finding], truth: &KnownProblem) -> bool {
    let rule = MatchRule::of(MatchMode::Location);
    findings.iter().any(|finding| {
        let span = rule.capped(finding.span());
        let location = ProblemLocation { file: &finding.file, span, category: finding.category };
        finding.category != Category::Style && rule.allows(&location, &truth.location())
    })
}
