//! Finds regular expressions that can hang: matching takes exponential or polynomial time on some
//! input.
//!
//! [`slow_loop`] tries inputs that repeat the match of a loop of the pattern, and counts the steps
//! of a backtracking matcher on longer and longer ones. Every reported pattern was measured to be
//! slow; a slow pattern that needs a more intricate input is missed. [`sources`] finds the patterns
//! of a file.

mod attack;
mod charset;
mod matcher;
mod parse;
pub mod sources;

/// The engine that a pattern is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexFlavour {
    /// The `re` module.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// `java.util.regex`.
    Java,
}

/// The flags that a pattern is compiled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegexFlags {
    /// Letters match both cases.
    pub ignore_case: bool,
    /// `^` and `$` match at lines.
    pub multi_line: bool,
    /// `.` matches line ends too.
    pub dot_all: bool,
    /// White space and comments in the pattern are ignored.
    pub verbose: bool,
}

/// How the number of steps grows with the length of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepGrowth {
    /// Thirty characters are enough to stop a program.
    Exponential,
    /// Tens of thousands of characters are needed.
    Polynomial,
}

/// A loop of a pattern that is slow on some input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowLoop {
    /// The loop, as written in the pattern.
    pub part: String,
    /// The text to repeat.
    pub pump: String,
}

/// The first loop of `pattern` with this growth; `None` also if the pattern cannot be parsed, or is
/// too large to test in bounded time.
pub fn slow_loop(
    pattern: &str,
    flavour: RegexFlavour,
    flags: RegexFlags,
    growth: StepGrowth,
) -> Option<SlowLoop> {
    if !pattern.contains(['*', '+', '{']) {
        return None;
    }
    let parsed = parse::parse(pattern, flavour, flags)?;
    attack::find(&parsed, growth)
}

#[cfg(test)]
mod tests;
