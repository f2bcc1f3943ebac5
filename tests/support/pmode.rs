//! P-Modes as text, for the one side or the other.

/// The unregistered party type of our own scenarios.
pub(crate) const UNREGISTERED: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered";

/// A party of a P-Mode.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    id: String,
    more: Vec<String>,
    kind: Option<String>,
    certificate: Option<String>,
}

impl Party {
    /// A party with a type.
    pub(crate) fn typed(kind: &str, id: &str) -> Self {
        Self { kind: Some(kind.to_owned()), ..Self::uri(id) }
    }

    /// A party whose id is a URI.
    pub(crate) fn uri(id: &str) -> Self {
        Self { id: id.to_owned(), more: Vec::new(), kind: None, certificate: None }
    }

    /// Has another id besides, a URI too.
    pub(crate) fn and(mut self, id: &str) -> Self {
        self.more.push(id.to_owned());
        self
    }

    /// Signs and is encrypted to with the certificate of `keys/<name>.pem`.
    pub(crate) fn certificate(mut self, name: &str) -> Self {
        self.certificate = Some(name.to_owned());
        self
    }

    fn xml(&self, element: &str) -> String {
        let kind = self.kind.as_ref().map_or_else(String::new, |kind| format!(" type=\"{kind}\""));
        let certificates = self.certificate.as_ref().map_or_else(String::new, |name| {
            format!(
                "<SigningCertificate file=\"../keys/{name}.pem\"/><EncryptionCertificate file=\"../keys/{name}.pem\"/>"
            )
        });
        let more: String = self.more.iter().map(|id| format!("<Party>{id}</Party>")).collect();
        format!("<{element}><Party{kind}>{}</Party>{more}{certificates}</{element}>", self.id)
    }
}

/// A P-Mode in the making.
#[derive(Clone, Debug)]
pub(crate) struct PMode {
    /// Its id and file name.
    pub id: String,
    profile: String,
    attributes: String,
    agreement: Option<String>,
    initiator: Option<Party>,
    responder: Option<Party>,
    address: Option<String>,
    business: String,
    leg: String,
    retry: String,
    window: String,
    aware: bool,
    deliver: bool,
    checks: String,
}

impl PMode {
    /// With a quick retry, so that no scenario waits for long.
    pub(crate) fn new(id: &str, profile: &str) -> Self {
        Self {
            id: id.to_owned(),
            profile: profile.to_owned(),
            attributes: String::new(),
            agreement: None,
            initiator: None,
            responder: None,
            address: None,
            business: String::new(),
            leg: String::new(),
            retry: r#"<Retry retries="5" first="300ms" multiplier="1" max="300ms" jitter="0%" deadline="2min"/>"#
                .into(),
            window: "30d".into(),
            aware: true,
            deliver: false,
            checks: String::new(),
        }
    }

    /// Has `AgreementRef/@pmode` sent.
    pub(crate) fn named(mut self) -> Self {
        self.attributes = " sendPModeId=\"true\"".into();
        self
    }

    /// Takes plain words as identifiers.
    pub(crate) fn lenient(mut self) -> Self {
        self.attributes += " lenientIdentifiers=\"true\"";
        self
    }

    /// `Agreement`.
    pub(crate) fn agreement(mut self, value: &str) -> Self {
        self.agreement = Some(value.to_owned());
        self
    }

    /// `Initiator` and `Responder`.
    pub(crate) fn parties(mut self, initiator: Party, responder: Party) -> Self {
        (self.initiator, self.responder) = (Some(initiator), Some(responder));
        self
    }

    /// Only the `Responder`.
    pub(crate) fn responder(mut self, responder: Party) -> Self {
        self.responder = Some(responder);
        self
    }

    /// `Protocol/Address`.
    pub(crate) fn to(mut self, address: &str) -> Self {
        self.address = Some(address.to_owned());
        self
    }

    /// `Service` and `Action`.
    pub(crate) fn service(mut self, kind: Option<&str>, service: &str, action: &str) -> Self {
        let kind = kind.map_or_else(String::new, |kind| format!(" type=\"{kind}\""));
        self.business = format!("<Service{kind}>{service}</Service><Action>{action}</Action>");
        self
    }

    /// More of the leg, as XML.
    pub(crate) fn leg(mut self, xml: &str) -> Self {
        self.leg += xml;
        self
    }

    /// Another retry plan, as XML.
    pub(crate) fn retry(mut self, xml: &str) -> Self {
        xml.clone_into(&mut self.retry);
        self
    }

    /// The duplicate window.
    pub(crate) fn window(mut self, window: &str) -> Self {
        window.clone_into(&mut self.window);
        self
    }

    /// Neither retries nor waits for receipts.
    pub(crate) fn unaware(mut self) -> Self {
        self.aware = false;
        self
    }

    /// `Checks`, as attributes.
    pub(crate) fn checks(mut self, attributes: &str) -> Self {
        self.checks = format!("<Checks {attributes}/>");
        self
    }

    /// Delivers to the inbox.
    pub(crate) fn deliver(mut self) -> Self {
        self.deliver = true;
        self
    }

    /// The file.
    pub(crate) fn xml(&self) -> String {
        let agreement = self.agreement.as_ref().map_or_else(String::new, |a| format!("<Agreement>{a}</Agreement>"));
        let party = |party: &Option<Party>, element| party.as_ref().map_or_else(String::new, |p| p.xml(element));
        let address =
            self.address.as_ref().map_or_else(String::new, |a| format!("<Protocol><Address>{a}</Address></Protocol>"));
        let business = if self.business.is_empty() {
            String::new()
        } else {
            format!("<BusinessInfo>{}</BusinessInfo>", self.business)
        };
        let deliver = if self.deliver { "<Deliver to=\"inbox\"/>" } else { "" };
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <PMode xmlns=\"urn:postrider:pmode:1\" id=\"{}\" profile=\"{}\"{}>{agreement}{}{}<Leg>{address}{business}{}\
             <ReceptionAwareness enabled=\"{}\">{}<DuplicateDetection window=\"{}\"/></ReceptionAwareness>{deliver}</Leg>{}\
             </PMode>\n",
            self.id,
            self.profile,
            self.attributes,
            party(&self.initiator, "Initiator"),
            party(&self.responder, "Responder"),
            self.leg,
            self.aware,
            self.retry,
            self.window,
            self.checks,
        )
    }
}
