//! When to kill: a shuffled list of moments, most of them where a crash hurts.

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// The sender.
    Blue,
    /// The receiver.
    Red,
}

/// The moment of a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Any moment, either gateway, starts included.
    Random,
    /// The receiver, when a commit appears in the shared index of its write-ahead log after the request was written whole
    /// and before any octet of the answer has come.
    ReceiverCommitted,
    /// The receiver, when the first octet of its answer comes out; none of it is passed on.
    ReceiverAnswering,
    /// The receiver, some milliseconds after the request was written whole, before or after it has committed.
    ReceiverWorking,
    /// The sender, when the whole answer has come; none of it is passed on.
    SenderUnanswered,
    /// The sender, some milliseconds after a submission was written whole to its API and before the answer is read.
    SubmissionUnanswered,
}

impl Moment {
    /// Whether the moment stands between the receiver's commit and the sender's sight of the answer.
    #[must_use]
    pub fn between(self) -> bool {
        matches!(self, Self::ReceiverCommitted | Self::ReceiverAnswering | Self::SenderUnanswered)
    }
}

/// xorshift64*: the same choices from the same seed everywhere.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit.max(1)
    }
}

/// At least 26 kills between commit and answer, two fifths of a long run; the rest by turns.
pub(super) fn of(kills: usize, chance: &mut Chance) -> Vec<Moment> {
    const BETWEEN: [Moment; 3] = [Moment::ReceiverCommitted, Moment::ReceiverAnswering, Moment::SenderUnanswered];
    const OTHERS: [Moment; 4] = [Moment::Random, Moment::SubmissionUnanswered, Moment::Random, Moment::ReceiverWorking];
    let between = (kills * 2 / 5).max(26).min(kills);
    let mut all: Vec<Moment> = BETWEEN.into_iter().cycle().take(between).collect();
    all.extend(OTHERS.into_iter().cycle().take(kills - between));
    for at in (1..all.len()).rev() {
        let other = usize::try_from(chance.below(at as u64 + 1)).unwrap_or(0);
        all.swap(at, other);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_kills_hurt_and_a_seed_repeats() {
        for kills in [26, 30, 500] {
            let all = of(kills, &mut Chance::new(7));
            assert_eq!(all.len(), kills);
            assert!(all.iter().filter(|m| m.between()).count() >= 26.max(kills * 2 / 5));
            assert_eq!(all, of(kills, &mut Chance::new(7)));
            assert_ne!(all, of(kills, &mut Chance::new(8)));
        }
    }
}
