//! The outer `Content-Type` of a package (RFC 2387, EB-003, EB-004).

use super::content_id::ContentId;
use super::content_type::ContentType;
use super::error::{MimeError, excerpt};
use super::head::PartHead;

/// What the outer `Content-Type` says about a `multipart/related` package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// What separates the parts, without its leading `--`.
    pub boundary: String,
    /// Content-ID of the root part, without brackets; without it the first part is the root.
    pub start: Option<String>,
    /// Media type of the root part in lower case.
    pub root_type: Option<String>,
    /// A `charset` that some peers put here; it says nothing about the root part and is kept for the record.
    pub charset: Option<String>,
}

impl Related {
    /// Reads the outer `Content-Type`. A missing `type` is tolerated, the root part's own header tells the same.
    ///
    /// # Errors
    /// When it is no `multipart/related`, has no usable boundary, or its `type` is no SOAP media type.
    pub fn read(outer: &ContentType) -> Result<Self, MimeError> {
        if outer.essence != "multipart/related" {
            return Err(MimeError::NotRelated(excerpt(&outer.essence)));
        }
        let boundary = outer.param("boundary").ok_or(MimeError::MissingBoundary)?.trim_end().to_owned();
        check_boundary(&boundary)?;
        let root_type = outer.param("type").map(|t| t.split(';').next().unwrap_or(t).trim().to_ascii_lowercase());
        match root_type.as_deref() {
            None | Some("application/soap+xml" | "text/xml") => {}
            Some(other) => return Err(MimeError::RootType(excerpt(other))),
        }
        let start = outer.param("start").and_then(ContentId::from_header).map(|id| id.as_str().to_owned());
        Ok(Self { boundary, start, root_type, charset: outer.charset().map(str::to_owned) })
    }

    /// Whether a part is the root: the one that `start` names, or the first (`index` 0).
    pub fn is_root(&self, head: &PartHead, index: usize) -> bool {
        match &self.start {
            Some(start) => head.content_id.as_ref() == Some(start),
            None => index == 0,
        }
    }

    /// Checks that the root part is what `type` announces (EB-003). A root part without `Content-Type` is taken as
    /// announced.
    ///
    /// # Errors
    /// When the media types differ, or there is only an unreadable one.
    pub fn check_root(&self, head: &PartHead) -> Result<(), MimeError> {
        let found = match (&head.content_type, &head.content_type_raw) {
            (Some(found), _) => &found.essence,
            (None, Some(unreadable)) => unreadable,
            (None, None) => return Ok(()),
        };
        match &self.root_type {
            Some(announced) if announced != found => {
                Err(MimeError::RootTypeDiffers { announced: announced.clone(), found: excerpt(found) })
            }
            _ => Ok(()),
        }
    }
}

/// What we can scan for: RFC 2046 allows 70 characters of a small set; peers' longer or odder ones do no harm.
pub(super) fn check_boundary(boundary: &str) -> Result<(), MimeError> {
    let usable = (1..=256).contains(&boundary.len()) && !boundary.chars().any(char::is_control);
    if usable { Ok(()) } else { Err(MimeError::Boundary(excerpt(boundary))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn related(value: &str) -> Result<Related, MimeError> {
        Related::read(&ContentType::parse(value).unwrap())
    }

    #[test]
    fn the_outer_header_names_boundary_root_and_type() {
        let read = related(concat!(
            "multipart/related; type=\"Application/SOAP+xml\"; boundary=\"uuid:1\"; ",
            "start=\"<root.message@cxf.apache.org>\"; start-info=\"application/soap+xml\"; charset=utf-8"
        ))
        .unwrap();
        assert_eq!(read.boundary, "uuid:1");
        assert_eq!(read.start.as_deref(), Some("root.message@cxf.apache.org"));
        assert_eq!(read.root_type.as_deref(), Some("application/soap+xml"));
        assert_eq!(read.charset.as_deref(), Some("utf-8"));
    }

    #[test]
    fn what_cannot_be_unpacked_is_refused() {
        assert_eq!(related("multipart/related; type=\"text/xml\""), Err(MimeError::MissingBoundary));
        assert!(matches!(related("multipart/related; boundary=\"\""), Err(MimeError::Boundary(_))));
        assert!(matches!(
            related(&format!("multipart/related; boundary={}", "b".repeat(257))),
            Err(MimeError::Boundary(_))
        ));
        assert_eq!(related("multipart/mixed; boundary=b"), Err(MimeError::NotRelated("multipart/mixed".into())));
        assert_eq!(
            related("multipart/related; boundary=b; type=\"application/xop+xml\""),
            Err(MimeError::RootType("application/xop+xml".into()))
        );
    }

    #[test]
    fn the_root_part_is_what_was_announced() {
        let head = |text: &'static str| PartHead::parse(text.as_bytes().into(), 1).unwrap();
        let package = related("multipart/related; boundary=b; type=\"application/soap+xml\"").unwrap();
        let soap = head("Content-Type: application/soap+xml; charset=utf-8\r\n\r\n");
        assert_eq!(package.check_root(&soap), Ok(()));
        assert_eq!(package.check_root(&head("\r\n")), Ok(()));
        assert!(package.check_root(&head("Content-Type: text/xml\r\n\r\n")).is_err());
        assert!(package.check_root(&head("Content-Type: nonsense\r\n\r\n")).is_err());
        assert!(package.is_root(&soap, 0) && !package.is_root(&soap, 1));
        let package = related("multipart/related; boundary=b; start=\"<r@x>\"").unwrap();
        assert!(!package.is_root(&soap, 0));
        assert!(package.is_root(&head("Content-ID: < r@x >\r\n\r\n"), 3));
    }
}
