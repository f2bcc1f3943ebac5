//! One message as a consumer gets it.

use std::io::Read;

use serde::Serialize;

/// Opens a payload for reading, inflated: as often as needed.
pub type OpenPart = Box<dyn Fn() -> std::io::Result<Box<dyn Read + Send>> + Send + Sync>;

/// A received message on its way to a consumer.
pub struct Delivery {
    /// The key that every repetition carries: hexadecimal, made from source and MessageId.
    pub key: String,
    /// `eb:MessageId`.
    pub message_id: String,
    /// Header values, as JSON `postrider.delivery/1`.
    pub message: serde_json::Value,
    /// Payloads in PartInfo order.
    pub parts: Vec<DeliveryPart>,
}

/// One payload.
#[derive(Serialize)]
pub struct DeliveryPart {
    /// A generated name, safe as a file name: `part-1.xml`. Names from the message are metadata only (AT-23).
    pub name: String,
    /// `MimeType` property, or the part's media type.
    pub media_type: String,
    /// Octets after inflating.
    pub size: u64,
    /// Opens it.
    #[serde(skip)]
    pub open: OpenPart,
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Delivery({} with {} parts)", self.message_id, self.parts.len())
    }
}
