//! What a request must be before anyone looks inside.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::{Answer, RequestHead, framing::Length};
use crate::transport::body::coding;

/// Media types that can hold a SOAP envelope (ebMS3 core §5.2.1, EB-019).
const MEDIA_TYPES: [&str; 3] = ["multipart/related", "application/soap+xml", "text/xml"];

/// The refusal, if the request is none of ours.
pub(super) fn refuse(head: &RequestHead, length: Length, paths: &[String], max_message: u64) -> Option<Answer> {
    if !paths.contains(&head.path) {
        return Some(Answer::text(StatusCode::NOT_FOUND, "There is no AS4 endpoint at this path."));
    }
    if head.method != Method::POST {
        let mut answer = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "This is an AS4 endpoint. It takes POST.");
        answer.headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        return Some(answer);
    }
    if !is_soap(&head.headers) {
        let line = "An AS4 message is multipart/related, application/soap+xml or text/xml.";
        return Some(Answer::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, line));
    }
    if coding(&head.headers).is_none() {
        let mut answer = Answer::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The only Content-Encoding here is gzip.");
        answer.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        return Some(answer);
    }
    if matches!(length, Length::Known(octets) if octets > max_message) {
        let line = format!("A message here may have {max_message} octets.");
        return Some(Answer::text(StatusCode::PAYLOAD_TOO_LARGE, &line));
    }
    None
}

fn is_soap(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let essence = value.as_bytes().split(|octet| *octet == b';').next().unwrap_or_default().trim_ascii();
    MEDIA_TYPES.iter().any(|media_type| essence.eq_ignore_ascii_case(media_type.as_bytes()))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Version;

    use super::*;

    fn head(method: Method, path: &str, fields: &[(&'static str, &'static str)]) -> RequestHead {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let (target, path) = (path.to_owned(), path.to_owned());
        RequestHead { method, target, path, version: Version::HTTP_11, headers, octets: Bytes::new() }
    }

    fn status(head: &RequestHead) -> Option<u16> {
        refuse(head, Length::Known(10), &["/as4".to_owned()], 10).map(|answer| answer.status.as_u16())
    }

    #[test]
    fn path_before_method_before_media_type() {
        assert_eq!(status(&head(Method::GET, "/other", &[])), Some(404));
        assert_eq!(status(&head(Method::GET, "/as4", &[])), Some(405));
        assert_eq!(status(&head(Method::POST, "/as4", &[])), Some(415));
        assert_eq!(status(&head(Method::POST, "/as4", &[("content-type", "text/plain")])), Some(415));
        let twice = [("content-type", "text/xml"), ("content-type", "text/plain")];
        assert_eq!(status(&head(Method::POST, "/as4", &twice)), Some(415));
        for soap in ["text/xml", "Application/SOAP+XML; charset=UTF-8", "multipart/related;boundary=x"] {
            assert_eq!(status(&head(Method::POST, "/as4", &[("content-type", soap)])), None, "{soap}");
        }
    }

    #[test]
    fn an_announced_excess_is_refused_early() {
        let head = head(Method::POST, "/as4", &[("content-type", "text/xml")]);
        let answer = refuse(&head, Length::Known(11), &["/as4".to_owned()], 10).unwrap();
        assert_eq!(answer.status, 413);
    }
}
