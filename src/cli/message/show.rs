//! `postrider message show`.

use std::fmt::Write;

use clap::Args;
use serde_json::Value;

use crate::cli::Failure;
use crate::cli::arguments::Global;
use crate::cli::client::{Client, block_on};
use crate::cli::endpoint::ApiArgs;
use crate::cli::output::text;

/// Tells where a message is and what happened to it.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider message show 3f0c9c1e@blue\n  postrider message show 3f0c9c1e@blue --output json"
)]
pub struct ShowArgs {
    /// The message id.
    #[arg(value_name = "ID")]
    pub id: String,
    /// The gateway.
    #[command(flatten)]
    pub api: ApiArgs,
}

pub(super) fn run(global: &Global, args: &ShowArgs) -> Result<(), Failure> {
    let client = Client::new(args.api.resolve(global)?);
    let message = block_on(async {
        let mut message = client.get(&["api", "v1", "messages", &args.id], &[]).await?.body;
        let mut timeline = client.get(&["api", "v1", "messages", &args.id, "timeline"], &[]).await?.body;
        if let Some(fields) = message.as_object_mut() {
            let events = timeline.get_mut("events").map(Value::take).unwrap_or_default();
            fields.insert("timeline".to_owned(), events);
        }
        Ok(message)
    })?;
    Ok(global.output().one(&message, &words(&message))?)
}

/// The message as the console shows it: what it is, then one line a fact, newest last.
fn words(message: &Value) -> String {
    let mut page = format!("{}   {}\n", text(&message["id"]), text(&message["state"]).to_uppercase());
    let shown = ["schema", "id", "state", "timeline"];
    let fields = message.as_object().into_iter().flatten();
    for (name, value) in fields.filter(|(name, value)| !shown.contains(&name.as_str()) && !value.is_null()) {
        line(&mut page, 20, name, &text(value));
    }
    page.push('\n');
    for event in message["timeline"].as_array().into_iter().flatten() {
        let told = format!("{:<24}  {}", text(&event["code"]), text(&event["text"]));
        line(&mut page, 24, &text(&event["at"]), told.trim_end());
    }
    page
}

fn line(page: &mut String, width: usize, name: &str, value: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(page, "  {name:<width$}  {value}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_a_head_and_a_line_a_fact() {
        let message = json!({
            "schema": "postrider.message/1", "id": "m@blue", "state": "delivered", "partner": "red", "late": null,
            "timeline": [{"at": "2027-02-03T12:04:00Z", "code": "submit.accepted", "text": "by erp"}],
        });
        assert_eq!(
            words(&message),
            "m@blue   DELIVERED\n  partner               red\n\n  2027-02-03T12:04:00Z      submit.accepted           by erp\n"
        );
    }
}
