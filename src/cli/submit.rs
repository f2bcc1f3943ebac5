//! `postrider submit`: files become one message.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::arguments::{Global, key_value};
use super::client::{Client, block_on};
use super::endpoint::ApiArgs;
use super::exit;
use super::failure::Failure;
use super::multipart::Multipart;
use super::output::{tell, text};
use super::wait::{WaitArgs, wait};

/// Submits files as one message.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider submit invoice.xml --pmode red-invoice --wait delivered\n  postrider submit order.xml scan.pdf --pmode red-order --key ORDER-117 --property orderId=117"
)]
pub struct SubmitArgs {
    /// The payload parts, in order.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The P-Mode by which it is sent.
    #[arg(long, value_name = "ID")]
    pub pmode: String,
    /// A message property; repeat for more.
    #[arg(long, value_name = "NAME=VALUE", value_parser = key_value)]
    pub property: Vec<(String, String)>,
    /// What makes the submission the same one when it is repeated: a document number, for instance.
    #[arg(long, value_name = "KEY", value_parser = idempotency_key)]
    pub key: Option<String>,
    /// Media type of the parts; without it each file's name tells.
    #[arg(long, value_name = "TYPE")]
    pub content_type: Option<String>,
    /// Until when the command waits.
    #[command(flatten)]
    pub waiting: WaitArgs,
    /// The gateway.
    #[command(flatten)]
    pub api: ApiArgs,
}

/// What can stand in the header `Idempotency-Key`, and comes out of it as it went in.
fn idempotency_key(text: &str) -> Result<String, String> {
    let printable = text.bytes().all(|octet| octet.is_ascii_graphic() || octet == b' ');
    if (1..=200).contains(&text.len()) && printable && text.trim() == text {
        return Ok(text.to_owned());
    }
    Err("write 1 to 200 printable ASCII characters, without blanks around them".to_owned())
}

pub(super) fn run(global: &Global, args: &SubmitArgs) -> Result<(), Failure> {
    let client = Client::new(args.api.resolve(global)?);
    // A key of this one call, told when the outcome stays unknown: repeating with it cannot send twice.
    let key = args.key.clone().unwrap_or_else(|| Uuid::now_v7().to_string());
    let properties: Vec<Value> =
        args.property.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let submission = json!({ "pmode": args.pmode, "properties": properties });
    let boundary = format!("postrider-{}", Uuid::new_v4().simple());
    let body = Multipart::new(&boundary, &submission, &args.files, args.content_type.as_deref())?;
    let message = block_on(async { submit(&client, &key, body, args).await })?;
    let words = format!("{}  {}", text(&message["id"]), text(&message["state"]));
    Ok(global.output().one(&message, &words)?)
}

async fn submit(client: &Client, key: &str, body: Multipart, args: &SubmitArgs) -> Result<Value, Failure> {
    let (kind, size) = (body.content_type(), body.size());
    let sent = client.upload(&["api", "v1", "messages"], key, &kind, size, body.body()).await;
    let answer = sent.map_err(|failure| {
        if !failure.uncertain {
            return failure;
        }
        failure.next(format!("it may have been submitted; the same command with --key {key} cannot send it twice"))
    })?;
    let Some(id) = answer.body["id"].as_str() else {
        return Err(Failure::new(exit::BUG, "the gateway accepted the submission and named no message id"));
    };
    if answer.status == http::StatusCode::OK {
        tell("note", &format!("this key was submitted before: it is message {id}"));
    }
    match args.waiting.wait {
        Some(state) => wait(client, id, state, args.waiting.timeout).await,
        None => Ok(answer.body),
    }
}
