//! How the commits of a pull request moved between two reviews, according to the forge: the clone
//! may be shallow, and commits that were pushed over are in no clone.

use mala_domain::forge::{ComparedCommits, RepositoryName};
use mala_domain::ports::{
    BoxFuture, ChangeHistory, Forge, ForgeError, HistoryMoves, LedgerError, ReviewedCommits,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The commits of a repository on a forge.
pub struct ForgeHistory {
    /// The forge.
    pub forge: Arc<dyn Forge>,
    /// The repository.
    pub repository: RepositoryName,
}

impl ForgeHistory {
    async fn moves_between(
        &self,
        earlier: ReviewedCommits<'_>,
        current: ReviewedCommits<'_>,
    ) -> Result<HistoryMoves, ForgeError> {
        let heads = self.compared(earlier.head, current.head).await?;
        let bases = self.compared(earlier.base, current.base).await?;
        // If the list of files is incomplete, everything is reviewed again.
        Ok(HistoryMoves {
            is_rewritten: heads.is_none_or(|it| !it.is_ahead) || bases.is_none(),
            base_files: bases.map(|it| it.files).unwrap_or_default(),
        })
    }

    async fn compared(
        &self,
        old: Option<&str>,
        new: Option<&str>,
    ) -> Result<Option<ComparedCommits>, ForgeError> {
        match (old, new) {
            (Some(old), Some(new)) if old == new => {
                Ok(Some(ComparedCommits { is_ahead: true, files: BTreeSet::new() }))
            }
            (Some(old), Some(new)) => self.forge.compare(&self.repository, (old, new)).await,
            _ => Ok(None),
        }
    }
}

impl ChangeHistory for ForgeHistory {
    fn moves<'a>(
        &'a self,
        earlier: ReviewedCommits<'a>,
        current: ReviewedCommits<'a>,
    ) -> BoxFuture<'a, Result<HistoryMoves, LedgerError>> {
        Box::pin(async move {
            let moves = self.moves_between(earlier, current).await;
            moves.map_err(|error| LedgerError::Storage { what: error.to_string() })
        })
    }
}
