//! The figures, for people and for machines.

use std::collections::BTreeMap;
use std::fmt;

use super::Figures;
use super::drive::Tally;
use super::floor::Floor;
use super::options::LoadArgs;

/// What a run came to.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    /// `postrider.load/1`.
    pub schema: &'static str,
    /// How messages were protected.
    pub security: String,
    /// Octets of each payload.
    pub payload_octets: usize,
    /// Octets of each request, on average.
    pub wire_octets: u64,
    /// Connections.
    pub concurrency: usize,
    /// Seconds from the first message to the last answer.
    pub seconds: f64,
    /// Whether the messages gave out before the time did.
    pub all_sent: bool,
    /// Receipted messages.
    pub ok: u64,
    /// All others, by reason.
    pub failed: BTreeMap<String, u64>,
    /// Receipted messages a second.
    pub messages_per_second: f64,
    /// Milliseconds.
    pub latency_ms: Latency,
    /// Receipts verified after the run.
    pub receipts_verified: usize,
    /// Receipts that do not hold.
    pub receipts_wrong: Vec<String>,
    /// The server, when its process is known.
    pub server: Option<Server>,
    /// CPU milliseconds a message that this generator used.
    pub generator_cpu_ms: Option<f64>,
    /// The operations measured in the same run.
    pub floor: Floor,
    /// CPU milliseconds a message that no gateway can do without.
    pub floor_ms: f64,
    /// Errors in the log of a throw-away server.
    pub server_errors: Option<String>,
}

/// Percentiles.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Latency {
    /// Half of them.
    pub p50: f64,
    /// Ninety-nine of a hundred.
    pub p99: f64,
    /// All.
    pub max: f64,
}

/// What the server used.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Server {
    /// CPU milliseconds a message, deliveries included.
    pub cpu_ms: f64,
    /// How many times the floor that is.
    pub floor_ratio: Option<f64>,
    /// Peak resident memory.
    pub peak_mib: f64,
    /// Seconds that it went on working after the last answer.
    pub settled_after: f64,
}

impl Report {
    pub(super) fn new(args: &LoadArgs, tally: &Tally, figures: &Figures<'_>) -> Self {
        let security = args.agreement.security;
        let answered = (tally.ok as f64).max(1.0);
        let wire =
            figures.prepared.iter().map(|p| p.wire.len() as u64).sum::<u64>() / figures.prepared.len().max(1) as u64;
        // What is hashed and decrypted is the payload as it travels, compressed where that is agreed.
        let travels = usize::try_from(wire).unwrap_or(usize::MAX).min(args.size.0);
        let floor_ms = figures.floor.receive_us(travels, security.signs(), security.encrypts()) / 1000.0;
        let ms = |micros: u64| micros as f64 / 1000.0;
        let server = figures.usage.filter(|_| tally.ok > 0).map(|usage| {
            let cpu_ms = usage.cpu * 1000.0 / answered;
            let floor_ratio = (floor_ms > 0.0).then(|| cpu_ms / floor_ms);
            let settled_after = figures.settled.as_secs_f64();
            Server { cpu_ms, floor_ratio, peak_mib: usage.peak_mib, settled_after }
        });
        Self {
            schema: "postrider.load/1",
            security: format!("{security:?}").to_lowercase(),
            payload_octets: args.size.0,
            wire_octets: wire,
            concurrency: args.concurrency,
            seconds: tally.elapsed.as_secs_f64(),
            all_sent: tally.all_sent,
            ok: tally.ok,
            failed: tally.failed.clone(),
            messages_per_second: tally.rate(),
            latency_ms: Latency {
                p50: ms(tally.latency.value_at_quantile(0.5)),
                p99: ms(tally.latency.value_at_quantile(0.99)),
                max: ms(tally.latency.max()),
            },
            receipts_verified: figures.receipts.verified,
            receipts_wrong: figures.receipts.wrong.clone(),
            server,
            generator_cpu_ms: figures.generator.filter(|_| tally.ok > 0).map(|cpu| cpu * 1000.0 / answered),
            floor: figures.floor,
            floor_ms,
            server_errors: figures.rest.clone(),
        }
    }

    /// Whether every message was receipted and every receipt looked at holds.
    #[must_use]
    pub fn good(&self) -> bool {
        self.ok > 0 && self.failed.is_empty() && self.receipts_wrong.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed: u64 = self.failed.values().sum();
        let end = if self.all_sent { ", all prepared messages sent" } else { "" };
        writeln!(
            f,
            "{} KiB payload, {}, {} connections, {:.1} s{end}",
            self.payload_octets as f64 / 1024.0,
            self.security,
            self.concurrency,
            self.seconds
        )?;
        writeln!(f, "  rate      {:>10.0} msg/s   {} ok, {failed} failed", self.messages_per_second, self.ok)?;
        for (reason, count) in &self.failed {
            writeln!(f, "            {count:>10} × {reason}")?;
        }
        let Latency { p50, p99, max } = self.latency_ms;
        writeln!(f, "  latency   {p50:>10.2} ms p50   {p99:.2} ms p99   {max:.2} ms max")?;
        writeln!(f, "  receipts  {:>10} verified, {} wrong", self.receipts_verified, self.receipts_wrong.len())?;
        for wrong in self.receipts_wrong.iter().take(5) {
            writeln!(f, "            {wrong}")?;
        }
        if let Some(server) = &self.server {
            writeln!(
                f,
                "  server    {:>10.3} ms CPU a message, deliveries included (done {:.1} s after the last answer); {:.0} MiB peak",
                server.cpu_ms, server.settled_after, server.peak_mib
            )?;
        }
        if let Some(cpu) = self.generator_cpu_ms {
            writeln!(f, "  generator {cpu:>10.3} ms CPU a message, on the same cores")?;
        }
        let Floor { rsa_bits, sign_us, verify_us, unwrap_us, .. } = self.floor;
        writeln!(
            f,
            "  floor     {:>10.3} ms CPU a message (RSA-{rsa_bits}: verify {verify_us:.0} µs, sign {sign_us:.0} µs, unwrap {unwrap_us:.0} µs)",
            self.floor_ms
        )?;
        if let Some(ratio) = self.server.and_then(|s| s.floor_ratio) {
            writeln!(f, "  ratio     {ratio:>10.2} × the floor")?;
        }
        if let Some(errors) = &self.server_errors {
            writeln!(f, "  server log:\n{errors}")?;
        }
        Ok(())
    }
}
