//! Receipts judged after the clock has stopped, by the code that judges them when the gateway sends.

use std::sync::Arc;

use postrider::msh::Outcome;
use postrider::msh::conclude::{AnswerBench, Sent, conclude};
use postrider::msh::signer::SignerTrust;
use postrider::pmode::LegNumber;
use postrider::wss::{Certificate, CertificateCache};
use time::OffsetDateTime;

use super::drive::Tally;
use super::options::Verify;
use super::prepare::Prepared;
use super::target::Target;

/// How many were looked at, and what was wrong.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(super) struct Verdict {
    pub(super) verified: usize,
    pub(super) wrong: Vec<String>,
}

/// Accepts the certificate that was named, as long as it is valid.
struct Named;

impl SignerTrust for Named {
    fn pinned(&self, leaf: &Arc<Certificate>, now: OffsetDateTime) -> Result<Vec<String>, String> {
        if leaf.valid_at(now) { Ok(Vec::new()) } else { Err("the certificate is out of date".to_owned()) }
    }

    fn chained(&self, _: &Certificate, _: &[Arc<Certificate>], _: OffsetDateTime) -> Result<Vec<String>, String> {
        Err("it is not the certificate that was named with --partner-certificate".to_owned())
    }
}

pub(super) fn verify(target: &Target, prepared: &[Prepared], tally: &Tally, which: Verify) -> Verdict {
    let mut verdict = Verdict::default();
    let Some(pmode) = target.pmode().ok().filter(|_| which != Verify::None) else { return verdict };
    let certificates = CertificateCache::new(16);
    let bench = AnswerBench { trust: &Named, certificates: &certificates, now: OffsetDateTime::now_utc() };
    for (at, answer) in &tally.kept {
        let Some(message) = prepared.get(*at) else { continue };
        let sent = Sent {
            message_id: &message.message_id,
            to: &message.to,
            references: &message.references,
            pmode,
            leg: LegNumber::First,
        };
        let judged = conclude(answer.status, answer.header("content-type"), &answer.body, &sent, &bench);
        match judged.outcome {
            Outcome::Delivered if judged.signed || !target.partner => verdict.verified += 1,
            Outcome::Delivered => {
                verdict.wrong.push(format!("{}: the receipt is not signed", message.message_id.as_str()));
            }
            other => verdict.wrong.push(format!("{}: {other:?}", message.message_id.as_str())),
        }
    }
    verdict
}
