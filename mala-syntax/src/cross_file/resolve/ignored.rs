//! Files that `.gitignore` leaves out of commits: tools generate them.

use crate::symbols::parent;
use mala_domain::change::FilePath;
use mala_domain::config::PathGlobs;

/// Lines of a `.gitignore` beyond this many are not looked at.
const MAX_LINES: usize = 500;

/// The paths that the `.gitignore` files exclude.
#[derive(Default)]
pub(crate) struct IgnoredPaths {
    /// The folder of each file, and its patterns.
    files: Vec<(String, PathGlobs)>,
}

impl IgnoredPaths {
    /// Adds the patterns of one `.gitignore`; lines that are no patterns are skipped.
    pub(crate) fn read(&mut self, path: &str, text: &str) {
        let patterns: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with(['#', '!']))
            .filter(|line| PathGlobs::new(&[line]).is_ok())
            .take(MAX_LINES)
            .collect();
        if let Ok(globs) = PathGlobs::new(&patterns) {
            self.files.push((parent(path).to_owned(), globs));
        }
    }

    /// Whether a file at this path would be in no commit.
    pub(crate) fn leaves_out(&self, path: &str) -> bool {
        self.files.iter().any(|(folder, globs)| {
            let below = match folder.as_str() {
                "" => Some(path),
                folder => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
            };
            below.is_some_and(|below| globs.matches(&FilePath::from(below)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count_from_the_folder_of_their_file() {
        let mut ignored = IgnoredPaths::default();
        ignored.read(".gitignore", "# made\n\npackages/db/enums\n*.gen.ts\n!kept.gen.ts\n[\n");
        ignored.read("web/.gitignore", "/made\n");
        for (path, expected) in [
            ("packages/db/enums/index.ts", true),
            ("packages/db/enum.ts", false),
            ("a/b.gen.ts", true),
            ("web/made/a.ts", true),
            ("made/a.ts", false),
            ("webmade", false),
        ] {
            assert_eq!(ignored.leaves_out(path), expected, "{path}");
        }
    }
}
