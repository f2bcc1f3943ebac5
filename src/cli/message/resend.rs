//! `postrider message resend`.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::arguments::Global;
use crate::cli::client::{Client, block_on};
use crate::cli::endpoint::ApiArgs;
use crate::cli::output::{Column, tell};
use crate::cli::wait::{WaitArgs, wait};
use crate::cli::{Failure, exit};

const COLUMNS: [Column; 2] = [Column { heading: "ID", field: "id" }, Column { heading: "STATE", field: "state" }];

/// Sends messages again.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider message resend 3f0c9c1e@blue --wait delivered\n  postrider message resend 3f0c@blue 4a1d@blue --as new --reason INC-42"
)]
pub struct ResendArgs {
    /// The message ids.
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Which act it is.
    #[arg(long = "as", value_enum, value_name = "ACT", default_value_t = ResendAs::Repeat)]
    pub act: ResendAs,
    /// Why: kept in the timeline; needed for more than one message.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Even when the message is delivered already.
    #[arg(long)]
    pub force: bool,
    /// Tells what would be sent, and sends nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Until when the command waits.
    #[command(flatten)]
    pub waiting: WaitArgs,
    /// The gateway.
    #[command(flatten)]
    pub api: ApiArgs,
}

/// What a resend is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResendAs {
    /// The same id and the same signature: the partner takes it once.
    Repeat,
    /// A new id, referring to the old message.
    New,
}

pub(super) fn run(global: &Global, args: &ResendArgs) -> Result<(), Failure> {
    if args.ids.len() > 1 && args.reason.is_none() {
        return Err(
            Failure::new(exit::USAGE, "more than one message is sent again only with a reason").next("--reason TEXT")
        );
    }
    let client = Client::new(args.api.resolve(global)?);
    let (rows, failure) = block_on(async { Ok(resend_all(&client, args).await) })?;
    global.output().list("postrider.resends/1", "messages", &rows, &COLUMNS)?;
    failure.map_or(Ok(()), Err)
}

/// One after the other; a message that cannot be sent again does not hold up the others. The last failure is told.
async fn resend_all(client: &Client, args: &ResendArgs) -> (Vec<Value>, Option<Failure>) {
    let mut rows = Vec::new();
    let mut last: Option<Failure> = None;
    for id in &args.ids {
        match resend(client, id, args).await {
            Ok(row) => rows.push(row),
            Err(failure) => {
                if let Some(before) = last.replace(Failure { cause: format!("{id}: {}", failure.cause), ..failure }) {
                    tell("error", &before.to_string());
                }
            }
        }
    }
    (rows, last)
}

async fn resend(client: &Client, id: &str, args: &ResendArgs) -> Result<Value, Failure> {
    if args.dry_run {
        return Ok(client.get(&["api", "v1", "messages", id], &[]).await?.body);
    }
    let act = match args.act {
        ResendAs::Repeat => "repeat",
        ResendAs::New => "new",
    };
    let order = json!({ "as": act, "reason": args.reason, "force": args.force });
    let key = Uuid::now_v7().to_string();
    let body = client.post(&["api", "v1", "messages", id, "resend"], &key, &order).await?.body;
    let sent = body["id"].as_str().unwrap_or(id);
    match args.waiting.wait {
        Some(state) => wait(client, sent, state, args.waiting.timeout).await,
        None => Ok(body),
    }
}
