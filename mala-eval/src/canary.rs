//! Canaries: planted defects that the lanes of a panel review, so that the recall of each lane is known.

use crate::Truth;
use crate::matching::{Mode, Rule, Spot};
use crate::plant::{Ground, Harvest, Sprout};
use mala_domain::finding::{Category, Finding};
use mala_domain::gate::canary::LaneTally;
use mala_domain::ports::BoxFuture;
use mala_pipeline::gate::LaneFindings;
use std::collections::BTreeMap;

/// Has the lanes of a panel review a change with a planted defect.
pub trait CanaryPanel: Send + Sync {
    /// What each lane finds in the change with this defect, the `number`th of the run.
    fn review<'a>(
        &'a self,
        number: usize,
        ground: &'a Ground,
        sprout: &'a Sprout,
    ) -> BoxFuture<'a, Result<Vec<LaneFindings>, String>>;
}

/// Gives the lanes one defect after the other, until the reported cost reaches the limit.
pub async fn measure_lanes(
    panel: &dyn CanaryPanel,
    planted: &Harvest,
    mut tallies: BTreeMap<String, LaneTally>,
    max_cost_usd: f64,
    warn: &(dyn Fn(&str) + Sync),
) -> Result<BTreeMap<String, LaneTally>, String> {
    let mut spent = 0.0;
    for (number, (change, sprout)) in planted.sprouts.iter().enumerate() {
        let Some(ground) = planted.grounds.get(*change) else { continue };
        if spent >= max_cost_usd {
            warn("stopping: the cost limit for canaries is reached");
            break;
        }
        let truth = sprout.truth();
        for LaneFindings { lane, findings, cost_usd } in
            panel.review(number + 1, ground, sprout).await?
        {
            spent += cost_usd.unwrap_or_default();
            let Some(tally) = tallies.get_mut(&lane) else { continue };
            tally.pay(cost_usd);
            match findings {
                Ok(findings) => tally.reviewed(sprout.kind.name(), is_found(&findings, &truth)),
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
fn is_found(findings: &[Finding], truth: &Truth) -> bool {
    let rule = Rule::of(Mode::Location);
    findings.iter().any(|finding| {
        let span = rule.capped(finding.span());
        let spot = Spot { file: &finding.file, span, category: finding.category };
        finding.category != Category::Style && rule.allows(&spot, &truth.spot())
    })
}
