//! The second opinion itself.

use super::claims::{self, Claims};
use super::context::{Context, Outcome, knows_digest, knows_signature};
use super::session::{Session, XmlTypes};
use super::tree::{self, Doc};
use super::{Opinion, PartReader, library, trail};
use crate::wss::{Certificate, Reference};

/// Has libxmlsec1 verify the signature of `envelope` with the key of `signer`, over parts from `parts`, and compares the
/// list of references that libxml2 reads with `expected`, the one that the first engine verified. Parts digested in
/// canonical form are judged up to `max_canonical` octets ([`super::SECOND_OPINION_MAX`] by default); all others are
/// streamed, whatever their size. Blocks while parts are read.
pub fn second_opinion(
    envelope: &str,
    signer: &Certificate,
    parts: &mut dyn PartReader,
    expected: &[Reference],
    max_canonical: u64,
) -> Opinion {
    if let Err(why) = library::start() {
        return Opinion::could_not(why);
    }
    let mut session = Session::new(parts, max_canonical, XmlTypes::Exact);
    let opinion = judge(envelope, signer, &mut session, expected);
    // A part whose type the two readings of WS-032 treat differently, and that did not verify: the other one, once.
    if matches!(opinion, Opinion::Disagrees { .. }) && session.other_reading {
        let mut session = Session::new(parts, max_canonical, XmlTypes::Prefix);
        if judge(envelope, signer, &mut session, expected) == Opinion::Agrees {
            return Opinion::Agrees;
        }
    }
    opinion
}

fn judge(envelope: &str, signer: &Certificate, session: &mut Session<'_>, expected: &[Reference]) -> Opinion {
    trail::begin();
    let opinion = try_judge(envelope, signer, session, expected);
    // Empties the trail and OpenSSL's queue on every way out.
    drop(trail::take());
    opinion.err().unwrap_or(Opinion::Agrees)
}

fn try_judge(
    envelope: &str,
    signer: &Certificate,
    session: &mut Session<'_>,
    expected: &[Reference],
) -> Result<(), Opinion> {
    let doc = Doc::from_text(envelope).map_err(|e| tree::refused(e, "the envelope"))?;
    let claims = claims::read(&doc)?;
    if let Some(difference) = claims::difference(&claims.references, expected) {
        return Err(Opinion::disagrees(difference));
    }
    check_algorithms(&claims)?;
    claims::register_ids(&doc, &claims.references)?;
    let digests = claims.references.iter().map(|r| r.digest_method.as_str());
    let outcome = {
        let mut context = Context::new(session, signer.public_key(), &claims.method, digests)
            .ok_or_else(|| Opinion::could_not(format!("libxmlsec1 cannot use the key of {}", signer.subject())))?;
        context.verify(claims.signature)
    };
    let digested = session.digested.iter().eq(claims.references.iter().map(|r| &r.uri));
    match outcome {
        Outcome::Holds if digested => Ok(()),
        Outcome::Holds => {
            Err(Opinion::disagrees(format!("libxmlsec1 digested other references: {:?}", session.digested)))
        }
        refused => Err(session.failure.take().unwrap_or_else(|| explain(refused, &claims, &doc, signer))),
    }
}

/// Algorithms that libxmlsec1 may not judge: weak and symmetric ones are refused, those it does not know left open.
fn check_algorithms(claims: &Claims<'_>) -> Result<(), Opinion> {
    let digests = claims.references.iter().map(|r| r.digest_method.as_str()).filter(|d| !knows_digest(d));
    let unknown = Some(claims.method.as_str()).filter(|m| !knows_signature(m)).into_iter().chain(digests).next();
    let Some(unknown) = unknown else { return Ok(()) };
    let weak = unknown.starts_with("http://www.w3.org/2000/09/xmldsig#")
        || ["hmac", "md5", "sha1", "ripemd"].iter().any(|w| unknown.contains(w));
    Err(if weak {
        Opinion::disagrees(format!("the algorithm <{unknown}> is never acceptable"))
    } else {
        Opinion::could_not(format!("libxmlsec1 does not know the algorithm <{unknown}>"))
    })
}

/// Why a verification did not hold; what libxml2 is known to do wrong leaves the matter open.
fn explain(outcome: Outcome, claims: &Claims<'_>, doc: &Doc, signer: &Certificate) -> Opinion {
    let trail = trail::take();
    if trail.not_canonical {
        return Opinion::could_not(trail.explain("libxml2 does not canonicalise the envelope"));
    }
    if let Some(name) = tree::odd_namespace(doc) {
        return Opinion::could_not(format!("libxml2 does not canonicalise the namespace `{name}` right"));
    }
    match outcome {
        Outcome::WrongDigest(index) => {
            let uri = claims.references.get(index).map_or("?", |r| r.uri.as_str());
            Opinion::disagrees(format!("libxmlsec1 computes another digest for `{uri}`"))
        }
        Outcome::WrongValue => {
            Opinion::disagrees(format!("the signature value does not hold under the key of {}", signer.subject()))
        }
        Outcome::Holds | Outcome::Failed => {
            Opinion::disagrees(trail.explain("libxmlsec1 could not verify the signature"))
        }
    }
}
