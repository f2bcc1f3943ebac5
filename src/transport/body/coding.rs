//! `Content-Encoding`.

use http::{HeaderMap, header};

/// The content coding of a whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum Coding {
    Identity,
    Gzip,
}

/// `None` for codings that cannot be undone here.
pub(in crate::transport) fn coding(headers: &HeaderMap) -> Option<Coding> {
    let mut coding = Coding::Identity;
    for value in headers.get_all(header::CONTENT_ENCODING) {
        for name in value.as_bytes().split(|octet| *octet == b',').map(<[u8]>::trim_ascii) {
            let gzip = name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip");
            match coding {
                Coding::Identity if gzip => coding = Coding::Gzip,
                _ if name.is_empty() || name.eq_ignore_ascii_case(b"identity") => {}
                _ => return None,
            }
        }
    }
    Some(coding)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn gzip_once_is_the_only_coding() {
        let coding_of = |value| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(value));
            coding(&headers)
        };
        assert_eq!(coding_of("X-Gzip"), Some(Coding::Gzip));
        assert_eq!(coding_of("identity, gzip"), Some(Coding::Gzip));
        assert_eq!(coding_of(""), Some(Coding::Identity));
        assert_eq!(coding_of("gzip, gzip"), None);
        assert_eq!(coding_of("br"), None);
    }
}
