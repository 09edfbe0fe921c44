//! The tools of coding agents, as a scripted model calls them: every CLI has names and arguments of its own.

use crate::model_server::{ModelAnswer, ModelRequest, WireProtocol};
use serde_json::json;
use std::path::Path;

/// A file that a coding agent writes with its own tool.
#[derive(Debug, Clone, Copy)]
pub struct FileEdit<'e> {
    /// The folder that it works in.
    pub tree: &'e Path,
    /// The name of the file in it.
    pub name: &'e str,
    /// The old content; `None` for a new file.
    pub old: Option<&'e str>,
    /// The new content.
    pub new: &'e str,
}

/// Calls the tool that writes a file.
pub fn write_file(request: &ModelRequest, edit: FileEdit<'_>) -> ModelAnswer {
    let path = edit.tree.join(edit.name);
    match request.wire {
        WireProtocol::Anthropic => {
            ModelAnswer::call("Write", json!({"file_path": path, "content": edit.new}))
        }
        WireProtocol::Gemini => {
            ModelAnswer::call("write_file", json!({"file_path": path, "content": edit.new}))
        }
        _ => {
            let lines = |text: &str, mark: char| -> String {
                text.lines().map(|line| format!("{mark}{line}\n")).collect()
            };
            let added = lines(edit.new, '+');
            let body = match edit.old {
                None => format!("*** Add File: {}\n{added}", edit.name),
                Some(old) => {
                    format!("*** Update File: {}\n@@\n{}{added}", edit.name, lines(old, '-'))
                }
            };
            let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
            let command = format!("apply_patch <<'EOF'\n{patch}EOF\n");
            ModelAnswer::call("exec_command", json!({"cmd": command}))
        }
    }
}

/// Calls the tool that runs a command.
pub fn run_command(request: &ModelRequest, command: &str) -> ModelAnswer {
    match request.wire {
        WireProtocol::Anthropic => {
            ModelAnswer::call("Bash", json!({"command": command, "description": "Commit"}))
        }
        WireProtocol::Gemini => ModelAnswer::call("run_shell_command", json!({"command": command})),
        _ => ModelAnswer::call("exec_command", json!({"cmd": command})),
    }
}

/// The arguments that make codex use a model server at this address.
pub fn codex_arguments(url: &str) -> Vec<String> {
    let settings = [
        "model=scripted".to_owned(),
        "model_provider=loopback".to_owned(),
        "model_providers.loopback.name=loopback".to_owned(),
        format!("model_providers.loopback.base_url={url}/v1"),
        "model_providers.loopback.wire_api=responses".to_owned(),
        "model_providers.loopback.env_key=CODEX_API_KEY".to_owned(),
        "model_providers.loopback.supports_websockets=false".to_owned(),
        "model_providers.loopback.request_max_retries=1".to_owned(),
        "model_providers.loopback.stream_max_retries=1".to_owned(),
    ];
    settings.into_iter().flat_map(|it| ["-c".to_owned(), it]).collect()
}
