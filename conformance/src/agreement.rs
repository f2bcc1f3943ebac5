//! What the two sides of a run agree on, and the P-Mode file of each.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};

/// Type of party ids that no register gives out.
pub const UNREGISTERED: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered";

/// What protects the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Security {
    /// Neither signed nor encrypted.
    Plain,
    /// Signed.
    Signed,
    /// Encrypted, not signed.
    Encrypted,
    /// Signed, encrypted and compressed: eDelivery.
    Full,
}

impl Security {
    /// Whether messages and receipts are signed.
    #[must_use]
    pub fn signs(self) -> bool {
        matches!(self, Self::Signed | Self::Full)
    }

    /// Whether payloads are encrypted.
    #[must_use]
    pub fn encrypts(self) -> bool {
        matches!(self, Self::Encrypted | Self::Full)
    }
}

/// Header values and security of one exchange.
#[derive(Clone, Debug, Args)]
pub struct Agreement {
    /// The sending party.
    #[arg(long, value_name = "ID", default_value = "blue")]
    pub from: String,
    /// Type of the sending party's id; empty is none.
    #[arg(long, value_name = "URI", default_value = UNREGISTERED)]
    pub from_type: String,
    /// The receiving party.
    #[arg(long, value_name = "ID", default_value = "red")]
    pub to: String,
    /// Type of the receiving party's id; empty is none.
    #[arg(long, value_name = "URI", default_value = UNREGISTERED)]
    pub to_type: String,
    /// Service.
    #[arg(long, default_value = "invoicing")]
    pub service: String,
    /// Type of the service; empty is none.
    #[arg(long, value_name = "TYPE", default_value = "example")]
    pub service_type: String,
    /// Action.
    #[arg(long, default_value = "Deliver")]
    pub action: String,
    /// `AgreementRef`; empty is none.
    #[arg(long, value_name = "URI", default_value = "https://agreements.example.org/blue-red")]
    pub agreement: String,
    /// P-Mode id, sent as `AgreementRef/@pmode`.
    #[arg(long, value_name = "ID")]
    pub pmode_id: Option<String>,
    /// What protects the messages.
    #[arg(long, value_enum, default_value = "full")]
    pub security: Security,
    /// Compresses payloads; `full` does anyway.
    #[arg(long)]
    pub compress: bool,
}

/// Whose file it is, and where things are for that side.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Where to push to.
    pub address: Option<String>,
    /// File of the sender's certificate.
    pub from_certificate: Option<String>,
    /// File of the receiver's certificate.
    pub to_certificate: Option<String>,
    /// Backend that gets what is received.
    pub deliver: Option<String>,
    /// Attributes of `Retry`.
    pub retry: Option<String>,
}

impl Agreement {
    /// The P-Mode's id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.pmode_id.as_deref().unwrap_or("conformance")
    }

    /// Whether payloads are compressed.
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.compress || self.security == Security::Full
    }

    /// The P-Mode file of one side.
    #[must_use]
    pub fn pmode(&self, side: &Side) -> String {
        let profile = match self.security {
            Security::Plain | Security::Encrypted => "plain",
            Security::Signed => "as4",
            Security::Full => "edelivery-1.15",
        };
        let send_id = if self.pmode_id.is_some() { " sendPModeId=\"true\"" } else { "" };
        let mut text = format!(
            "<PMode xmlns=\"urn:postrider:pmode:1\" id=\"{}\" profile=\"{profile}\"{send_id}>\n",
            escaped(self.id())
        );
        if !self.agreement.is_empty() {
            line(&mut text, &format!("  <Agreement>{}</Agreement>", escaped(&self.agreement)));
        }
        let (signs, encrypts) = (self.security.signs(), self.security.encrypts());
        party(&mut text, "Initiator", (&self.from, &self.from_type), signs.then_some(&side.from_certificate), None);
        let to = side.to_certificate.as_ref();
        party(
            &mut text,
            "Responder",
            (&self.to, &self.to_type),
            signs.then_some(&side.to_certificate),
            to.filter(|_| encrypts),
        );
        self.leg(&mut text, side);
        text + "</PMode>\n"
    }

    fn leg(&self, text: &mut String, side: &Side) {
        line(text, "  <Leg>");
        if let Some(address) = &side.address {
            line(text, &format!("    <Protocol><Address>{}</Address></Protocol>", escaped(address)));
        }
        let service = typed("Service", &self.service, &self.service_type);
        line(text, &format!("    <BusinessInfo>{service}<Action>{}</Action></BusinessInfo>", escaped(&self.action)));
        if self.security == Security::Encrypted {
            line(
                text,
                "    <Security><Encryption enabled=\"true\" algorithm=\"aes128-gcm\" keyTransport=\"rsa-oaep/sha256/sha256\"/></Security>",
            );
        }
        if self.compresses() {
            line(text, "    <PayloadService compression=\"application/gzip\"/>");
        }
        if let Some(retry) = &side.retry {
            line(text, &format!("    <ReceptionAwareness><Retry {retry}/></ReceptionAwareness>"));
        }
        if let Some(backend) = &side.deliver {
            line(text, &format!("    <Deliver to=\"{}\"/>", escaped(backend)));
        }
        line(text, "  </Leg>");
    }
}

fn party(
    text: &mut String,
    name: &str,
    id: (&str, &str),
    signing: Option<&Option<String>>,
    encryption: Option<&String>,
) {
    line(text, &format!("  <{name}>"));
    line(text, &format!("    {}", typed("Party", id.0, id.1)));
    if let Some(Some(file)) = signing {
        line(text, &format!("    <SigningCertificate file=\"{}\"/>", escaped(file)));
    }
    if let Some(file) = encryption {
        line(text, &format!("    <EncryptionCertificate file=\"{}\"/>", escaped(file)));
    }
    line(text, &format!("  </{name}>"));
}

fn typed(name: &str, value: &str, kind: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" type=\"{}\"", escaped(kind)) };
    format!("<{name}{kind}>{}</{name}>", escaped(value))
}

fn line(text: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{line}");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
