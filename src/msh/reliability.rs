//! Reception awareness: what becomes of a sent User Message.
//!
//! AS4 §3.2 asks the sender to notice a missing Receipt, to repeat the message under the same id and to report
//! `EBMS:0301` when it stops. This module decides; `gateway::send` waits and posts.

use std::time::Duration;

use time::OffsetDateTime;

/// `ReceptionAwareness.Retry.Parameters`: `<Retry retries="12" first="1min" multiplier="2" max="1h" jitter="10%" deadline="24h"/>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPlan {
    /// Sends after the first one.
    pub retries: u32,
    /// Wait before the first retry.
    pub first: Duration,
    /// Each wait is the one before times this.
    pub multiplier: f64,
    /// Longest wait.
    pub max: Duration,
    /// Share of the wait, 0 to 1, that chance may add or take away.
    pub jitter: f64,
    /// No attempt begins later than this after the submission.
    pub deadline: Duration,
}

impl Default for RetryPlan {
    fn default() -> Self {
        Self {
            retries: 12,
            first: Duration::from_mins(1),
            multiplier: 2.0,
            max: Duration::from_hours(1),
            jitter: 0.1,
            deadline: Duration::from_hours(24),
        }
    }
}

/// What follows an attempt that did not end the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Try again then.
    Retry(OffsetDateTime),
    /// Retries or deadline are used up: `EBMS:0301`.
    GiveUp,
}

impl RetryPlan {
    /// Decides what follows attempt number `attempt` (from 1). `chance` is a random number in 0..1 for the jitter,
    /// `submitted` the time of submission: the core draws neither.
    #[must_use]
    pub fn next(&self, attempt: u32, submitted: OffsetDateTime, now: OffsetDateTime, chance: f64) -> Next {
        if attempt > self.retries {
            return Next::GiveUp;
        }
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let wait = (self.first.as_secs_f64() * self.multiplier.powi(exponent)).min(self.max.as_secs_f64());
        let wait = wait * (1.0 + self.jitter * (2.0 * chance - 1.0));
        let at = now.saturating_add(time::Duration::seconds_f64(wait.max(0.0)));
        if at > submitted.saturating_add(time::Duration::try_from(self.deadline).unwrap_or(time::Duration::MAX)) {
            return Next::GiveUp;
        }
        Next::Retry(at)
    }

    /// The longest time between the first and the last attempt: what a partner's duplicate window must exceed (IN-15).
    #[must_use]
    pub fn horizon(&self) -> Duration {
        let mut all = Duration::ZERO;
        let mut wait = self.first.as_secs_f64();
        for _ in 0..self.retries {
            all = all.saturating_add(Duration::from_secs_f64(wait.min(self.max.as_secs_f64()) * (1.0 + self.jitter)));
            wait *= self.multiplier;
            if all >= self.deadline {
                return self.deadline;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn plan() -> RetryPlan {
        RetryPlan {
            retries: 3,
            first: Duration::from_secs(1),
            multiplier: 2.0,
            max: Duration::from_secs(3),
            jitter: 0.1,
            ..RetryPlan::default()
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_then_it_gives_up() {
        let steps = [1, 2, 3, 4].map(|attempt| plan().next(attempt, T0, T0, 0.5));
        let at = |s| Next::Retry(T0 + time::Duration::seconds(s));
        assert_eq!(steps, [at(1), at(2), at(3), Next::GiveUp]);
    }

    #[test]
    fn jitter_moves_the_wait_by_its_share_at_most() {
        let Next::Retry(low) = plan().next(1, T0, T0, 0.0) else { panic!("retries are left") };
        let Next::Retry(high) = plan().next(1, T0, T0, 1.0) else { panic!("retries are left") };
        assert_eq!((low - T0, high - T0), (time::Duration::milliseconds(900), time::Duration::milliseconds(1100)));
    }

    #[test]
    fn no_attempt_begins_after_the_deadline() {
        let plan = RetryPlan { deadline: Duration::from_secs(10), ..plan() };
        assert_eq!(plan.next(1, T0, T0 + time::Duration::seconds(9), 1.0), Next::GiveUp);
    }

    #[test]
    fn the_horizon_counts_every_wait() {
        assert_eq!(plan().horizon(), Duration::from_secs_f64(1.1 + 2.2 + 3.3));
        assert_eq!(
            RetryPlan::default().horizon(),
            Duration::from_secs_f64((60.0 + 120.0 + 240.0 + 480.0 + 960.0 + 1920.0 + 6.0 * 3600.0) * 1.1)
        );
    }
}
