//! Routes and files whose order of steps matters.

use super::{found, path_matches, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const NO_RATE_LIMIT: ProgramCheck = ProgramCheck {
    name: "request-without-rate-limit",
    captures: &["WORK"],
    run: routes_without_limit,
};

pub(in crate::rules::ecmascript) const FILE_RACE: ProgramCheck =
    ProgramCheck { name: "file-checked-before-use", captures: &["PATH"], run: file_races };

const ROUTES: [&str; 6] = ["get", "post", "put", "delete", "patch", "all"];

fn routes_without_limit(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(path) = program.callee_origin(*call) else { continue };
        let is_route = ROUTES.iter().any(|method| {
            ["express:()", "express:Router()", "fastify:()"]
                .iter()
                .any(|app| path == format!("{app}.{method}"))
        });
        let given = arguments(*call);
        let handler = given.last().copied().filter(|_| is_route && given.len() >= 2);
        let Some(work) = handler.and_then(|it| costly_work(program, it, 2)) else { continue };
        if !is_limited(program, *call, &given) {
            matches.push(found(*call, vec![("WORK", work)]));
        }
    }
    matches
}

/// The costly call that a handler makes.
fn costly_work<'t>(program: &Program<'t>, handler: Node<'t>, depth: usize) -> Option<String> {
    let value = program.value_of(handler)?;
    if value.kind() == "call_expression" && depth > 0 {
        return arguments(value).into_iter().find_map(|it| costly_work(program, it, depth - 1));
    }
    if !is_function(value) {
        return None;
    }
    program.inside(value).iter().filter(|it| it.kind() == "call_expression").find_map(|call| {
        let text = program.text(callee(*call)?);
        let name = text.rsplit('.').next().unwrap_or(text).to_lowercase();
        let origin = program.callee_origin(*call).unwrap_or_default();
        let is_costly = origin.starts_with("fs:")
            || origin.starts_with("child_process:")
            || name.contains("login")
            || name.starts_with("auth")
            || name.starts_with("verify")
            || matches!(name.as_str(), "sendfile" | "query");
        is_costly.then(|| format!("`{}`", short(text)))
    })
}

/// Whether the route, or the file before it, mentions a limiter.
fn is_limited<'t>(program: &Program<'t>, call: Node<'t>, given: &[Node<'t>]) -> bool {
    let mentions = |text: &str| {
        let lower = text.to_lowercase();
        ["limit", "throttle", "slowdown", "brute"].iter().any(|word| lower.contains(word))
    };
    let object = callee(call).and_then(|it| it.child_by_field_name("object"));
    let object = object.map_or("", |it| program.text(it));
    given.iter().any(|it| mentions(program.text(*it)))
        || program.of_kind("call_expression").iter().any(|other| {
            other.start_byte() < call.start_byte()
                && callee(*other).is_some_and(|callee| {
                    let text = program.text(callee);
                    let is_use =
                        text == format!("{object}.use") || text == format!("{object}.register");
                    let takes_app = mentions(text);
                    is_use || takes_app
                })
                && mentions(program.text(*other))
        })
}

const CHECKS: [&str; 6] =
    ["fs:existsSync", "fs:statSync", "fs:lstatSync", "fs:accessSync", "fs:exists", "fs:stat"];

const USES: [&str; 8] = [
    "fs:writeFile*",
    "fs:open*",
    "fs:appendFile*",
    "fs:unlink*",
    "fs:rename*",
    "fs:createWriteStream",
    "fs:truncate*",
    "fs:copyFile*",
];

fn file_races(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    let calls = program.of_kind("call_expression");
    let checks: Vec<(Node<'_>, &str)> = calls
        .iter()
        .filter(|call| {
            program.callee_origin(**call).is_some_and(|path| CHECKS.contains(&path.as_str()))
        })
        .filter_map(|call| Some((*call, program.text(*arguments(*call).first()?))))
        .collect();
    for call in calls {
        let Some(path) = program.callee_origin(*call) else { continue };
        if !USES.iter().any(|it| path_matches(it, &path)) {
            continue;
        }
        let Some(file) = arguments(*call).first().map(|it| program.text(*it)) else { continue };
        let around = program.ancestors(*call).filter(|it| is_function(*it)).last();
        let is_checked = checks.iter().any(|(check, checked)| {
            *checked == file
                && check.end_byte() <= call.start_byte()
                && around.is_none_or(|around| program.contains(around, *check))
        });
        if is_checked {
            matches.push(found(*call, vec![("PATH", short(file))]));
        }
    }
    matches
}
