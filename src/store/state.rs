//! States of messages and the moves between them (OUT-63): closed lists, spelled as in the database, the API and the
//! command line.

macro_rules! states {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As in the database.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// From the database.
            #[must_use]
            pub fn read(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

states! {
    /// Where an outgoing message is.
    Outgoing {
        /// Waits for its next attempt.
        Pending = "pending",
        /// An attempt is under way.
        Sending = "sending",
        /// Written whole; the receipt comes in a request of its own.
        AwaitingReceipt = "awaiting_receipt",
        /// The receipt is here, or the leg asks for none.
        Delivered = "delivered",
        /// Refused, or retries used up.
        Failed = "failed",
        /// Taken back before an attempt succeeded.
        Cancelled = "cancelled",
    }
}

states! {
    /// Where a received message is.
    Incoming {
        /// Accepted; no consumer has it yet.
        Received = "received",
        /// Being handed to a consumer.
        Delivering = "delivering",
        /// Every consumer has it.
        Delivered = "delivered",
        /// A consumer was offered it too often; it waits for a person.
        Failed = "failed",
    }
}

impl Outgoing {
    /// Whether this move is allowed. `failed → delivered` is the late receipt (OUT-24), `failed → pending` the repeat by
    /// hand (OUT-21).
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        use Outgoing::{AwaitingReceipt, Cancelled, Delivered, Failed, Pending, Sending};
        matches!(
            (self, next),
            (Pending, Sending | Delivered | Cancelled | Failed)
                | (Sending, Pending | AwaitingReceipt | Delivered | Failed)
                | (AwaitingReceipt, Pending | Delivered | Failed)
                | (Failed, Delivered | Pending)
        )
    }
}

impl Incoming {
    /// Whether this move is allowed. `failed → received` is the repeat by hand (IN-33).
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        use Incoming::{Delivered, Delivering, Failed, Received};
        matches!(
            (self, next),
            (Received, Delivering | Delivered | Failed)
                | (Delivering, Received | Delivered | Failed)
                | (Failed, Received | Delivered)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_message_ends_it() {
        for next in Outgoing::ALL {
            assert!(!Outgoing::Delivered.may_become(*next), "delivered → {next}");
            assert!(!Outgoing::Cancelled.may_become(*next), "cancelled → {next}");
        }
        for next in Incoming::ALL {
            assert!(!Incoming::Delivered.may_become(*next), "delivered → {next}");
        }
    }

    #[test]
    fn every_open_state_has_a_way_to_its_end() {
        for state in [Outgoing::Pending, Outgoing::Sending, Outgoing::AwaitingReceipt, Outgoing::Failed] {
            assert!(state.may_become(Outgoing::Delivered), "{state}");
        }
        for state in [Incoming::Received, Incoming::Delivering, Incoming::Failed] {
            assert!(state.may_become(Incoming::Delivered), "{state}");
        }
    }

    #[test]
    fn spelling_and_reading_agree() {
        for state in Outgoing::ALL {
            assert_eq!(Outgoing::read(state.as_str()), Some(*state));
        }
        for state in Incoming::ALL {
            assert_eq!(Incoming::read(state.as_str()), Some(*state));
        }
    }
}
