//! Payloads on their way in: streamed into the payload store as they will be sent, never whole in memory.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::multipart::{Field, MultipartError};
use axum::http::header;
use tokio::task::block_in_place;

use super::problem::Problem;
use super::refusal;
use super::state::Api;
use super::submission::{Payload, clean};
use crate::gateway::{OutPart, PartMeta, PreparedPart, submit};
use crate::pmode::PMode;
use crate::wire::mime::ContentType;

/// The payloads of one submission.
pub(super) struct Upload<'a> {
    api: &'a Api,
    pmode: Arc<PMode>,
    most: u64,
    size: u64,
    pub(super) parts: Vec<PreparedPart>,
}

impl<'a> Upload<'a> {
    /// Makes ready for payloads by that P-Mode.
    pub(super) fn new(api: &'a Api, pmode: Arc<PMode>) -> Self {
        let ours = api.gateway.limits.part.size;
        let most = pmode.leg.business.max_size.unwrap_or(ours).min(ours);
        Self { api, pmode, most, size: 0, parts: Vec::new() }
    }

    /// Begins the next payload.
    pub(super) fn begin(&self, meta: PartMeta) -> Result<OutPart, Problem> {
        let most = self.api.gateway.limits.parts;
        if self.parts.len() >= most {
            return Err(Problem::new(413, "submit.too_large", format!("more than {most} payloads in one message")));
        }
        submit::part(&self.api.gateway, &self.pmode, self.parts.len(), meta).map_err(|e| refusal::part(&e))
    }

    /// Takes octets of a payload.
    pub(super) fn push(&mut self, part: &mut OutPart, octets: &Bytes) -> Result<(), Problem> {
        self.announced(octets.len() as u64)?;
        self.size += octets.len() as u64;
        block_in_place(|| part.push(octets)).map_err(|e| refusal::part(&e))
    }

    /// Refuses what would be too large, as soon as that is known.
    pub(super) fn announced(&self, octets: u64) -> Result<(), Problem> {
        if self.size.saturating_add(octets) <= self.most {
            return Ok(());
        }
        let detail =
            format!("the payloads are larger than {} octets, the most by P-Mode `{}`", self.most, self.pmode.id);
        Err(Problem::new(413, "submit.too_large", detail))
    }

    /// Ends a payload.
    pub(super) fn end(&mut self, part: OutPart) -> Result<(), Problem> {
        self.parts.push(block_in_place(|| part.finish()).map_err(|e| refusal::part(&e))?);
        Ok(())
    }

    /// Takes a `payload` field of a form.
    pub(super) async fn field(&mut self, mut field: Field<'_>, said: Payload) -> Result<(), Problem> {
        let kind =
            field.headers().get(header::CONTENT_TYPE).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
        let name = field.file_name().map(str::to_owned);
        let meta = meta(kind.as_deref(), name, said)?;
        let mut part = self.begin(meta)?;
        while let Some(octets) = field.chunk().await.map_err(|e| broken(&e))? {
            self.push(&mut part, &octets)?;
        }
        self.end(part)
    }
}

/// What is known of a payload: the submission's own words before those of the part's head.
pub(super) fn meta(kind: Option<&str>, name: Option<String>, mut said: Payload) -> Result<PartMeta, Problem> {
    let properties = said.properties()?;
    let media_type = said.media_type.or_else(|| kind.map(str::to_owned));
    let media_type = clean("media_type", media_type.unwrap_or_else(|| "application/octet-stream".to_owned()))?;
    let read = ContentType::parse(&media_type)
        .map_err(|_| Problem::bad(format!("the media type `{media_type}` is none: expected `type/subtype`")))?;
    if !media_type.is_ascii() {
        return Err(Problem::bad(format!("the media type `{media_type}` has characters beyond ASCII")));
    }
    let character_set = said.character_set.or_else(|| read.charset().map(str::to_owned));
    let content_id = said.content_id.map(content_id).transpose()?;
    Ok(PartMeta {
        character_set: character_set.map(|set| clean("character_set", set)).transpose()?,
        file_name: said.file_name.or(name).as_deref().and_then(file_name),
        properties,
        content_id,
        media_type,
    })
}

/// A Content-ID goes into a MIME head and a `cid:` URL: no blanks, no brackets, no line ends (EB-009).
fn content_id(id: String) -> Result<String, Problem> {
    let fits = id.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'<' | b'>' | b'"')) && id.contains('@');
    if !fits || id.len() > 200 {
        let detail = format!("field `content_id`: `{}` is none: expected `name@host` in ASCII", id.escape_debug());
        return Err(Problem::bad(detail));
    }
    Ok(id)
}

/// The last segment of a path, as it may be suggested to a partner.
fn file_name(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let shown: String = last.chars().map(|c| if c.is_control() { '_' } else { c }).take(200).collect();
    (!shown.is_empty() && shown != "." && shown != "..").then_some(shown)
}

/// A form that cannot be read on.
pub(super) fn broken(error: &MultipartError) -> Problem {
    Problem::new(
        error.status().as_u16(),
        "request.malformed",
        format!("the form cannot be read: {}", error.body_text()),
    )
}
