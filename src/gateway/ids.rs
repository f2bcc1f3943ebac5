//! What the core may not do: reading the clock and drawing ids.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::ebms::MessageId;
use crate::msh::package::Ids;

/// The time, in UTC.
pub(super) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// A sortable id for a row.
pub(super) fn row() -> String {
    Uuid::now_v7().simple().to_string()
}

/// A random word of letters and digits.
pub(super) fn word() -> String {
    Uuid::new_v4().simple().to_string()
}

/// A MessageId on this host (EB-036).
pub(super) fn message_id(host: &str) -> MessageId {
    let fresh = format!("{}@{host}", Uuid::now_v7().hyphenated());
    // A host that makes no MessageId was refused when the configuration was read.
    MessageId::parse(&fresh).unwrap_or_else(|_| {
        MessageId::parse(&format!("{}@localhost", Uuid::now_v7().hyphenated())).expect("a UUID at localhost is an id")
    })
}

/// Ids of a new envelope.
pub(super) fn envelope(host: &str) -> Ids {
    Ids { message_id: message_id(host), token: word() }
}

/// A number from 0 to 1, for jitter.
pub(super) fn chance() -> f64 {
    let random = u32::try_from(Uuid::new_v4().as_u128() & 0xffff_ffff).unwrap_or(0);
    f64::from(random) / f64::from(u32::MAX)
}
