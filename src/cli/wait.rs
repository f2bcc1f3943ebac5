//! `--wait`: a command ends when the message has come to a state, so that scripts need no loop.

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::Value;
use tokio::time::Instant;

use super::client::Client;
use super::exit;
use super::failure::Failure;
use super::output::text;

/// Flags of commands that can wait.
#[derive(Clone, Debug, Default, Args)]
pub struct WaitArgs {
    /// Ends only when the message has come to this state.
    #[arg(long, value_enum, value_name = "STATE")]
    pub wait: Option<Awaited>,
    /// How long to wait.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s", requires = "wait")]
    pub timeout: Duration,
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|e| format!("{e}; write a number and its unit, like 30s or 5min"))
}

/// States of an outgoing message that can be waited for, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Awaited {
    /// Stored.
    Pending,
    /// A worker has it.
    Sending,
    /// The partner has it, and the receipt is not here.
    AwaitingReceipt,
    /// The receipt is here.
    Delivered,
}

/// Waits for the state; returns the message as it then is.
pub(super) async fn wait(client: &Client, id: &str, state: Awaited, limit: Duration) -> Result<Value, Failure> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(50);
    loop {
        let message = client.get(&["api", "v1", "messages", id], &[]).await?.body;
        if let Some(outcome) = reached(&message, state) {
            return outcome.map(|()| message);
        }
        if Instant::now() >= end {
            let now = text(&message["state"]);
            let cause = format!("{id} is `{now}` after {}", humantime::format_duration(limit));
            return Err(Failure::new(exit::TIMEOUT, cause).next(format!("postrider message show {id}")));
        }
        tokio::time::sleep_until((Instant::now() + pause).min(end)).await;
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}

/// Whether the waiting has an end, and which.
fn reached(message: &Value, awaited: Awaited) -> Option<Result<(), Failure>> {
    let state = message["state"].as_str().unwrap_or_default();
    if let Ok(now) = Awaited::from_str(state, false) {
        return (now >= awaited).then_some(Ok(()));
    }
    if !matches!(state, "failed" | "cancelled") {
        return None;
    }
    let id = text(&message["id"]);
    let mut failure = Failure::new(exit::REJECTED, format!("{id} is {state}"));
    if let Some(error) = message["error"].as_str() {
        failure = failure.detail(error.to_owned());
    }
    Some(Err(failure.next(format!("postrider message show {id}"))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_states_count_and_a_failure_ends_the_waiting() {
        let at = |state: &str| reached(&json!({"id": "m", "state": state, "error": "EBMS:0301"}), Awaited::Sending);
        assert!(at("pending").is_none());
        assert!(matches!(at("sending"), Some(Ok(()))));
        assert!(matches!(at("awaiting_receipt"), Some(Ok(()))));
        assert!(matches!(at("delivered"), Some(Ok(()))));
        let failure = at("failed").unwrap().unwrap_err();
        assert_eq!((failure.exit, failure.details), (exit::REJECTED, vec!["EBMS:0301".to_owned()]));
    }
}
