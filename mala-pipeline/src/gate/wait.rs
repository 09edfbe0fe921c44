//! Waits for a session. Nobody waits for a dead supervisor, and what it wrote last is read once more
//! before anybody says that it is dead.

use mala_domain::gate::output::{Status, Waited};
use mala_domain::verdict::Obstacle;
use std::time::{Duration, Instant};

/// How often a session is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What somebody who waits sees of a session.
pub trait Look {
    /// The result, if it is there; the text of the problem when it cannot be read.
    fn result(&self) -> Result<Option<Waited>, String>;

    /// Whether the supervisor is gone for good.
    fn is_dead(&self) -> bool;
}

/// How waiting ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Waiting {
    /// With the result.
    Over(Box<Waited>),
    /// Before the session was.
    TooLong,
    /// The supervisor is dead, and there is no result.
    Died,
    /// The result cannot be read.
    Broken(String),
}

/// Waits for the result, for so long.
pub async fn wait(session: &dyn Look, time: Duration) -> Waiting {
    let deadline = Instant::now() + time;
    loop {
        match look(session) {
            Some(ended) => return ended,
            None if Instant::now() >= deadline => return Waiting::TooLong,
            None => tokio::time::sleep(LOOK).await,
        }
    }
}

fn look(session: &dyn Look) -> Option<Waiting> {
    let over = || match session.result() {
        Ok(result) => result.map(|result| Waiting::Over(Box::new(result))),
        Err(why) => Some(Waiting::Broken(why)),
    };
    // The supervisor may write its result and end between the two looks.
    over().or_else(|| session.is_dead().then(|| over().unwrap_or(Waiting::Died)))
}

impl Waiting {
    /// What is printed.
    pub fn waited(self, time: Duration) -> Waited {
        match self {
            Self::Over(waited) => *waited,
            Self::TooLong => Waited {
                status: Status::Timeout,
                ..Waited::undecided(
                    Obstacle::TimedOut,
                    format!("no result within {} s", time.as_secs()),
                )
            },
            Self::Died => {
                Waited::undecided(Obstacle::Internal, "the supervisor of the session died")
            }
            Self::Broken(why) => Waited::undecided(
                Obstacle::Internal,
                format!("the result of the session cannot be read: {why}"),
            ),
        }
    }
}
