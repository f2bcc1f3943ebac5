//! A webhook as consumer: `POST multipart/form-data`, the header values first as JSON, then each payload, streamed.
//!
//! `Idempotency-Key` and `X-Message-Id` are the same on every repetition (OUT-51): the consumer that keeps them has
//! each message once. Any 2xx settles the delivery; everything else is tried again.

use std::io::{self, Read};

use super::delivery::Delivery;

/// The request that delivers a message; the gateway posts it.
pub struct WebhookRequest {
    /// Header names and values, `Content-Type` included.
    pub headers: Vec<(String, String)>,
    /// Octets of the body.
    pub length: u64,
    delivery: Delivery,
    boundary: String,
}

/// Makes the request. The boundary follows from the key, so that repetitions are the same octets.
#[must_use]
pub fn request(delivery: Delivery, secret: Option<&str>) -> WebhookRequest {
    let boundary = format!("postrider-{}", delivery.key);
    let mut headers = vec![
        ("Content-Type".to_owned(), format!("multipart/form-data; boundary={boundary}")),
        ("Idempotency-Key".to_owned(), delivery.key.clone()),
        ("X-Message-Id".to_owned(), delivery.message_id.clone()),
    ];
    if let Some(secret) = secret {
        headers.push(("Authorization".to_owned(), format!("Bearer {secret}")));
    }
    let mut request = WebhookRequest { headers, length: 0, delivery, boundary };
    let framing: usize = request.frames().iter().map(Vec::len).sum();
    request.length = framing as u64 + request.delivery.parts.iter().map(|p| p.size).sum::<u64>();
    request
}

impl WebhookRequest {
    /// The body, from its beginning: as often as needed.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut body: Box<dyn Read + Send> = Box::new(io::empty());
        for (index, frame) in self.frames().into_iter().enumerate() {
            body = Box::new(body.chain(io::Cursor::new(frame)));
            if let Some(part) = self.delivery.parts.get(index) {
                body = Box::new(body.chain((part.open)()?));
            }
        }
        Ok(body)
    }

    /// What stands around the payloads: one frame before each, and the end.
    fn frames(&self) -> Vec<Vec<u8>> {
        let dashes = format!("--{}", self.boundary);
        let disposition = "Content-Disposition: form-data; name";
        let message = &self.delivery.message;
        let mut before =
            format!("{dashes}\r\n{disposition}=\"message\"\r\nContent-Type: application/json\r\n\r\n{message}\r\n");
        let mut frames = Vec::with_capacity(self.delivery.parts.len() + 1);
        for part in &self.delivery.parts {
            let (name, media_type) = (&part.name, one_line(&part.media_type));
            before += &format!(
                "{dashes}\r\n{disposition}=\"payload\"; filename=\"{name}\"\r\nContent-Type: {media_type}\r\n\r\n"
            );
            frames.push(std::mem::take(&mut before).into_bytes());
            before.push_str("\r\n");
        }
        frames.push(format!("{before}{dashes}--\r\n").into_bytes());
        frames
    }
}

/// A media type from a message, without what could end a header line.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{DeliveryPart, OpenPart};

    fn part(name: &str, content: &'static [u8]) -> DeliveryPart {
        let open: OpenPart = Box::new(move || Ok(Box::new(content)));
        DeliveryPart { name: name.into(), media_type: "text/plain".into(), size: content.len() as u64, open }
    }

    #[test]
    fn the_body_is_the_same_each_time_and_as_long_as_said() {
        let parts = vec![part("part-1.txt", b"one"), part("part-2.txt", b"")];
        let delivery =
            Delivery { key: "k".into(), message_id: "m@x".into(), message: serde_json::json!({"id": "m@x"}), parts };
        let request = request(delivery, Some("s"));
        let read = || {
            let mut all = Vec::new();
            request.open().unwrap().read_to_end(&mut all).unwrap();
            all
        };
        assert_eq!(read(), read());
        assert_eq!(read().len() as u64, request.length);
        let text = String::from_utf8(read()).unwrap();
        assert!(text.starts_with("--postrider-k\r\nContent-Disposition: form-data; name=\"message\"\r\n"));
        assert!(text.contains("\r\n\r\none\r\n--postrider-k\r\n") && text.ends_with("\r\n\r\n\r\n--postrider-k--\r\n"));
        assert!(request.headers.contains(&("Idempotency-Key".into(), "k".into())));
    }
}
