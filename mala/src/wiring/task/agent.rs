//! The command that reviews a task, as a lane: a program, or a slash command of a coding agent. The
//! text of a slash command is read at the base of the work or from the home of the user, never from
//! the work itself.

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::Settings;
use crate::wiring::gate as world;
use crate::wiring::read_following_links;
use crate::wiring::reviewers::{TaskLanes, command_lane};
use mala_adapters::git::Git;
use mala_domain::change::FilePath;
use mala_domain::command::TASK;
use mala_domain::config::{CoderTemplate, CommandReviewerSettings, ConfigOrigin, TaskCommand};
use mala_domain::gate::lane::{Lane, LaneSettings, LaneTable, filled};
use mala_domain::task::slash::{slash_files, slash_text, text_lane};
use std::path::{Path, PathBuf};

/// The size limit of a slash command.
const MAX_BYTES: u64 = 256 << 10;

/// The lanes of a review, and their instructions.
pub(super) struct TaskLanesAndWords {
    pub(super) lanes: TaskLanes,
    pub(super) instructions: Option<String>,
    pub(super) parser_instructions: Option<String>,
}

/// Where to look up commands.
pub(super) struct CommandPlaces<'p> {
    pub(super) here: &'p Environment,
    pub(super) settings: &'p Settings,
    pub(super) git: &'p Git,
    /// The base of the work.
    pub(super) base: Option<&'p str>,
    pub(super) task_id: &'p str,
}

impl CommandPlaces<'_> {
    /// The lanes of the command and its parser.
    pub(super) async fn lanes(&self, command: &TaskCommand) -> anyhow::Result<TaskLanesAndWords> {
        let policy = &self.settings.tasks;
        let (command, instructions) = self.lane(command, "command").await?;
        let is_slash = instructions.is_some();
        let (parser, parser_instructions) = match &policy.parser.value {
            // By default, the agent that reviewed parses, or else the model of mala.
            TaskCommand::Slash(_) if policy.parser.origin == ConfigOrigin::Default && !is_slash => {
                (None, None)
            }
            TaskCommand::Slash(name) if self.template().is_none() => {
                let words = self.slash_text(name).await;
                (Some(self.agent_lane()?), words)
            }
            parser => {
                let (lane, words) = self.lane(parser, "parser").await?;
                (Some(lane), words.map(|_| parser.to_string()))
            }
        };
        let lanes = TaskLanes { command, parser };
        Ok(TaskLanesAndWords { lanes, instructions, parser_instructions })
    }

    async fn lane(
        &self,
        command: &TaskCommand,
        name: &str,
    ) -> anyhow::Result<(Lane, Option<String>)> {
        match command {
            TaskCommand::Program(words) => {
                let model = self.settings.tasks.model.value.clone().filter(|_| name == "command");
                let own = CommandReviewerSettings { model, ..self.own_settings() };
                Ok((command_lane(name, words, &own, self.here)?, None))
            }
            TaskCommand::Slash(slash) => match self.template() {
                Some(template) => {
                    let words = format!("{slash}\n\n{TASK}");
                    Ok((self.template_lane(template)?, Some(words)))
                }
                None => {
                    let lane = self.agent_lane()?;
                    let words = self.slash_text(slash).await.ok_or_else(|| {
                        let agent = self.agent();
                        let what = format!("{agent} has no slash command {slash}");
                        Failure::new(FailureKind::CouldNotReview, what).hint(format!(
                            "commit {}, or set tasks.review.command",
                            self.places(slash).join(" or ")
                        ))
                    })?;
                    Ok((lane, Some(words)))
                }
            },
        }
    }

    fn own_settings(&self) -> CommandReviewerSettings {
        self.settings.policy.command.value.clone().unwrap_or_default()
    }

    /// The agent whose slash commands are run.
    pub(super) fn agent(&self) -> &str {
        let own = self.settings.tasks.agent.value.as_deref();
        own.unwrap_or(&self.settings.run.coder.value)
    }

    fn template(&self) -> Option<&CoderTemplate> {
        let template = self.settings.run.coders.get(self.agent())?;
        (!template.command.is_empty()).then_some(template)
    }

    fn template_lane(&self, template: &CoderTemplate) -> Result<Lane, Failure> {
        let values = [("issue", self.task_id), ("session", self.task_id)];
        let words = template.command.iter().chain(&template.args);
        let mut words: Vec<String> = words.map(|word| filled(word, &values)).collect();
        // A program of the repository is that of the checkout, as for `mala run`.
        if let Some(program) = words.first_mut()
            && program.contains('/')
            && !program.starts_with('/')
        {
            *program = self.git.top().join(program.as_str()).display().to_string();
        }
        let mut own = self.own_settings();
        own.model.clone_from(&self.settings.tasks.model.value);
        own.env.extend(template.env.clone());
        let missing = |error: Failure| {
            Failure::new(FailureKind::NoReviewers, format!("{}: {error}", self.agent()))
        };
        let lane = command_lane(self.agent(), &words, &own, self.here).map_err(missing)?;
        let hide = Some(Vec::new());
        Ok(Lane { settings: LaneSettings { hide, ..lane.settings }, ..lane })
    }

    fn agent_lane(&self) -> Result<Lane, Failure> {
        let absent = |why: String| {
            let what = format!("cannot run {}: {why}", self.agent());
            Failure::new(FailureKind::NoReviewers, what)
        };
        let table =
            LaneTable::with(&self.settings.gate.lanes).map_err(|it| absent(it.to_string()))?;
        let lane = table.get(self.agent()).map_err(|problem| absent(problem.to_string()))?;
        if let Some(why) = world::presence(lane, self.here).why_not(lane) {
            return Err(absent(why));
        }
        Ok(text_lane(lane, self.settings.tasks.model.value.as_deref()))
    }

    /// Whether the agent is installed and has this slash command.
    pub(super) async fn knows(&self, slash: &str) -> bool {
        self.template().is_none()
            && self.slash_text(slash).await.is_some()
            && self.agent_lane().is_ok()
    }

    /// The text of a slash command: at the base of the work, else in the home of the user.
    async fn slash_text(&self, slash: &str) -> Option<String> {
        let files = slash_files(self.agent(), slash)?;
        if let (Some(base), Some(path)) = (self.base, &files.project)
            && let Ok(Some(bytes)) = self.git.committed(base, &FilePath::from(path.as_str())).await
        {
            return slash_text(self.agent(), &String::from_utf8_lossy(&bytes));
        }
        let own = self.here.variable(files.variable).map(PathBuf::from);
        let home = || Some(Path::new(self.here.variable("HOME")?).join(files.folder));
        let path = own.or_else(home)?.join(&files.user);
        let bytes = read_following_links(&path, MAX_BYTES).ok()?;
        slash_text(self.agent(), &String::from_utf8_lossy(&bytes))
    }

    fn places(&self, slash: &str) -> Vec<String> {
        let Some(files) = slash_files(self.agent(), slash) else { return Vec::new() };
        let own = format!("~/{}/{}", files.folder, files.user);
        files.project.into_iter().chain([own]).collect()
    }
}
