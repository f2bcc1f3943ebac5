//! Loads P-Modes again when their folder changes, or on SIGHUP: all or none; the last good set stays in force.

use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use crate::emit;
use crate::gateway::Gateway;
use crate::telemetry::{event, metrics};

/// Files that are written one after the other are loaded together.
const SETTLE: Duration = Duration::from_millis(300);

/// Watches until the process stops.
pub(super) async fn run(gateway: Arc<Gateway>, watched: bool, mut stop: watch::Receiver<bool>) {
    let (changed, mut changes) = mpsc::channel::<()>(16);
    let mut watcher = None;
    if watched {
        let dir = gateway.agreements.dir().to_owned();
        let told = changed.clone();
        let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|e| !e.kind.is_access()) {
                // A full channel holds a change that is not looked at yet: that look sees this one too.
                let _ = told.try_send(());
            }
        })
        .and_then(|mut watcher| watcher.watch(&dir, RecursiveMode::Recursive).map(|()| watcher));
        match made {
            Ok(made) => watcher = Some(made),
            Err(error) => {
                emit!(event::PMODE_RELOAD_REFUSED, {}, "the P-Mode folder cannot be watched: {error}; use SIGHUP");
            }
        }
    }
    let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
    loop {
        tokio::select! {
            Some(()) = changes.recv() => {}
            _ = hangup.recv() => {}
            _ = stop.changed() => break,
        }
        tokio::time::sleep(SETTLE).await;
        while changes.try_recv().is_ok() {}
        let loading = Arc::clone(&gateway);
        let loaded = tokio::task::spawn_blocking(move || loading.reload(time::OffsetDateTime::now_utc())).await;
        match loaded {
            Ok(Ok(count)) => {
                metrics::config_revision().increment(1.0);
                emit!(event::PMODE_RELOADED, { count }, "{count} P-Modes loaded");
            }
            Ok(Err(error)) => {
                metrics::config_reload_failures_total().increment(1);
                emit!(event::PMODE_RELOAD_REFUSED, {}, "P-Modes not loaded, the old ones stay in force:\n{error}");
            }
            Err(_) => emit!(event::PMODE_RELOAD_REFUSED, {}, "P-Modes not loaded: the loading panicked"),
        }
    }
    drop(watcher);
}
