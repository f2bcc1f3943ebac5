//! The P-Modes: every fault of every file, and the certificates of partners.

use std::collections::HashSet;

use super::look::{unsuitable, validity};
use super::{Context, Finding, Severity};
use crate::cli::pmode::remedy;
use crate::gateway::AgreementsError;
use crate::pmode::{PMode, PModeSet, PartySpec, PinnedCertificate};
use crate::trust::{Purpose, published};

/// What keeps them from being loaded, or deserves attention.
pub(super) fn files(context: &Context<'_>) -> Vec<Finding> {
    let dir = context.loaded.config.pmodes.dir.display();
    match &context.pmodes {
        Err(AgreementsError::PModes(faults)) => faults
            .iter()
            .map(|fault| {
                let finding = Finding::new(Severity::Error, Some(fault.place.to_string()), fault.problem.to_string());
                finding.stops().next(remedy(&fault.problem))
            })
            .collect(),
        Err(AgreementsError::Folder { source, .. }) => {
            let message = format!("the P-Mode folder {dir} cannot be read: {source}");
            let finding = Finding::at(Severity::Error, context.loaded, "pmodes.dir", message).stops();
            vec![finding.next(format!("mkdir -p {dir}, or name another folder in [pmodes] dir"))]
        }
        Ok(set) if set.is_empty() => {
            let message = format!("there is no P-Mode in {dir}: nothing can be sent or received");
            let finding = Finding::at(Severity::Warning, context.loaded, "pmodes.dir", message);
            vec![finding.next("write one; pmodes/partner.xml.sample of postrider init is a pattern")]
        }
        Ok(set) => {
            // Dates of certificates are told with their weight by `certificates`.
            let dated: HashSet<_> = certificates(context).into_iter().filter_map(|finding| finding.place).collect();
            let warnings = set.warnings().iter().map(|warning| (warning.place.to_string(), &warning.text));
            let warnings = warnings.filter(|(place, _)| !dated.contains(place));
            warnings.map(|(place, text)| Finding::new(Severity::Warning, Some(place), text.as_str())).collect()
        }
    }
}

/// Certificates that P-Modes name: published, out of date, revoked, or not made for it.
pub(super) fn certificates(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for pmode in context.pmodes.iter().flat_map(PModeSet::iter) {
        for party in [&pmode.initiator, &pmode.responder] {
            pinned(context, pmode, party, Purpose::Sign, &mut found);
            pinned(context, pmode, party, Purpose::Encrypt, &mut found);
        }
    }
    // A profile's certificate is seen with each P-Mode that inherits from it.
    let mut seen = HashSet::new();
    found.retain(|finding: &Finding| seen.insert((finding.place.clone(), finding.message.clone())));
    found
}

fn pinned(context: &Context<'_>, pmode: &PMode, party: &PartySpec, purpose: Purpose, found: &mut Vec<Finding>) {
    let all = if purpose == Purpose::Sign { &party.signing } else { &party.encryption };
    let who = party.ids.first().map_or("any party", |id| id.value.as_str());
    let about = |pinned: &PinnedCertificate, severity, told: &str, next: &str| {
        let message = format!("{purpose} certificate of `{who}`: {told} ({})", pinned.file.display());
        Finding::new(severity, Some(pinned.place.to_string()), message).next(next)
    };
    for one in all {
        if let Some(why) = published(one.certificate.public_key()) {
            // Whoever has that key speaks for the partner.
            found.push(about(one, Severity::Error, &why, "get the partner's own certificate").stops());
            continue;
        }
        let another = all.iter().any(|other| !std::ptr::eq(other, one) && other.usable_at(context.now));
        if let Some((severity, told)) = validity(&one.certificate, context.now) {
            let severity = if another { severity.min(Severity::Warning) } else { severity };
            let next = if another {
                "take it out when nothing refers to it any more; another one is in use"
            } else {
                "get its successor from its owner, and name it beside this one"
            };
            found.push(about(one, severity, &told, next));
        }
        if let Some(told) = unsuitable(context, &one.certificate, purpose) {
            let next = format!("ask its owner for a {purpose} certificate, and name that in P-Mode `{}`", pmode.id);
            found.push(about(one, Severity::Error, &told, &next));
        }
    }
}
