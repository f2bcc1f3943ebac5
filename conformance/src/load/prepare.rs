//! Messages packaged ahead, by the code that the gateway itself sends with.

use std::thread;

use anyhow::Context;
use bytes::BufMut as _;
use postrider::ebms::{Cid, Href, MessageId, PartInfo, Party, Property};
use postrider::msh::package::{Ids, OutPart, package, seal};
use postrider::msh::{FramedPart, frame};
use postrider::pmode::{NewIds, SoapVersion, Wanted, complete_submission};
use postrider::wire::gzip::{Deflater, GzipError};
use postrider::wss::{PartDigester, PartEncryptor, Reference, Signer};
use time::OffsetDateTime;

use super::options::LoadArgs;
use super::target::Target;

/// A message as it goes out.
pub(super) struct Prepared {
    /// The whole HTTP request.
    pub(super) wire: Vec<u8>,
    /// Its id.
    pub(super) message_id: MessageId,
    /// To whom.
    pub(super) to: Party,
    /// What was signed.
    pub(super) references: Vec<Reference>,
}

/// Packages `count` messages on all cores.
pub(super) fn all(target: &Target, args: &LoadArgs, count: usize) -> anyhow::Result<Vec<Prepared>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let run = uuid::Uuid::new_v4().simple().to_string();
    let text = document(args.size.0);
    let (run, text) = (&run, &text);
    let each = |core: usize| (core..count).step_by(cores).map(move |n| one(target, args, run, n, text)).collect();
    let made: Vec<anyhow::Result<Vec<Prepared>>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|core| scope.spawn(move || each(core))).collect();
        workers.into_iter().map(|w| w.join().unwrap_or_else(|_| Err(anyhow::anyhow!("packaging panicked")))).collect()
    });
    Ok(made.into_iter().collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// A document of that many octets, of which gzip makes a fourth to a half: XML elements with digits in them.
fn document(size: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(size);
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    while text.len() < size {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        text.extend_from_slice(format!("<line><amount currency=\"EUR\">{seed}</amount></line>\n").as_bytes());
    }
    text.truncate(size);
    text
}

/// Message number `n`; its payload is its own, so that no store can share it.
fn one(target: &Target, args: &LoadArgs, run: &str, n: usize, text: &[u8]) -> anyhow::Result<Prepared> {
    let pmode = target.pmode()?;
    let leg = &pmode.leg;
    let now = OffsetDateTime::now_utc();
    let token = format!("{}{n}", &run[..12]);
    let mut payload = text.to_vec();
    let mark = format!("<!-- {token} -->");
    let end = mark.len().min(payload.len());
    payload[..end].copy_from_slice(&mark.as_bytes()[..end]);
    let (media_type, payload) =
        if leg.compress { ("application/gzip", packed(&payload)?) } else { ("application/octet-stream", payload) };
    let cid = Cid::of(&format!("part-{token}@load.example"));
    let digest = match &leg.security.sign {
        Some(signing) => {
            let mut digester = PartDigester::signing(Some(media_type), signing.hash);
            digester.update(&payload)?;
            digester.finish()?
        }
        None => Vec::new(),
    };
    let wanted = Wanted {
        pmode: Some(args.agreement.id().to_owned()),
        parts: vec![PartInfo {
            href: Href::Attachment(cid.clone()),
            schema: None,
            description: None,
            properties: vec![property("MimeType", "application/octet-stream")],
        }],
        ..Wanted::default()
    };
    let message_id = MessageId::parse(&format!("{token}@load.example"))?;
    let fresh = NewIds { message_id: message_id.clone(), conversation_id: token.clone() };
    let mut message = complete_submission(&target.pmodes, wanted, fresh, now)
        .map_err(|missing| {
            anyhow::anyhow!("{}", missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?
        .message;
    if leg.compress
        && let Some(part) = message.parts.first_mut()
    {
        part.properties.push(property("CompressionType", "application/gzip"));
    }
    let part = OutPart { uri: cid.to_string(), media_type: media_type.to_owned(), digest };
    let parts = [part];
    let ids = Ids { message_id: message_id.clone(), token: token.clone() };
    let key = target.key.as_ref().map(|key| key as &dyn Signer);
    let made = package(&message, leg, &parts, key, &ids)?;
    let recipient = pmode.responder.encryption_at(now).map(|pinned| &*pinned.certificate);
    let sealed = seal(&made, leg, &parts, recipient, &token)?;
    let (content_type, octets) = match &sealed.key {
        Some(key) => {
            let mut encryptor = PartEncryptor::new(key)?;
            let mut octets = Vec::with_capacity(payload.len() + 28);
            encryptor.update(&payload, &mut octets)?;
            encryptor.finish(&mut octets)?;
            ("application/octet-stream", octets)
        }
        None => (media_type, payload),
    };
    let framed_part = FramedPart {
        content_id: cid.content_id().to_owned(),
        content_type: content_type.to_owned(),
        file_name: None,
        length: octets.len() as u64,
    };
    let (boundary, root) = (format!("load-{token}"), format!("root-{token}@load.example"));
    let framed = frame(&sealed.soap, leg.protocol.soap, leg.protocol.framing, &[framed_part], &boundary, &root)?;
    let head = head(target, leg.protocol.soap, &framed.content_type, framed.length);
    let mut wire = Vec::with_capacity(head.len() + usize::try_from(framed.length)?);
    for piece in [head.as_bytes(), &framed.first, framed.heads.first().context("no part")?, &octets, &framed.close] {
        wire.put(piece);
    }
    Ok(Prepared { wire, message_id, to: message.to, references: made.references })
}

fn head(target: &Target, soap: SoapVersion, content_type: &str, length: u64) -> String {
    let action = if soap == SoapVersion::Soap11 { "SOAPAction: \"\"\r\n" } else { "" };
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {content_type}\r\n{action}Content-Length: {length}\r\n\r\n",
        target.path, target.address
    )
}

fn property(name: &str, value: &str) -> Property {
    Property { name: name.to_owned(), kind: None, value: value.to_owned() }
}

fn packed(payload: &[u8]) -> Result<Vec<u8>, GzipError> {
    let mut packed = Vec::with_capacity(payload.len() / 2);
    let mut deflater = Deflater::new(6);
    let mut sink = |octets: &[u8]| {
        packed.extend_from_slice(octets);
        Ok::<_, GzipError>(())
    };
    deflater.push(payload, &mut sink)?;
    deflater.finish(&mut sink)?;
    Ok(packed)
}
