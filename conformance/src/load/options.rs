//! The command line of `load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::agreement::Agreement;

/// Drives an AS4 endpoint with messages packaged ahead, and reports rate, latency and cost.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider-conformance load --self\n  postrider-conformance load http://127.0.0.1:4080/as4 --key blue.key --certificate blue.pem --partner-certificate red.pem --pid 4711"
)]
pub struct LoadArgs {
    /// The endpoint, http.
    #[arg(value_name = "URL", required_unless_present = "throw_away")]
    pub url: Option<String>,
    /// Starts a throw-away postrider with fresh keys and default settings, and measures that.
    #[arg(long = "self", conflicts_with = "url")]
    pub throw_away: bool,
    /// The postrider to start; without it the one beside this program.
    #[arg(long, value_name = "BIN")]
    pub postrider: Option<PathBuf>,
    /// With `--self`: bits of the RSA keys.
    #[arg(long, default_value_t = 3072)]
    pub bits: u32,
    /// With `--self`: whether what is received is also delivered, into a folder.
    #[arg(long, value_enum, default_value = "folder")]
    pub deliver: Deliver,
    /// Octets of the payload: 1k, 64k, 1m.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1k")]
    pub size: Size,
    /// Connections, one message at a time on each.
    #[arg(long, default_value_t = 16)]
    pub concurrency: usize,
    /// How long to send; the run ends earlier when all messages are sent.
    #[arg(long, value_parser = duration, default_value = "10s")]
    pub duration: Duration,
    /// Messages to package ahead; without it 20000, or what 1 GiB holds.
    #[arg(long)]
    pub messages: Option<usize>,
    /// Header values and security.
    #[command(flatten)]
    pub agreement: Agreement,
    /// The sender's private key, PEM.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The sender's certificate, PEM.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// The partner's certificate, PEM: it is encrypted to, and signs the receipts.
    #[arg(long, value_name = "FILE")]
    pub partner_certificate: Option<PathBuf>,
    /// Process id of the server: its CPU time and memory are read from /proc.
    #[arg(long)]
    pub pid: Option<u32>,
    /// Which receipts are verified after the run: signature, RefToMessageId, every digest.
    #[arg(long, value_enum, default_value = "sample")]
    pub verify: Verify,
    /// Prints JSON.
    #[arg(long)]
    pub json: bool,
}

/// What becomes of received messages in a throw-away gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deliver {
    /// Each is written into a folder.
    Folder,
    /// They stay in the gateway.
    None,
}

/// Which receipts are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Verify {
    /// One of sixteen.
    Sample,
    /// Every one.
    All,
    /// None: an answer with status 200 that names the message is enough.
    None,
}

/// Octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub usize);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            n if n > 0 && n % (1 << 20) == 0 => write!(f, "{} MiB", n >> 20),
            n if n > 0 && n % 1024 == 0 => write!(f, "{} KiB", n >> 10),
            n => write!(f, "{n} octets"),
        }
    }
}

impl LoadArgs {
    /// How many messages are packaged.
    pub(super) fn count(&self) -> usize {
        self.messages.unwrap_or_else(|| ((1 << 30) / (self.size.0 + 8192)).clamp(16, 20_000))
    }
}

/// `64k` and the like.
fn size(text: &str) -> Result<Size, String> {
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches("ib").trim_end_matches('b').trim_end();
    let (number, factor) = match number.chars().last() {
        Some('k') => (&number[..number.len() - 1], 1 << 10),
        Some('m') => (&number[..number.len() - 1], 1 << 20),
        _ => (number, 1),
    };
    let count: usize = number.trim().parse().map_err(|_| format!("`{text}` is no size; write 1k, 64k or 1m"))?;
    if !(64..=1 << 30).contains(&(count.saturating_mul(factor))) {
        return Err("a payload has 64 octets to 1 GiB here".to_owned());
    }
    Ok(Size(count * factor))
}

/// `10s`, `2min`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "s" | "" => 1,
        "m" | "min" => 60,
        _ => return Err(format!("`{text}` is no duration; write 10s or 2min")),
    };
    digits.parse::<u64>().map(|n| Duration::from_secs(n * seconds)).map_err(|e| format!("`{text}`: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations() {
        for (text, octets) in [("1k", 1024), ("64K", 65536), ("1m", 1 << 20), ("100 KiB", 102_400), ("77", 77)] {
            assert_eq!(size(text), Ok(Size(octets)), "{text}");
        }
        assert!(size("10").is_err() && size("k").is_err() && size("1x").is_err());
        assert_eq!(duration("2min"), Ok(Duration::from_mins(2)));
        assert!(duration("2h").is_err() && duration("s").is_err());
    }
}
