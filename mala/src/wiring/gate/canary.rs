//! Canaries in the world: a shadow copy of a real commit with a planted defect, given to the lanes; and
//! the run that a supervisor starts when one is due.

use super::session::{session_panel, session_plan};
use super::{Gate, Scratch, Sweep, copy_of, fresh_names, runner, scope, variables};
use crate::surroundings::Surroundings;
use crate::wiring::changes::failure;
use anyhow::Context;
use mala_adapters::git::Shadow;
use mala_adapters::process::{self, Spec};
use mala_domain::eval::plant::Sprout;
use mala_domain::gate::canary::{CanaryBook, CanaryPlan};
use mala_domain::gate::session::{LeftOut, PanelMember, Pinned, Session};
use mala_domain::gate::{CALL, SCHEMA_VERSION};
use mala_domain::ports::Reviewer;
use mala_domain::review::consensus::ConsensusRule;
use mala_pipeline::eval::plant::Ground;
use mala_pipeline::gate::{CanaryTry, LaneReviewer, measure};
use std::sync::Arc;

/// One planted defect, and who is given it.
pub struct Canary<'c> {
    /// Which one of the run, from 1.
    pub number: usize,
    /// The real change.
    pub ground: &'c Ground,
    /// The defect.
    pub sprout: &'c Sprout,
    /// The lanes.
    pub seats: &'c [PanelMember],
    /// How long a lane may take.
    pub timeout_seconds: u64,
    /// How hard codex thinks.
    pub reasoning: &'c str,
}

impl Gate {
    /// Has the lanes review a copy of a real commit with a defect in it.
    pub async fn canary(
        &self,
        canary: &Canary<'_>,
        here: &Surroundings,
    ) -> anyhow::Result<Vec<CanaryTry>> {
        let (key, secret) = fresh_names()?;
        let _sweep = Sweep(key.clone());
        process::adopt_orphans().context("adopting orphans")?;
        let scratch = Scratch::fresh(self).context("making a folder")?;
        let pinned = self.shadow(canary, &scratch).await?;
        let (git, scoped) = scope(here, scratch.path(), &pinned).await?;
        let (title, text) = &canary.ground.soil.told;
        let session = Session {
            schema_version: SCHEMA_VERSION,
            key,
            stamp: String::new(),
            created: String::new(),
            scope: scoped.scope.clone(),
            pinned,
            left_out: LeftOut::default(),
            scratch: scratch.path().display().to_string(),
            secret,
            rule: ConsensusRule::Unanimous,
            timeout_seconds: canary.timeout_seconds,
            reasoning: canary.reasoning.to_owned(),
            seats: canary.seats.to_vec(),
            tasks: vec![("commit".to_owned(), format!("{title}\n\n{text}"))],
            warnings: Vec::new(),
            checker: None,
            canaries: None,
        };
        let folder = self.sessions.canaries().place(canary.number)?;
        let runner = runner(git, &session, &folder, here);
        let panel = session_panel(&session, runner, Arc::new(|_| {}));
        let lane =
            |seat: &PanelMember| Arc::new(LaneReviewer::new(panel.clone(), seat.clone())) as _;
        let lanes: Vec<Arc<dyn Reviewer>> = session.seats.iter().map(lane).collect();
        let planted = canary.ground.soil.planted(canary.sprout, (canary.number, 0));
        let truth = planted.ground_truth.first().context("nothing is planted")?;
        let plan = session_plan(&session)?;
        Ok(measure(&plan, &scoped, &lanes, truth).await.map_err(failure)?)
    }

    /// The commit with the defect, in a copy of the repository.
    async fn shadow(&self, canary: &Canary<'_>, scratch: &Scratch) -> anyhow::Result<Pinned> {
        let copy = copy_of(scratch.path());
        self.git.copy_to(&copy).await?;
        let ground = canary.ground;
        let shadow = Shadow {
            like: ground.head.as_deref().context("the change is not committed")?,
            after: ground.base.as_deref(),
            file: &canary.sprout.file,
            text: &canary.sprout.text,
        };
        let head = self.git.shadow(&copy, &shadow).await?;
        Ok(match &ground.base {
            Some(base) => Pinned::Range { base: base.clone(), head, dirty: Vec::new() },
            None => Pinned::Commits(vec![head]),
        })
    }

    /// Starts a run of canaries for the lanes of a session that is over, when one is due. The first time
    /// that anybody asks, the schedule begins.
    pub fn start_if_due(
        &self,
        session: &Session,
        plan: &CanaryPlan,
        here: &Surroundings,
    ) -> anyhow::Result<()> {
        let folder = self.sessions.canaries();
        let now = jiff::Timestamp::now().as_second();
        let Some(turn) = folder.turn()? else { return Ok(()) };
        let book = folder.book();
        let is_due = book.is_due(now, plan);
        if book.since.is_none() || is_due {
            // Whatever comes of the run, the next one is due a whole time later.
            let schema_version = SCHEMA_VERSION;
            folder.keep(&CanaryBook { schema_version, since: Some(now), ..book })?;
        }
        drop(turn);
        if !is_due {
            return Ok(());
        }
        let program = std::env::current_exe().context("finding this program")?;
        let spec = Spec::new(program, here.root(), variables(here).without(CALL)).args([
            "canary",
            "--of-session",
            &session.key,
        ]);
        process::start_detached(&spec, folder.log("run.out")?, folder.log("run.err")?)?;
        Ok(())
    }
}
