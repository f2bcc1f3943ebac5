//! `postrider message explain`.

use std::fmt::Write;

use clap::Args;
use serde_json::Value;

use crate::cli::Failure;
use crate::cli::arguments::Global;
use crate::cli::client::{Client, block_on};
use crate::cli::endpoint::ApiArgs;
use crate::cli::output::text;

/// Tells each decision and check of a message: P-Modes considered, digests, certificates.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider message explain 3f0c9c1e@blue\n  postrider message explain 3f0c9c1e@blue --output json"
)]
pub struct ExplainArgs {
    /// The message id.
    #[arg(value_name = "ID")]
    pub id: String,
    /// The gateway.
    #[command(flatten)]
    pub api: ApiArgs,
}

pub(super) fn run(global: &Global, args: &ExplainArgs) -> Result<(), Failure> {
    let client = Client::new(args.api.resolve(global)?);
    let path = ["api", "v1", "messages", args.id.as_str(), "explain"];
    let explanation = block_on(async { client.get(&path, &[]).await })?.body;
    Ok(global.output().one(&explanation, &words(&explanation))?)
}

/// One line a check: whether it passed, its name, what was found.
fn words(explanation: &Value) -> String {
    let mut page = String::new();
    for check in explanation["checks"].as_array().into_iter().flatten() {
        let verdict = match check["pass"].as_bool() {
            Some(true) => "pass",
            Some(false) => "FAIL",
            None => "-",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(page, "{verdict:<4}  {:<24}  {}", text(&check["check"]), text(&check["text"]));
    }
    page
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failed_check_stands_out() {
        let explanation = json!({"checks": [
            {"check": "signature", "pass": true, "text": "CN=red-sig"},
            {"check": "digest", "pass": false, "text": "cid:a differs"},
        ]});
        let words = words(&explanation);
        assert_eq!(words.lines().nth(1), Some("FAIL  digest                    cid:a differs"));
    }
}
