//! Where a list goes on: the place of the last row, opaque to callers.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::problem::Problem;
use crate::store::{At, Message};

/// The cursor behind a row.
pub(super) fn behind(row: &Message) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {}", row.created_at, row.id))
}

/// The place that a cursor names.
pub(super) fn read(cursor: &str) -> Result<(At, String), Problem> {
    place(cursor).ok_or_else(|| {
        Problem::bad("the cursor is none of ours")
            .next("begin without `cursor`, then take `next` of each answer as it is")
    })
}

fn place(cursor: &str) -> Option<(At, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (at, id) = text.split_once(' ')?;
    let at = OffsetDateTime::parse(at, &Rfc3339).ok()?;
    (!id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric())).then(|| (At::from(at), id.to_owned()))
}
