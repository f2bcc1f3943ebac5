//! Where a host is.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use tokio::net::lookup_host;
use url::{Host, Url};

use super::Failure;

/// Host and port of a URL, with the host as names in TLS have it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Authority {
    pub(super) host: Host<String>,
    pub(super) port: u16,
    pub(super) secure: bool,
}

impl Authority {
    pub(super) fn of(url: &Url) -> Result<Self, Failure> {
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            other => return Err(Failure::Url(format!("the scheme is {other}, not http or https"))),
        };
        let host = url.host().map(|host| host.to_owned()).ok_or_else(|| Failure::Url("it has no host".to_owned()))?;
        let port = url.port_or_known_default().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self { host, port, secure })
    }

    /// All addresses, in the order to try them.
    pub(super) async fn resolve(&self, public_only: bool) -> Result<Vec<SocketAddr>, Failure> {
        let mut addresses: Vec<SocketAddr> = match &self.host {
            Host::Ipv4(ip) => vec![(*ip, self.port).into()],
            Host::Ipv6(ip) => vec![(*ip, self.port).into()],
            Host::Domain(name) => {
                let found = lookup_host((name.as_str(), self.port)).await;
                found.map_err(|source| Failure::Resolve { host: name.clone(), source })?.collect()
            }
        };
        let Some(first) = addresses.first().copied() else {
            let source = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            return Err(Failure::Resolve { host: self.host.to_string(), source });
        };
        if public_only {
            addresses.retain(|address| is_public(address.ip()));
            if addresses.is_empty() {
                return Err(Failure::NotPublic { host: self.host.to_string(), ip: first.ip() });
            }
        }
        Ok(addresses)
    }
}

/// Whether an address belongs to the public Internet: no private, local, shared, reserved or documentation range.
pub fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0);
    let benchmark = a == 198 && (b == 18 || b == 19);
    !(a == 0
        || a >= 224
        || shared
        || protocols
        || benchmark
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation())
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    let embedded = |high: u16, low: u16| is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match segments {
        // NAT64 and 6to4 lead to an IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0xdb8 | 0..0x200, ..] => false,
        // Global unicast is 2000::/3.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for local in
            ["192.0.2.0", "10.0.0.1", "127.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255"]
        {
            assert!(!is_public(local.parse().unwrap()), "{local}");
        }
        for local in
            ["::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1"]
        {
            assert!(!is_public(local.parse().unwrap()), "{local}");
        }
        for public in ["8.8.8.8", "2a00:1450:4001:800::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "172.32.0.1"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn a_url_gives_its_authority() {
        let of = |url: &str| Authority::of(&url.parse().unwrap());
        let authority = of("https://[2001:DB8::1]/as4").unwrap();
        assert_eq!((authority.host, authority.port), (Host::Ipv6("2001:db8::1".parse().unwrap()), 443));
        assert_eq!(of("http://GATEWAY.example:4080").unwrap().host, Host::Domain("gateway.example".to_owned()));
        assert!(matches!(of("ftp://gateway.example/"), Err(Failure::Url(_))));
    }
}
