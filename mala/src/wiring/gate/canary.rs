//! Canary runs: the lanes review a copy of a real commit with a planted defect. A supervisor starts a run
//! when one is due.

use super::session::{session_panel, session_plan};
use super::{Gate, LaneCleanup, ScratchFolder, copy_of, fresh_names, runner, variables};
use crate::environment::Environment;
use crate::wiring::changes::failure;
use anyhow::Context;
use mala_adapters::git::VariantCommit;
use mala_adapters::process::{self, ProcessSpec};
use mala_domain::gate::canary::{CanaryBook, CanaryPlan};
use mala_domain::gate::session::{
    CheckerSettings, ExcludedFiles, PanelMember, PinnedChange, Session,
};
use mala_domain::gate::{CALL, SCHEMA_VERSION};
use mala_domain::ledger::rounds::RoundPolicy;
use mala_domain::ports::{BoxFuture, Reviewer};
use mala_domain::review::consensus::ConsensusRule;
use mala_eval::canary::CanaryPanel;
use mala_eval::plant::{PlantSite, PlantedDefect, SurveyedChange};
use mala_pipeline::gate::{LaneFindings, LaneReviewer, lane_findings};
use std::sync::Arc;

/// The lanes that review canaries.
pub struct CanaryLanes<'c> {
    /// The gate of this work tree.
    pub gate: &'c Gate,
    /// The environment of the program.
    pub here: &'c Environment,
    /// The lanes.
    pub members: &'c [PanelMember],
    /// The time limit of a lane.
    pub timeout_seconds: u64,
    /// Codex reasoning effort.
    pub reasoning: &'c str,
}

impl CanaryPanel for CanaryLanes<'_> {
    fn review<'a>(
        &'a self,
        number: usize,
        change: &'a SurveyedChange,
        defect: &'a PlantedDefect,
    ) -> BoxFuture<'a, Result<Vec<LaneFindings>, String>> {
        Box::pin(async move {
            let reviewed = self.gate.canary(self, number, change, defect).await;
            reviewed.map_err(|error| format!("{error:#}"))
        })
    }
}

impl Gate {
    /// Has the lanes review a copy of a real commit with a defect in it.
    async fn canary(
        &self,
        lanes: &CanaryLanes<'_>,
        number: usize,
        change: &SurveyedChange,
        defect: &PlantedDefect,
    ) -> anyhow::Result<Vec<LaneFindings>> {
        let here = lanes.here;
        let (key, secret) = fresh_names()?;
        process::adopt_orphans().context("adopting orphans")?;
        let scratch = ScratchFolder::fresh(self).context("making a folder")?;
        let _sweep = LaneCleanup { session: key.clone(), scratch: scratch.path().to_owned() };
        let pinned = self.shadow(change, defect, &scratch).await?;
        let (git, scoped) = self.scope(scratch.path(), &pinned).await?;
        let PlantSite { title, description, .. } = &change.site;
        let session = Session {
            schema_version: SCHEMA_VERSION,
            key,
            signature: String::new(),
            created: String::new(),
            scope: scoped.scope.clone(),
            pinned,
            excluded: ExcludedFiles::default(),
            scratch: scratch.path().display().to_string(),
            secret,
            rule: ConsensusRule::Unanimous,
            timeout_seconds: lanes.timeout_seconds,
            reasoning: lanes.reasoning.to_owned(),
            members: lanes.members.to_vec(),
            tasks: vec![("commit".to_owned(), format!("{title}\n\n{description}"))],
            warnings: Vec::new(),
            checker: None,
            agent: CheckerSettings::default(),
            rounds: RoundPolicy::default(),
            canaries: None,
            is_of_hook: false,
        };
        let folder = self.sessions.canaries().place(number)?;
        let runner = runner(git, &session, &folder, here, None);
        let panel = session_panel(&session, runner, Arc::new(|_| {}));
        let lane =
            |member: &PanelMember| Arc::new(LaneReviewer::new(panel.clone(), member.clone())) as _;
        let lanes: Vec<Arc<dyn Reviewer>> = session.members.iter().map(lane).collect();
        let plan = session_plan(&session)?;
        Ok(lane_findings(&plan, &scoped, &lanes).await.map_err(failure)?)
    }

    /// The commit with the defect, in a copy of the repository.
    async fn shadow(
        &self,
        change: &SurveyedChange,
        defect: &PlantedDefect,
        scratch: &ScratchFolder,
    ) -> anyhow::Result<PinnedChange> {
        let copy = copy_of(scratch.path());
        self.git.copy_to(&copy)?;
        let shadow = VariantCommit {
            like: change.site.head_commit.as_deref().context("the change is not committed")?,
            after: change.site.base_commit.as_deref(),
            file: &defect.file,
            text: &defect.text,
        };
        let head = self.git.create_variant_commit(&copy, &shadow).await?;
        Ok(match &change.site.base_commit {
            Some(base) => PinnedChange::Range { base: base.clone(), head, dirty: Vec::new() },
            None => PinnedChange::Commits(vec![head]),
        })
    }

    /// Starts a canary run for the lanes of a finished session when one is due. The first call starts the
    /// schedule.
    pub fn start_if_due(
        &self,
        session: &Session,
        plan: &CanaryPlan,
        here: &Environment,
    ) -> anyhow::Result<()> {
        let folder = self.sessions.canaries();
        let now = jiff::Timestamp::now().as_second();
        let Some(turn) = folder.turn()? else { return Ok(()) };
        let book = folder.book();
        let is_due = book.is_due(now, plan);
        if book.since.is_none() || is_due {
            // The next run is due a whole interval later, even if this one fails.
            let schema_version = SCHEMA_VERSION;
            folder.keep(&CanaryBook { schema_version, since: Some(now), ..book })?;
        }
        drop(turn);
        if !is_due {
            return Ok(());
        }
        let program = std::env::current_exe().context("finding this program")?;
        let spec = ProcessSpec::new(program, here.root(), variables(here).without(CALL)).args([
            "canary",
            "--of-session",
            &session.key,
        ]);
        process::start_detached(&spec, folder.log("run.out")?, folder.log("run.err")?)?;
        Ok(())
    }
}
