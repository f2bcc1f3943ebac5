//! Checks of a profile that need the payload's beginning: the SBDH of Peppol against the header (PR-093, PD-063).

use serde_json::{Value, json};

use super::spool::SpooledPart;
use crate::edi::Sbdh;
use crate::msh::Reject;
use crate::msh::judge::Admitted;
use crate::pmode::Check;

/// Holds the first payload against the profile.
pub(super) fn check(admitted: &Admitted, parts: &[SpooledPart]) -> Result<(), Reject> {
    if admitted.pmode.checks.sbdh != Check::Enforce || admitted.message.is_test() {
        return Ok(());
    }
    let Some(first) = parts.first() else {
        return Err(Reject::Profile("there is no payload; one Standard Business Document is needed".to_owned()));
    };
    let sbdh = Sbdh::read(&first.checked.beginning).map_err(|e| Reject::Profile(e.to_string()))?;
    agrees(&sbdh, admitted).map_err(Reject::Profile)
}

fn agrees(sbdh: &Sbdh, admitted: &Admitted) -> Result<(), String> {
    let message = &admitted.message;
    let differs = |element: &str, found: &str, header: &str, value: &str| {
        Err(format!("SBDH {element} `{found}` differs from {header} `{value}`"))
    };
    // Participant identifiers are compared without case (FR-117).
    let parties = [("originalSender", "Sender", &sbdh.sender), ("finalRecipient", "Receiver", &sbdh.receiver)];
    for (property, element, partner) in parties {
        let value = message.property(property).unwrap_or_default();
        if !value.eq_ignore_ascii_case(&partner.value) {
            return differs(element, &partner.value, &format!("property {property}"), value);
        }
    }
    if message.service.value != sbdh.process.value {
        return differs("PROCESSID", &sbdh.process.value, "eb:Service", &message.service.value);
    }
    let document = match &sbdh.document.scheme {
        Some(scheme) => format!("{scheme}::{}", sbdh.document.value),
        None => sbdh.document.value.clone(),
    };
    if message.action != document && message.action != sbdh.document.value {
        return differs("DOCUMENTID", &document, "eb:Action", &message.action);
    }
    Ok(())
}

/// The SBDH's values for the consumer.
pub(super) fn sbdh(admitted: &Admitted, parts: &[SpooledPart]) -> Option<Value> {
    if admitted.pmode.checks.sbdh == Check::Off {
        return None;
    }
    let sbdh = Sbdh::read(&parts.first()?.checked.beginning).ok()?;
    let scopes: Vec<_> = sbdh
        .scopes
        .iter()
        .map(|s| json!({"type": s.kind, "instance_identifier": s.instance, "identifier": s.identifier}))
        .collect();
    Some(json!({
        "sender": {"scheme": sbdh.sender.scheme, "value": sbdh.sender.value},
        "receiver": {"scheme": sbdh.receiver.scheme, "value": sbdh.receiver.value},
        "instance_identifier": sbdh.instance,
        "document": {"scheme": sbdh.document.scheme, "value": sbdh.document.value},
        "process": {"scheme": sbdh.process.scheme, "value": sbdh.process.value},
        "country_c1": sbdh.country,
        "type": sbdh.kind,
        "type_version": sbdh.version,
        "scopes": scopes,
    }))
}
