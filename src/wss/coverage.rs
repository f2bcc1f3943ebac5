//! What must be signed is signed (WS-006, WS-022, FR-046).

use time::{Duration, OffsetDateTime};

use super::error::WssError;
use super::header::SecurityHeader;
use super::reference::content_id;
use super::verify::Verified;
use crate::wire::xml::NodeId;

/// Whether the SOAP Body must be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRule {
    /// It must.
    Required,
    /// It may be left out: some peers sign their receipts without the empty Body.
    SignalMayOmit,
}

/// Checks that the very elements that will be processed are among the verified ones, and that every part is.
/// `messaging` and `body` are the nodes at `/Envelope/Header/eb:Messaging` and `/Envelope/Body`; `hrefs` the `cid:`
/// URLs of `eb:PayloadInfo`.
///
/// # Errors
/// When one of them is not covered: it names the first.
pub fn require_coverage<'h>(
    verified: &Verified,
    messaging: NodeId,
    body: NodeId,
    hrefs: impl IntoIterator<Item = &'h str>,
    body_rule: BodyRule,
) -> Result<(), WssError> {
    let missing = |what: &str| Err(WssError::NotCovered { what: what.to_owned() });
    if !verified.covers.contains(&messaging) {
        return missing("eb:Messaging");
    }
    if body_rule == BodyRule::Required && !verified.covers.contains(&body) {
        return missing("the SOAP Body");
    }
    for href in hrefs {
        let covered = content_id(href).is_some_and(|id| verified.parts.iter().any(|part| part.content_id == id));
        if !covered {
            return missing(href);
        }
    }
    Ok(())
}

impl Verified {
    /// The digest that the part with that `cid:` URL must have.
    #[must_use]
    pub fn part(&self, href: &str) -> Option<&super::verify::ExpectedDigest> {
        let id = content_id(href)?;
        self.parts.iter().find(|part| part.content_id == id)
    }

    /// Checks the timestamp against the clock if it is signed; an unsigned one is ignored (WS-081).
    ///
    /// # Errors
    /// When it is signed and not, or no longer, good.
    pub fn check_timestamp(
        &self,
        header: &SecurityHeader,
        now: OffsetDateTime,
        skew: Duration,
    ) -> Result<(), WssError> {
        match &header.timestamp {
            Some(timestamp) if self.covers.contains(&timestamp.node) => timestamp.check(now, skew),
            _ => Ok(()),
        }
    }
}
