//! `postrider pmode show`.

use clap::Args;
use serde_json::json;

use super::PModesArgs;
use crate::cli::arguments::Global;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::output::Format;
use crate::pmode;

/// Prints a P-Mode with everything that it inherits, as XML.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider pmode show self-test\n  postrider pmode show red-invoice --pmodes pmodes --output json"
)]
pub struct ShowArgs {
    /// Id of the P-Mode.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Where the P-Modes are.
    #[command(flatten)]
    pub pmodes: PModesArgs,
}

pub(super) fn run(global: &Global, args: &ShowArgs) -> Result<(), Failure> {
    let set = args.pmodes.load(global)?;
    let Some(found) = set.find(&args.id) else {
        let failure = Failure::new(exit::NO, format!("there is no P-Mode `{}`", args.id));
        let near = crate::config::nearest(&args.id, set.iter().map(|pmode| pmode.id.as_str()));
        return Err(match near {
            Some(near) => failure.next(format!("postrider pmode show {near}")),
            None => failure.next("postrider pmode list"),
        });
    };
    let text = pmode::write(found);
    if matches!(global.output, Some(Format::Json | Format::Jsonl)) {
        let file = found.file.display().to_string();
        let value = json!({ "schema": "postrider.pmode/1", "id": found.id, "revision": found.revision, "file": file, "xml": text });
        return Ok(global.output().one(&value, &text)?);
    }
    Ok(global.output().document(&text)?)
}
