//! Problems as reviewers word them: each kind in four wordings, by different reviewers and in different
//! rounds. `{name}` is an identifier of the line that the finding cites.

use mala_domain::finding::Category::{
    self, Bug, ErrorHandling, Logic, Performance, Security, Style,
};

/// A title and a body.
pub(super) type Wording = (&'static str, &'static str);

/// A kind of problem: the categories that reviewers give it, and its wordings.
pub(super) struct ProblemKind {
    pub(super) categories: [Category; 2],
    pub(super) wordings: [Wording; 4],
}

const fn kind(categories: [Category; 2], wordings: [Wording; 4]) -> ProblemKind {
    ProblemKind { categories, wordings }
}

/// Every kind of problem that the tests plant.
pub(super) const PROBLEM_KINDS: [ProblemKind; 24] = [
    kind(
        [Security, Bug],
        [
            (
                "SQL injection through `{name}`",
                "The query is built by string concatenation. An attacker can inject SQL through the input.",
            ),
            (
                "Query built from unescaped input",
                "User input is concatenated into the SQL query, so an attacker controls the statement. Use bound parameters.",
            ),
            (
                "Unsafe SQL construction",
                "Concatenating input into the query allows SQL injection by an attacker.",
            ),
            (
                "[P1] Injection: {name} reaches the database unescaped",
                "The SQL statement contains raw input; an attacker can read or drop tables.",
            ),
        ],
    ),
    kind(
        [Bug, Logic],
        [
            (
                "Division by zero",
                "When the list is empty, the count is zero and the division fails with an exception.",
            ),
            (
                "Possible division by zero for an empty list",
                "The divisor is the length of the list, which is zero when it is empty.",
            ),
            (
                "{name} can be divided by zero",
                "For an empty list the divisor is zero, and the division raises.",
            ),
            (
                "Empty input crashes the average",
                "With an empty list the code divides by zero and raises an exception.",
            ),
        ],
    ),
    kind(
        [Logic, Bug],
        [
            (
                "Off-by-one in the loop bound",
                "The loop stops one element too early, so the last element is never processed.",
            ),
            (
                "Last element is skipped",
                "The upper bound of the loop is off by one: the last element is not visited.",
            ),
            (
                "Loop ends one iteration early",
                "Because of the exclusive bound, the last element is skipped.",
            ),
            (
                "Off by one: `{name}` misses the last item",
                "The bound excludes the last element, which is therefore never processed.",
            ),
        ],
    ),
    kind(
        [ErrorHandling, Bug],
        [
            (
                "Error is silently ignored",
                "The exception is swallowed, so the caller never learns that the operation failed.",
            ),
            (
                "Swallowed exception hides failures",
                "Catching every exception and ignoring it hides the failure from the caller.",
            ),
            (
                "Failure of {name} is not reported",
                "The error is swallowed without logging; callers continue as if it had succeeded.",
            ),
            (
                "Exception swallowed",
                "A failing operation is ignored silently and the caller gets no error.",
            ),
        ],
    ),
    kind(
        [Bug, ErrorHandling],
        [
            (
                "Possible null dereference of `{name}`",
                "It may be null when the lookup finds no entry, and is dereferenced without a check.",
            ),
            (
                "Missing null check",
                "The lookup returns null for an unknown entry, which is then dereferenced and crashes.",
            ),
            (
                "{name} may be None",
                "If the lookup fails, None is returned and the attribute access crashes.",
            ),
            (
                "Null is dereferenced when the lookup misses",
                "No check guards against a null result of the lookup.",
            ),
        ],
    ),
    kind(
        [Performance, Bug],
        [
            (
                "N+1 queries in a loop",
                "One database query is sent for each row. Fetch all rows in one batch before the loop.",
            ),
            (
                "Query per row",
                "Inside the loop a separate database query runs for each row; batch them.",
            ),
            (
                "Database is queried once per iteration",
                "This is an N+1 pattern: each row triggers another query. Use one batch query.",
            ),
            (
                "Slow: `{name}` queries the database in a loop",
                "Each iteration sends a query; a single batch query would do.",
            ),
        ],
    ),
    kind(
        [Bug, Performance],
        [
            (
                "File handle is never closed",
                "The file is opened without a context manager and leaks when an exception is raised.",
            ),
            (
                "Leaked file descriptor",
                "The opened file is not closed on the exception path, so descriptors leak.",
            ),
            (
                "Resource leak: {name}",
                "The handle stays open when an exception is raised before close is called.",
            ),
            (
                "Missing close on error path",
                "If reading raises an exception, the file handle leaks because close is skipped.",
            ),
        ],
    ),
    kind(
        [Security, Bug],
        [
            (
                "Path traversal",
                "A file name with `..` leaves the upload directory, so an attacker can overwrite any file.",
            ),
            (
                "Upload can escape its directory",
                "The file name from the request is joined without checks; `..` traverses out of the directory.",
            ),
            (
                "Unchecked path in {name}",
                "An attacker can use `..` in the path to write outside the upload directory.",
            ),
            (
                "Directory traversal via the file name",
                "The joined path may leave the upload directory because `..` is not rejected.",
            ),
        ],
    ),
    kind(
        [Bug, Logic],
        [
            (
                "Race condition between check and use",
                "Two threads can pass the check before either of them writes, so the entry is created twice.",
            ),
            (
                "Check-then-act race",
                "Concurrent threads may both pass the check and create the entry twice. Hold the lock.",
            ),
            ("Not thread safe", "Without a lock two threads race between the check and the write."),
            (
                "`{name}` is racy",
                "Another thread can write between the check and the update; use the lock.",
            ),
        ],
    ),
    kind(
        [Bug, Logic],
        [
            (
                "Time zone is dropped",
                "A naive datetime is compared with an aware one; users outside UTC see wrong dates.",
            ),
            (
                "Naive datetime",
                "The time zone is lost here, so the date is wrong for users who are not in UTC.",
            ),
            ("Wrong date outside UTC", "The naive datetime ignores the time zone of the user."),
            (
                "{name} ignores the time zone",
                "Dates shift for users outside UTC because a naive datetime is created.",
            ),
        ],
    ),
    kind(
        [Style, Bug],
        [
            (
                "Misleading variable name",
                "`{name}` suggests a count but contains a list; rename it for readability.",
            ),
            ("Rename `{name}`", "The name suggests a count, while the variable contains a list."),
            (
                "Confusing naming",
                "The variable is named like a count but is a list, which hurts readability.",
            ),
            (
                "Name does not match content",
                "Readers expect a count from the variable name, but it is a list.",
            ),
        ],
    ),
    kind(
        [Style, Performance],
        [
            (
                "Magic number",
                "The literal has no explanation. Introduce a named constant for the limit.",
            ),
            (
                "Unexplained literal",
                "Replace the magic number by a named constant, so that the limit is documented.",
            ),
            ("Hard-coded limit", "This magic literal should be a named constant."),
            (
                "Use a constant instead of a literal",
                "A named constant would explain the limit better than this magic number.",
            ),
        ],
    ),
    kind(
        [Bug, Logic],
        [
            (
                "Integer overflow",
                "The multiplication overflows 32 bits for large inputs and wraps to a negative number.",
            ),
            (
                "Multiplication may overflow",
                "For large inputs the product exceeds 32 bits and wraps around.",
            ),
            ("{name} overflows", "Large inputs make the 32 bit product wrap to a negative number."),
            (
                "Unchecked arithmetic",
                "The product of two large inputs overflows and wraps silently.",
            ),
        ],
    ),
    kind(
        [Logic, Bug],
        [
            (
                "Condition is inverted",
                "The branch runs when the flag is false, which is the opposite of the documented behaviour.",
            ),
            (
                "Inverted check",
                "This condition is the opposite of what the documentation says: the branch runs for false flags.",
            ),
            (
                "Wrong branch taken for `{name}`",
                "The check is inverted, so the flag has the opposite effect.",
            ),
            (
                "Flag has the opposite effect",
                "Because the condition is inverted, the branch is taken when the flag is off.",
            ),
        ],
    ),
    kind(
        [Security, Bug],
        [
            (
                "Secret is logged",
                "The token is written to the log in plain text, where other people can read it.",
            ),
            ("Credentials in the log", "Logging the token exposes the credential in plain text."),
            (
                "{name} leaks the token to logs",
                "The log message contains the secret token in plain text.",
            ),
            (
                "Sensitive data in log output",
                "The token ends up in plain text in the log; mask the secret.",
            ),
        ],
    ),
    kind(
        [ErrorHandling, Performance],
        [
            (
                "No timeout on the request",
                "The HTTP call waits forever when the server hangs, and blocks the worker.",
            ),
            (
                "Request can hang forever",
                "Without a timeout the HTTP request blocks the worker when the server does not answer.",
            ),
            (
                "Missing timeout",
                "A server that hangs blocks this HTTP call, and with it the worker, forever.",
            ),
            ("`{name}` has no timeout", "The worker blocks forever if the remote server hangs."),
        ],
    ),
    kind(
        [ErrorHandling, Bug],
        [
            (
                "Retry without a limit",
                "When the service stays down, the retries continue endlessly and flood it.",
            ),
            (
                "Endless retries",
                "The retry loop has no limit or backoff, so a service that is down gets flooded.",
            ),
            ("Unbounded retry loop", "If the service is down, retrying never stops."),
            (
                "{name} retries forever",
                "There is no limit to the retries when the service is unavailable; add backoff.",
            ),
        ],
    ),
    kind(
        [Bug, Logic],
        [
            (
                "Mutable default argument",
                "The default list is shared between calls, so entries from earlier calls show up again.",
            ),
            (
                "Shared default list",
                "A mutable default argument is created once and shared between all calls.",
            ),
            (
                "Default argument keeps state between calls",
                "The mutable list is shared by every call that omits the argument.",
            ),
            (
                "`{name}` is a mutable default",
                "Entries of an earlier call remain in the shared list.",
            ),
        ],
    ),
    kind(
        [Security, Logic],
        [
            (
                "Missing permission check",
                "Any signed-in user can call this endpoint for another account; check the owner.",
            ),
            (
                "Authorization is missing",
                "The endpoint does not check that the account belongs to the signed-in user.",
            ),
            (
                "Other accounts are accessible",
                "Without a permission check a user can access another account.",
            ),
            (
                "No owner check in {name}",
                "A signed-in user may act on the account of another user, since permission is not checked.",
            ),
        ],
    ),
    kind(
        [Performance, Style],
        [
            (
                "Quadratic runtime",
                "Searching the list inside the loop is quadratic; use a set for membership tests.",
            ),
            (
                "Membership test in a list",
                "The list is searched in each iteration, which is quadratic. A set is faster.",
            ),
            ("Use a set", "Membership tests on a list make this loop quadratic."),
            (
                "`{name}` is searched linearly",
                "Each membership test scans the list, so the loop takes quadratic time.",
            ),
        ],
    ),
    kind(
        [Bug, ErrorHandling],
        [
            (
                "Unhandled promise rejection",
                "The promise is not awaited, so a rejection is lost and the caller continues too early.",
            ),
            (
                "Missing await",
                "Without await the promise runs in the background and its rejection is unhandled.",
            ),
            (
                "Promise is not awaited",
                "The caller continues before the promise settles, and rejections are lost.",
            ),
            ("{name} must be awaited", "An un-awaited promise loses its rejection."),
        ],
    ),
    kind(
        [Bug, Style],
        [
            (
                "Floating point money",
                "Amounts are stored as floats, so cents are lost by rounding. Use integers or decimals.",
            ),
            (
                "Rounding error in amounts",
                "Floats cannot represent cents exactly; amounts drift by rounding.",
            ),
            ("Float used for currency", "Rounding of float amounts loses cents; use decimals."),
            ("`{name}` should be a decimal", "Money in floats leads to rounding errors of cents."),
        ],
    ),
    kind(
        [Security, Style],
        [
            (
                "Weak hash function",
                "MD5 is broken; passwords hashed with it are recovered quickly. Use bcrypt or argon2.",
            ),
            ("Passwords hashed with MD5", "MD5 is not suitable for passwords, use argon2."),
            (
                "Insecure password hash",
                "A broken hash such as MD5 lets an attacker recover passwords.",
            ),
            (
                "Broken cryptography: MD5",
                "Passwords need a slow hash like bcrypt; MD5 hashes are recovered in seconds.",
            ),
        ],
    ),
    kind(
        [Logic, ErrorHandling],
        [
            (
                "Cache is never invalidated",
                "After an update the stale entry remains in the cache until the process restarts.",
            ),
            (
                "Stale cache entry",
                "The update does not invalidate the cache, so readers see stale entries.",
            ),
            ("Missing invalidation", "An update leaves the stale value in the cache."),
            ("{name} serves stale data", "The cached entry is not invalidated after updates."),
        ],
    ),
];
