//! UBL 2: Invoice, `CreditNote`, Order and `ApplicationResponse` (OUT-48, OUT-52).
//!
//! Reading ends with the party that gave the number, which stands near the beginning; an `ApplicationResponse` is short and
//! read to its end.

use super::error::NoKey;
use super::key::{BusinessKey, iso_date};
use super::kind::Kind;
use super::sbdh::Typed;
use super::xml::Asking;

/// Responses and references of one `ApplicationResponse`.
const RESPONSES: usize = 1000;
const CODE: &str = "cac:DocumentResponse/cac:Response/cbc:ResponseCode";
const REFERENCE: &str = "cac:DocumentResponse/cac:DocumentReference/cbc:ID";

/// The document element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UblType {
    /// `Invoice-2`.
    Invoice,
    /// `CreditNote-2`.
    CreditNote,
    /// `Order-2`.
    Order,
    /// `ApplicationResponse-2`: MLS, MLR, invoice response.
    ApplicationResponse,
}

impl UblType {
    /// Its local name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invoice => "Invoice",
            Self::CreditNote => "CreditNote",
            Self::Order => "Order",
            Self::ApplicationResponse => "ApplicationResponse",
        }
    }

    pub(super) fn of(namespace: &str, local: &str) -> Option<Self> {
        let all = [Self::Invoice, Self::CreditNote, Self::Order, Self::ApplicationResponse];
        let name = namespace.strip_prefix("urn:oasis:names:specification:ubl:schema:xsd:")?.strip_suffix("-2")?;
        all.into_iter().find(|ubl| ubl.name() == local && name == local)
    }

    /// The party that gives documents of this type their number, with `cac:Party` where it has one.
    fn issuer(self) -> &'static str {
        match self {
            Self::Invoice | Self::CreditNote => "cac:AccountingSupplierParty/cac:Party",
            Self::Order => "cac:BuyerCustomerParty/cac:Party",
            Self::ApplicationResponse => "cac:SenderParty",
        }
    }
}

/// `cac:DocumentResponse`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// `cac:Response/cbc:ResponseCode`.
    pub code: String,
    /// `cac:DocumentReference/cbc:ID`, in order: `InstanceIdentifier` of what an MLS answers, else a document number.
    pub references: Vec<String>,
}

/// What a UBL document says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ubl {
    /// Its document element.
    pub ubl: UblType,
    /// `cbc:CustomizationID`.
    pub customization: Option<String>,
    /// `cbc:ID`.
    pub number: String,
    /// `cbc:UUID`.
    pub uuid: Option<String>,
    /// `cbc:IssueDate`, without time zone.
    pub date: String,
    /// `cbc:InvoiceTypeCode`, `cbc:CreditNoteTypeCode` or `cbc:OrderTypeCode`.
    pub type_code: Option<String>,
    /// Who gave the number: supplier of an invoice, buyer of an order, sender of a response. `cbc:EndpointID`, else
    /// `cac:PartyIdentification/cbc:ID`, else `cac:PartyLegalEntity/cbc:CompanyID`.
    pub issuer: Typed,
    /// `cac:DocumentResponse` of an `ApplicationResponse`.
    pub responses: Vec<Response>,
    /// `InstanceIdentifier` of the SBDH around it.
    pub instance: Option<String>,
}

impl Ubl {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self.ubl {
            UblType::Invoice => Kind::of_invoice(self.type_code.as_deref().unwrap_or_default()),
            UblType::CreditNote => Kind::CreditNote,
            UblType::Order => Kind::Order,
            UblType::ApplicationResponse => Kind::Acknowledgement,
        }
    }

    /// OUT-48: who gave the number, document type and code, number, year. `cbc:UUID` is not in it: the same number with
    /// another UUID must meet the first one.
    pub fn business_key(&self) -> BusinessKey {
        let code = self.type_code.as_deref().unwrap_or_default();
        let year = self.date.get(..4).unwrap_or_default();
        self.keyed(&[self.ubl.name(), code, &self.number, year])
    }

    /// The second key of a document that has a `cbc:UUID`.
    pub fn uuid_key(&self) -> Option<BusinessKey> {
        self.uuid.as_deref().map(|id| self.keyed(&["uuid", &id.to_ascii_lowercase()]))
    }

    fn keyed(&self, key: &[&str]) -> BusinessKey {
        BusinessKey::new(&["ubl", self.issuer.scheme.as_deref().unwrap_or_default(), &self.issuer.value], key)
    }
}

/// Gathers the values of one document.
pub(super) struct Gathering {
    ubl: UblType,
    customization: Option<String>,
    number: Option<String>,
    uuid: Option<String>,
    date: Option<String>,
    type_code: Option<String>,
    endpoint: Option<Typed>,
    identification: Option<Typed>,
    company: Option<Typed>,
    responses: Vec<Response>,
    current: Response,
}

impl Gathering {
    pub(super) fn new(ubl: UblType) -> Self {
        Self {
            ubl,
            customization: None,
            number: None,
            uuid: None,
            date: None,
            type_code: None,
            endpoint: None,
            identification: None,
            company: None,
            responses: Vec::new(),
            current: Response::default(),
        }
    }

    /// The path below the issuing party.
    fn of_issuer<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.ubl.issuer())?.strip_prefix('/')
    }

    /// Whether all is there that a key is made of.
    fn has_all(&self) -> bool {
        let issuer = self.endpoint.is_some() || self.identification.is_some() || self.company.is_some();
        issuer && self.number.is_some() && self.date.is_some()
    }

    pub(super) fn document(self, instance: Option<String>) -> Result<Ubl, NoKey> {
        let missing = |path: String| NoKey::element(path, "is missing or empty");
        let issuer = self.endpoint.or(self.identification).or(self.company).ok_or_else(|| {
            let problem = "has neither cbc:EndpointID, cac:PartyIdentification nor cac:PartyLegalEntity/cbc:CompanyID";
            NoKey::element(self.ubl.issuer(), problem)
        })?;
        if self.ubl == UblType::ApplicationResponse && self.responses.is_empty() {
            return Err(missing("cac:DocumentResponse".to_owned()));
        }
        Ok(Ubl {
            ubl: self.ubl,
            customization: self.customization,
            number: self.number.ok_or_else(|| missing("cbc:ID".to_owned()))?,
            uuid: self.uuid,
            date: self.date.ok_or_else(|| missing("cbc:IssueDate".to_owned()))?,
            type_code: self.type_code,
            issuer,
            responses: self.responses,
            instance,
        })
    }

    fn response(&mut self, path: &str, text: String) -> Result<(), NoKey> {
        if path == CODE {
            if !self.current.code.is_empty() {
                return Err(NoKey::element(path, "stands twice"));
            }
            self.current.code = text;
        } else if self.responses.len() + self.current.references.len() < RESPONSES {
            self.current.references.push(text);
        } else {
            return Err(NoKey::element(path, format!("there are more than {RESPONSES} responses and references")));
        }
        Ok(())
    }
}

impl Asking for Gathering {
    fn wants(&self, path: &str) -> bool {
        match path {
            "cbc:CustomizationID" | "cbc:ID" | "cbc:UUID" | "cbc:IssueDate" => true,
            "cbc:InvoiceTypeCode" => self.ubl == UblType::Invoice,
            "cbc:CreditNoteTypeCode" => self.ubl == UblType::CreditNote,
            "cbc:OrderTypeCode" => self.ubl == UblType::Order,
            CODE | REFERENCE => self.ubl == UblType::ApplicationResponse,
            _ => matches!(
                self.of_issuer(path),
                Some("cbc:EndpointID" | "cac:PartyIdentification/cbc:ID" | "cac:PartyLegalEntity/cbc:CompanyID")
            ),
        }
    }

    fn value(&mut self, path: &str, text: String, scheme: Option<String>) -> Result<(), NoKey> {
        if text.is_empty() {
            return Ok(());
        }
        let slot = match path {
            "cbc:CustomizationID" => &mut self.customization,
            "cbc:ID" => &mut self.number,
            "cbc:UUID" => &mut self.uuid,
            "cbc:InvoiceTypeCode" | "cbc:CreditNoteTypeCode" | "cbc:OrderTypeCode" => &mut self.type_code,
            "cbc:IssueDate" => {
                let date = iso_date(&text).ok_or_else(|| NoKey::element(path, format!("`{text}` is no date")))?;
                return once(&mut self.date, path, date);
            }
            _ => {
                let party = match self.of_issuer(path) {
                    Some("cbc:EndpointID") => &mut self.endpoint,
                    Some("cac:PartyIdentification/cbc:ID") => &mut self.identification,
                    Some(_) => &mut self.company,
                    None => return self.response(path, text),
                };
                // A party may have several identifications; the first is the one.
                party.get_or_insert(Typed { scheme, value: text });
                return Ok(());
            }
        };
        once(slot, path, text)
    }

    fn end(&mut self, path: &str) -> Result<bool, NoKey> {
        if path == "cac:DocumentResponse" && self.ubl == UblType::ApplicationResponse {
            let response = std::mem::take(&mut self.current);
            let missing = match (response.code.is_empty(), response.references.is_empty()) {
                (true, _) => Some(CODE),
                (_, true) => Some(REFERENCE),
                _ => None,
            };
            if let Some(path) = missing {
                return Err(NoKey::element(path, "is missing or empty"));
            }
            self.responses.push(response);
        }
        let last = self.ubl != UblType::ApplicationResponse && path == self.ubl.issuer() && self.has_all();
        Ok(last || path.is_empty())
    }
}

pub(super) fn once(slot: &mut Option<String>, path: &str, text: String) -> Result<(), NoKey> {
    match slot.replace(text) {
        None => Ok(()),
        Some(_) => Err(NoKey::element(path, "stands twice")),
    }
}
