//! The checks across files, as users see and switch them.

use crate::coded_check::CodedCheck;
use mala_domain::finding::{Category, Priority};

pub(super) const REMOVED_SYMBOL: CodedCheck = CodedCheck {
    id: "cross-file/removed-symbol",
    title: "Something that no longer exists is still used",
    category: Category::Bug,
    priority: Priority::P1,
    about: "When a function, class, method, constant or export is removed or renamed, code that still \
            uses it fails to build, or fails when it runs.",
};
pub(super) const CHANGED_SIGNATURE: CodedCheck = CodedCheck {
    id: "cross-file/changed-signature",
    title: "A call does not fit the changed parameters",
    category: Category::Bug,
    priority: Priority::P1,
    about: "When parameters are added, removed, reordered or made required, a call that was written \
            for the former ones fails, or passes a value as something else.",
};
pub(super) const UNHANDLED_MEMBER: CodedCheck = CodedCheck {
    id: "cross-file/unhandled-member",
    title: "A new member is not handled",
    category: Category::Bug,
    priority: Priority::P1,
    about: "When an enum or union gets a member, a match or switch without a case for it does nothing, \
            or fails.",
};
/// Imports of files or names that do not exist.
pub const UNRESOLVED_IMPORT: CodedCheck = CodedCheck {
    id: "cross-file/unresolved-import",
    title: "An import leads nowhere",
    category: Category::Bug,
    priority: Priority::P1,
    about: "When the file or name behind an import is not there, loading the importing file fails.",
};
pub(super) const REMOVED_KEY: CodedCheck = CodedCheck {
    id: "cross-file/removed-key",
    title: "A removed setting is still read",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When a key of a configuration or environment file is removed or renamed, code that still \
            reads it without a default gets nothing.",
};

/// Deleted files of tests.
pub const DELETED_TESTS: CodedCheck = CodedCheck {
    id: "cross-file/deleted-tests",
    title: "The tests of a file are deleted while it stays",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When a file of tests is deleted, no test is added and no code is removed, nothing notices \
            any more when what it checked breaks.",
};

/// The checks across files.
pub fn checks() -> Vec<CodedCheck> {
    vec![
        REMOVED_SYMBOL,
        CHANGED_SIGNATURE,
        UNHANDLED_MEMBER,
        UNRESOLVED_IMPORT,
        REMOVED_KEY,
        DELETED_TESTS,
    ]
}
