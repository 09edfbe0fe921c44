//! What the agent does for others, inside the same limits: it checks claims that it did not make, and
//! brings a review that somebody wrote into form.

use super::desk::Desk;
use super::prepare::prepare;
use super::turns::{Tools, Topic, converse};
use super::{Agent, account, verify};
use mala_domain::agent::fence::Fence;
use mala_domain::command::{self, Parsed, read_parsed};
use mala_domain::conversation::Part;
use mala_domain::finding::Candidate;
use mala_domain::ports::ReviewerFailure;
use mala_domain::review::{ReviewRequest, Usage};
use tokio::time::timeout_at;

/// What came of it, and what it took.
#[derive(Debug, Clone)]
pub struct Aside<T> {
    /// What came of it.
    pub outcome: T,
    /// The models that answered.
    pub model: String,
    /// What it used.
    pub usage: Usage,
}

/// So many claims of others are checked with one call.
const MAX_CLAIMS: usize = 30;

/// An unreadable answer is asked for once more.
const PARSER_CALLS: u32 = 2;

impl Agent {
    /// Has a fresh context try to refute these claims. What nobody could check says why.
    pub async fn check(
        &self,
        request: &ReviewRequest,
        mut claims: Vec<Candidate>,
    ) -> Result<Aside<Vec<Candidate>>, ReviewerFailure> {
        let settings = &self.settings;
        let deadline = account::deadline(&settings.limits, request.timeout);
        let prepared = timeout_at(deadline, prepare(settings, request))
            .await
            .unwrap_or(Err(ReviewerFailure::TimedOut))?;
        let desk = Desk::new(settings, request, &prepared.fence, deadline);
        let all: Vec<usize> = (0..claims.len()).collect();
        for some in all.chunks(MAX_CLAIMS) {
            verify::refute(&desk, &prepared, &settings.speaker, &mut claims, some).await;
        }
        let (model, usage) = (desk.account.models(), desk.account.usage());
        Ok(Aside { outcome: claims, model, usage })
    }

    /// Brings a review into form. The model may restructure and never decides; what it says is only
    /// the outcome when it can be read.
    pub async fn parse(
        &self,
        request: &ReviewRequest,
        review: &str,
        fence: &Fence,
    ) -> Aside<Result<Parsed, ReviewerFailure>> {
        let settings = &self.settings;
        let deadline = account::deadline(&settings.limits, request.timeout);
        let desk = Desk::new(settings, request, fence, deadline);
        let nonce = fence.nonce().as_str();
        let topic = Topic {
            label: "parser",
            speaker: &settings.speaker,
            system: command::PARSE,
            opening: vec![
                Part::Text(format!("The id of this run's fences, and your nonce: {nonce}\n")),
                Part::Text(fence.around("review", review)),
            ],
            form: command::form(),
            tools: Tools::None,
            max_calls: PARSER_CALLS,
        };
        let outcome = match converse(&desk, topic, read_parsed).await {
            Ok((parsed, rung)) => {
                desk.account.note_rung(rung);
                Ok(parsed)
            }
            Err(stopped) => Err(stopped.failure()),
        };
        let (model, usage) = (desk.account.models(), desk.account.usage());
        Aside { outcome, model, usage }
    }
}
