//! The rows: sender log, what is frozen, attempts.

use diesel::prelude::*;

use crate::store::instant::At;
use crate::store::schema::{attempt, package, sender_log};

/// A row of the sender log (OUT-08).
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable, QueryableByName)]
#[diesel(table_name = sender_log, treat_none_as_default_value = false)]
pub struct Sending {
    /// Who submitted: API token, folder, SQL role.
    pub producer: String,
    /// The producer's key, one derived from the document, or a UUID drawn at submission.
    pub key: String,
    /// `eb:MessageId`: the same on every attempt.
    pub message_id: String,
    /// [`crate::store::Message::id`].
    pub message: String,
    /// The payload hash (OUT-12).
    pub payload_hash: String,
    /// [`crate::store::Outgoing`].
    pub status: String,
    /// Attempts begun.
    pub attempt_count: i32,
    /// When it was submitted.
    pub created_at: At,
    /// When it is due.
    pub next_attempt_at: Option<At>,
    /// Who has it.
    pub lease_owner: Option<String>,
    /// Until when.
    pub lease_until: Option<At>,
    /// Grows with each claim: what an old owner brings is discarded.
    pub fence: i64,
    /// The run of the process that claimed it (SQLite).
    pub boot_id: Option<String>,
    /// The partner.
    pub partner: String,
    /// `as4`.
    pub channel: String,
    /// P-Mode id.
    pub pmode: String,
    /// P-Mode revision.
    pub pmode_revision: String,
    /// An earlier attempt was written whole and got no answer (EB-165).
    pub unanswered: bool,
    /// An earlier attempt was answered by an error or a 5xx (EB-165).
    pub refused: bool,
    /// What the last attempt met.
    pub last_error: Option<String>,
    /// `receipt`, or `none` where only a duplicate answer says so.
    pub proof: Option<String>,
    /// The receipt came after the message had failed.
    pub late: bool,
    /// When it was delivered.
    pub delivered_at: Option<At>,
    /// When it reached its end.
    pub settled_at: Option<At>,
}

/// What is frozen (EB-161).
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable)]
#[diesel(table_name = package, treat_none_as_default_value = false)]
pub struct Package {
    /// [`crate::store::Message::id`].
    pub message: String,
    /// Envelope without `wsse:Security`.
    pub envelope: String,
    /// Token and signature.
    pub blocks: String,
    /// Signed references, as JSON.
    pub refs: String,
    /// MIME boundary.
    pub boundary: String,
    /// Content-ID of the SOAP part.
    pub root_id: String,
    /// The To party, as JSON: whom a receipt must come from.
    pub recipient: String,
}

/// One attempt (OUT-28).
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable, serde::Serialize)]
#[diesel(table_name = attempt, treat_none_as_default_value = false)]
pub struct Attempt {
    /// [`crate::store::Message::id`].
    #[serde(skip)]
    pub message: String,
    /// From 1.
    pub number: i32,
    /// The node.
    pub node: String,
    /// When it began.
    pub started_at: At,
    /// When it ended; none after a crash.
    pub ended_at: Option<At>,
    /// `receipt`, `retry`, `refused`, …
    pub outcome: Option<String>,
    /// What came.
    pub detail: Option<String>,
    /// HTTP status of the answer.
    pub http_status: Option<i32>,
    /// Whether the request was written whole.
    pub fully_written: Option<bool>,
}
