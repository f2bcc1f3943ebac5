//! Free ports below those that the system gives to outgoing connections, so that none is taken between choice and use.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A free address on the loopback interface.
pub(crate) fn free() -> SocketAddr {
    for _ in 0..5000 {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        // Two test processes begin at different places.
        let port = 12_000 + (std::process::id().wrapping_mul(97).wrapping_add(step)) % 20_000;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, u16::try_from(port).expect("below 32 000")));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port of 12000 to 31999 is free");
}
