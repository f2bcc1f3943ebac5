//! `postrider pmode list`.

use clap::Args;
use serde_json::{Value, json};

use super::PModesArgs;
use crate::cli::arguments::Global;
use crate::cli::failure::Failure;
use crate::cli::output::{Column, tell};
use crate::pmode::{LegNumber, PMode, PartySpec};

/// Lists the P-Modes with partner, service and action.
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = "Examples:\n  postrider pmode list\n  postrider pmode list --output json")]
pub struct ListArgs {
    /// Where the P-Modes are.
    #[command(flatten)]
    pub pmodes: PModesArgs,
}

const COLUMNS: [Column; 7] = [
    Column { heading: "ID", field: "id" },
    Column { heading: "REVISION", field: "revision" },
    Column { heading: "FROM", field: "from" },
    Column { heading: "TO", field: "to" },
    Column { heading: "SERVICE", field: "service" },
    Column { heading: "ACTION", field: "action" },
    Column { heading: "SECURITY", field: "security" },
];

pub(super) fn run(global: &Global, args: &ListArgs) -> Result<(), Failure> {
    let set = args.pmodes.load(global)?;
    let legs = |p: &PMode| 1 + usize::from(p.reply_leg.is_some());
    let numbers = [LegNumber::First, LegNumber::Reply];
    let rows: Vec<_> =
        set.iter().flat_map(|p| numbers.into_iter().take(legs(p)).map(|number| row(p, number))).collect();
    global.output().list("postrider.pmodes/1", "pmodes", &rows, &COLUMNS)?;
    if rows.is_empty() {
        tell("note", &format!("there is no P-Mode in {}", args.pmodes.dir(global)?.display()));
    }
    Ok(())
}

fn row(pmode: &PMode, number: LegNumber) -> Value {
    let leg = pmode.leg(number).unwrap_or(&pmode.leg);
    let security = match (&leg.security.sign, &leg.security.encrypt) {
        (Some(_), Some(_)) => "signed, encrypted",
        (Some(_), None) => "signed",
        (None, Some(_)) => "encrypted",
        (None, None) => "none",
    };
    json!({
        "id": pmode.id,
        "revision": pmode.revision,
        "file": pmode.file.display().to_string(),
        "profile": pmode.profile,
        "leg": number,
        "from": party(pmode.sender(number)),
        "to": party(pmode.receiver(number)),
        "service": leg.business.service.as_ref().map(|s| s.value.clone()),
        "action": leg.business.action,
        "address": leg.protocol.address,
        "security": security,
        "deliver": leg.deliver.iter().map(|target| target.backend.clone()).collect::<Vec<_>>(),
    })
}

fn party(party: &PartySpec) -> String {
    let ids: Vec<_> = party.ids.iter().map(|id| id.value.as_str()).collect();
    if ids.is_empty() { "any".to_owned() } else { ids.join(", ") }
}
