//! The load generator: messages packaged ahead by the gateway's own library, sent by a client that does next to nothing,
//! and the figures set beside the cryptographic floor of the same machine in the same run.

mod drive;
mod floor;
mod options;
mod prepare;
mod process;
mod receipts;
mod report;
mod target;

use std::time::Duration;

pub use floor::Floor;
pub use options::LoadArgs;
pub use report::Report;

use anyhow::Context as _;
use drive::Tally;
use prepare::Prepared;
use process::Usage;
use target::Target;

/// Runs a load and gives its figures.
pub fn run(args: &LoadArgs) -> anyhow::Result<Report> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measured(args))
}

async fn measured(args: &LoadArgs) -> anyhow::Result<Report> {
    let mut target = Target::find(args).await?;
    let floor = Floor::measure(target.bits())?;
    let begun = std::time::Instant::now();
    let count = args.count();
    let prepared = prepare::all(&target, args, count).context("the messages cannot be packaged")?;
    eprintln!("{} messages of {} packaged in {:.1} s", prepared.len(), args.size, begun.elapsed().as_secs_f64());
    let before = target.pid().and_then(Usage::of);
    let own = Usage::of(std::process::id());
    let tally = drive::drive(&target.address, &prepared, args).await?;
    let generator = own.zip(Usage::of(std::process::id())).map(|(from, to)| to.cpu - from.cpu);
    let (usage, settled) = after_work(target.pid(), before).await;
    let receipts = receipts::verify(&target, &prepared, &tally, args.verify);
    let rest = target.stop().await;
    Ok(Report::new(args, &tally, &Figures { floor, usage, generator, settled, receipts, rest, prepared: &prepared }))
}

/// What was measured besides the answers.
struct Figures<'a> {
    floor: Floor,
    /// CPU seconds and peak memory of the server.
    usage: Option<Usage>,
    /// CPU seconds of this process while driving.
    generator: Option<f64>,
    /// How long the server went on working after the last answer.
    settled: Duration,
    receipts: receipts::Verdict,
    rest: Option<String>,
    prepared: &'a [Prepared],
}

/// The server's usage when it has come to rest: deliveries go on after the receipts, and they are part of the price.
async fn after_work(pid: Option<u32>, before: Option<Usage>) -> (Option<Usage>, Duration) {
    let (Some(pid), Some(before)) = (pid, before) else { return (None, Duration::ZERO) };
    let begun = std::time::Instant::now();
    let mut last = Usage::of(pid);
    let mut rest = begun.elapsed();
    while begun.elapsed() < Duration::from_mins(2) {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = Usage::of(pid);
        let (Some(was), Some(is)) = (last, now) else { break };
        if is.cpu - was.cpu < 0.03 {
            break;
        }
        (last, rest) = (now, begun.elapsed());
    }
    (last.map(|usage| Usage { cpu: usage.cpu - before.cpu, ..usage }), rest)
}

impl Tally {
    /// Messages a second.
    fn rate(&self) -> f64 {
        self.ok as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}
