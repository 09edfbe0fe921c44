//! The data-flow parts of rule files and flow files, as read from YAML. `model` compiles them.
//!
//! *Paths* name values by how the code reaches them: `fs.promises.readFile`, `flask.request.args`,
//! `express()` (the result of a call), `https.get@0` (the first parameter of a callback passed to it),
//! `**.on:data@0` (of a handler of the event `data`), `<db,conn>.query` (any receiver whose written
//! name ends so), `**.innerHTML` (anything). `{a,b}` are choices, `*` stands for one name or a part of
//! it, and names with dots in them stand in quotes: `'hogan.js'.compile`.
//!
//! *Selectors* name parts of a call: `0`, `timeout` (an argument by name), `1.cwd` (a field of one),
//! `0.**` (anything in it), `*` (any argument), `2+` (from the third on), `self` (the receiver).

use schemars::JsonSchema;
use serde::Deserialize;

/// The data flow that a rule looks for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaintSpec {
    /// Kinds of sources, as named in the language's flow file.
    #[serde(default)]
    pub sources: Vec<String>,
    /// More sources, as paths, for this rule only.
    #[serde(default)]
    pub source_paths: Vec<String>,
    /// The class that a sanitizer must clear for this rule, such as `html` or `path`.
    pub class: String,
    /// The places where such a value is dangerous.
    pub sinks: Vec<SinkSpec>,
    /// Calls whose result is harmless here, besides those of the language's flow file.
    #[serde(default)]
    pub sanitizers: Vec<String>,
    /// Reports only values that decide how the text at the sink begins, such as the host of a URL.
    #[serde(default)]
    pub at_start: bool,
}

/// A place where a value is dangerous: one of `call`, `write`, `assign`, `returned_by`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SinkSpec {
    /// Paths of functions; `args` selects their arguments.
    #[serde(default)]
    pub call: Vec<String>,
    /// Selectors of the arguments of `call`.
    #[serde(default)]
    pub args: Vec<String>,
    /// Paths of fields that are assigned.
    #[serde(default)]
    pub write: Vec<String>,
    /// A regular expression for names of variables and fields that are assigned.
    #[serde(default)]
    pub assign: Option<String>,
    /// Decorators of functions whose return value it is.
    #[serde(default)]
    pub returned_by: Vec<String>,
    /// Conditions on the call: `shell=true`, `0~^(sh|bash)$`, `0:zlib.createGunzip()` (was reached by
    /// this path), `1` (exists), `!1.limit` (does not exist).
    #[serde(default)]
    pub when: Vec<String>,
}

/// Facts about a language, independent of single rules.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowFile {
    /// The sources of untrusted values.
    #[serde(default)]
    pub sources: Vec<SourceSpec>,
    /// Functions that frameworks call, and the meaning of their parameters.
    #[serde(default)]
    pub entries: Vec<EntrySpec>,
    /// Calls that make a value harmless.
    #[serde(default)]
    pub sanitizers: Vec<SanitizerSpec>,
    /// Conditions under which a value is harmless.
    #[serde(default)]
    pub guards: Vec<GuardSpec>,
    /// Calls after which values do no harm in the rest of the function.
    #[serde(default)]
    pub safe_after: Vec<SafeAfterSpec>,
    /// Calls whose result carries the taint of their arguments.
    #[serde(default)]
    pub propagators: Vec<PropagatorSpec>,
    /// Calls that put their arguments into the receiver, such as `list.push`.
    #[serde(default)]
    pub stores: Vec<String>,
    /// Calls that never return.
    #[serde(default)]
    pub exits: Vec<String>,
    /// Calls that return their first argument in another form, such as `promisify`.
    #[serde(default)]
    pub wrappers: Vec<String>,
    /// Alternative paths.
    #[serde(default)]
    pub aliases: Vec<AliasSpec>,
    /// Fields of a tainted value that carry no taint, such as `length`.
    #[serde(default)]
    pub safe_fields: Vec<String>,
    /// Methods of a tainted value whose result carries no taint, such as `startsWith`.
    #[serde(default)]
    pub safe_methods: Vec<String>,
}

/// Values of some kinds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceSpec {
    /// Their names in rules.
    pub kinds: Vec<String>,
    /// Their paths.
    pub paths: Vec<String>,
    /// Classes for which the whole value is harmless; its fields are not.
    #[serde(default)]
    pub clean: Vec<String>,
}

/// Functions that a framework calls, and their arguments.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntrySpec {
    /// Names of the leading parameters; each position lists its alternatives.
    #[serde(default)]
    pub names: Vec<Vec<String>>,
    /// Calls that the function is passed to.
    #[serde(default)]
    pub callback_of: Vec<String>,
    /// Decorators it carries.
    #[serde(default)]
    pub decorators: Vec<String>,
    /// Declared types of single parameters.
    #[serde(default)]
    pub types: Vec<String>,
    /// The paths of the parameters; the last one repeats when it ends with `...`.
    pub binds: Vec<String>,
}

/// Calls or fields that make a value harmless.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SanitizerSpec {
    /// Paths of functions.
    #[serde(default)]
    pub calls: Vec<String>,
    /// Paths of fields.
    #[serde(default)]
    pub fields: Vec<String>,
    /// For which classes; `all` is every class.
    pub clears: Vec<String>,
    /// Classes that `all` leaves out.
    #[serde(default)]
    pub except: Vec<String>,
}

/// A condition under which a value is harmless.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardSpec {
    /// Paths of functions that test a value.
    pub calls: Vec<String>,
    /// The part of the call to test.
    pub args: Vec<String>,
    /// For which classes it is harmless; `all` is every class.
    pub clears: Vec<String>,
    /// The test result that means harmless; `true` by default.
    #[serde(default)]
    pub when_false: bool,
}

/// Calls after which values do no harm in the rest of the function, such as setting the content type.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SafeAfterSpec {
    /// Paths of functions.
    pub calls: Vec<String>,
    /// Conditions on the call, as for sinks.
    #[serde(default)]
    pub when: Vec<String>,
    /// For which classes.
    pub clears: Vec<String>,
}

/// Calls whose result carries the taint of their arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropagatorSpec {
    /// Paths of functions.
    pub calls: Vec<String>,
    /// Kinds of sources that it applies to; all when empty.
    #[serde(default)]
    pub kinds: Vec<String>,
}

/// An alternative path.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasSpec {
    /// The paths in the code.
    pub paths: Vec<String>,
    /// The path in rules.
    pub same_as: String,
}
