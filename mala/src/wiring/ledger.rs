//! The ledger of a repository, and the tracking of a review in it. If the ledger cannot be used,
//! the review has a warning and is neither stored nor compared with earlier ones.

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use mala_adapters::git::{Git, common_dir_of};
use mala_adapters::ledger::SqliteLedger;
use mala_domain::change::FilePath;
use mala_domain::forge::Discussion;
use mala_domain::ledger::rounds::RoundPolicy;
use mala_domain::ledger::subject::{subject, subject_of_pull_request};
use mala_domain::ledger::waiver::SharedWaivers;
use mala_domain::ports::{Blob, ChangeHistory, LedgerError, ReviewScope, Side};
use mala_domain::scope::ReviewTarget;
use mala_pipeline::pull_request::store_decisions;
use mala_pipeline::review::{ChangeTracking, not_known};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The ledger that tracks a change, and where its commits are.
pub struct LedgerPlace {
    /// The database.
    pub path: PathBuf,
    /// The commits.
    pub history: Arc<dyn ChangeHistory>,
    /// The current branch.
    pub branch: Option<String>,
    /// The pull request under review, with its discussion.
    pub pull_request: Option<(u64, Discussion)>,
}

impl LedgerPlace {
    /// The ledger of a repository.
    pub async fn of(git: &Git) -> Self {
        Self {
            path: ledger_path(git),
            history: Arc::new(git.clone()),
            branch: git.branch().await.ok().flatten(),
            pull_request: None,
        }
    }
}

/// The ledger's database of a repository.
pub fn ledger_path(git: &Git) -> PathBuf {
    SqliteLedger::path_in(&common_dir_of(git.top()))
}

/// The request to track a review.
pub struct TrackingRequest<'r> {
    /// The target of the review.
    pub target: &'r ReviewTarget,
    /// The change.
    pub scope: &'r ReviewScope,
    /// The paths that the review is limited to.
    pub paths: &'r [String],
    /// How rounds are reviewed.
    pub policy: RoundPolicy,
    /// When the review started.
    pub at: String,
    /// Whether the review is stored.
    pub stores: bool,
}

/// The ledger of a repository, opened for one review.
pub struct ReviewLedger {
    ledger: SqliteLedger,
    history: Arc<dyn ChangeHistory>,
    subject: String,
    policy: RoundPolicy,
    waivers: SharedWaivers,
    at: String,
    stores: bool,
}

impl ReviewLedger {
    /// Opens the ledger; `None` with a warning if it cannot be used.
    pub async fn open(
        place: &LedgerPlace,
        request: TrackingRequest<'_>,
        warnings: &mut Vec<String>,
    ) -> Option<Self> {
        let path = &place.path;
        let ledger = match SqliteLedger::open(path) {
            Ok(ledger) => ledger,
            Err(error) => {
                warnings.push(not_known(&error));
                return None;
            }
        };
        warnings.extend(
            moved(&ledger, path)
                .map(|what| format!("{what}: the whole change is reviewed as in a first review")),
        );
        let scope = &request.scope.scope;
        let subject = match &place.pull_request {
            Some((number, _)) => subject_of_pull_request(*number),
            None => subject(request.target, scope, place.branch.as_deref(), request.paths),
        };
        if let Some((_, discussion)) = &place.pull_request
            && let Err(error) = store_decisions(&ledger, discussion, &subject, &request.at).await
        {
            warnings.push(format!("replies on the pull request are not stored: {error}"));
        }
        Some(Self {
            waivers: trusted_waivers(request.scope, warnings).await,
            subject,
            ledger,
            history: Arc::clone(&place.history),
            policy: request.policy,
            at: request.at,
            stores: request.stores,
        })
    }

    /// The input of the review for tracking.
    pub fn tracking(&self) -> ChangeTracking<'_> {
        ChangeTracking {
            ledger: &self.ledger,
            history: self.history.as_ref(),
            subject: &self.subject,
            policy: &self.policy,
            waivers: &self.waivers,
            at: &self.at,
            stores: self.stores,
        }
    }
}

/// The shared waivers as the base of the change has them: a change cannot waive its own findings.
async fn trusted_waivers(scope: &ReviewScope, warnings: &mut Vec<String>) -> SharedWaivers {
    let path = [FilePath::from(SharedWaivers::FILE)];
    let blobs = scope.trusted_tree().read(Side::Base, &path).await;
    let Some(blob) = blobs.ok().and_then(|mut blobs| blobs.pop()) else {
        return SharedWaivers::default();
    };
    let parsed = match &blob {
        Blob::Missing => return SharedWaivers::default(),
        blob => blob.text().ok_or_else(|| "it is not text".to_owned()),
    };
    parsed.and_then(SharedWaivers::parse).unwrap_or_else(|why| {
        let base = scope.trusted_commit().unwrap_or_default();
        let base = base.get(..12).unwrap_or(base);
        let file = SharedWaivers::FILE;
        warnings.push(format!("{file} at {base} is invalid, so no shared waiver applies: {why}"));
        SharedWaivers::default()
    })
}

/// The ledger of the repository around the current folder.
pub async fn open(here: &Environment) -> anyhow::Result<SqliteLedger> {
    let git = super::run::open_git(here).await?;
    let path = ledger_path(&git);
    let ledger = SqliteLedger::open(&path).map_err(failure)?;
    if let Some(warning) = moved(&ledger, &path) {
        crate::console::say(&format!("warning: {warning}"));
    }
    Ok(ledger)
}

/// The problems of the ledger of the work tree at `top`; `None` if it does not exist yet.
pub fn check(top: &Path) -> Result<Option<Vec<String>>, LedgerError> {
    let path = SqliteLedger::path_in(&common_dir_of(top));
    if !path.exists() { Ok(None) } else { SqliteLedger::check(&path).map(Some) }
}

/// The shared waivers on disk for findings that the ledger does not have; `None` without a file.
/// The error describes an invalid file.
pub fn unknown_waivers(top: &Path) -> Result<Option<Vec<String>>, String> {
    let text = match std::fs::read_to_string(top.join(SharedWaivers::FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let waivers = SharedWaivers::parse(&text)?;
    let path = SqliteLedger::path_in(&common_dir_of(top));
    let known = match path.exists() {
        true => SqliteLedger::open(&path).and_then(|ledger| ledger.keys()),
        false => Ok(BTreeSet::new()),
    };
    let known = known.map_err(|error| error.to_string())?;
    let unknown = waivers.unknown(&known.iter().collect());
    Ok(Some(unknown.iter().map(|it| format!("{}: {}", it.file, it.title)).collect()))
}

fn moved(ledger: &SqliteLedger, path: &Path) -> Option<String> {
    let aside = ledger.moved_aside()?;
    Some(format!(
        "the ledger {} was damaged: it was moved to {}, and a new one is used",
        path.display(),
        aside.display()
    ))
}

/// An id that names no finding is a usage error; all else is a ledger that cannot be used.
pub fn failure(error: LedgerError) -> Failure {
    let message = error.to_string();
    match error {
        LedgerError::Unknown(_) => {
            Failure::usage(message).hint("run `mala findings` to list the findings")
        }
        LedgerError::Ambiguous { .. } => Failure::usage(message).hint("give more digits"),
        LedgerError::TooNew { .. } => Failure::new(FailureKind::CouldNotReview, message)
            .hint("update mala; reviews work without the ledger until then"),
        LedgerError::Storage { .. } => Failure::new(FailureKind::CouldNotReview, message),
    }
}
