//! The boot order, and its reverse.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::{listeners, reload};
use crate::api::{self, ApiState};
use crate::cli::arguments::Global;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::{check, db};
use crate::config::{Config, LogFormat, Switch};
use crate::emit;
use crate::gateway::{self, AssembleError, Gateway, Msh, deliver, overdue, pickup, send};
use crate::store::payload::PayloadError;
use crate::store::{At, StoreError, delivery, sender_log};
use crate::telemetry::event;
use crate::telemetry::log::{self, Format};
use crate::telemetry::metrics::{self, Metrics};
use crate::transport::listen::Listener;

pub(super) fn run(global: &Global) -> Result<(), Failure> {
    let loaded = global.load()?;
    check::before_serving(&loaded, time::OffsetDateTime::now_utc())?;
    let config = loaded.config;
    let format = if config.log.format == LogFormat::Json { Format::Json } else { Format::Text };
    log::init(format, &config.log.level).map_err(|e| Failure::new(exit::CONFIG, e.to_string()))?;
    let metrics = metrics::init(env!("CARGO_PKG_VERSION")).map_err(|e| Failure::new(exit::BUG, e.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("postrider")
        .build()
        .map_err(|e| Failure::new(exit::BUG, format!("the runtime cannot start: {e}")))?;
    runtime.block_on(serve(config, metrics))
}

async fn serve(config: Config, metrics: Metrics) -> Result<(), Failure> {
    let now = time::OffsetDateTime::now_utc();
    // Addresses first: who cannot have them leaves the database as it is.
    let partners = listeners::bind(&config)?;
    let admin = TcpListener::bind(config.admin.listen).await.map_err(|e| {
        Failure::new(exit::CONFIG, format!("cannot listen on {}: {e}", config.admin.listen))
            .next("stop the process that has the address, or set another one in [admin] listen")
    })?;
    let gateway = gateway::assemble(&config, now).map_err(|e| assembled(&e))?;
    release(&gateway).await.map_err(|e| db::failure(&e))?;
    let (stopping, stop) = watch::channel(false);
    let state = ApiState {
        gateway: Arc::clone(&gateway),
        metrics: metrics.clone(),
        tokens: tokens(&config)?,
        stopping: Arc::new(AtomicBool::new(false)),
    };
    let flag = Arc::clone(&state.stopping);
    announce(&gateway, &partners, &admin);
    let mut parts = tokio::task::JoinSet::new();
    for listener in partners {
        parts.spawn(listener.serve(Msh(Arc::clone(&gateway)), stop.clone()));
    }
    parts.spawn(send::run(Arc::clone(&gateway), stop.clone()));
    parts.spawn(overdue::run(Arc::clone(&gateway), stop.clone()));
    parts.spawn(deliver::run(Arc::clone(&gateway), stop.clone()));
    parts.spawn(pickup::run(Arc::clone(&gateway), config.folder.clone(), stop.clone()));
    parts.spawn(reload::run(Arc::clone(&gateway), config.pmodes.reload == Switch::On, stop.clone()));
    parts.spawn(fold(metrics, stop.clone()));
    // The admin listener stays until the rest has ended, so that readiness can be seen turning false.
    let (admin_stopping, admin_stop) = watch::channel(false);
    let admin = tokio::spawn(api(admin, state, admin_stop));
    let failed = tokio::select! {
        () = told_to_stop() => None,
        Some(ended) = parts.join_next() => Some(ended),
    };
    flag.store(true, Ordering::Relaxed);
    emit!(event::PROCESS_STOPPING, {}, "stopping: no new exchanges, those in flight get {:?}", config.shutdown.grace);
    let _ = stopping.send(true);
    let all = async { while parts.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(config.shutdown.grace + Duration::from_secs(5), all).await;
    let _ = admin_stopping.send(true);
    let _ = tokio::time::timeout(Duration::from_secs(5), admin).await;
    if failed.is_some() {
        emit!(event::PROCESS_FAILED, {}, "a part of the process ended");
        return Err(Failure::new(exit::BUG, "a part of the process ended that must not end"));
    }
    emit!(event::PROCESS_STOPPED, {}, "stopped");
    Ok(())
}

fn assembled(error: &AssembleError) -> Failure {
    match error {
        AssembleError::Store(error) => db::failure(error),
        AssembleError::Payloads(error @ PayloadError::InUse { .. }) => Failure::new(exit::CONFLICT, error.to_string()),
        AssembleError::Payloads(error) => Failure::new(exit::UNREACHABLE, error.to_string()).next("postrider check"),
        _ => Failure::new(exit::CONFIG, error.to_string()).next("postrider check"),
    }
}

/// Work that an earlier run of this node had in hand is due again at once (OUT-29).
async fn release(gateway: &Gateway) -> Result<(), StoreError> {
    let (node, boot) = (gateway.store.node().to_owned(), gateway.store.boot().to_owned());
    let now = At::from(time::OffsetDateTime::now_utc());
    let taken = gateway
        .store
        .write::<_, StoreError, _>(move |tx| {
            Ok(sender_log::release(tx, &node, &boot, now)? + delivery::release(tx, &node, &boot, now)?)
        })
        .await?;
    if taken > 0 {
        emit!(event::LEASE_TAKEN_OVER, { count = taken }, "{taken} jobs of an earlier run go on");
    }
    Ok(())
}

fn tokens(config: &Config) -> Result<Vec<(String, String)>, Failure> {
    config
        .admin
        .token
        .iter()
        .map(|token| {
            let secret = token
                .secret
                .read_text()
                .map_err(|e| Failure::new(exit::CONFIG, format!("[[admin.token]] `{}`: {e}", token.name)))?;
            Ok((token.name.clone(), secret.expose().to_owned()))
        })
        .collect()
}

/// One line for people and scripts on standard output, when everything listens.
fn announce(gateway: &Gateway, partners: &[Listener], admin: &TcpListener) {
    let addresses: Vec<String> = partners.iter().map(|l| l.local_addr().to_string()).collect();
    let admin = admin.local_addr().map(|a| a.to_string()).unwrap_or_default();
    let count = gateway.agreements.current().len();
    emit!(event::PROCESS_STARTED, { admin, pmodes = count }, "serving {} with {count} P-Modes, admin on {admin}", addresses.join(", "));
    // A closed standard output is no reason not to serve.
    let _ = std::io::Write::write_all(
        &mut std::io::stdout(),
        format!("READY msh={} admin={admin} pmodes={count}\n", addresses.join(",")).as_bytes(),
    );
}

async fn told_to_stop() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

async fn api(listener: TcpListener, state: ApiState, mut stop: watch::Receiver<bool>) {
    let served = axum::serve(listener, api::router(state)).with_graceful_shutdown(async move {
        let _ = stop.changed().await;
    });
    if let Err(error) = served.await {
        emit!(event::PROCESS_FAILED, {}, "the admin listener ended: {error}");
    }
}

/// Keeps histograms small.
async fn fold(metrics: Metrics, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        metrics.fold();
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(5)) => {}
            _ = stop.changed() => {}
        }
    }
}
