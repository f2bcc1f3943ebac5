//! `postrider explain`: what it is given.

use std::path::PathBuf;

use clap::Args;

/// Runs a captured exchange through the gateway's own reader, offline, and tells each decision.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider explain capture.mime\n  postrider explain capture.mime --pmodes pmodes --at 2027-02-03T12:00:00Z"
)]
pub struct ExplainArgs {
    /// The capture: HTTP head and body, or a MIME package, or a SOAP envelope.
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Folder of the P-Modes, in place of the configured one.
    #[arg(long, value_name = "DIR")]
    pub pmodes: Option<PathBuf>,
    /// The moment at which certificates and timestamps are judged; without it now.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub at: Option<time::OffsetDateTime>,
}

fn instant(text: &str) -> Result<time::OffsetDateTime, String> {
    time::OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339)
        .map_err(|e| format!("{e}: write it like 2027-02-03T12:00:00Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_rfc_3339() {
        assert_eq!(instant("1970-01-01T00:00:07Z").map(time::OffsetDateTime::unix_timestamp), Ok(7));
        assert!(instant("yesterday").is_err());
    }
}
