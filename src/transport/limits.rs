//! The numbers: what a stranger may make us hold, and how long we wait.

use std::time::Duration;

/// Bounds of one listener and of each request it takes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Octets of one request body, as sent and again as decoded (413).
    pub max_message: u64,
    /// Octets of one request head (431).
    pub max_head: usize,
    /// Header fields of one request (431).
    pub max_headers: usize,
    /// From the accepted connection to the finished TLS handshake (AT-30).
    pub handshake_time: Duration,
    /// From the first octet of a head, or from the connection on, to its last octet (408).
    pub header_time: Duration,
    /// How long a kept-alive connection may rest between two requests.
    pub idle_time: Duration,
    /// Longest time spent waiting for one request body (408).
    pub total_time: Duration,
    /// Octets a second that a body must keep up on average, counting only the time we wait for it (AT-22).
    pub min_rate: u64,
    /// How long a body may stay below `min_rate`.
    pub rate_grace: Duration,
    /// How long the peer may leave an answer unread.
    pub write_time: Duration,
    /// Open connections. When all are taken, one that carries no request gives way.
    pub max_connections: usize,
    /// Inflated octets per octet of a `Content-Encoding: gzip` body, above the first mebibyte (EB-020, AT-20).
    pub max_ratio: u64,
    /// Octets read and thrown away after an early answer, so that the peer gets to read it (FR-101).
    pub drain_octets: u64,
    /// Time given to that.
    pub drain_time: Duration,
    /// How long running exchanges may go on after shutdown was asked.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message: 4 << 30,
            max_head: 64 << 10,
            max_headers: 100,
            handshake_time: Duration::from_secs(10),
            header_time: Duration::from_secs(20),
            idle_time: Duration::from_secs(75),
            total_time: Duration::from_hours(6),
            min_rate: 1024,
            rate_grace: Duration::from_secs(15),
            write_time: Duration::from_mins(1),
            max_connections: 4096,
            max_ratio: 200,
            drain_octets: 256 << 20,
            drain_time: Duration::from_secs(15),
            shutdown_grace: Duration::from_secs(30),
        }
    }
}

/// How long each step of a post may take (FR-105).
#[derive(Clone, Copy, Debug)]
pub struct TimeOuts {
    /// Name resolution and TCP, over all addresses of the host.
    pub connect: Duration,
    /// The TLS handshake.
    pub handshake: Duration,
    /// From the whole request written to the first octet of the answer.
    pub first_byte: Duration,
    /// Everything, from the call to the last octet of the answer.
    pub total: Duration,
}

impl Default for TimeOuts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            handshake: Duration::from_secs(15),
            first_byte: Duration::from_mins(2),
            total: Duration::from_hours(1),
        }
    }
}
