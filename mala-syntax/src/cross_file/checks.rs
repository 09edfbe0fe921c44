//! The cross-file checks, with their names for users. None of them was right in nine of ten cases
//! on unseen commits, so none of them blocks by default.

use crate::coded_check::CodedCheck;
use mala_domain::finding::{Category, Priority};

pub(super) const REMOVED_SYMBOL: CodedCheck = CodedCheck {
    id: "cross-file/removed-symbol",
    title: "Something that no longer exists is still used",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When a function, class, method, constant or export is removed or renamed, code that still \
            uses it fails to build, or fails when it runs.",
};
pub(super) const CHANGED_SIGNATURE: CodedCheck = CodedCheck {
    id: "cross-file/changed-signature",
    title: "A call does not fit the changed parameters",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When parameters are added, removed, reordered or made required, a call that was written \
            for the former ones fails, or passes a value as something else.",
};
pub(super) const UNHANDLED_MEMBER: CodedCheck = CodedCheck {
    id: "cross-file/unhandled-member",
    title: "A new variant is not handled",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When a Rust enum gets a variant, a match that lists all others does not compile.",
};
/// Imports of files or names that do not exist.
pub const UNRESOLVED_IMPORT: CodedCheck = CodedCheck {
    id: "cross-file/unresolved-import",
    title: "An import leads nowhere",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When the file or name behind an import is not there, loading the importing file fails.",
};
/// The checks across files.
pub fn checks() -> Vec<CodedCheck> {
    vec![REMOVED_SYMBOL, CHANGED_SIGNATURE, UNHANDLED_MEMBER, UNRESOLVED_IMPORT]
}
