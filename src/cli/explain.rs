//! `postrider explain`: a captured exchange, offline, through the gateway's own core.

mod capture;
mod keys;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use time::OffsetDateTime;

use super::arguments::Global;
use super::client::block_on;
use super::exit;
use super::failure::Failure;
use super::output::{tell, text};
use super::pmode;
use crate::config::Loaded;
use crate::gateway::explain::{Desk, Explained, Extra, Step, Verdict, explain};

pub(super) use capture::octets;

/// Runs a captured exchange through the gateway's own reader, offline, and tells each decision.
///
/// Ends with 0 when the gateway would accept it, or when nothing wrong was found and what would decide was not given;
/// with 1 when it would be refused, or is itself the refusal of a partner.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider explain capture.http --pmodes pmodes --key keys/blue.p12\n  postrider explain capture.http --at 2027-02-03T12:00:00Z --output json"
)]
pub struct ExplainArgs {
    /// The capture: one request or answer with its HTTP head, or a MIME package, or a SOAP envelope.
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Folder of the P-Modes, in place of the configured one.
    #[arg(long, value_name = "DIR")]
    pub pmodes: Option<PathBuf>,
    /// A PEM file or PKCS #12 store (.p12, .pfx); repeat for more. With a private key it is taken for ours; certificates
    /// alone are those of signers, or trust anchors when they issued themselves.
    #[arg(long = "key", value_name = "FILE")]
    pub keys: Vec<PathBuf>,
    /// File with the password of these keys; else the variable `POSTRIDER_KEY_PASSWORD` has it.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// The moment at which certificates and timestamps are judged; without it now.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub at: Option<OffsetDateTime>,
}

fn instant(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339)
        .map(|at| at.to_offset(time::UtcOffset::UTC))
        .map_err(|e| format!("{e}: write it like 2027-02-03T12:00:00Z"))
}

pub(super) fn run(global: &Global, args: &ExplainArgs) -> Result<(), Failure> {
    let octets = octets(&args.capture)?;
    let now = args.at.unwrap_or_else(OffsetDateTime::now_utc);
    let loaded = configuration(global)?;
    let dir = args.pmodes.as_deref().or_else(|| loaded.as_ref().map(|l| &*l.config.pmodes.dir));
    let pmodes = dir.map(|dir| pmode::load(dir, now)).transpose()?;
    let extra = keys::load(&args.keys, args.password_file.as_deref())?;
    let desk = desk(loaded.as_ref(), pmodes, extra, now)?;
    let explained = block_on(async { explain(octets, &desk).await.map_err(|why| strange(&args.capture, &why)) })?;
    let value = serde_json::to_value(&explained).map_err(std::io::Error::from)?;
    global.output().one(&value, &words(&explained))?;
    if explained.verdict != Verdict::Refused {
        return Ok(());
    }
    let codes = explained.told.first().map(|told| format!("{} {}", told.code, told.text));
    tell("error", &codes.unwrap_or(explained.text));
    Err(Failure::silent(exit::NO))
}

/// The configuration, where there is one: without a file of the default name the command works alone.
pub(super) fn configuration(global: &Global) -> Result<Option<Loaded>, Failure> {
    if global.config == Path::new("postrider.toml") && !global.config.exists() && global.set.is_empty() {
        return Ok(None);
    }
    Ok(Some(global.load()?))
}

pub(super) fn desk(
    loaded: Option<&Loaded>,
    pmodes: Option<crate::pmode::PModeSet>,
    extra: Extra,
    now: OffsetDateTime,
) -> Result<Desk, Failure> {
    Desk::new(loaded.map(|l| &l.config), pmodes, extra, now)
        .map_err(|e| Failure::new(exit::CONFIG, e.to_string()).next("postrider check"))
}

pub(super) fn strange(path: &Path, why: &str) -> Failure {
    Failure::new(exit::USAGE, format!("{} cannot be explained: {why}", path.display())).next(
        "give the raw octets of one request or one answer (head, empty line, body), a MIME package or an envelope",
    )
}

/// As people read it: a mark, the step, what was found, and what belongs to it below.
fn words(explained: &Explained) -> String {
    let mut page = String::new();
    for Step { step, pass, text: found, details } in &explained.steps {
        let mark = match pass {
            Some(true) => "ok",
            Some(false) => "FAIL",
            None => "-",
        };
        // Writing to a String cannot fail. Control characters are shown, never obeyed.
        let _ = writeln!(page, "{mark:<4}  {step:<14}  {}", text(&found.as_str().into()));
        for line in details {
            let _ = writeln!(page, "{:22}{}", "", text(&line.as_str().into()));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_rfc_3339() {
        assert_eq!(instant("1970-01-01T01:00:07+01:00").map(OffsetDateTime::unix_timestamp), Ok(7));
        assert!(instant("yesterday").is_err());
    }
}
