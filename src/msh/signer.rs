//! Who signed, and whether that is the party that the header names (WS-100…WS-106, AT-09, AT-10).

use std::sync::Arc;

use time::OffsetDateTime;

use super::reject::Reject;
use crate::ebms::Party;
use crate::pmode::{PartySpec, SubjectRule};
use crate::wss::{Certificate, Verified};

/// Judges certificates; the adapter around OpenSSL's `X509_STORE` does it.
pub trait SignerTrust: Send + Sync {
    /// A certificate that a P-Mode names: its validity and use.
    fn pinned(&self, leaf: &Arc<Certificate>, now: OffsetDateTime) -> Result<Vec<String>, String>;

    /// A certificate that must lead to an anchor. Gives the subjects of the path.
    fn chained(
        &self,
        leaf: &Certificate,
        chain: &[Arc<Certificate>],
        now: OffsetDateTime,
    ) -> Result<Vec<String>, String>;
}

/// Binds the signer to the party: by a certificate that the P-Mode pins, or by a rule on the subject of one that leads
/// to an anchor. Gives what the timeline says of the path.
pub fn bind(
    verified: &Verified,
    party: &Party,
    spec: &PartySpec,
    trust: &dyn SignerTrust,
    now: OffsetDateTime,
) -> Result<Vec<String>, Reject> {
    let signer = &verified.signer;
    let refused = |why: String| Reject::Signer(format!("{} (serial {}): {why}", signer.subject(), signer.serial()));
    if spec.signing.iter().any(|pinned| pinned.certificate == *signer && pinned.usable_at(now)) {
        return trust.pinned(signer, now).map_err(refused);
    }
    let claimed = || party.ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match &spec.subject {
        SubjectRule::Pinned => {
            let known = spec.signing.iter().map(|p| p.certificate.subject()).collect::<Vec<_>>().join("; ");
            return Err(refused(format!(
                "it is not one of the certificates agreed for {}; these are: {}",
                claimed(),
                if known.is_empty() { "none" } else { &known }
            )));
        }
        SubjectRule::CommonNameIsPartyId => {
            let named = signer.common_name().is_some_and(|cn| party.ids.iter().any(|id| id.value == cn));
            if !named {
                return Err(refused(format!("its common name is not the From party {}", claimed())));
            }
        }
        SubjectRule::CommonName(expected) => {
            if signer.common_name() != Some(expected) {
                return Err(refused(format!("its common name is not `{expected}`, which is agreed for {}", claimed())));
            }
        }
    }
    trust.chained(signer, &verified.chain, now).map_err(refused)
}
