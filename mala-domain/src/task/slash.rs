//! Slash commands of coding agents. mala reads the text of a command from a trusted place and sends
//! it with the context, because agents run without the settings of the change under review, and
//! some of them do not support slash commands then.

use crate::gate::lane::{Lane, LaneSettings};

/// Where an agent keeps its slash commands.
struct SlashPlaces {
    agent: &'static str,
    /// In the repository.
    project: Option<&'static str>,
    /// A variable with the folder of the user's settings, and that folder in the home without it.
    user: (&'static str, &'static str),
    /// In that folder.
    user_commands: &'static str,
    extension: &'static str,
    /// The placeholder for the arguments.
    arguments: &'static str,
    /// The option with the model.
    model: &'static str,
}

const PLACES: [SlashPlaces; 3] = [
    SlashPlaces {
        agent: "claude",
        project: Some(".claude/commands"),
        user: ("CLAUDE_CONFIG_DIR", ".claude"),
        user_commands: "commands",
        extension: "md",
        arguments: "$ARGUMENTS",
        model: "--model",
    },
    SlashPlaces {
        agent: "codex",
        project: None,
        user: ("CODEX_HOME", ".codex"),
        user_commands: "prompts",
        extension: "md",
        arguments: "$ARGUMENTS",
        model: "-m",
    },
    SlashPlaces {
        agent: "gemini",
        project: Some(".gemini/commands"),
        user: ("GEMINI_CLI_HOME", ".gemini"),
        user_commands: "commands",
        extension: "toml",
        arguments: "{{args}}",
        model: "-m",
    },
];

/// The files that may have a slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlashFiles {
    /// The file in the repository.
    pub project: Option<String>,
    /// The variable with the folder of the user's settings.
    pub variable: &'static str,
    /// That folder in the home, without the variable.
    pub folder: &'static str,
    /// The file in that folder.
    pub user: String,
}

/// The files that may have this slash command of an agent; `None` for an agent that is not known.
pub fn slash_files(agent: &str, command: &str) -> Option<SlashFiles> {
    let places = PLACES.iter().find(|places| places.agent == agent)?;
    let name = command.trim_start_matches('/').replace(':', "/");
    let file = |folder: &str| format!("{folder}/{name}.{}", places.extension);
    Some(SlashFiles {
        project: places.project.map(file),
        variable: places.user.0,
        folder: places.user.1,
        user: file(places.user_commands),
    })
}

/// The text of a slash command, from the content of its file; `None` if it is empty.
pub fn slash_text(agent: &str, content: &str) -> Option<String> {
    let places = PLACES.iter().find(|places| places.agent == agent)?;
    let text = match places.extension {
        "toml" => {
            let table: toml::Table = toml::from_str(content).ok()?;
            table.get("prompt")?.as_str()?.to_owned()
        }
        _ => without_front_matter(content).to_owned(),
    };
    let text = text.replace(places.arguments, "the task below");
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn without_front_matter(content: &str) -> &str {
    let body = content.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    body.map_or(content, |(_, body)| body)
}

/// A lane of an agent that answers in free text, with this model.
pub fn text_lane(lane: &Lane, model: Option<&str>) -> Lane {
    let mut settings: LaneSettings = lane.settings.clone();
    let mut command = settings.command.take().unwrap_or_default();
    for option in ["--json-schema", "--output-schema"] {
        if let Some(at) = command.iter().position(|word| word == option) {
            command.drain(at..(at + 2).min(command.len()));
        }
    }
    if let Some(answer) = &mut settings.answer
        && answer.at.iter().any(|at| at == "/structured_output")
    {
        answer.at = vec!["/result".to_owned()];
    }
    let option = PLACES.iter().find(|places| places.agent == lane.name).map(|places| places.model);
    if let (Some(option), Some(model)) = (option, model) {
        let mut args = settings.args.take().unwrap_or_default();
        args.extend([option.to_owned(), model.to_owned()]);
        settings.args = Some(args);
    }
    settings.command = Some(command);
    Lane { name: lane.name.clone(), settings }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::lane::LaneTable;

    #[test]
    fn slash_commands_are_where_their_agents_keep_them() {
        let files = slash_files("claude", "/review-task").unwrap();
        assert_eq!(files.project.as_deref(), Some(".claude/commands/review-task.md"));
        assert_eq!(files.user, "commands/review-task.md");
        let files = slash_files("gemini", "/git:look").unwrap();
        assert_eq!(files.project.as_deref(), Some(".gemini/commands/git/look.toml"));
        assert_eq!(slash_files("codex", "/x").unwrap().project, None);
        assert_eq!(slash_files("other", "/x"), None);
    }

    #[test]
    fn the_text_of_a_slash_command_is_its_body() {
        for (agent, content, expected) in [
            (
                "claude",
                "---\nmodel: x\n---\nLook at $ARGUMENTS.\n",
                Some("Look at the task below."),
            ),
            ("codex", "Look.\n", Some("Look.")),
            ("gemini", "prompt = 'Look at {{args}}.'", Some("Look at the task below.")),
            ("gemini", "description = 'x'", None),
            ("gemini", "no toml", None),
            ("claude", "---\nmodel: x\n---\n \n", None),
        ] {
            assert_eq!(slash_text(agent, content).as_deref(), expected, "{content}");
        }
    }

    #[test]
    fn agents_answer_in_free_text() {
        let table = LaneTable::known().unwrap();
        for agent in ["claude", "codex", "gemini"] {
            let lane = text_lane(table.get(agent).unwrap(), Some("big"));
            let words: Vec<&str> = lane.arguments().collect();
            assert!(!words.iter().any(|word| word.contains("schema")), "{words:?}");
            assert!(words.contains(&"big"), "{words:?}");
            assert!(!lane.answer().at.contains(&"/structured_output".to_owned()));
        }
    }
}
