//! A proxy in front: what it says of the peer counts, and what anybody else says does not (FR-104).

use std::net::{IpAddr, SocketAddr};

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName};
use percent_encoding::percent_decode;
use rustls_pki_types::{CertificateDer, pem::PemObject};

use super::connection::Ends;

/// Proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and certificate field are believed.
#[derive(Clone, Debug, Default)]
pub struct ProxyTrust {
    /// Addresses of the proxies, each with the bits that must agree (32 or 128 for one address).
    pub networks: Vec<(IpAddr, u8)>,
    /// The field with the client certificate: URL-encoded PEM, or base64 DER in one line.
    pub certificate_header: Option<HeaderName>,
}

impl ProxyTrust {
    fn covers(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|(network, bits)| match (network.to_canonical(), address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                same(u128::from(network.to_bits()) << 96, u128::from(address.to_bits()) << 96, *bits)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => same(network.to_bits(), address.to_bits(), *bits),
            _ => false,
        })
    }
}

fn same(one: u128, other: u128, bits: u8) -> bool {
    (one ^ other).leading_zeros() >= u32::from(bits.min(128))
}

/// The peer as it counts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forwarded {
    pub(super) peer: SocketAddr,
    pub(super) secure: bool,
    pub(super) client_certificate: Option<Vec<u8>>,
}

impl Forwarded {
    pub(super) fn see(trust: Option<&ProxyTrust>, ends: &Ends, headers: &HeaderMap) -> Self {
        let Ends { peer, secure, client_certificate, .. } = ends.clone();
        let Some(trust) = trust.filter(|trust| trust.covers(peer.ip())) else {
            return Self { peer, secure, client_certificate };
        };
        // The proxy's own certificate says nothing of the partner.
        let client_certificate = trust
            .certificate_header
            .as_ref()
            .map_or(client_certificate, |name| headers.get(name).and_then(|value| certificate(value.as_bytes())));
        let secure = last(headers, "x-forwarded-proto").map_or(secure, |proto| proto.eq_ignore_ascii_case("https"));
        Self { peer: forwarded_for(trust, headers).unwrap_or(peer), secure, client_certificate }
    }
}

/// The last address that no trusted proxy has: whatever stands before it may be invented.
fn forwarded_for(trust: &ProxyTrust, headers: &HeaderMap) -> Option<SocketAddr> {
    let fields: Vec<&str> = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
    let mut addresses = fields.iter().flat_map(|field| field.split(',')).map(str::trim).rev().map_while(address);
    let mut nearest = None;
    let stranger = addresses.by_ref().inspect(|found| nearest = Some(*found)).find(|found| !trust.covers(found.ip()));
    stranger.or(nearest)
}

fn address(text: &str) -> Option<SocketAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    text.parse().ok().or_else(|| bare.parse().ok().map(|ip| SocketAddr::new(ip, 0)))
}

fn last<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let field = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    field.rsplit(',').next().map(str::trim)
}

fn certificate(value: &[u8]) -> Option<Vec<u8>> {
    let decoded: Vec<u8> = percent_decode(value).collect();
    if let Ok(der) = CertificateDer::from_pem_slice(&decoded) {
        return Some(der.to_vec());
    }
    STANDARD.decode(value.trim_ascii()).ok().filter(|der| der.first() == Some(&0x30))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn ends(peer: &str) -> Ends {
        let local = "127.0.0.1:4080".parse().unwrap();
        Ends { peer: peer.parse().unwrap(), local, secure: false, client_certificate: None }
    }

    fn trust() -> ProxyTrust {
        ProxyTrust {
            networks: vec![("10.0.0.0".parse().unwrap(), 8), ("fd00::1".parse().unwrap(), 128)],
            certificate_header: Some(HeaderName::from_static("x-client-cert")),
        }
    }

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    const DER: [u8; 5] = [0x30, 0x03, 0x02, 0x01, 0xFB];

    #[test]
    fn a_stranger_may_claim_what_it_likes() {
        let forged = headers(&[("x-forwarded-for", "192.0.2.1"), ("x-client-cert", "MAMCAfs=")]);
        let seen = Forwarded::see(Some(&trust()), &ends("11.0.0.1:5"), &forged);
        assert_eq!((seen.peer, seen.client_certificate), ("11.0.0.1:5".parse().unwrap(), None));
        let seen = Forwarded::see(None, &ends("10.0.0.1:5"), &forged);
        assert_eq!(seen.client_certificate, None);
    }

    #[test]
    fn the_proxy_is_believed_for_the_last_hop_only() {
        let fields = headers(&[
            ("x-forwarded-for", "198.51.100.9, 192.0.2.1:4711, 10.0.0.7"),
            ("x-forwarded-proto", "https"),
            ("x-client-cert", "MAMCAfs="),
        ]);
        let seen = Forwarded::see(Some(&trust()), &ends("[::ffff:10.1.2.3]:5"), &fields);
        assert_eq!(seen.peer, "192.0.2.1:4711".parse().unwrap());
        assert!(seen.secure);
        assert_eq!(seen.client_certificate.as_deref(), Some(&DER[..]));
    }

    #[test]
    fn an_unreadable_address_ends_the_list() {
        let fields = headers(&[("x-forwarded-for", "192.0.2.1, unknown, fd00::1")]);
        let seen = Forwarded::see(Some(&trust()), &ends("[fd00::1]:5"), &fields);
        assert_eq!(seen.peer.ip(), "fd00::1".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn both_spellings_of_a_certificate_are_read() {
        let pem = "-----BEGIN%20CERTIFICATE-----%0AMAMCAfs%3D%0A-----END%20CERTIFICATE-----%0A";
        assert_eq!(certificate(pem.as_bytes()).as_deref(), Some(&DER[..]));
        assert_eq!(certificate(b"MAMCAfs=").as_deref(), Some(&DER[..]));
        assert_eq!(certificate(b"(null)"), None);
    }
}
