//! What a crash run came to, for people and for machines.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::kill::Kill;
use super::schedule::{Moment, Victim};
use super::verdict::Verdict;

/// The report.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    /// `postrider.crash/1`.
    pub schema: &'static str,
    /// The seed of all choices.
    pub seed: u64,
    /// Seconds.
    pub seconds: f64,
    /// Kills by their moment.
    pub kills: BTreeMap<Moment, usize>,
    /// Kills of sender and receiver.
    pub killed: [usize; 2],
    /// Kills placed between the receiver's commit and the sender's sight of the answer.
    pub between: usize,
    /// Kills of which the logs prove that they fell there.
    pub proven: usize,
    /// Whether all documents had arrived before the wait was over.
    pub drained: bool,
    /// What the logs say.
    pub verdict: Verdict,
    /// Each kill.
    pub each: Vec<Kill>,
}

impl Report {
    pub(super) fn new(
        seed: u64,
        each: Vec<Kill>,
        proven: usize,
        verdict: Verdict,
        took: Duration,
        drained: bool,
    ) -> Self {
        let mut kills = BTreeMap::new();
        for kill in &each {
            *kills.entry(kill.moment).or_default() += 1;
        }
        let of = |victim| each.iter().filter(|kill| kill.victim == victim).count();
        Self {
            schema: "postrider.crash/1",
            seed,
            seconds: took.as_secs_f64(),
            kills,
            killed: [of(Victim::Blue), of(Victim::Red)],
            between: each.iter().filter(|kill| kill.moment.between()).count(),
            proven,
            drained,
            verdict,
            each,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = &self.verdict;
        let total = self.each.len();
        let [blue, red] = self.killed;
        writeln!(f, "{total} kills in {:.0} s, seed {}: sender {blue}, receiver {red}", self.seconds, self.seed)?;
        for (moment, count) in &self.kills {
            writeln!(f, "  {count:>6}  {}", words(*moment))?;
        }
        writeln!(
            f,
            "  {:>6}  of them between the receiver's commit and its answer; the logs prove {}",
            self.between, self.proven
        )?;
        writeln!(f, "documents")?;
        writeln!(f, "  {:>6}  submitted, {} of them above 64 KiB", v.submitted, v.large)?;
        writeln!(
            f,
            "  {:>6}  attempts on the wire, {} of them without an answer that reached the sender",
            v.attempts, v.unanswered
        )?;
        writeln!(f, "  {:>6}  delivered, in {} calls of the consumer", v.delivered, v.deliveries)?;
        writeln!(f, "verdict")?;
        for (name, list) in v.wrong() {
            writeln!(f, "  {:>6}  {name}", list.len())?;
            for one in list.iter().take(5) {
                writeln!(f, "          {one}")?;
            }
        }
        writeln!(f, "{}", if v.good() { "exactly once" } else { "NOT exactly once" })
    }
}

fn words(moment: Moment) -> &'static str {
    match moment {
        Moment::Random => "at random, either gateway, starts included",
        Moment::ReceiverCommitted => "receiver, a commit seen, no octet of the answer yet",
        Moment::ReceiverAnswering => "receiver, first octet of the answer out, nothing passed on",
        Moment::ReceiverWorking => "receiver, 0 to 11 ms after the whole request",
        Moment::SenderUnanswered => "sender, the whole answer out, nothing passed on",
        Moment::SubmissionUnanswered => "sender, 0 to 11 ms after a whole submission, its answer not read",
    }
}
