//! Every tool, by the name that a model calls. The schemas that models see and the names that calls
//! are checked against come from the same table.

use super::refusal::{Refusal, quoted};
use mala_domain::conversation::Tool;
use serde_json::{Map, Value, json};

/// The names of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
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

impl Name {
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
    pub(super) name: Name,
    about: &'static str,
    pub(super) fields: &'static [Field],
}

/// One argument.
pub(super) struct Field {
    pub(super) name: &'static str,
    kind: Kind,
    need: Need,
    about: &'static str,
}

/// What an argument is.
enum Kind {
    Text,
    Number,
    Choice(&'static [&'static str]),
}

#[derive(PartialEq, Eq)]
enum Need {
    Required,
    Optional,
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

const FILE: Field = required("path", "File, relative to the root of the tree.");
const BELOW: Field = text("path", "Only this file or folder.");
const START: Field = number("start_line", "First line, from 1.");
const END: Field = number("end_line", "Last line.");
const SIDE: Field =
    choice("ref", &["head", "base"], "With the change (head, the default) or before it.");
const LANGUAGE: Field = choice("language", LANGUAGES, "Only files of this language.");

const TOOLS: &[ToolRow] = &[
    ToolRow {
        name: Name::GitDiff,
        about: "The reviewed change: the diff of one file, or of all files.",
        fields: &[
            text("path", "Only this file or folder."),
            number("hunk", "Start at this hunk of the file, from 1."),
        ],
    },
    ToolRow {
        name: Name::GitShow,
        about: "One commit of the history: its message and its diff.",
        fields: &[required("commit", "The commit's id, 7 or more hexadecimal digits."), BELOW],
    },
    ToolRow {
        name: Name::GitLog,
        about: "The newest commits that lead to the reviewed state.",
        fields: &[BELOW, number("max", "How many, at most 50; 10 by default.")],
    },
    ToolRow {
        name: Name::GitBlame,
        about: "Which commit last changed each line of a file at head.",
        fields: &[FILE, START, END],
    },
    ToolRow {
        name: Name::ReadFile,
        about: "Lines of a file of the reviewed tree, with their numbers.",
        fields: &[FILE, START, END, SIDE],
    },
    ToolRow {
        name: Name::ListFiles,
        about: "The files below a folder.",
        fields: &[text("path", "The folder; the root by default."), LANGUAGE],
    },
    ToolRow {
        name: Name::SearchCode,
        about: "Lines at head with a text, or with a regular expression (RE2 syntax).",
        fields: &[
            required("query", "The text or the regular expression."),
            choice("mode", &["literal", "regex"], "How to read the query; literal by default."),
            choice("case", &["exact", "ignore"], "Whether case matters; exact by default."),
            BELOW,
            LANGUAGE,
        ],
    },
    ToolRow {
        name: Name::GetFunctionContext,
        about: "A whole function or class with the imports of its file, by its name or by a line in it.",
        fields: &[
            FILE,
            text("symbol", "Its name, such as run or Server.run."),
            number("line", "A line in it."),
            SIDE,
        ],
    },
    ToolRow {
        name: Name::FindReferences,
        about: "Where a function, class or other name is used at head.",
        fields: &[required("symbol", "The name, such as run or Server.run."), BELOW, LANGUAGE],
    },
    ToolRow {
        name: Name::RunLinter,
        about: "What one of the project's linters says of a file at head.",
        fields: &[
            Field {
                name: "linter",
                kind: Kind::Choice(LINTERS),
                need: Need::Required,
                about: "Which one.",
            },
            FILE,
        ],
    },
];

const fn required(name: &'static str, about: &'static str) -> Field {
    Field { name, kind: Kind::Text, need: Need::Required, about }
}

const fn text(name: &'static str, about: &'static str) -> Field {
    Field { name, kind: Kind::Text, need: Need::Optional, about }
}

const fn number(name: &'static str, about: &'static str) -> Field {
    Field { name, kind: Kind::Number, need: Need::Optional, about }
}

const fn choice(
    name: &'static str,
    choices: &'static [&'static str],
    about: &'static str,
) -> Field {
    Field { name, kind: Kind::Choice(choices), need: Need::Optional, about }
}

/// The tools as a model is told of them. The list is always the same, so that providers can cache it.
pub fn catalogue() -> Vec<Tool> {
    TOOLS
        .iter()
        .map(|row| Tool {
            name: row.name.as_str().to_owned(),
            description: row.about.to_owned(),
            arguments: schema(row),
        })
        .collect()
}

/// The tool of this name.
pub(super) fn find(name: &str) -> Result<&'static ToolRow, Refusal> {
    TOOLS.iter().find(|row| row.name.as_str() == name).ok_or_else(|| {
        let names: Vec<_> = TOOLS.iter().map(|row| row.name.as_str()).collect();
        Refusal::new(
            format!("there is no tool {}", quoted(name)),
            format!("call one of {}", names.join(", ")),
        )
    })
}

/// The arguments of a tool in words: `path, start_line (optional)`.
pub(super) fn field_names(row: &ToolRow) -> String {
    let name = |field: &Field| match field.need {
        Need::Required => field.name.to_owned(),
        Need::Optional => format!("{} (optional)", field.name),
    };
    row.fields.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn schema(row: &ToolRow) -> Value {
    let property = |field: &Field| match &field.kind {
        Kind::Text => json!({ "type": "string", "description": field.about }),
        Kind::Number => json!({ "type": "integer", "minimum": 1, "description": field.about }),
        Kind::Choice(choices) => {
            json!({ "type": "string", "enum": choices, "description": field.about })
        }
    };
    let properties: Map<String, Value> =
        row.fields.iter().map(|field| (field.name.to_owned(), property(field))).collect();
    let required: Vec<_> = row
        .fields
        .iter()
        .filter(|field| field.need == Need::Required)
        .map(|field| field.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
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
    fn every_schema_is_a_closed_object() {
        for tool in catalogue() {
            assert_eq!(tool.arguments["type"], "object", "{}", tool.name);
            assert_eq!(tool.arguments["additionalProperties"], false, "{}", tool.name);
            assert!(tool.description.len() < 120, "{}", tool.name);
        }
        assert_eq!(catalogue().len(), 10);
    }
}
