-- Transactional Inbox: narrow, one row a received key. The primary key decides what is a duplicate (IN-04).
CREATE TABLE inbox (
    source          TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    event_type      TEXT NOT NULL,
    received_at     TEXT NOT NULL,
    processed_at    TEXT,
    result          TEXT,
    payload_hash    TEXT NOT NULL,
    digest_set      TEXT NOT NULL,
    service         TEXT NOT NULL,
    action          TEXT NOT NULL,
    parties         TEXT NOT NULL,
    partner         TEXT NOT NULL,
    signer          TEXT,
    pmode           TEXT NOT NULL,
    pmode_revision  TEXT NOT NULL,
    protocol        TEXT NOT NULL,
    correlation     TEXT,
    message         TEXT,
    duplicate_count BIGINT NOT NULL DEFAULT 0,
    last_seen_at    TEXT,
    expires_at      TEXT NOT NULL,
    PRIMARY KEY (source, message_id)
);
-- Purges begin at the oldest (IN-13).
CREATE INDEX inbox_received_at ON inbox (received_at);
-- A delivered message settles its key.
CREATE INDEX inbox_by_message ON inbox (message);

-- The answers that a repeat is given again, octet for octet: one for each set of digests (IN-51, IN-53).
CREATE TABLE reply (
    source       TEXT NOT NULL,
    message_id   TEXT NOT NULL,
    digest_set   TEXT NOT NULL,
    status       INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    body         BLOB NOT NULL,
    created_at   TEXT NOT NULL,
    valid_until  TEXT,
    PRIMARY KEY (source, message_id, digest_set)
);

-- Messages of both directions: what people look for.
CREATE TABLE message (
    id              TEXT NOT NULL PRIMARY KEY,
    direction       TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    state           TEXT NOT NULL,
    partner         TEXT NOT NULL,
    us              TEXT NOT NULL,
    pmode           TEXT NOT NULL,
    pmode_revision  TEXT NOT NULL,
    service         TEXT NOT NULL,
    action          TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    ref_to          TEXT,
    header          TEXT NOT NULL,
    size            BIGINT NOT NULL,
    payload_hash    TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    error           TEXT
);
CREATE INDEX message_by_time ON message (created_at, id);
CREATE INDEX message_by_id ON message (message_id, created_at);
CREATE INDEX message_by_state ON message (state, created_at, id);
CREATE INDEX message_by_partner ON message (partner, created_at, id);

-- Payloads in their signed form: small ones here, larger ones in the payload store by their SHA-256.
CREATE TABLE part (
    message        TEXT NOT NULL,
    position       INTEGER NOT NULL,
    content_id     TEXT NOT NULL,
    media_type     TEXT NOT NULL,
    payload_type   TEXT NOT NULL,
    file_name      TEXT,
    compressed     BOOLEAN NOT NULL,
    stored_size    BIGINT NOT NULL,
    size           BIGINT NOT NULL,
    sha256         TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    digest         BLOB,
    octets         BLOB,
    PRIMARY KEY (message, position)
);

-- Idempotent Sender: the key, fixed with the payload hash before any attempt (OUT-07, OUT-08).
CREATE TABLE sender_log (
    producer        TEXT NOT NULL,
    key             TEXT NOT NULL,
    message_id      TEXT NOT NULL UNIQUE,
    message         TEXT NOT NULL UNIQUE,
    payload_hash    TEXT NOT NULL,
    status          TEXT NOT NULL,
    attempt_count   INTEGER NOT NULL DEFAULT 0,
    created_at      TEXT NOT NULL,
    next_attempt_at TEXT,
    lease_owner     TEXT,
    lease_until     TEXT,
    fence           BIGINT NOT NULL DEFAULT 0,
    boot_id         TEXT,
    partner         TEXT NOT NULL,
    channel         TEXT NOT NULL,
    pmode           TEXT NOT NULL,
    pmode_revision  TEXT NOT NULL,
    unanswered      BOOLEAN NOT NULL DEFAULT FALSE,
    refused         BOOLEAN NOT NULL DEFAULT FALSE,
    last_error      TEXT,
    proof           TEXT,
    late            BOOLEAN NOT NULL DEFAULT FALSE,
    delivered_at    TEXT,
    settled_at      TEXT,
    PRIMARY KEY (producer, key),
    -- What is open is due at some time (OUT-63).
    CHECK (status NOT IN ('pending', 'awaiting_receipt') OR next_attempt_at IS NOT NULL)
);
-- Claims walk from partner to partner and read the first rows of each; what is settled is in no index of work.
CREATE INDEX sender_log_due ON sender_log (partner, next_attempt_at) WHERE status = 'pending';
CREATE INDEX sender_log_held ON sender_log (partner, lease_owner) WHERE status = 'sending';
CREATE INDEX sender_log_overdue ON sender_log (next_attempt_at) WHERE status = 'awaiting_receipt';

-- What is frozen at packaging, the same on every attempt (EB-161).
CREATE TABLE package (
    message    TEXT NOT NULL PRIMARY KEY,
    envelope   TEXT NOT NULL,
    blocks     TEXT NOT NULL,
    refs       TEXT NOT NULL,
    boundary   TEXT NOT NULL,
    root_id    TEXT NOT NULL,
    recipient  TEXT NOT NULL
);

-- Receipts of what we sent.
CREATE TABLE receipt (
    message     TEXT NOT NULL PRIMARY KEY,
    soap        TEXT NOT NULL,
    received_at TEXT NOT NULL
);

-- One row an attempt (OUT-28).
CREATE TABLE attempt (
    message       TEXT NOT NULL,
    number        INTEGER NOT NULL,
    node          TEXT NOT NULL,
    started_at    TEXT NOT NULL,
    ended_at      TEXT,
    outcome       TEXT,
    detail        TEXT,
    http_status   INTEGER,
    fully_written BOOLEAN,
    PRIMARY KEY (message, number)
);

-- HTTP exchanges: those that became messages can be rebuilt from their parts, refused ones keep their first octets.
CREATE TABLE exchange (
    id            TEXT NOT NULL PRIMARY KEY,
    at            TEXT NOT NULL,
    direction     TEXT NOT NULL,
    verdict       TEXT NOT NULL,
    message       TEXT,
    message_id    TEXT,
    partner       TEXT,
    peer          TEXT NOT NULL,
    code          TEXT,
    reason        TEXT,
    request_head  BLOB NOT NULL,
    soap          TEXT NOT NULL,
    mime          TEXT NOT NULL,
    raw           BLOB,
    raw_size      BIGINT NOT NULL DEFAULT 0,
    answer_status INTEGER,
    answer_head   BLOB,
    answer        BLOB
);
CREATE INDEX exchange_by_time ON exchange (at, id);
CREATE INDEX exchange_by_message ON exchange (message);
CREATE INDEX exchange_refused ON exchange (at, id) WHERE verdict = 'rejected';
-- The quota of refused octets: all together, oldest first; and the rate of one peer.
CREATE INDEX exchange_kept ON exchange (at, id, raw_size) WHERE verdict = 'rejected' AND raw_size > 0;
CREATE INDEX exchange_rate ON exchange (peer, at) WHERE verdict = 'rejected' AND raw_size > 0;

-- Jobs that hand received messages to consumers: the effect that the MSH owns.
CREATE TABLE delivery (
    id          TEXT NOT NULL PRIMARY KEY,
    message     TEXT NOT NULL,
    backend     TEXT NOT NULL,
    delivery_key TEXT NOT NULL,
    state       TEXT NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    created_at  TEXT NOT NULL,
    next_at     TEXT,
    lease_owner TEXT,
    lease_until TEXT,
    fence       BIGINT NOT NULL DEFAULT 0,
    boot_id     TEXT,
    last_error  TEXT,
    settled_at  TEXT,
    CHECK (state <> 'received' OR next_at IS NOT NULL)
);
CREATE INDEX delivery_due ON delivery (backend, next_at) WHERE state = 'received';
CREATE INDEX delivery_held ON delivery (backend, lease_owner) WHERE state = 'delivering';
CREATE INDEX delivery_by_message ON delivery (message);

-- The timeline.
CREATE TABLE event (
    id      TEXT NOT NULL PRIMARY KEY,
    message TEXT NOT NULL,
    at      TEXT NOT NULL,
    code    TEXT NOT NULL,
    text    TEXT NOT NULL
);
CREATE INDEX event_by_message ON event (message, id);
