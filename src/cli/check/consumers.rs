//! Names that lead from P-Modes to backends, and from watched folders to P-Modes.

use std::collections::HashSet;

use super::{Context, Finding, Severity};
use crate::config::{BackendKind, nearest};
use crate::pmode::PModeSet;

/// Backends that P-Modes deliver to are there.
pub(super) fn backends(context: &Context<'_>) -> Vec<Finding> {
    let known: Vec<&str> = context.loaded.config.backend.iter().map(|backend| backend.name.as_str()).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for pmode in context.pmodes.iter().flat_map(PModeSet::iter) {
        for target in std::iter::once(&pmode.leg).chain(&pmode.reply_leg).flat_map(|leg| &leg.deliver) {
            let place = target.place.to_string();
            if known.contains(&target.backend.as_str()) || !seen.insert(place.clone()) {
                continue;
            }
            let message =
                format!("P-Mode `{}` delivers to `{}`, and no [[backend]] has that name", pmode.id, target.backend);
            found.push(Finding::new(Severity::Error, Some(place), message).next(hint(&target.backend, &known)));
        }
    }
    found
}

fn hint(name: &str, known: &[&str]) -> String {
    match (nearest(name, known.iter().copied()), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => format!("add [[backend]] name = \"{name}\" to the configuration"),
        (None, _) => format!("add [[backend]] name = \"{name}\", or name one of {}", known.join(", ")),
    }
}

/// Secrets of webhooks can be read.
pub(super) fn webhooks(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (n, backend) in context.loaded.config.backend.iter().enumerate() {
        let BackendKind::Webhook { secret: Some(secret), .. } = &backend.kind else { continue };
        if let Err(error) = secret.read_text() {
            let message = format!("the secret of backend `{}`: {error}", backend.name);
            let finding = Finding::at(Severity::Error, context.loaded, &format!("backend[{n}].secret"), message);
            found.push(finding.stops().next("write it there, as one line of text, and share it with the consumer"));
        }
    }
    found
}

/// P-Modes that watched folders send by are there.
pub(super) fn producers(context: &Context<'_>) -> Vec<Finding> {
    let Ok(set) = &context.pmodes else { return Vec::new() };
    let known: Vec<&str> = set.iter().map(|pmode| pmode.id.as_str()).collect();
    let folders = context.loaded.config.folder.iter().enumerate();
    let lost = folders.filter(|(_, folder)| set.find(&folder.pmode).is_none());
    lost.map(|(n, folder)| {
        let message = format!("folder `{}` sends by P-Mode `{}`, which does not exist", folder.name, folder.pmode);
        let finding = Finding::at(Severity::Error, context.loaded, &format!("folder[{n}].pmode"), message);
        match nearest(&folder.pmode, known.iter().copied()) {
            Some(near) => finding.next(format!("did you mean `{near}`?")),
            None => finding.next("postrider pmode list shows those there are"),
        }
    })
    .collect()
}
