//! `postrider message list`.

use clap::Args;
use serde_json::Value;

use crate::cli::arguments::{Global, count};
use crate::cli::client::{Client, block_on};
use crate::cli::endpoint::ApiArgs;
use crate::cli::output::{Column, tell};
use crate::cli::{Failure, exit};

/// Rows that one request asks for.
const PAGE: usize = 200;

const COLUMNS: [Column; 7] = [
    Column { heading: "ID", field: "id" },
    Column { heading: "DIRECTION", field: "direction" },
    Column { heading: "STATE", field: "state" },
    Column { heading: "PARTNER", field: "partner" },
    Column { heading: "PMODE", field: "pmode" },
    Column { heading: "ACTION", field: "action" },
    Column { heading: "CREATED", field: "created_at" },
];

/// Finds messages, newest first. The table is for people; JSON is the contract.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider message list 'state:failed'\n  postrider message list 'partner:red' --limit 10 --output json"
)]
pub struct ListArgs {
    /// What to find, as in the API's `q`: words such as state:failed partner:red.
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// At most that many.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = count)]
    pub limit: usize,
    /// Goes on where an earlier list ended.
    #[arg(long, value_name = "CURSOR")]
    pub cursor: Option<String>,
    /// The gateway.
    #[command(flatten)]
    pub api: ApiArgs,
}

pub(super) fn run(global: &Global, args: &ListArgs) -> Result<(), Failure> {
    let client = Client::new(args.api.resolve(global)?);
    let (rows, next) = block_on(async { find(&client, args).await })?;
    global.output().list("postrider.messages/1", "messages", &rows, &COLUMNS)?;
    if let Some(cursor) = next {
        tell("note", &format!("there are more: --limit, or --cursor {cursor}"));
    }
    if rows.is_empty() {
        tell("", "no message is found");
        return Err(Failure::silent(exit::NO));
    }
    Ok(())
}

/// Pages until there is enough; returns the rows and where they would go on.
async fn find(client: &Client, args: &ListArgs) -> Result<(Vec<Value>, Option<String>), Failure> {
    let filter = args.filter.join(" ");
    let mut cursor = args.cursor.clone();
    let mut rows: Vec<Value> = Vec::new();
    loop {
        let page = args.limit.saturating_sub(rows.len()).min(PAGE).to_string();
        let mut query = vec![("limit", page.as_str())];
        if !filter.is_empty() {
            query.push(("q", &filter));
        }
        if let Some(cursor) = &cursor {
            query.push(("cursor", cursor));
        }
        let mut body = client.get(&["api", "v1", "messages"], &query).await?.body;
        let Some(Value::Array(found)) = body.get_mut("messages").map(Value::take) else {
            return Err(Failure::new(exit::BUG, "the gateway's list has no messages"));
        };
        let empty = found.is_empty();
        rows.extend(found);
        cursor = body["next"].as_str().map(str::to_owned);
        if cursor.is_none() || empty || rows.len() >= args.limit {
            return Ok((rows, cursor));
        }
    }
}
