//! Checks of JavaScript and TypeScript that need to resolve names: the origin of a value, the
//! possible values of a variable, the result of a function. The facts of a file are gathered once;
//! the checks are plain functions over them.

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
pub use program::ScriptFile;

/// A check over the facts of a file.
pub struct ScriptCheck {
    /// The name in rule files.
    pub name: &'static str,
    /// The names that its matches fill.
    pub captures: &'static [&'static str],
    /// The check itself.
    pub run: for<'t> fn(&ScriptFile<'t>) -> Vec<NativeMatch>,
}

const CHECKS: &[ScriptCheck] = &[
    checks::arguments::CALLBACK_WITHOUT_RETURN,
    checks::arguments::SPURIOUS_ARGUMENTS,
    checks::asynchronous::ASYNC_CALLBACK,
    checks::asynchronous::PROMISE_AS_VALUE,
    checks::comparison::NEEDLESS_NULL_CHECK,
    checks::comparison::TYPES_APART,
    checks::comparison::USELESS_OPERAND,
    checks::control::IGNORED_RESULT,
    checks::control::JUMP_IN_FINALLY,
    checks::control::WRONG_ID,
    checks::exposure::HTTP_ONLY,
    checks::exposure::LOGGED_PASSWORD,
    checks::exposure::MESSAGE_FROM_ANYONE,
    checks::exposure::TEMPORARY_FILE,
    checks::misuse::CALLED_VALUE,
    checks::misuse::DELETED_ELEMENT,
    checks::misuse::INDENTATION,
    checks::misuse::POSITION_AS_TRUTH,
    checks::misuse::SKIPPED_ELEMENT,
    checks::misuse::UNKNOWN_TYPE_NAME,
    checks::naming::UNDECLARED_VARIABLE,
    checks::naming::USE_BEFORE_DECLARATION,
    checks::react::CONDITIONAL_HOOK,
    checks::react::MISSING_KEY,
    checks::react::UNBOUND_METHOD,
    checks::requests::LIST_FOR_TEXT,
    checks::requests::UNKNOWN_DIRECTIVE,
    checks::sanitizing::BACKSLASH,
    checks::sanitizing::ONLY_FIRST,
    checks::sanitizing::TWICE,
];

impl ScriptCheck {
    /// The matches of the check, except in statements with syntax errors.
    pub fn matches(&self, program: &ScriptFile<'_>) -> Vec<NativeMatch> {
        let mut found = (self.run)(program);
        found.retain(|it| program.parses_around(&it.bytes));
        found
    }
}

/// The check with this name.
pub fn find(name: &str) -> Option<&'static ScriptCheck> {
    CHECKS.iter().find(|check| check.name == name)
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.name)
}
