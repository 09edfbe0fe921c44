//! The user's own review command, run like a lane in a temporary copy of the tree.

use super::agent::{self, ModelPurpose};
use super::{ChosenReviewers, ReviewerOptions};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::wiring::gate::{self as world, TemporaryLanes, temporary_lanes};
use mala_domain::command::{NAME, version};
use mala_domain::config::{CommandReviewerSettings, ConfigValue, ReviewPolicy, ReviewerType};
use mala_domain::gate::lane::{Lane, LaneSettings, filled};
use mala_domain::scope::ReviewTarget;
use mala_pipeline::command::{CommandReview, CommandSettings, ReviewParser, TaskReviewing};
use std::sync::Arc;

/// The model of the parser.
const PARSER: ModelPurpose = ModelPurpose {
    reviewer: NAME,
    reason: "without review.command.parser, its parser is a model: ",
};

/// The same for the command of a task.
const TASK_PARSER: ModelPurpose =
    ModelPurpose { reviewer: NAME, reason: "without tasks.review.parser, its parser is a model: " };

pub(super) async fn chosen(
    policy: &ReviewPolicy,
    here: &Environment,
    options: &ReviewerOptions,
) -> anyhow::Result<ChosenReviewers> {
    let settings = policy.command.value.clone().unwrap_or_default();
    if matches!(options.target, ReviewTarget::Staged | ReviewTarget::Patch(_)) {
        let what = "it reviews commits or the working tree, not the index or a patch";
        return Err(refusal(what).into());
    }
    let TaskLanes { command: lane, parser } = match (&options.task, &settings.run) {
        (Some(task), _) => task.lanes.clone(),
        (None, Some(run)) => {
            let parser = settings.parser.as_deref();
            let parser = parser.map(|parser| self::lane("parser", parser, &settings, here));
            let command = self::lane(NAME, run, &settings, here)?;
            TaskLanes { command, parser: parser.transpose()? }
        }
        (None, None) => {
            return Err(refusal("no command is set")
                .hint("set review.command.run in mala.yaml")
                .into());
        }
    };
    let words: Vec<&str> = std::iter::once(lane.program()).chain(lane.arguments()).collect();
    let version = format!("{NAME} {} {}", version(), words.join(" "));
    let (parser, verifier) = match parser {
        Some(parser) => (ReviewParser::Command(Box::new(parser)), None),
        None => {
            let purpose = if options.task.is_some() { TASK_PARSER } else { PARSER };
            let agent =
                agent::verifier(&parsing(policy, &settings), here, options, purpose).await?;
            (ReviewParser::Model(agent.clone()), Some(agent))
        }
    };
    // People go on working while a task is reviewed.
    let checks_user = options.task.is_none();
    let TemporaryLanes { lanes, head, secret, .. } =
        temporary_lanes(here, &options.target, checks_user).await?;
    let command = CommandReview::new(CommandSettings {
        lane,
        parser,
        runner: lanes,
        head,
        secret,
        context: settings.context,
        task: options.task.as_ref().map(|task| task.reviewing.clone()),
        transcript: options.transcript.clone(),
    });
    Ok(ChosenReviewers {
        verifier,
        model: settings.model.clone(),
        ..ChosenReviewers::one(ReviewerType::Command, Arc::new(command), version)
    })
}

/// A command that reviews a task.
pub struct TaskCommandOptions {
    /// The lanes to run.
    pub lanes: TaskLanes,
    /// The context and the answer of the review.
    pub reviewing: TaskReviewing,
}

/// A command as a lane, and its parser; without a parser, the model of the agent parses.
#[derive(Clone)]
pub struct TaskLanes {
    /// The command.
    pub command: Lane,
    /// Its parser.
    pub parser: Option<Lane>,
}

fn refusal(why: &str) -> Failure {
    super::refusal(NAME, why)
}

/// The policy of the parser model.
fn parsing(policy: &ReviewPolicy, settings: &CommandReviewerSettings) -> ReviewPolicy {
    let mut policy = policy.clone();
    if let Some(model) = &settings.parser_model {
        let origin = policy.command.origin.clone();
        policy.agent_model = ConfigValue { value: model.clone(), origin };
    }
    policy
}

/// A command as a lane.
pub fn lane(
    name: &str,
    command: &[String],
    settings: &CommandReviewerSettings,
    here: &Environment,
) -> Result<Lane, Failure> {
    let model = settings.model.as_deref().unwrap_or_default();
    let command: Vec<String> = command.iter().map(|it| filled(it, &[("model", model)])).collect();
    let program = command.first().map_or("", String::as_str);
    if world::variables(here).find(program).is_none() {
        let hint = "add it to PATH, or set its full path";
        return Err(refusal(&format!("{program} not found")).hint(hint));
    }
    let mut set = settings.env.clone();
    if !model.is_empty() {
        set.insert("MALA_REVIEW_MODEL".to_owned(), model.to_owned());
    }
    let settings = LaneSettings {
        command: Some(command),
        keep: Some(settings.keep.clone()),
        set: Some(set),
        idle: settings.idle,
        max_output: settings.max_output,
        ..LaneSettings::default()
    };
    Ok(Lane { name: name.to_owned(), settings })
}
