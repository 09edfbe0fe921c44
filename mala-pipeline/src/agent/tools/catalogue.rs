//! Every tool, by the name that a model calls. The schemas that models see and the names that calls
//! are checked against come from the same table.

use super::{ToolRefusal, quoted};
use mala_domain::conversation::ToolDefinition;
use serde_json::{Map, Value, json};

/// The names of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolName {
    GitDiff,
    GitShow,
    GitLog,
    GitBlame,
    ReadFile,
    ListFiles,
    SearchCode,
    GetFunctionContext,
    FindReferences,
    RunLinter,
}

impl ToolName {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::GitDiff => "git_diff",
            Self::GitShow => "git_show",
            Self::GitLog => "git_log",
            Self::GitBlame => "git_blame",
            Self::ReadFile => "read_file",
            Self::ListFiles => "list_files",
            Self::SearchCode => "search_code",
            Self::GetFunctionContext => "get_function_context",
            Self::FindReferences => "find_references",
            Self::RunLinter => "run_linter",
        }
    }
}

/// One tool.
pub(super) struct ToolRow {
    pub(super) name: ToolName,
    about: &'static str,
    pub(super) fields: &'static [ToolArgument],
}

/// One argument. It has no description: the schema is sent with every call, and an invalid argument
/// is answered with a correction.
pub(super) struct ToolArgument {
    pub(super) name: &'static str,
    kind: ArgumentKind,
    need: ArgumentNeed,
}

/// The type of an argument.
enum ArgumentKind {
    Text,
    Number,
    Choice(&'static [&'static str]),
}

#[derive(PartialEq, Eq)]
enum ArgumentNeed {
    Required,
    Optional,
    /// Accepted but not part of the schema, which every call sends. Error messages mention it.
    Unlisted,
}

/// The languages that searches can be kept to.
pub(super) const LANGUAGES: &[&str] = &[
    "python",
    "javascript",
    "typescript",
    "tsx",
    "rust",
    "go",
    "java",
    "c",
    "cpp",
    "ruby",
    "csharp",
    "php",
];

/// The linters that can be run.
pub(super) const LINTERS: &[&str] = &[
    "ruff",
    "eslint",
    "biome",
    "oxlint",
    "tsc",
    "clippy",
    "golangci-lint",
    "shellcheck",
    "semgrep",
    "hadolint",
    "actionlint",
];

const FILE: ToolArgument = required("path");
const BELOW: ToolArgument = text("path");
const START: ToolArgument = number("start_line");
const END: ToolArgument = number("end_line");
const SIDE: ToolArgument = choice("ref", &["head", "base"]);
const LANGUAGE: ToolArgument = text("language");

const TOOLS: &[ToolRow] = &[
    ToolRow {
        name: ToolName::GitDiff,
        about: "The reviewed diff.",
        fields: &[BELOW, unlisted(number("hunk"))],
    },
    ToolRow {
        name: ToolName::GitShow,
        about: "A commit's message and diff.",
        fields: &[required("commit"), unlisted(BELOW)],
    },
    ToolRow {
        name: ToolName::GitLog,
        about: "The newest commits.",
        fields: &[BELOW, unlisted(number("max"))],
    },
    ToolRow {
        name: ToolName::GitBlame,
        about: "The last commit of each line.",
        fields: &[FILE, START, unlisted(END)],
    },
    ToolRow {
        name: ToolName::ReadFile,
        about: "Lines of a file after (head) or before the change.",
        fields: &[FILE, START, END, SIDE],
    },
    ToolRow {
        name: ToolName::ListFiles,
        about: "Files below a folder.",
        fields: &[BELOW, unlisted(LANGUAGE)],
    },
    ToolRow {
        name: ToolName::SearchCode,
        about: "Lines with a text or an RE2 expression.",
        fields: &[
            required("query"),
            choice("mode", &["literal", "regex"]),
            unlisted(choice("case", &["exact", "ignore"])),
            BELOW,
            LANGUAGE,
        ],
    },
    ToolRow {
        name: ToolName::GetFunctionContext,
        about: "A whole function or class and its file's imports.",
        fields: &[FILE, text("symbol"), number("line"), unlisted(SIDE)],
    },
    ToolRow {
        name: ToolName::FindReferences,
        about: "Where a name is used.",
        fields: &[required("symbol"), BELOW, unlisted(LANGUAGE)],
    },
    ToolRow {
        name: ToolName::RunLinter,
        about: "What ruff or another linter says of a file.",
        fields: &[required("linter"), FILE],
    },
];

const fn required(name: &'static str) -> ToolArgument {
    ToolArgument { name, kind: ArgumentKind::Text, need: ArgumentNeed::Required }
}

const fn text(name: &'static str) -> ToolArgument {
    ToolArgument { name, kind: ArgumentKind::Text, need: ArgumentNeed::Optional }
}

const fn number(name: &'static str) -> ToolArgument {
    ToolArgument { name, kind: ArgumentKind::Number, need: ArgumentNeed::Optional }
}

const fn choice(name: &'static str, choices: &'static [&'static str]) -> ToolArgument {
    ToolArgument { name, kind: ArgumentKind::Choice(choices), need: ArgumentNeed::Optional }
}

const fn unlisted(field: ToolArgument) -> ToolArgument {
    ToolArgument { need: ArgumentNeed::Unlisted, ..field }
}

/// The definitions of the tools for a request. The list is always the same, so that providers can cache it.
pub fn catalogue() -> Vec<ToolDefinition> {
    TOOLS
        .iter()
        .map(|row| ToolDefinition {
            name: row.name.as_str().to_owned(),
            description: row.about.to_owned(),
            arguments: schema(row),
        })
        .collect()
}

/// The tool of this name.
pub(super) fn find(name: &str) -> Result<&'static ToolRow, ToolRefusal> {
    TOOLS.iter().find(|row| row.name.as_str() == name).ok_or_else(|| {
        let names: Vec<_> = TOOLS.iter().map(|row| row.name.as_str()).collect();
        ToolRefusal::new(
            format!("there is no tool {}", quoted(name)),
            format!("call one of {}", names.join(", ")),
        )
    })
}

/// The arguments of a tool as text: `path, start_line (optional)`.
pub(super) fn field_names(row: &ToolRow) -> String {
    let name = |field: &ToolArgument| match field.need {
        ArgumentNeed::Required => field.name.to_owned(),
        ArgumentNeed::Optional | ArgumentNeed::Unlisted => format!("{} (optional)", field.name),
    };
    row.fields.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn schema(row: &ToolRow) -> Value {
    let property = |field: &ToolArgument| match &field.kind {
        ArgumentKind::Text => json!({ "type": "string" }),
        ArgumentKind::Number => json!({ "type": "integer" }),
        ArgumentKind::Choice(choices) => json!({ "type": "string", "enum": choices }),
    };
    let listed = row.fields.iter().filter(|field| field.need != ArgumentNeed::Unlisted);
    let properties: Map<String, Value> =
        listed.clone().map(|field| (field.name.to_owned(), property(field))).collect();
    let required: Vec<_> = listed
        .filter(|field| field.need == ArgumentNeed::Required)
        .map(|field| field.name)
        .collect();
    match required.is_empty() {
        true => json!({ "type": "object", "properties": properties }),
        false => json!({ "type": "object", "properties": properties, "required": required }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::config::LinterName;
    use mala_domain::language::Language;

    #[test]
    fn choices_are_those_that_exist() {
        assert_eq!(LANGUAGES, Language::ALL.map(Language::name));
        assert_eq!(LINTERS, LinterName::ALL.map(LinterName::name));
    }

    #[test]
    fn every_schema_is_an_object_and_small() {
        let mut n_bytes = 0;
        for tool in catalogue() {
            assert_eq!(tool.arguments["type"], "object", "{}", tool.name);
            n_bytes += tool.name.len() + tool.description.len() + tool.arguments.to_string().len();
        }
        assert_eq!(catalogue().len(), 10);
        assert!(n_bytes < 1_700, "sent with every call: {n_bytes} bytes");
    }
}
