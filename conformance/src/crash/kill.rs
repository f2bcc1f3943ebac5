//! The trigger: armed with a moment, pulled by whoever sees it come, in the relay or the producer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::schedule::{Moment, Victim};
use crate::site::Server;

/// A kill that was done.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Kill {
    /// When, in the walk.
    pub moment: Moment,
    /// Who.
    pub victim: Victim,
    /// The message on the wire at that moment.
    pub message_id: Option<String>,
    /// Whether the receiver had begun to answer.
    pub answer_begun: bool,
    /// Milliseconds since 1970.
    pub at: u64,
}

#[derive(Debug, Default)]
struct State {
    armed: Option<(Moment, Duration)>,
    blue: Option<Arc<Mutex<Server>>>,
    red: Option<Arc<Mutex<Server>>>,
    done: Option<Kill>,
}

/// The trigger.
#[derive(Debug, Default)]
pub(super) struct Trigger {
    state: Mutex<State>,
    fired: Notify,
}

impl Trigger {
    /// The process that a victim is now.
    pub(super) fn aim(&self, victim: Victim, server: Arc<Mutex<Server>>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match victim {
            Victim::Blue => state.blue = Some(server),
            Victim::Red => state.red = Some(server),
        }
    }

    /// Arms it; `delay` is for the moments that have one.
    pub(super) fn arm(&self, moment: Moment, delay: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.armed, state.done) = (Some((moment, Duration::from_millis(delay))), None);
    }

    /// Makes it safe.
    pub(super) fn disarm(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).armed = None;
    }

    /// Whether that moment is waited for, and the delay.
    pub(super) fn armed(&self, moment: Moment) -> Option<Duration> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.armed.filter(|(armed, _)| *armed == moment).map(|(_, delay)| delay)
    }

    /// Kills, if that moment is still waited for. Whether it did.
    pub(super) fn pull(&self, moment: Moment, victim: Victim, message_id: Option<&str>, answer_begun: bool) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.armed.is_none_or(|(armed, _)| armed != moment) {
            return false;
        }
        state.armed = None;
        let server = if victim == Victim::Blue { &state.blue } else { &state.red };
        if let Some(server) = server {
            server.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
        let message_id = message_id.map(str::to_owned);
        state.done = Some(Kill { moment, victim, message_id, answer_begun, at: crate::consumer::now() });
        drop(state);
        self.fired.notify_one();
        true
    }

    /// Waits for the kill.
    pub(super) async fn fired(&self, limit: Duration) -> Option<Kill> {
        let wait = async {
            loop {
                if let Some(kill) = self.state.lock().unwrap_or_else(PoisonError::into_inner).done.take() {
                    return kill;
                }
                self.fired.notified().await;
            }
        };
        tokio::time::timeout(limit, wait).await.ok()
    }
}
