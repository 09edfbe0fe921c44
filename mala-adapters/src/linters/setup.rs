//! Whether a project configures a linter. For the user's own tree, the files at head decide; for a
//! commit, those before the change.

use super::call::LinterError;
use super::registry::LinterSpec;
use mala_domain::change::{ChangedFile, FilePath};
use mala_domain::ports::Side;
use mala_domain::review::ReviewContext;
use mala_domain::scope::HeadState;
use std::collections::BTreeSet;

/// The most folders that are searched for configuration.
const MAX_FOLDERS: usize = 64;

/// The files that show that a project uses a linter.
pub(super) struct LinterSetup {
    /// Whether there are any.
    pub(super) is_used: bool,
    /// Its configuration files, those nearest to the root first.
    pub(super) configs: Vec<(FilePath, String)>,
    /// Other files that contain its settings.
    pub(super) mentions: Vec<(FilePath, String)>,
}

impl LinterSetup {
    /// The folder of the configuration nearest to the root; empty for the root.
    pub(super) fn folder(&self) -> String {
        let nearest = self.configs.first().or(self.mentions.first());
        let path = nearest.map(|(path, _)| path.to_text().into_owned()).unwrap_or_default();
        path.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default()
    }
}

/// Searches for the linter's files above these changed files.
pub(super) async fn look(
    linter: &LinterSpec,
    request: &ReviewContext,
    targets: &[&ChangedFile],
) -> Result<LinterSetup, LinterError> {
    let own = matches!(request.scope.head, HeadState::WorkingTree | HeadState::Index);
    let side = if own { Side::Head } else { Side::Base };
    let tree = request.tree.as_ref();
    let folders = folders_above(targets);
    let mut configs = in_folders(&folders, linter.configs.iter().copied());
    for folder in linter.config_folders {
        let listed = tree.list(side, &FilePath::parse(folder)).await.map_err(LinterError::Tree)?;
        configs.extend(listed);
    }
    let noted = in_folders(&folders, linter.mentions.iter().map(|(name, _)| *name));
    let configs = texts(configs, side, request).await?;
    let mut mentions = texts(noted, side, request).await?;
    mentions.retain(|(path, text)| {
        let named = |(name, word): &(&str, &str)| path.file_name() == *name && text.contains(word);
        linter.mentions.iter().any(named)
    });
    Ok(LinterSetup { is_used: !configs.is_empty() || !mentions.is_empty(), configs, mentions })
}

async fn texts(
    mut paths: Vec<FilePath>,
    side: Side,
    request: &ReviewContext,
) -> Result<Vec<(FilePath, String)>, LinterError> {
    paths.dedup();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let blobs = request.tree.read(side, &paths).await.map_err(LinterError::Tree)?;
    let pairs = paths.into_iter().zip(blobs);
    Ok(pairs.filter_map(|(path, blob)| Some((path, blob.text()?.to_owned()))).collect())
}

/// The root and the folders above these files, the shortest first.
fn folders_above(targets: &[&ChangedFile]) -> Vec<String> {
    let mut folders = BTreeSet::from([(0, String::new())]);
    for file in targets {
        let path = file.path.to_text();
        let ends = path.match_indices('/').map(|(at, _)| at);
        folders.extend(ends.enumerate().map(|(depth, at)| (depth + 1, path[..at].to_owned())));
    }
    folders.into_iter().map(|(_, folder)| folder).take(MAX_FOLDERS).collect()
}

fn in_folders<'n>(
    folders: &[String],
    names: impl Iterator<Item = &'n str> + Clone,
) -> Vec<FilePath> {
    let join = |folder: &String, name: &str| match folder.as_str() {
        "" => FilePath::parse(name),
        folder => FilePath::from_bytes(format!("{folder}/{name}")),
    };
    folders.iter().flat_map(|folder| names.clone().map(move |name| join(folder, name))).collect()
}
