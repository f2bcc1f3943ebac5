//! P-Modes as text, for the one side or the other.

/// The unregistered party type of our own scenarios.
pub(crate) const UNREGISTERED: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered";

/// A party of a P-Mode.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    id: String,
    kind: Option<String>,
    certificate: Option<String>,
    others: Vec<String>,
}

impl Party {
    /// A party with a type.
    pub(crate) fn typed(kind: &str, id: &str) -> Self {
        Self { id: id.to_owned(), kind: Some(kind.to_owned()), certificate: None, others: Vec::new() }
    }

    /// A party whose id is a URI.
    pub(crate) fn uri(id: &str) -> Self {
        Self { id: id.to_owned(), kind: None, certificate: None, others: Vec::new() }
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
        let others: String = self.others.iter().map(|id| format!("<Party>{id}</Party>")).collect();
        format!("<{element}><Party{kind}>{}</Party>{others}{certificates}</{element}>", self.id)
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
    awareness: bool,
    checks: String,
    deliver: bool,
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
            awareness: true,
            checks: String::new(),
            deliver: false,
        }
    }

    /// Orders from blue to red, delivered.
    pub(crate) fn orders(id: &str, profile: &str, to: &str) -> Self {
        Self::new(id, profile)
            .parties(
                Party::typed(UNREGISTERED, "blue").certificate("blue"),
                Party::typed(UNREGISTERED, "red").certificate("red"),
            )
            .service(None, "urn:postrider:test:orders", "Submit")
            .to(to)
            .deliver()
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

    /// Neither repeats nor looks for duplicates.
    pub(crate) fn without_awareness(mut self) -> Self {
        self.awareness = false;
        self
    }

    /// `Checks`, as XML.
    pub(crate) fn checks(mut self, xml: &str) -> Self {
        xml.clone_into(&mut self.checks);
        self
    }

    /// Another id of the initiator, a URI.
    pub(crate) fn initiator_too(mut self, id: &str) -> Self {
        if let Some(party) = &mut self.initiator {
            party.others.push(id.to_owned());
        }
        self
    }

    /// The duplicate window.
    pub(crate) fn window(mut self, window: &str) -> Self {
        window.clone_into(&mut self.window);
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
        let awareness = if self.awareness {
            format!(
                "<ReceptionAwareness>{}<DuplicateDetection window=\"{}\"/></ReceptionAwareness>",
                self.retry, self.window
            )
        } else {
            "<ReceptionAwareness enabled=\"false\"/>".to_owned()
        };
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <PMode xmlns=\"urn:postrider:pmode:1\" id=\"{}\" profile=\"{}\"{}>{agreement}{}{}<Leg>{address}{business}{}\
             {awareness}{deliver}</Leg>{}</PMode>\n",
            self.id,
            self.profile,
            self.attributes,
            party(&self.initiator, "Initiator"),
            party(&self.responder, "Responder"),
            self.leg,
            self.checks,
        )
    }
}
