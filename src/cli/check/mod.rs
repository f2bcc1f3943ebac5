//! `postrider check`: finds what is wrong before a partner does. It opens no listener and changes nothing.

mod finding;
mod folders;
mod keys;

use clap::Args;
use time::OffsetDateTime;

use super::arguments::Global;
use super::exit;
use super::failure::Failure;
use super::output::{Column, tell};
use crate::config::Loaded;

pub use finding::{Finding, Severity};

/// Finds what is wrong with configuration, keys and P-Modes.
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = "Examples:\n  postrider check\n  postrider check --show --output table")]
pub struct CheckArgs {
    /// Prints each value in effect and where it came from.
    #[arg(long)]
    pub show: bool,
    /// Warnings count as errors.
    #[arg(long)]
    pub deny_warnings: bool,
}

/// What a check looks at.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The configuration.
    pub loaded: &'a Loaded,
    /// The moment of the check.
    pub now: OffsetDateTime,
}

/// One check: a question, answered by what it finds.
pub type Check = fn(&Context<'_>) -> Vec<Finding>;

/// All checks, in the order in which they are told. One more is one more line.
pub const CHECKS: &[Check] = &[keys::parties, keys::listeners, keys::trust, keys::tokens, folders::folders];

const FINDING_COLUMNS: [Column; 4] = [
    Column { heading: "SEVERITY", field: "severity" },
    Column { heading: "PLACE", field: "place" },
    Column { heading: "FINDING", field: "message" },
    Column { heading: "NEXT", field: "next" },
];

const VALUE_COLUMNS: [Column; 3] = [
    Column { heading: "KEY", field: "key" },
    Column { heading: "VALUE", field: "value" },
    Column { heading: "FROM", field: "from" },
];

pub(super) fn run(global: &Global, args: &CheckArgs) -> Result<(), Failure> {
    let (loaded, findings) = match global.load() {
        Ok(loaded) => {
            let findings = examine(&Context { loaded: &loaded, now: OffsetDateTime::now_utc() });
            (Some(loaded), findings)
        }
        Err(error) => (None, error.problems.iter().map(Finding::from).collect()),
    };
    let mut output = global.output();
    match &loaded {
        Some(loaded) if args.show => {
            let rows: Vec<_> = loaded.effective.iter().map(finding::value_row).collect();
            output.list("postrider.configuration/1", "values", &rows, &VALUE_COLUMNS)?;
            findings.iter().for_each(Finding::tell);
        }
        _ if output.for_people() => findings.iter().for_each(Finding::tell),
        _ => {
            let rows: Vec<_> = findings.iter().map(Finding::row).collect();
            output.list("postrider.findings/1", "findings", &rows, &FINDING_COLUMNS)?;
        }
    }
    verdict(&findings, args.deny_warnings)
}

/// Runs every check; the gravest findings come first.
#[must_use]
pub fn examine(context: &Context<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(context)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

fn verdict(findings: &[Finding], deny_warnings: bool) -> Result<(), Failure> {
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    tell("", &format!("{errors} errors, {warnings} warnings"));
    if errors > 0 || (deny_warnings && warnings > 0) { Err(Failure::silent(exit::NO)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
