//! The target branch during a run: mala moves it forward, and notes every move that is not its own.

use mala_domain::ports::{AdvanceResult, MainLine, WorkspaceError};
use mala_domain::run::lifecycle::TargetMove;
use tokio::sync::Mutex;

/// The target branch, and the moves of it that were seen.
pub(super) struct WatchedTarget<'r> {
    main_line: &'r dyn MainLine,
    /// Locked while mala moves the branch, so that its own moves are recognised.
    seen: Mutex<SeenTarget>,
}

struct SeenTarget {
    tip: String,
    moves: Vec<TargetMove>,
}

impl<'r> WatchedTarget<'r> {
    /// The target branch of a run that starts while it points to `tip`.
    pub(super) fn new(main_line: &'r dyn MainLine, tip: &str) -> Self {
        let seen = SeenTarget { tip: tip.to_owned(), moves: Vec::new() };
        Self { main_line, seen: Mutex::new(seen) }
    }

    /// The commit that it points to.
    pub(super) async fn tip(&self) -> Result<String, WorkspaceError> {
        let mut seen = self.seen.lock().await;
        seen.look(self.main_line).await?;
        Ok(seen.tip.clone())
    }

    /// The moves so far that were not mala's, without the first `n`.
    pub(super) async fn moves_after(&self, n: usize) -> Result<Vec<TargetMove>, WorkspaceError> {
        let mut seen = self.seen.lock().await;
        seen.look(self.main_line).await?;
        Ok(seen.moves.iter().skip(n).cloned().collect())
    }

    /// Moves it.
    pub(super) async fn advance(
        &self,
        from: &str,
        to: &str,
    ) -> Result<AdvanceResult, WorkspaceError> {
        let mut seen = self.seen.lock().await;
        seen.look(self.main_line).await?;
        let result = self.main_line.advance(from, to).await?;
        if result == AdvanceResult::Done && seen.tip == from {
            seen.tip = to.to_owned();
        }
        Ok(result)
    }
}

impl SeenTarget {
    async fn look(&mut self, main_line: &dyn MainLine) -> Result<(), WorkspaceError> {
        let to = main_line.tip().await?;
        if to != self.tip {
            let from = std::mem::replace(&mut self.tip, to.clone());
            self.moves.push(TargetMove { from, to });
        }
        Ok(())
    }
}
