//! HTTP/1.1 messages on a socket, read whole: little code, so that a run measures the server and not its client.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Heads and bodies beyond this are a fault of the other side.
const HEAD_LIMIT: usize = 64 * 1024;
const BODY_LIMIT: usize = 256 << 20;

/// A request or an answer.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// Status of an answer; 0 in a request.
    pub status: u16,
    /// Request target; empty in an answer.
    pub target: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// Everything as it came, head included.
    pub raw: Vec<u8>,
    /// The body, its coding taken off.
    pub body: Vec<u8>,
}

impl Message {
    /// The first header of that name, in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether the connection ends after it.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.header("connection").is_some_and(|v| v.eq_ignore_ascii_case("close"))
            || (self.status > 0 && self.header("content-length").is_none() && !self.chunked())
    }

    fn chunked(&self) -> bool {
        self.header("transfer-encoding").is_some_and(|v| v.to_ascii_lowercase().contains("chunked"))
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request.
    Request,
    /// An answer.
    Answer,
}

/// Reads the next message; `None` when the other side has closed before its first octet. `buffer` holds what was read
/// beyond it.
pub async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
    kind: Kind,
) -> io::Result<Option<Message>> {
    loop {
        let Some(end) = head_end(stream, buffer).await? else { return Ok(None) };
        let mut message = parse(&buffer[..end], kind)?;
        if (100..200).contains(&message.status) {
            buffer.drain(..end);
            continue;
        }
        let length = message.header("content-length").map(str::parse::<usize>);
        let whole = match length {
            Some(length) => {
                let length = length.map_err(io::Error::other)?;
                need(stream, buffer, end.saturating_add(length)).await?;
                message.body = buffer[end..end + length].to_vec();
                end + length
            }
            None if message.chunked() => chunks(stream, buffer, end, &mut message.body).await?,
            None if kind == Kind::Request || message.status == 204 => end,
            None => {
                while more(stream, buffer).await? {}
                message.body = buffer[end..].to_vec();
                buffer.len()
            }
        };
        message.raw = buffer.drain(..whole).collect();
        return Ok(Some(message));
    }
}

async fn more(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> io::Result<bool> {
    if buffer.len() > BODY_LIMIT {
        return Err(io::Error::other("the message is longer than 256 MiB"));
    }
    buffer.reserve(16 * 1024);
    Ok(stream.read_buf(buffer).await? > 0)
}

async fn need(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>, length: usize) -> io::Result<()> {
    while buffer.len() < length {
        if !more(stream, buffer).await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

async fn head_end(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            return Ok(Some(at + 4));
        }
        if buffer.len() > HEAD_LIMIT {
            return Err(io::Error::other("the head is longer than 64 KiB"));
        }
        if !more(stream, buffer).await? {
            return if buffer.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
    }
}

fn parse(head: &[u8], kind: Kind) -> io::Result<Message> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut message = Message::default();
    let parsed = match kind {
        Kind::Answer => {
            let mut answer = httparse::Response::new(&mut headers);
            answer.parse(head).map_err(io::Error::other)?;
            message.status = answer.code.unwrap_or_default();
            answer.headers
        }
        Kind::Request => {
            let mut request = httparse::Request::new(&mut headers);
            request.parse(head).map_err(io::Error::other)?;
            request.path.unwrap_or_default().clone_into(&mut message.target);
            request.headers
        }
    };
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).trim().to_owned();
    message.headers = parsed.iter().map(|h| (h.name.to_ascii_lowercase(), text(h.value))).collect();
    Ok(message)
}

/// Reads a chunked body; gives where it ends.
async fn chunks(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
    begin: usize,
    body: &mut Vec<u8>,
) -> io::Result<usize> {
    let mut at = begin;
    loop {
        match httparse::parse_chunk_size(&buffer[at..]) {
            Err(_) => return Err(io::Error::other("a chunk has no size")),
            Ok(httparse::Status::Partial) => need(stream, buffer, buffer.len() + 1).await?,
            Ok(httparse::Status::Complete((head, 0))) => {
                // Trailers are not used by anyone here: only the empty line is awaited.
                let end = at + head + 2;
                need(stream, buffer, end).await?;
                return Ok(end);
            }
            Ok(httparse::Status::Complete((head, size))) => {
                let size = usize::try_from(size).map_err(io::Error::other)?;
                need(stream, buffer, at + head + size + 2).await?;
                body.extend_from_slice(&buffer[at + head..at + head + size]);
                at += head + size + 2;
            }
        }
    }
}

/// Where `needle` begins.
#[must_use]
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

/// The text between two marks, the first time they stand there.
#[must_use]
pub fn between<'h>(haystack: &'h [u8], before: &[u8], after: &[u8]) -> Option<&'h [u8]> {
    let begin = find(haystack, before)? + before.len();
    let rest = &haystack[begin..];
    Some(&rest[..find(rest, after)?])
}

/// The octets of a request.
#[must_use]
pub fn request(method: &str, host: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut octets = (head + "\r\n").into_bytes();
    octets.extend_from_slice(body);
    octets
}

/// One request on a connection of its own.
pub async fn call(to: SocketAddr, request: &[u8]) -> io::Result<Message> {
    let mut stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    stream.write_all(request).await?;
    answer(&mut stream).await
}

/// The answer that comes next.
pub async fn answer(stream: &mut TcpStream) -> io::Result<Message> {
    read(stream, &mut Vec::new(), Kind::Answer).await?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &str, kind: Kind) -> Vec<Message> {
        let (mut stream, mut buffer, mut found) = (text.as_bytes(), Vec::new(), Vec::new());
        while let Some(message) = read(&mut stream, &mut buffer, kind).await.unwrap() {
            found.push(message);
        }
        found
    }

    #[tokio::test]
    async fn messages_are_told_apart() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 200 OK\r\n\
                    Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n2;x=y\r\n!!\r\n0\r\n\r\nHTTP/1.1 204 No\r\n\r\nHTTP/1.1 500 X\r\n\r\nrest";
        let found = all(text, Kind::Answer).await;
        let said: Vec<_> = found.iter().map(|m| (m.status, String::from_utf8_lossy(&m.body).into_owned())).collect();
        let expected = [(200, "one"), (200, "two!!"), (204, ""), (500, "rest")].map(|(s, b)| (s, b.to_owned()));
        assert_eq!(said, expected);
        assert_eq!(found.iter().map(Message::closes).collect::<Vec<_>>(), [false, false, true, true]);
        assert_eq!(found.iter().map(|m| m.raw.len()).sum::<usize>() + 25, text.len());
    }

    #[tokio::test]
    async fn a_request_without_length_has_no_body() {
        let found =
            all("GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 1\r\n\r\nb", Kind::Request)
                .await;
        let said: Vec<_> = found.iter().map(|m| (m.target.as_str(), m.body.len())).collect();
        assert_eq!(said, [("/a", 0), ("/b", 1)]);
        let cut =
            read(&mut "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nb".as_bytes(), &mut Vec::new(), Kind::Request).await;
        assert_eq!(cut.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
