//! Checks of JavaScript and TypeScript that need to know what a name stands for: where a value
//! comes from, what a variable can hold, what a function returns. The facts of a file are gathered
//! once; the checks are plain functions over them.

mod binding;
mod checks;
mod constant;
mod function;
mod object;
mod origin;
mod program;
mod react;
mod replacement;
#[cfg(test)]
mod tests;
mod types;

use super::native::NativeMatch;
pub use program::Program;

/// A check over the facts of a file.
pub struct ProgramCheck {
    /// The name in rule files.
    pub name: &'static str,
    /// The names that its matches fill.
    pub captures: &'static [&'static str],
    /// The check itself.
    pub run: for<'t> fn(&Program<'t>) -> Vec<NativeMatch>,
}

const CHECKS: &[ProgramCheck] = &[
    checks::arguments::ILLEGAL_CALL,
    checks::arguments::SPURIOUS_ARGUMENTS,
    checks::asynchronous::ASYNC_CALLBACK,
    checks::asynchronous::FLOATING_PROMISE,
    checks::asynchronous::PROMISE_AS_VALUE,
    checks::classes::GETTER_WITHOUT_VALUE,
    checks::classes::MIXED_STATIC,
    checks::classes::SETTER_IGNORES,
    checks::classes::THIS_BEFORE_SUPER,
    checks::classes::VUE_ARROW,
    checks::comparison::NEEDLESS_NULL_CHECK,
    checks::comparison::TYPES_APART,
    checks::control::CALLEE_IN_STRICT,
    checks::control::DUPLICATE_ATTRIBUTE,
    checks::control::HOLE_IN_ARRAY,
    checks::control::IGNORED_RESULT,
    checks::control::JUMP_IN_FINALLY,
    checks::control::WRONG_ID,
    checks::conversion::MEMBER_OF_NOTHING,
    checks::conversion::MEMBER_OF_PRIMITIVE,
    checks::conversion::NEGATED_LEFT_OPERAND,
    checks::conversion::USELESS_OPERAND,
    checks::credentials::CLIENT_SECRET,
    checks::credentials::SIGNING_SECRET,
    checks::crypto::CONSTANT_IV,
    checks::crypto::FAST_HASH,
    checks::crypto::SHORT_KEY,
    checks::crypto::UNVERIFIED_TOKEN,
    checks::crypto::WEAK_CIPHER,
    checks::declarations::REDECLARED,
    checks::declarations::REPLACED_FUNCTION,
    checks::declarations::SAME_PARAMETER,
    checks::exposure::LOGGED_PASSWORD,
    checks::exposure::MESSAGE_FROM_ANYONE,
    checks::exposure::MESSAGE_TO_ANYONE,
    checks::exposure::OPEN_FILE_MODE,
    checks::exposure::STACK_TRACE,
    checks::exposure::STORED_PASSWORD,
    checks::exposure::TEMPORARY_FILE,
    checks::expressions::BITS_AND_COMPARISON,
    checks::expressions::EVAL,
    checks::expressions::MISSING_KEY,
    checks::layout::INDENTATION,
    checks::layout::JOINED_LINES,
    checks::loops::CAPTURED_VARIABLE,
    checks::loops::FOR_IN_ARRAY,
    checks::loops::MISSING_LENGTH,
    checks::loops::RUNS_ONCE,
    checks::loops::SKIPPED_ELEMENT,
    checks::loops::UNUSED_INDEX,
    checks::loops::WRONG_WAY,
    checks::merging::DEEP_MERGE,
    checks::misuse::CALLED_VALUE,
    checks::misuse::CHAINED_COMPARISON,
    checks::misuse::FOUND_AS_POSITION,
    checks::misuse::FRESH_OBJECT,
    checks::misuse::POSITION_AS_TRUTH,
    checks::misuse::SUFFIX_TEST,
    checks::misuse::UNKNOWN_TYPE_NAME,
    checks::naming::ASSIGNED_CONSTANT,
    checks::naming::MISSING_THIS,
    checks::naming::UNDECLARED_VARIABLE,
    checks::naming::USE_BEFORE_DECLARATION,
    checks::random::BIASED_RANDOM,
    checks::react::CONDITIONAL_HOOK,
    checks::react::STALE_STATE,
    checks::react::STATE_MUTATION,
    checks::react::UNBOUND_METHOD,
    checks::react::UPDATE_IN_LIFECYCLE,
    checks::requests::CASE_SENSITIVE_PATH,
    checks::requests::LIST_FOR_TEXT,
    checks::requests::PASSWORD_IN_URL,
    checks::results::CALLBACK_WITHOUT_RETURN,
    checks::results::NO_RESULT,
    checks::routes::FILE_RACE,
    checks::routes::NO_RATE_LIMIT,
    checks::sanitizing::BACKSLASH,
    checks::sanitizing::ONLY_FIRST,
    checks::sanitizing::REAPPEARS,
    checks::sanitizing::TWICE,
    checks::shell::CAT,
    checks::signatures::KEYWORD_AS_NAME,
    checks::signatures::TYPE_AS_PARAMETER,
    checks::slips::DELETED_ELEMENT,
    checks::slips::LOST_EXPORT,
    checks::slips::LOST_RETURN,
    checks::slips::REGEX_IN_QUOTES,
    checks::slips::RETURNED_ASSIGNMENT,
    checks::slips::SECOND_ANSWER,
    checks::slips::TURNED_OPERATOR,
    checks::texts::MISSING_SPACE,
    checks::texts::MISSPELT_MEMBER,
    checks::texts::TEMPLATE_IN_QUOTES,
    checks::texts::UNKNOWN_DIRECTIVE,
    checks::url::HOST_IN_URL,
    checks::url::SCHEME_CHECK,
    checks::web::CERTIFICATE,
    checks::web::CORS,
    checks::web::ELECTRON,
    checks::web::HELMET,
    checks::web::HTTP_ONLY,
];

impl ProgramCheck {
    /// What the check finds; a statement that does not parse is no ground to stand on.
    pub fn matches(&self, program: &Program<'_>) -> Vec<NativeMatch> {
        let mut found = (self.run)(program);
        found.retain(|it| program.parses_around(&it.bytes));
        found
    }
}

/// The check with this name.
pub fn find(name: &str) -> Option<&'static ProgramCheck> {
    CHECKS.iter().find(|check| check.name == name)
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.name)
}
