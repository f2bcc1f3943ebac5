//! `POST /api/v1/messages`: takes a submission.
//!
//! Either a form, `submission` (JSON) first and then each `payload`; or one payload as the body, its P-Mode and properties
//! in the query: `curl --data-binary @invoice.xml -H 'Content-Type: application/xml' '…/messages?pmode=red-invoice'`.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde_json::json;

use super::authority::Producer;
use super::problem::Problem;
use super::query::{Query, unknown};
use super::state::{Api, Shared};
use super::submission::{self, Payload, Submission};
use super::upload::{self, Upload};
use crate::ebms::{Property, Typed};
use crate::gateway::PreparedPart;
use crate::gateway::submit::{self, NewMessage, Taken};
use crate::pmode::Wanted;

/// Largest `submission` field.
const SUBMISSION: usize = 1 << 20;
const PARAMETERS: [&str; 7] =
    ["pmode", "property", "service", "action", "conversation_id", "ref_to_message_id", "file_name"];

pub(super) async fn submit(
    State(api): State<Shared>,
    Extension(producer): Extension<Producer>,
    request: Request,
) -> Result<Response, Problem> {
    let key = key(request.headers())?;
    let _under_way = key.as_deref().map(|key| api.begin(&producer.0, key)).transpose()?;
    let (wanted, parts) = match essence(request.headers())?.as_str() {
        "multipart/form-data" => Box::pin(form(&api, request)).await?,
        _ => Box::pin(raw(&api, request)).await?,
    };
    let new = NewMessage { producer: producer.0, key, wanted, parts };
    let taken = Box::pin(submit::submit(&api.gateway, new)).await?;
    Ok(answer(&taken))
}

fn answer(taken: &Taken) -> Response {
    let status = if taken.repeat { StatusCode::OK } else { StatusCode::CREATED };
    let body = json!({
        "schema": "postrider.submission/1",
        "id": taken.id,
        "key": taken.key,
        "state": taken.state,
        "repeat": taken.repeat,
    });
    let id = percent_encoding::utf8_percent_encode(&taken.id, percent_encoding::NON_ALPHANUMERIC);
    let mut response = (status, Json(body)).into_response();
    if let Ok(place) = HeaderValue::from_str(&format!("/api/v1/messages/{id}")) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

/// `Idempotency-Key`.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut all = headers.get_all("idempotency-key").iter();
    let Some(value) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(Problem::bad("Idempotency-Key comes twice"));
    }
    let text = value.to_str().map_err(|_| Problem::bad("Idempotency-Key: 1 to 200 printable ASCII characters"))?.trim();
    if text.is_empty() || text.len() > 200 || text.contains(char::is_control) {
        let detail = format!("Idempotency-Key has {} characters; 1 to 200 printable ones are accepted", text.len());
        return Err(Problem::bad(detail));
    }
    Ok(Some(text.to_owned()))
}

/// The media type of the body, or why it is none that can be taken.
fn essence(headers: &HeaderMap) -> Result<String, Problem> {
    let refused = |detail: String| {
        Problem::new(415, "request.media_type", detail)
            .next("send multipart/form-data, or one payload with its own Content-Type and ?pmode=ID")
    };
    if let Some(coding) = headers.get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        return Err(refused(format!("the body has the Content-Encoding {coding:?}; send it as it is")));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "" => Err(refused("the request has no Content-Type".to_owned())),
        // What curl says when nothing else is said: hardly ever what the payload is.
        "application/x-www-form-urlencoded" => Err(refused(format!("`{essence}` is not a payload's media type"))),
        "multipart/form-data" => Ok(essence),
        other if other.starts_with("multipart/") => Err(refused(format!("`{essence}` is no form"))),
        _ => Ok(essence),
    }
}

/// A form: the submission first, for it names the P-Mode that says how payloads are packed.
async fn form(api: &Api, request: Request) -> Result<(Wanted, Vec<PreparedPart>), Problem> {
    Query::read(request.uri(), &[])?;
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|e| Problem::new(e.status().as_u16(), "request.malformed", e.body_text()))?;
    let mut begun: Option<(Wanted, std::vec::IntoIter<Payload>, Upload<'_>)> = None;
    while let Some(mut field) = form.next_field().await.map_err(|e| upload::broken(&e))? {
        let name = field.name().unwrap_or_default().to_owned();
        match (name.as_str(), &mut begun) {
            ("submission" | "message", None) => {
                let mut text = Vec::new();
                while let Some(octets) = field.chunk().await.map_err(|e| upload::broken(&e))? {
                    text.extend_from_slice(&octets);
                    if text.len() > SUBMISSION {
                        let detail = format!("the field `{name}` is larger than {SUBMISSION} octets");
                        return Err(Problem::new(413, "submit.too_large", detail));
                    }
                }
                let (wanted, payloads) = submission::json::<Submission>("submission", &text)?.wanted()?;
                let pmode = submit::pmode_for(&api.gateway, &wanted)?;
                begun = Some((wanted, payloads.into_iter(), Upload::new(api, pmode)));
            }
            ("submission" | "message", Some(_)) => {
                return Err(Problem::bad("the form has more than one field `submission`"));
            }
            ("payload", Some((_, payloads, upload))) => {
                upload.field(field, payloads.next().unwrap_or_default()).await?;
            }
            ("payload", None) => return Err(Problem::bad("the field `submission` comes first, then each `payload`")),
            _ => return Err(unknown("field", &name, &["submission", "payload"])),
        }
    }
    let Some((wanted, payloads, upload)) = begun else {
        return Err(Problem::bad("the form has no field `submission`"));
    };
    if payloads.len() > 0 {
        let (said, came) = (payloads.len() + upload.parts.len(), upload.parts.len());
        return Err(Problem::bad(format!("the submission describes {said} payloads, and {came} came")));
    }
    Ok((wanted, upload.parts))
}

/// One payload as the body.
async fn raw(api: &Api, request: Request) -> Result<(Wanted, Vec<PreparedPart>), Problem> {
    let (wanted, said) = described(&Query::read(request.uri(), &PARAMETERS)?)?;
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
    let mut upload = Upload::new(api, submit::pmode_for(&api.gateway, &wanted)?);
    upload.announced(length.unwrap_or(0))?;
    let mut part = upload.begin(upload::meta(kind.as_deref(), None, said)?)?;
    let mut body = Body::into_data_stream(request.into_body());
    while let Some(octets) = body.next().await {
        let octets = octets.map_err(|e| Problem::bad(format!("the body broke off: {e}")))?;
        upload.push(&mut part, &octets)?;
    }
    upload.end(part)?;
    Ok((wanted, upload.parts))
}

/// The query of a raw upload.
fn described(query: &Query) -> Result<(Wanted, Payload), Problem> {
    let text = |name| Ok::<_, Problem>(query.one(name)?.map(str::to_owned));
    let Some(pmode) = text("pmode")? else {
        return Err(Problem::bad("the P-Mode is not named").next("add ?pmode=ID; GET /api/v1/pmodes lists them"));
    };
    let mut properties = Vec::new();
    for property in query.all("property") {
        let Some((name, value)) = property.split_once('=') else {
            return Err(Problem::bad(format!("property `{property}`: expected `name=value`, with = as %3D")));
        };
        properties.push(Property { name: name.to_owned(), kind: None, value: value.to_owned() });
    }
    let wanted = Wanted {
        pmode: Some(pmode),
        service: text("service")?.map(|value| Typed { value, kind: None }),
        action: text("action")?,
        conversation_id: text("conversation_id")?,
        ref_to: query.one("ref_to_message_id")?.map(submission::message_id).transpose()?,
        properties,
        ..Wanted::default()
    };
    Ok((wanted, Payload { file_name: text("file_name")?, ..Payload::default() }))
}
