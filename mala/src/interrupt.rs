//! Runs a future until it ends or the process gets a signal to stop.

use crate::console;
use crate::exit::Exit;
use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Runs to the end, or until a signal to stop.
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
            signal = stop_signal() => signal.map(|()| {
                console::say("interrupted: no result");
                Exit::Interrupted
            }),
        }
    });
    // Blocking tasks must not delay the exit.
    runtime.shutdown_background();
    exit
}

/// Waits for a signal to stop. Files are written atomically, so there is nothing to clean up.
pub(crate) async fn stop_signal() -> anyhow::Result<()> {
    StopSignals::listen()?.next().await;
    Ok(())
}

/// SIGTERM and SIGINT.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("listening for signals");
        let terminate = listen(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
