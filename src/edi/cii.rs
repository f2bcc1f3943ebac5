//! UN/CEFACT Cross Industry Invoice, as EN 16931 uses it.
//!
//! The seller stands behind all lines, so reading goes on through them, in constant memory.

use super::error::NoKey;
use super::key::{BusinessKey, date};
use super::kind::Kind;
use super::sbdh::Typed;
use super::ubl::once;
use super::xml::Asking;

const ID: &str = "rsm:ExchangedDocument/ram:ID";
const TYPE_CODE: &str = "rsm:ExchangedDocument/ram:TypeCode";
const ISSUED: &str = "rsm:ExchangedDocument/ram:IssueDateTime/udt:DateTimeString";
const SELLER: &str = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeAgreement/ram:SellerTradeParty";

/// What a `CrossIndustryInvoice` says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cii {
    /// `ExchangedDocument/ID`.
    pub number: String,
    /// `ExchangedDocument/TypeCode`.
    pub type_code: String,
    /// `ExchangedDocument/IssueDateTime`.
    pub date: String,
    /// `SellerTradeParty`: `GlobalID` with its scheme, else `ID`, else `SpecifiedTaxRegistration/ID` (the VAT number
    /// first), else `Name` with the scheme `name`.
    pub seller: Typed,
    /// `InstanceIdentifier` of the SBDH around it.
    pub instance: Option<String>,
}

impl Cii {
    /// What it is.
    pub fn kind(&self) -> Kind {
        Kind::of_invoice(&self.type_code)
    }

    /// As OUT-48: seller, type code, number, year.
    pub fn business_key(&self) -> BusinessKey {
        let source = ["cii", self.seller.scheme.as_deref().unwrap_or_default(), &self.seller.value];
        BusinessKey::new(&source, &[&self.type_code, &self.number, self.date.get(..4).unwrap_or_default()])
    }
}

/// Gathers the values of one invoice.
#[derive(Default)]
pub(super) struct Gathering {
    number: Option<String>,
    type_code: Option<String>,
    date: Option<String>,
    global: Option<Typed>,
    id: Option<Typed>,
    vat: Option<Typed>,
    tax: Option<Typed>,
    name: Option<Typed>,
}

/// Whether that is the document element.
pub(super) fn is_cii(namespace: &str, local: &str) -> bool {
    local == "CrossIndustryInvoice" && namespace == "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
}

impl Gathering {
    pub(super) fn document(self, instance: Option<String>) -> Result<Cii, NoKey> {
        let missing = |path| move || NoKey::element(path, "is missing or empty");
        let seller = self.global.or(self.id).or(self.vat).or(self.tax).or(self.name);
        let problem = "has neither GlobalID, ID, SpecifiedTaxRegistration nor Name";
        Ok(Cii {
            number: self.number.ok_or_else(missing(ID))?,
            type_code: self.type_code.ok_or_else(missing(TYPE_CODE))?,
            date: self.date.ok_or_else(missing(ISSUED))?,
            seller: seller.ok_or_else(|| NoKey::element(SELLER, problem))?,
            instance,
        })
    }

    fn of_seller(&mut self, path: &str, text: String, scheme: Option<String>) {
        let vat = scheme.as_deref() == Some("VA");
        let (slot, scheme) = match path.strip_prefix(SELLER) {
            Some("/ram:GlobalID") => (&mut self.global, scheme),
            Some("/ram:ID") => (&mut self.id, scheme),
            Some("/ram:Name") => (&mut self.name, Some("name".to_owned())),
            Some(_) if vat => (&mut self.vat, scheme),
            _ => (&mut self.tax, scheme),
        };
        slot.get_or_insert(Typed { scheme, value: text });
    }
}

impl Asking for Gathering {
    fn wants(&self, path: &str) -> bool {
        let of_seller = ["/ram:GlobalID", "/ram:ID", "/ram:SpecifiedTaxRegistration/ram:ID", "/ram:Name"];
        matches!(path, ID | TYPE_CODE | ISSUED)
            || path.strip_prefix(SELLER).is_some_and(|rest| of_seller.contains(&rest))
    }

    fn value(&mut self, path: &str, text: String, scheme: Option<String>) -> Result<(), NoKey> {
        if text.is_empty() {
            return Ok(());
        }
        match path {
            ID => once(&mut self.number, path, text),
            TYPE_CODE => once(&mut self.type_code, path, text),
            ISSUED => {
                let format = scheme.as_deref().unwrap_or("102");
                let day = (format == "102").then(|| date(&text)).flatten().filter(|_| text.len() == 8);
                let problem = || NoKey::element(path, format!("`{text}` (format {format}) is no date of format 102"));
                once(&mut self.date, path, day.ok_or_else(problem)?)
            }
            _ => {
                self.of_seller(path, text, scheme);
                Ok(())
            }
        }
    }

    fn end(&mut self, path: &str) -> Result<bool, NoKey> {
        Ok(path.is_empty() || path == SELLER)
    }
}
