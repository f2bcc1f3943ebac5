//! `postrider pmode match`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use time::OffsetDateTime;

use super::PModesArgs;
use crate::cli::arguments::{Global, count};
use crate::cli::client::block_on;
use crate::cli::exit;
use crate::cli::explain::{desk, octets, strange};
use crate::cli::failure::Failure;
use crate::cli::output::text;
use crate::gateway::explain::{Extra, user_message};
use crate::pmode::{Explanation, Outcome, explain};

/// Tells which P-Mode a message matches, and why the others do not.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider pmode match capture.http\n  postrider pmode match message.xml --pmodes pmodes --most 20"
)]
pub struct MatchArgs {
    /// The message: an HTTP capture, a MIME package or a SOAP envelope; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How many P-Modes are told of, the nearest first.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count)]
    pub most: usize,
    /// Where the P-Modes are.
    #[command(flatten)]
    pub pmodes: PModesArgs,
}

pub(super) fn run(global: &Global, args: &MatchArgs) -> Result<(), Failure> {
    let octets = octets(&args.file)?;
    let set = args.pmodes.load(global)?;
    // The header alone is looked at: no key is needed.
    let desk = desk(None, None, Extra::default(), OffsetDateTime::now_utc())?;
    let message = block_on(async { user_message(octets, &desk).await.map_err(|why| strange(&args.file, &why)) })?;
    let explanation = explain(&set, &message, args.most);
    let mut value = serde_json::to_value(&explanation).map_err(std::io::Error::from)?;
    value["schema"] = "postrider.match/1".into();
    value["id"] = explanation.message_id.clone().into();
    global.output().one(&value, &words(&explanation))?;
    match explanation.outcome {
        Outcome::Matched { .. } => Ok(()),
        Outcome::Refused { .. } => Err(Failure::silent(exit::NO)),
    }
}

/// Every criterion of every candidate.
fn words(explanation: &Explanation) -> String {
    let mut page = String::new();
    let safe = |found: &str| text(&found.into());
    // Writing to a String cannot fail.
    let _ = match &explanation.outcome {
        Outcome::Matched { pmode, revision, .. } => {
            writeln!(page, "{} belongs to P-Mode `{pmode}` (revision {revision})", safe(&explanation.message_id))
        }
        Outcome::Refused { code, text: why, .. } => {
            writeln!(page, "{} is refused with {code}: {}", safe(&explanation.message_id), safe(why))
        }
    };
    for candidate in &explanation.candidates {
        let mark = if candidate.matched { "matches" } else { "differs" };
        let _ = writeln!(page, "\n{mark}  {}  {}", candidate.pmode, candidate.file);
        for judged in &candidate.criteria {
            let mark = if judged.passed { "ok" } else { "FAIL" };
            let (element, expected) = (judged.criterion.element(), &judged.expected);
            let _ = writeln!(page, "  {mark:<4}  {element:<22}  expected {expected}, found `{}`", safe(&judged.found));
        }
    }
    if explanation.left_out > 0 {
        let _ = writeln!(page, "\nand {} more, farther away: --most N tells of them", explanation.left_out);
    }
    page
}
