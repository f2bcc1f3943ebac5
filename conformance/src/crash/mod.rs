//! Two real gateways exchange documents while one or the other is killed, again and again.
//!
//! ```text
//! producer ──API──▶ blue ══AS4══▶ relay ══AS4══▶ red ──webhook──▶ consumer
//!    │ log                          │ log                            │ log
//!    └──────────────────────────────┴─── verdict ────────────────────┘
//! ```
//!
//! The verdict compares the three logs. It never asks the gateways.

mod kill;
mod options;
mod pair;
mod producer;
mod relay;
mod report;
mod schedule;
mod verdict;
mod watch;

pub use options::CrashArgs;
pub use report::Report;
pub use verdict::Verdict;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use kill::Trigger;
use pair::Pair;
use producer::Producer;
use schedule::{Chance, Moment, Victim};

/// Runs the whole, in a folder of its own.
pub fn run(args: &CrashArgs) -> anyhow::Result<Report> {
    let temporary = match &args.keep {
        Some(dir) => std::fs::create_dir_all(dir).map(|()| None)?,
        None => Some(tempfile::Builder::new().prefix("postrider-crash.").tempdir()?),
    };
    let kept = args.keep.as_deref().map(std::path::absolute).transpose()?;
    let dir = kept.as_deref().or(temporary.as_ref().map(tempfile::TempDir::path)).context("no folder")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = runtime.block_on(exchange(args, dir))?;
    if let Some(temporary) = temporary
        && !report.verdict.good()
    {
        // What went wrong can be looked at.
        eprintln!("kept: {}", temporary.keep().display());
    }
    Ok(report)
}

async fn exchange(args: &CrashArgs, dir: &Path) -> anyhow::Result<Report> {
    let begun = Instant::now();
    let seed = args.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let mut chance = Chance::new(seed);
    eprintln!("seed {seed}, {} kills", args.kills);
    let trigger = Arc::new(Trigger::default());
    let mut pair = Pair::start(args, dir, Arc::clone(&trigger)).await?;
    let producer = Producer::start(args, &pair, chance.next(), Arc::clone(&trigger))?;
    let mut kills = Vec::with_capacity(args.kills);
    for (number, moment) in schedule::of(args.kills, &mut chance).into_iter().enumerate() {
        let placed = place(&mut pair, &trigger, moment, &mut chance).await;
        kills.push(placed.with_context(|| format!("kill {} of {}", number + 1, args.kills))?);
        if (number + 1) % 25 == 0 {
            let (taken, delivered) = (producer.taken(), pair.delivered()?);
            eprintln!("{} kills, {taken} submitted, {delivered} delivered", number + 1);
        }
    }
    trigger.disarm();
    pair.ready().await?;
    let submissions = producer.stop().await?;
    let drained = pair.drain(&submissions, args.drain).await?;
    let (wire, deliveries) = pair.stop().await?;
    let verdict = verdict::judge(&submissions, &wire, &deliveries);
    let proven = verdict::proven(&kills, &wire, &deliveries);
    Ok(Report::new(seed, kills, proven, verdict, begun.elapsed(), drained))
}

/// Kills once at that moment and starts the victim again.
async fn place(pair: &mut Pair, trigger: &Trigger, moment: Moment, chance: &mut Chance) -> anyhow::Result<kill::Kill> {
    if moment == Moment::Random {
        // Sometimes a start is what is interrupted.
        if chance.below(4) > 0 {
            pair.ready().await?;
        }
        tokio::time::sleep(Duration::from_millis(chance.below(400))).await;
        let victim = if chance.below(2) == 0 { Victim::Red } else { Victim::Blue };
        pair.kill(victim);
        pair.restart(victim).await?;
        return Ok(kill::Kill { moment, victim, message_id: None, answer_begun: false, at: crate::consumer::now() });
    }
    pair.ready().await?;
    trigger.arm(moment, chance.below(12));
    let Some(kill) = trigger.fired(Duration::from_mins(1)).await else {
        bail!("{moment:?} never came: no message reached it within 60 s");
    };
    tokio::time::sleep(Duration::from_millis(chance.below(100))).await;
    pair.restart(kill.victim).await?;
    Ok(kill)
}
