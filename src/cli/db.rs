//! `postrider db`: the database's schema.

use clap::{Args, Subcommand};
use serde_json::json;

use super::arguments::Global;
use super::exit;
use super::failure::Failure;
use super::output::tell;
use crate::config::Config;
use crate::store::{self, Store, StoreError, StoreOptions};

/// The verbs.
#[derive(Clone, Debug, Subcommand)]
pub enum DbCommand {
    /// Brings the database to the newest schema, and makes it where there is none.
    Migrate(MigrateArgs),
    /// Tells which migrations are applied, and which are pending.
    Status(StatusArgs),
}

/// Arguments of `db migrate`.
#[derive(Clone, Debug, Default, Args)]
#[command(
    before_help = "Examples:\n  postrider db migrate\n  postrider db migrate --set store.url=sqlite:data/postrider.db"
)]
pub struct MigrateArgs {}

/// Arguments of `db status`.
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = "Examples:\n  postrider db status\n  postrider db status --output json")]
pub struct StatusArgs {}

pub(super) fn run(global: &Global, command: &DbCommand) -> Result<(), Failure> {
    let config = global.load()?.config;
    match command {
        DbCommand::Migrate(_) => migrate(global, &config),
        DbCommand::Status(_) => status(global, &config),
    }
}

fn migrate(global: &Global, config: &Config) -> Result<(), Failure> {
    let store = open(config)?;
    let applied = store.migrate().map_err(|e| failure(&e))?;
    let value = json!({ "schema": "postrider.migrations/1", "id": backend(&store), "backend": backend(&store), "applied": applied });
    let words = match applied.len() {
        0 => "the schema is current: nothing to do".to_owned(),
        n => format!("{n} migrations applied: {}", applied.join(", ")),
    };
    Ok(global.output().one(&value, &words)?)
}

fn status(global: &Global, config: &Config) -> Result<(), Failure> {
    let url = config.store_url().map_err(|e| Failure::new(exit::CONFIG, e.to_string()))?;
    let Some(status) = store::look(url.expose()).map_err(|e| failure(&e))? else {
        let path = url.expose().trim_start_matches("sqlite:");
        let cause = format!("there is no database yet at {path}");
        return Err(Failure::new(exit::NO, cause).next("postrider db migrate").next("postrider serve makes it, too"));
    };
    let mut value = json!(status);
    value["schema"] = "postrider.database/1".into();
    value["id"] = status.backend.into();
    let lines = status.applied.iter().map(|name| format!("applied  {name}"));
    let lines = lines.chain(status.pending.iter().map(|name| format!("pending  {name}"))).collect::<Vec<_>>();
    global.output().one(&value, &format!("{}\n{}", status.backend, lines.join("\n")))?;
    if !status.newer.is_empty() {
        return Err(Failure { exit: exit::NO, ..failure(&StoreError::Newer(status.newer)) });
    }
    if status.pending.is_empty() {
        return Ok(());
    }
    tell("warning", &format!("{} migrations are pending\n   next: postrider db migrate", status.pending.len()));
    Err(Failure::silent(exit::NO))
}

fn backend(store: &Store) -> &'static str {
    if store.is_sqlite() { "sqlite" } else { "postgres" }
}

/// Opens the store that the configuration names.
pub(super) fn open(config: &Config) -> Result<Store, Failure> {
    let url = config.store_url().map_err(|e| Failure::new(exit::CONFIG, e.to_string()))?;
    let options = StoreOptions {
        url: url.expose().to_owned(),
        node: config.host.name.clone(),
        connections: 1,
        group: config.store.group,
    };
    Store::open(&options).map_err(|e| failure(&e))
}

/// Who must act: whoever runs another gateway on it, whoever runs the database, or whoever wrote the URL.
pub(super) fn failure(error: &StoreError) -> Failure {
    let code = match error {
        StoreError::Url => exit::CONFIG,
        StoreError::InUse(_) | StoreError::Newer(_) => exit::CONFLICT,
        _ => exit::UNREACHABLE,
    };
    Failure::new(code, error.to_string()).next(remedy(error))
}

/// What to do about a database that cannot be used.
pub(super) fn remedy(error: &StoreError) -> &'static str {
    match error {
        StoreError::Url => "set store.url in postrider.toml",
        StoreError::InUse(_) => "a running gateway holds it: stop that first",
        StoreError::Newer(_) => "install the newer postrider; postrider db status shows what is applied",
        StoreError::File { .. } => "see that it may be read and written by the user that runs postrider",
        StoreError::NotOurs { .. } => {
            "restore it from a backup, or name another file in store.url; it was left as it is"
        }
        _ => "see that the database server runs and store.url leads to it",
    }
}
