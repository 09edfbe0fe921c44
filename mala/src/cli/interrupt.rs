//! Runs what takes time, and stops when a person or the system asks for it.

use super::exit::Exit;
use crate::console;
use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Runs to the end, or until the program is asked to stop.
pub(crate) fn until_interrupted(
    work: impl Future<Output = anyhow::Result<Exit>>,
) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let exit = runtime.block_on(async {
        tokio::select! {
            done = work => done,
            signal = asked_to_end() => signal.map(|()| {
                console::say("interrupted: nothing was decided");
                Exit::Interrupted
            }),
        }
    });
    // A check that does not end must not keep the program from ending.
    runtime.shutdown_background();
    exit
}

/// Ends when a person or the system asks the program to stop. Files are written whole or not at
/// all, so there is nothing to clean up.
pub(crate) async fn asked_to_end() -> anyhow::Result<()> {
    Interrupts::listen()?.next().await;
    Ok(())
}

/// What a person or the system sends to make the program stop.
pub(crate) struct Interrupts {
    terminate: Signal,
    interrupt: Signal,
}

impl Interrupts {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("listening for signals");
        let terminate = listen(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Waits for the next.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
