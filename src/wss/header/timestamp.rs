//! `wsu:Timestamp` (WS-080, WS-081).

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime, UtcOffset};

use super::super::error::WssError;
use super::schema::{children, malformed, not_understood, text};
use crate::wire::xml::{Node, NodeId, names};

/// A timestamp as written: it counts only when it is signed, so its instants are read when it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The element.
    pub node: NodeId,
    /// `wsu:Created`.
    pub created: String,
    /// `wsu:Expires`.
    pub expires: Option<String>,
}

impl Timestamp {
    pub(super) fn read(node: Node<'_>) -> Result<Self, WssError> {
        let (mut created, mut expires) = (None, None);
        for child in children(node)? {
            let slot = match (child.namespace(), child.local()) {
                (names::WSU, "Created") if expires.is_none() => &mut created,
                (names::WSU, "Created") => return Err(malformed(child, "it must stand before Expires")),
                (names::WSU, "Expires") => &mut expires,
                _ => return Err(not_understood(child, "it has no meaning in a Timestamp")),
            };
            if slot.replace(text(child)?.trim().to_owned()).is_some() {
                return Err(malformed(child, "it stands twice"));
            }
        }
        let created = created.ok_or_else(|| malformed(node, "it has no Created"))?;
        Ok(Self { node: node.id(), created, expires })
    }

    /// Checks it against the clock, tolerating `skew` in either direction. Ask this of a signed timestamp only: an
    /// unsigned one is ignored.
    ///
    /// # Errors
    /// When it is no UTC instant, expired, made in the future, or expires before it was made.
    pub fn check(&self, now: OffsetDateTime, skew: Duration) -> Result<(), WssError> {
        let created = instant("Created", &self.created)?;
        if created > now.saturating_add(skew) {
            return Err(WssError::Timestamp(format!("it was created at {created}, in the future")));
        }
        let Some(expires) = &self.expires else { return Ok(()) };
        let expires = instant("Expires", expires)?;
        if expires <= created {
            return Err(WssError::Timestamp(format!("it expires at {expires}, not after it was created")));
        }
        if expires.saturating_add(skew) < now {
            return Err(WssError::Timestamp(format!("it expired at {expires}")));
        }
        Ok(())
    }
}

fn instant(which: &str, text: &str) -> Result<OffsetDateTime, WssError> {
    match OffsetDateTime::parse(text, &Rfc3339) {
        Ok(instant) if instant.offset() == UtcOffset::UTC => Ok(instant),
        _ => Err(WssError::Timestamp(format!("{which} `{text}` is no instant in UTC"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    fn check(created: &str, expires: Option<&str>) -> Result<(), WssError> {
        let stamp = Timestamp { node: NodeId(0), created: created.into(), expires: expires.map(Into::into) };
        stamp.check(datetime!(2026-07-01 12:00 UTC), Duration::seconds(60))
    }

    #[test]
    fn instants_within_the_skew_are_good() {
        assert_eq!(check("2026-07-01T11:59:00.123Z", Some("2026-07-01T12:04:00Z")), Ok(()));
        assert_eq!(check("2026-07-01T12:00:59Z", None), Ok(()));
        assert_eq!(check("2026-07-01T11:00:00+00:00", Some("2026-07-01T11:59:01Z")), Ok(()));
    }

    #[test]
    fn others_are_not() {
        // FR-049
        for (created, expires) in [
            ("2026-07-01T12:04:00Z", None),
            ("2026-07-01T10:00:00Z", Some("2026-07-01T10:05:00Z")),
            ("2026-07-01T12:00:00Z", Some("2026-07-01T12:00:00Z")),
            ("2026-07-01T12:00:00", None),
            ("2026-07-01T13:00:00+01:00", None),
            ("yesterday", None),
        ] {
            assert_eq!(check(created, expires).unwrap_err().code(), "EBMS:0101", "{created}");
        }
    }
}
