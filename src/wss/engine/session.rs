//! What one verification needs while libxmlsec1 is at work, reached through the `userData` of its contexts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{OpenPart, Opinion, PartReader, PartUnreadable};

/// Which media types are XML: the two readings of WS-032.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum XmlTypes {
    /// By the exact type without parameters, as verifiers do.
    Exact,
    /// By the start of the value, as WSS4J signs.
    Prefix,
}

/// What the content transform does with a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Octets as they are.
    Raw,
    /// Line ends become CR LF.
    Lines,
    /// Exclusive C14N.
    Canonical,
}

impl XmlTypes {
    /// WS-032 to WS-034.
    pub(super) fn treatment(self, media_type: &str) -> Treatment {
        let value = media_type.trim().to_ascii_lowercase();
        let xml = match self {
            Self::Exact => {
                let base = value.split(';').next().unwrap_or_default().trim();
                let family = base.starts_with("application/") || base.starts_with("image/");
                matches!(base, "text/xml" | "application/xml") || (family && base.ends_with("+xml"))
            }
            Self::Prefix => {
                let family = value.starts_with("application/") || value.starts_with("image/");
                value.starts_with("text/xml")
                    || value.starts_with("application/xml")
                    || (family && value.contains("+xml"))
            }
        };
        if xml {
            Treatment::Canonical
        } else if value.starts_with("text/") {
            Treatment::Lines
        } else {
            Treatment::Raw
        }
    }
}

/// One verification or signing.
pub(super) struct Session<'a> {
    parts: &'a mut dyn PartReader,
    /// Largest part that is canonicalised.
    pub(super) max_canonical: u64,
    /// The reading of WS-032 in force.
    pub(super) types: XmlTypes,
    /// URIs that libxmlsec1 digested, in order.
    pub(super) digested: Vec<String>,
    /// The other reading of WS-032 would treat a part differently.
    pub(super) other_reading: bool,
    /// Why the content transform gave up.
    pub(super) failure: Option<Opinion>,
}

impl<'a> Session<'a> {
    pub(super) fn new(parts: &'a mut dyn PartReader, max_canonical: u64, types: XmlTypes) -> Self {
        Self { parts, max_canonical, types, digested: Vec::new(), other_reading: false, failure: None }
    }

    /// Opens a part, and tells what to do with it.
    pub(super) fn open(&mut self, cid: &str) -> Result<(OpenPart, Treatment), Opinion> {
        let part = guarded(|| self.parts.open(cid))?
            .ok_or_else(|| Opinion::disagrees(format!("there is no part for `{cid}`")))?;
        let treatment = self.types.treatment(&part.media_type);
        let other = if self.types == XmlTypes::Exact { XmlTypes::Prefix } else { XmlTypes::Exact };
        self.other_reading |= other.treatment(&part.media_type) != treatment;
        Ok((part, treatment))
    }

    /// The next octets of the open part.
    pub(super) fn chunk(&mut self) -> Result<&[u8], Opinion> {
        guarded(|| self.parts.chunk())
    }
}

/// Runs a reader's code; a panic must not pass through C.
fn guarded<T>(run: impl FnOnce() -> Result<T, PartUnreadable>) -> Result<T, Opinion> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(PartUnreadable("its reader panicked".to_owned())))
        .map_err(|e| Opinion::could_not(format!("a part could not be read: {e}")))
}
