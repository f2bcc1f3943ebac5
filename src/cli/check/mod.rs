//! `postrider check`: finds what is wrong before a partner does. It opens no listener and changes nothing.

mod consumers;
mod database;
mod finding;
mod folders;
mod keys;
mod look;
mod ours;
mod pmodes;

use clap::Args;
use time::OffsetDateTime;

use super::arguments::Global;
use super::exit;
use super::failure::Failure;
use super::output::{Column, tell};
use crate::config::Loaded;
use crate::gateway::{self, AgreementsError, load_pmodes};
use crate::pmode::PModeSet;
use crate::trust::{Options, Trust};

pub(in crate::cli) use finding::FINDING_COLUMNS;
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
#[derive(Debug)]
pub struct Context<'a> {
    /// The configuration.
    pub loaded: &'a Loaded,
    /// The moment of the check.
    pub now: OffsetDateTime,
    /// The P-Modes, or why there are none.
    pub pmodes: Result<PModeSet, AgreementsError>,
    /// Judges certificates by the configured anchors and revocation lists, as far as they can be read.
    trust: Trust,
    /// Certificates of our own keys, one for each [[party]].
    own: Vec<ours::OwnKeys>,
}

impl<'a> Context<'a> {
    /// Reads what the checks have in common.
    #[must_use]
    pub fn new(loaded: &'a Loaded, now: OffsetDateTime) -> Self {
        let config = &loaded.config;
        let nobody = || Trust::new(Vec::new(), Vec::new(), Options::default());
        Self {
            loaded,
            now,
            pmodes: load_pmodes(&config.pmodes.dir, now),
            trust: gateway::trust(config).unwrap_or_else(|_| nobody()),
            own: config.party.iter().map(ours::OwnKeys::read).collect(),
        }
    }
}

/// One check: a question, answered by what it finds.
pub type Check = fn(&Context<'_>) -> Vec<Finding>;

/// Checks whose findings may keep the gateway from starting: `serve` makes them too.
pub const BEFORE_SERVING: &[Check] = &[
    keys::parties,
    keys::listeners,
    keys::trust,
    keys::tokens,
    pmodes::files,
    pmodes::certificates,
    consumers::webhooks,
];

/// The other checks, in the order in which they are told. One more is one more line.
pub const CHECKS: &[Check] =
    &[ours::needs, consumers::backends, consumers::producers, folders::folders, folders::room, database::database];

const VALUE_COLUMNS: [Column; 3] = [
    Column { heading: "KEY", field: "key" },
    Column { heading: "VALUE", field: "value" },
    Column { heading: "FROM", field: "from" },
];

pub(super) fn run(global: &Global, args: &CheckArgs) -> Result<(), Failure> {
    let (loaded, findings) = match global.load() {
        Ok(loaded) => {
            let findings = examine(&Context::new(&loaded, OffsetDateTime::now_utc()));
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
    let checks = BEFORE_SERVING.iter().chain(CHECKS);
    let mut findings: Vec<Finding> = checks.flat_map(|check| check(context)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// What keeps the gateway from starting, as the failure of a command; all of it, not only the first.
pub(super) fn before_serving(loaded: &Loaded, now: OffsetDateTime) -> Result<(), Failure> {
    let context = Context::new(loaded, now);
    let found: Vec<Finding> =
        BEFORE_SERVING.iter().flat_map(|check| check(&context)).filter(|finding| finding.stops).collect();
    if found.is_empty() {
        return Ok(());
    }
    let cause = format!("the gateway does not start: {}", count(found.len(), "fault"));
    let lines = found.iter().flat_map(Finding::lines);
    Err(Failure { details: lines.collect(), ..Failure::new(exit::CONFIG, cause) }.next("postrider check"))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn verdict(findings: &[Finding], deny_warnings: bool) -> Result<(), Failure> {
    let of = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    tell("", &format!("{}, {}", count(errors, "error"), count(warnings, "warning")));
    if errors > 0 || (deny_warnings && warnings > 0) { Err(Failure::silent(exit::NO)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
