//! What rule files and flow files may say about data flow, as read from YAML. `model` turns it into
//! something that can be asked quickly.
//!
//! *Paths* name values by how they are reached: `fs.promises.readFile`, `flask.request.args`,
//! `express()` (what a call gives), `https.get@0` (the first parameter of the function handed to it),
//! `?req.query` (a variable called `req` that nothing is known about), `<db,conn>.query` (any receiver
//! written with such a name), `**.innerHTML` (anything). `{a,b}` are choices, `*` stands for one name
//! or for part of it, and names with dots in them stand in quotes: `'hogan.js'.compile`.
//!
//! *Selectors* name parts of a call: `0`, `timeout` (an argument by name), `1.cwd` (a field of one),
//! `0.**` (anything in it), `*` (any argument), `2+` (from the third on), `self` (the receiver).

use schemars::JsonSchema;
use serde::Deserialize;

/// The data flow that a rule looks for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaintSpec {
    /// Kinds of sources, as named in the language's flow file. `literal` is a text written in the
    /// code, `anything` is every value: then the conditions of the sinks decide alone.
    pub sources: Vec<String>,
    /// What a sanitizer must clear for this rule, such as `html` or `path`.
    pub class: String,
    /// Where such a value does harm.
    #[serde(default)]
    pub sinks: Vec<SinkSpec>,
    /// A way of doing harm that paths cannot say; the name of a check in the engine.
    #[serde(default)]
    pub check: Option<String>,
    /// Calls whose result is harmless here, besides those of the language's flow file.
    #[serde(default)]
    pub sanitizers: Vec<String>,
}

/// Where a value does harm: exactly one of `call`, `write`, `read`, `give`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SinkSpec {
    /// Paths of functions; `args` says which of their arguments.
    #[serde(default)]
    pub call: Vec<String>,
    /// What a sanitizer must clear here, when it is not the rule's `class`.
    #[serde(default)]
    pub class: Option<String>,
    /// Selectors of the arguments of `call`; without them the call itself is reported.
    #[serde(default)]
    pub args: Vec<String>,
    /// Fields of an argument in which values do no harm.
    #[serde(default)]
    pub not_in: Vec<String>,
    /// Paths of fields that are assigned.
    #[serde(default)]
    pub write: Vec<String>,
    /// Decorators of functions whose result it is.
    #[serde(default)]
    pub give: Vec<String>,
    /// Conditions on the call: `shell=true`, `0~^(sh|bash)$`, `0.bits<2048`, `0:zlib.createGunzip()`
    /// (is reached so), `1` (is there), `!1.limit` (is not). For `write`, `0` is the value; `#` are
    /// the settings that something was made with.
    #[serde(default)]
    pub when: Vec<String>,
}

/// Everything about a language that is not about one rule.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowFile {
    /// Where values come from outside.
    #[serde(default)]
    pub sources: Vec<SourceSpec>,
    /// What the parameters of some functions are.
    #[serde(default)]
    pub entries: Vec<EntrySpec>,
    /// Calls that make a value harmless.
    #[serde(default)]
    pub sanitizers: Vec<SanitizerSpec>,
    /// Calls after which values do no harm any more in the same function.
    #[serde(default)]
    pub quiets: Vec<QuietSpec>,
    /// Calls whose result carries what went in.
    #[serde(default)]
    pub propagators: Vec<PropagatorSpec>,
    /// Calls that never return.
    #[serde(default)]
    pub ends: Vec<String>,
    /// Calls that give back their first argument, function or module, in another form.
    #[serde(default)]
    pub wrappers: Vec<String>,
    /// Other paths for the same thing: what is called `path` is also `same_as`.
    #[serde(default)]
    pub aliases: Vec<AliasSpec>,
    /// Fields of a tainted value that carry nothing, such as `length`.
    #[serde(default)]
    pub safe_fields: Vec<String>,
    /// Methods of a tainted value whose result carries nothing, such as `startsWith`.
    #[serde(default)]
    pub safe_methods: Vec<String>,
}

/// Values of some kinds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceSpec {
    /// What they are called in rules.
    pub kinds: Vec<String>,
    /// Where they are.
    pub paths: Vec<String>,
    /// Classes for which they are harmless as a whole; parts of them are not.
    #[serde(default)]
    pub clean: Vec<String>,
}

/// Functions that are called from outside, and with what.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntrySpec {
    /// Names of the leading parameters; each position lists its alternatives.
    #[serde(default)]
    pub names: Vec<Vec<String>>,
    /// Calls that the function is handed to.
    #[serde(default)]
    pub callback_of: Vec<String>,
    /// Decorators it carries.
    #[serde(default)]
    pub decorators: Vec<String>,
    /// Declared types or annotations of single parameters.
    #[serde(default)]
    pub types: Vec<String>,
    /// Names of the function itself.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Paths that the function is assigned to, at any depth below.
    #[serde(default)]
    pub stored_in: Vec<String>,
    /// What the parameters are, as paths; the last one goes on for the rest when it ends with `...`.
    pub binds: Vec<String>,
}

/// Calls that make a value harmless.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SanitizerSpec {
    /// Paths of functions or fields.
    pub calls: Vec<String>,
    /// Which arguments; all, and the receiver, when none is named.
    #[serde(default)]
    pub args: Vec<String>,
    /// For which classes; `all` is for every one.
    pub clears: Vec<String>,
    /// For which classes the result is harmful again.
    #[serde(default)]
    pub restores: Vec<String>,
    /// Conditions on the call, as for sinks.
    #[serde(default)]
    pub when: Vec<String>,
}

/// Calls after which values do no harm any more in the same function, such as setting the type of an
/// answer to plain text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuietSpec {
    /// Paths of functions.
    pub calls: Vec<String>,
    /// Conditions on the call, as for sinks.
    #[serde(default)]
    pub when: Vec<String>,
    /// For which classes.
    pub clears: Vec<String>,
}

/// Calls whose result carries what went in.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropagatorSpec {
    /// Paths of functions.
    pub calls: Vec<String>,
    /// From which arguments; all when none is named.
    #[serde(default)]
    pub from: Vec<String>,
    /// Into which parameter of the function that is handed to it, besides the result.
    #[serde(default)]
    pub callback: Option<u8>,
    /// Kinds that the result has besides, when it is of one of the kinds in `to`.
    #[serde(default)]
    pub adds: Vec<String>,
    /// See `adds`.
    #[serde(default)]
    pub to: Vec<String>,
    /// Kinds that the result has no more.
    #[serde(default)]
    pub drops: Vec<String>,
}

/// Another path for the same thing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasSpec {
    /// The paths in the code.
    pub paths: Vec<String>,
    /// The path in rules.
    pub same_as: String,
}
