//! HTTP/1.1 by hand: requests are octets, answers are read as they are framed.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// One message, request or answer, as it was on the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// Start line and header fields, with the empty line.
    pub head: Vec<u8>,
    /// The body, without chunk framing.
    pub body: Vec<u8>,
    /// Everything as it came.
    pub octets: Vec<u8>,
}

impl Message {
    /// The start line.
    pub(crate) fn start(&self) -> String {
        String::from_utf8_lossy(&self.head).lines().next().unwrap_or_default().to_owned()
    }

    /// The status of an answer.
    pub(crate) fn status(&self) -> u16 {
        self.start().split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0)
    }

    /// A header field, unfolded.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let head = String::from_utf8_lossy(&self.head).replace("\r\n ", " ").replace("\r\n\t", " ");
        head.lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .find(|(n, _)| n.trim().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Reads one message from a stream; `None` when it ends before one begins.
pub(crate) fn read(stream: &mut impl Read, answer: bool) -> io::Result<Option<Message>> {
    loop {
        let Some(message) = read_one(stream, answer)? else { return Ok(None) };
        // Interim answers come before the real one.
        if !answer || !(100..200).contains(&message.status()) {
            return Ok(Some(message));
        }
    }
}

fn read_one(stream: &mut impl Read, answer: bool) -> io::Result<Option<Message>> {
    let mut octets = Vec::new();
    let mut byte = [0];
    while !octets.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return if octets.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        octets.push(byte[0]);
    }
    let mut message = Message { head: octets.clone(), octets, ..Message::default() };
    let status = if answer { message.status() } else { 0 };
    if (100..200).contains(&status) || status == 204 || status == 304 {
        return Ok(Some(message));
    }
    if message.header("Transfer-Encoding").is_some() {
        chunks(stream, &mut message)?;
    } else if let Some(length) = message.header("Content-Length") {
        let length = length.parse().map_err(|_| io::ErrorKind::InvalidData)?;
        take(stream, length, &mut message.body)?;
        message.octets.extend_from_slice(&message.body);
    } else if answer {
        stream.read_to_end(&mut message.body)?;
        message.octets.extend_from_slice(&message.body);
    }
    Ok(Some(message))
}

fn take(stream: &mut impl Read, length: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let read = stream.take(length).read_to_end(into)?;
    if read as u64 == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn chunks(stream: &mut impl Read, message: &mut Message) -> io::Result<()> {
    loop {
        let line = line(stream, message)?;
        let size = u64::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16)
            .map_err(|_| io::ErrorKind::InvalidData)?;
        if size == 0 {
            while !self::line(stream, message)?.is_empty() {}
            return Ok(());
        }
        let begin = message.body.len();
        take(stream, size, &mut message.body)?;
        message.octets.extend_from_slice(&message.body[begin..]);
        self::line(stream, message)?;
    }
}

fn line(stream: &mut impl Read, message: &mut Message) -> io::Result<String> {
    let begin = message.octets.len();
    let mut byte = [0];
    while !message.octets[begin..].ends_with(b"\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        message.octets.push(byte[0]);
    }
    let line = &message.octets[begin..message.octets.len() - 2];
    Ok(String::from_utf8_lossy(line).into_owned())
}

/// A connection with time limits.
pub(crate) fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(Duration::from_mins(1)))?;
    stream.set_write_timeout(Some(Duration::from_mins(1)))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Writes octets as they are and reads one answer. An early answer is read even when the server stops reading.
pub(crate) fn exchange(to: SocketAddr, octets: &[u8]) -> io::Result<Message> {
    let mut stream = connect(to)?;
    let written = stream.write_all(octets);
    match read(&mut stream, true) {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(written.err().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into())),
        Err(error) => Err(written.err().unwrap_or(error)),
    }
}

/// Writes octets as they are and reads until the server closes, or says nothing for a second: all its answers.
pub(crate) fn converse(to: SocketAddr, octets: &[u8]) -> io::Result<(Vec<Message>, bool)> {
    let mut stream = connect(to)?;
    stream.write_all(octets)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut answers = Vec::new();
    loop {
        match read(&mut stream, true) {
            Ok(Some(answer)) => answers.push(answer),
            Ok(None) => return Ok((answers, true)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok((answers, true)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Ok((answers, false));
            }
            Err(error) => return Err(error),
        }
    }
}

/// A POST with a Content-Length.
pub(crate) fn post(path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let mut octets = format!(
        "POST {path} HTTP/1.1\r\nHost: gateway.example\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    octets.extend_from_slice(body);
    octets
}

/// An answer with a Content-Length.
pub(crate) fn answer(status: u16, content_type: &str, body: &[u8]) -> Vec<u8> {
    let mut octets =
        format!("HTTP/1.1 {status} Scripted\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n", body.len())
            .into_bytes();
    octets.extend_from_slice(body);
    octets
}
