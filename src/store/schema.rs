//! The tables, once for both databases: written by hand after the migrations, and compared with them by a test.

use diesel::table;

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::store::instant::Instant;

    inbox (source, message_id) {
        source -> Text,
        message_id -> Text,
        event_type -> Text,
        received_at -> Instant,
        processed_at -> Nullable<Instant>,
        result -> Nullable<Text>,
        payload_hash -> Text,
        digest_set -> Text,
        service -> Text,
        action -> Text,
        parties -> Text,
        partner -> Text,
        signer -> Nullable<Text>,
        pmode -> Text,
        pmode_revision -> Text,
        protocol -> Text,
        correlation -> Nullable<Text>,
        message -> Nullable<Text>,
        duplicate_count -> BigInt,
        last_seen_at -> Nullable<Instant>,
        expires_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Binary, Integer, Nullable, Text};
    use crate::store::instant::Instant;

    reply (source, message_id, digest_set) {
        source -> Text,
        message_id -> Text,
        digest_set -> Text,
        status -> Integer,
        content_type -> Text,
        body -> Binary,
        created_at -> Instant,
        valid_until -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::store::instant::Instant;

    message (id) {
        id -> Text,
        direction -> Text,
        message_id -> Text,
        state -> Text,
        partner -> Text,
        us -> Text,
        pmode -> Text,
        pmode_revision -> Text,
        service -> Text,
        action -> Text,
        conversation_id -> Text,
        ref_to -> Nullable<Text>,
        header -> Text,
        size -> BigInt,
        payload_hash -> Text,
        created_at -> Instant,
        updated_at -> Instant,
        error -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
    use crate::store::instant::Instant;

    part (message, position) {
        message -> Text,
        position -> Integer,
        content_id -> Text,
        media_type -> Text,
        payload_type -> Text,
        file_name -> Nullable<Text>,
        compressed -> Bool,
        stored_size -> BigInt,
        size -> BigInt,
        sha256 -> Text,
        content_sha256 -> Text,
        digest -> Nullable<Binary>,
        octets -> Nullable<Binary>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::store::instant::Instant;

    sender_log (producer, key) {
        producer -> Text,
        key -> Text,
        message_id -> Text,
        message -> Text,
        payload_hash -> Text,
        status -> Text,
        attempt_count -> Integer,
        created_at -> Instant,
        next_attempt_at -> Nullable<Instant>,
        lease_owner -> Nullable<Text>,
        lease_until -> Nullable<Instant>,
        fence -> BigInt,
        boot_id -> Nullable<Text>,
        partner -> Text,
        channel -> Text,
        pmode -> Text,
        pmode_revision -> Text,
        unanswered -> Bool,
        refused -> Bool,
        last_error -> Nullable<Text>,
        proof -> Nullable<Text>,
        late -> Bool,
        delivered_at -> Nullable<Instant>,
        settled_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::store::instant::Instant;

    package (message) {
        message -> Text,
        envelope -> Text,
        blocks -> Text,
        refs -> Text,
        boundary -> Text,
        root_id -> Text,
        recipient -> Text,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::store::instant::Instant;

    receipt (message) {
        message -> Text,
        soap -> Text,
        received_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::store::instant::Instant;

    attempt (message, number) {
        message -> Text,
        number -> Integer,
        node -> Text,
        started_at -> Instant,
        ended_at -> Nullable<Instant>,
        outcome -> Nullable<Text>,
        detail -> Nullable<Text>,
        http_status -> Nullable<Integer>,
        fully_written -> Nullable<Bool>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
    use crate::store::instant::Instant;

    exchange (id) {
        id -> Text,
        at -> Instant,
        direction -> Text,
        verdict -> Text,
        message -> Nullable<Text>,
        message_id -> Nullable<Text>,
        partner -> Nullable<Text>,
        peer -> Text,
        code -> Nullable<Text>,
        reason -> Nullable<Text>,
        request_head -> Binary,
        soap -> Text,
        mime -> Text,
        raw -> Nullable<Binary>,
        raw_size -> BigInt,
        answer_status -> Nullable<Integer>,
        answer_head -> Nullable<Binary>,
        answer -> Nullable<Binary>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::store::instant::Instant;

    delivery (id) {
        id -> Text,
        message -> Text,
        backend -> Text,
        delivery_key -> Text,
        state -> Text,
        attempts -> Integer,
        created_at -> Instant,
        next_at -> Nullable<Instant>,
        lease_owner -> Nullable<Text>,
        lease_until -> Nullable<Instant>,
        fence -> BigInt,
        boot_id -> Nullable<Text>,
        last_error -> Nullable<Text>,
        settled_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::store::instant::Instant;

    event (id) {
        id -> Text,
        message -> Text,
        at -> Instant,
        code -> Text,
        text -> Text,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    inbox, reply, message, part, sender_log, package, receipt, attempt, exchange, delivery, event
);
