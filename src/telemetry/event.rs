//! The event catalogue.
//!
//! Each event has a stable code, a level, a sentence that says what happened and one that says what to do. The level
//! follows who must act: *error* a person now, *warn* nobody yet, *info* one line a message and journey, *debug* one a
//! stage. [`crate::emit!`] writes the log line; the code is also what the timeline of a message holds.

use std::fmt;

/// How urgent an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// One line a stage.
    Debug,
    /// One line a message and journey; start, stop, reload.
    Info,
    /// It recovered, or is tried again.
    Warn,
    /// Someone must act.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        })
    }
}

/// An entry of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Stable: journey, dot, what happened.
    pub code: &'static str,
    /// How urgent.
    pub level: Level,
    /// What happened.
    pub sentence: &'static str,
    /// What to do; empty when there is nothing to do.
    pub remedy: &'static str,
}

/// The event of a code.
#[must_use]
pub fn by_code(code: &str) -> Option<&'static Event> {
    CATALOGUE.iter().copied().find(|event| event.code == code)
}

/// Declares the events; the doc comment of each constant is its sentence.
macro_rules! declare_events {
    ($($name:ident = $code:literal, $level:ident, $sentence:literal, $remedy:literal;)+) => {
        $(
            #[doc = $sentence]
            pub const $name: Event =
                Event { code: $code, level: Level::$level, sentence: $sentence, remedy: $remedy };
        )+

        /// Every event, in the order of the journeys.
        pub const CATALOGUE: &[&Event] = &[$(&$name),+];
    };
}

declare_events! {
    PROCESS_STARTED = "process.started", Info, "The process serves.", "";
    PROCESS_STOPPING = "process.stopping", Info,
        "The process was told to stop; exchanges in flight get the grace time.", "";
    PROCESS_STOPPED = "process.stopped", Info, "The process has stopped.", "";
    PROCESS_FAILED = "process.failed", Error, "A part of the process ended that must not end.",
        "Restart it; when it comes again, report the line with what stands above it.";

    CONFIG_LOADED = "config.loaded", Info, "The configuration was loaded.", "";
    PMODE_RELOADED = "pmode.reloaded", Info, "Changed P-Modes were loaded; messages that began keep their revision.", "";
    PMODE_RELOAD_REFUSED = "pmode.reload_refused", Error,
        "Changed P-Modes hold faults; all the old ones stay in force.",
        "Run `postrider check`, mend the file it names; the next change is loaded by itself.";
    CERTIFICATE_EXPIRING = "certificate.expiring", Warn, "A certificate ends soon.",
        "Agree on its successor with the partner and add it beside the old one.";
    CERTIFICATE_EXPIRED = "certificate.expired", Error, "A certificate has ended.",
        "Replace it in the P-Mode or in postrider.toml; until then its messages fail.";

    RECEIVE_STARTED = "receive.started", Debug, "A request from a partner began.", "";
    RECEIVE_ACCEPTED = "receive.accepted", Info, "A message was received, stored and answered.", "";
    RECEIVE_DUPLICATE = "receive.duplicate", Info,
        "A message came again; the stored answer was given and nothing was done twice.", "";
    RECEIVE_REJECTED = "receive.rejected", Warn, "A request became no message; the partner was told why.",
        "Look at the reason: `postrider explain` tells which P-Modes were considered and which check failed.";
    RECEIVE_RECEIPT = "receive.receipt", Info, "A receipt came in a request of its own.", "";
    RECEIVE_ERROR = "receive.error", Warn, "A partner reported an error on a message that we sent.",
        "Read the partner's text in the message's timeline.";
    RECEIVE_PULL = "receive.pull", Info, "A partner pulled a message.", "";
    RECEIVE_PULL_EMPTY = "receive.pull_empty", Debug, "A partner pulled, and nothing waited.", "";
    RECEIVE_UNAVAILABLE = "receive.unavailable", Error,
        "A message was not taken, for it could not be stored; the partner will repeat it.",
        "Look at the database and at the room in the data folder.";
    PAYLOAD_MISMATCH = "payload_mismatch", Error,
        "A message id came again with other content; it was refused and both are kept.",
        "Ask the partner which of the two it meant: its system reuses ids, or someone replays them.";

    SUBMIT_ACCEPTED = "submit.accepted", Info, "A submission was stored and waits to be sent.", "";
    SUBMIT_REPEATED = "submit.repeated", Info, "A submission came again under its key; it has the message id it had.", "";
    SUBMIT_REFUSED = "submit.refused", Warn, "A submission was refused.",
        "The producer was told what is missing; mend the submission or the P-Mode.";
    SUBMIT_MISMATCH = "submit.mismatch", Error, "A key was used again for another payload; the submission was refused.",
        "Find out in the producing system why two documents have one key.";

    SEND_ATTEMPT = "send.attempt", Debug, "A message is posted to the partner.", "";
    SEND_DELIVERED = "send.delivered", Info, "The partner's receipt is here and agrees with what was sent.", "";
    SEND_UNREACHABLE = "send.unreachable", Warn, "The partner could not be reached; the message is sent again later.",
        "When it lasts, ask the partner, and compare the address in the P-Mode.";
    SEND_RECEIPT_MISSING = "send.receipt_missing", Warn,
        "The partner took the message and gave no receipt in time; it is sent again later.",
        "When it lasts, ask the partner whether the message arrived.";
    SEND_RECEIPT_WRONG = "send.receipt_wrong", Error, "A receipt came that does not prove what was sent.",
        "Keep the exchange and ask the partner what it received.";
    SEND_REFUSED = "send.refused", Error, "The partner refused the message for good.",
        "Read the partner's text; mend the cause, then `postrider message resend --as new`.";
    SEND_FAILED = "send.failed", Error, "The retries or the time are used up; the message has failed (EBMS:0301).",
        "Clear it with the partner, then `postrider message resend`.";
    SEND_LATE_RECEIPT = "send.late_receipt", Info, "A receipt came after the message had failed; it is delivered.", "";
    SEND_OUTCOME_UNKNOWN = "send.outcome_unknown", Error,
        "The partner says that it has the message already, and its receipt never came.",
        "Ask the partner, then settle the message.";

    DELIVER_DONE = "deliver.done", Info, "A received message is with its consumer.", "";
    DELIVER_RETRYING = "deliver.retrying", Warn, "The consumer did not take a message; it is offered again later.",
        "Look at the consumer when it lasts.";
    DELIVER_FAILED = "deliver.failed", Error, "The consumer refused a message, or was offered it too often.",
        "Mend the consumer, then `postrider message redeliver`.";
    NOTIFY_DONE = "notify.done", Debug, "A producer was told what became of its message.", "";

    STORE_UNAVAILABLE = "store.unavailable", Error, "The database or the payload store cannot be used.",
        "Look at the database; nothing is answered to partners until it is back.";
    STORE_MIGRATED = "store.migrated", Info, "The database was brought to the newest schema.", "";
    LEASE_TAKEN_OVER = "lease.taken_over", Warn, "The work of a worker that vanished was taken over.", "";
    ADMIN_DENIED = "admin.denied", Warn, "A call to the API had no valid token.",
        "Look who calls from that address.";
}

/// Writes the log line of an event: `emit!(event::SEND_FAILED, { "message.id" = %id, partner = name }, "{id} failed")`.
///
/// The text is readable alone; the fields are there to filter by. `event` and, from warn on, `next` are added.
#[macro_export]
macro_rules! emit {
    ($event:expr, { $($fields:tt)* }, $($text:tt)+) => {{
        let event: $crate::telemetry::event::Event = $event;
        match event.level {
            $crate::telemetry::event::Level::Debug => {
                ::tracing::debug!({ event = event.code, $($fields)* }, $($text)+);
            }
            $crate::telemetry::event::Level::Info => {
                ::tracing::info!({ event = event.code, $($fields)* }, $($text)+);
            }
            $crate::telemetry::event::Level::Warn => {
                ::tracing::warn!({ event = event.code, next = event.remedy, $($fields)* }, $($text)+);
            }
            $crate::telemetry::event::Level::Error => {
                ::tracing::error!({ event = event.code, next = event.remedy, $($fields)* }, $($text)+);
            }
        }
    }};
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_lower_case_words_and_unique() {
        let mut seen = HashSet::new();
        for event in CATALOGUE {
            assert!(event.code.chars().all(|c| c.is_ascii_lowercase() || c == '.' || c == '_'), "{}", event.code);
            assert!(seen.insert(event.code), "{} is there twice", event.code);
            assert_eq!(by_code(event.code), Some(*event));
        }
        assert_eq!(by_code("receive.none"), None);
    }

    #[test]
    fn every_error_says_what_to_do_and_every_event_what_happened() {
        for event in CATALOGUE {
            assert!(event.sentence.ends_with('.'), "{}", event.code);
            assert!(event.level < Level::Error || !event.remedy.is_empty(), "{}", event.code);
        }
    }
}
