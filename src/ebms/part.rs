//! Properties, and the payload parts that a user message names.

use super::uri::Cid;

/// `eb:Property`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Property {
    /// `@name`, never empty.
    pub name: String,
    /// `@type`.
    pub kind: Option<String>,
    /// Never empty.
    pub value: String,
}

/// Where a payload is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Href {
    /// No `@href`: the SOAP Body.
    Body,
    /// `cid:`: a MIME part.
    Attachment(Cid),
    /// `#id`: an element of the envelope.
    Element(String),
    /// Anything else; never fetched (EB-016).
    External(String),
}

impl Href {
    /// Reads `@href`, white space collapsed (FR-016).
    #[must_use]
    pub fn read(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::Body };
        if let Some(cid) = Cid::parse(text) {
            return Self::Attachment(cid);
        }
        match text.strip_prefix('#') {
            Some(id) => Self::Element(id.to_owned()),
            None => Self::External(text.to_owned()),
        }
    }

    /// The attachment it names, if it names one.
    #[must_use]
    pub const fn attachment(&self) -> Option<&Cid> {
        match self {
            Self::Attachment(cid) => Some(cid),
            Self::Body | Self::Element(_) | Self::External(_) => None,
        }
    }
}

/// `eb:Schema` of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// `@location`.
    pub location: String,
    /// `@version`.
    pub version: Option<String>,
    /// `@namespace`.
    pub namespace: Option<String>,
}

/// `eb:Description`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// `@xml:lang`; empty where a partner's error left it out.
    pub lang: String,
    /// Never empty.
    pub text: String,
}

/// `eb:PartInfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartInfo {
    /// `@href`.
    pub href: Href,
    /// `eb:Schema`.
    pub schema: Option<Schema>,
    /// `eb:Description`.
    pub description: Option<Description>,
    /// `eb:PartProperties`.
    pub properties: Vec<Property>,
}

impl PartInfo {
    /// Value of the part property with that name.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|p| p.name == name).map(|p| p.value.as_str())
    }

    /// `MimeType` (EB-171).
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        self.property("MimeType")
    }

    /// The media type of the form that is signed, by the properties: compressed or as it is.
    #[must_use]
    pub fn form_type(&self) -> Option<&str> {
        if self.compression().is_some() { Some("application/gzip") } else { self.mime_type() }
    }

    /// `CharacterSet` (EB-171), an XML encoding name.
    #[must_use]
    pub fn character_set(&self) -> Option<&str> {
        self.property("CharacterSet")
    }

    /// `CompressionType`: whether it is an AS4-compressed part (EB-171). The value is judged with the payload
    /// (EB-172), for another answer than an invalid header.
    #[must_use]
    pub fn compression(&self) -> Option<&str> {
        self.property("CompressionType")
    }
}
