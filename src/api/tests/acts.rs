//! Resend, redeliver, reload.

use serde_json::json;

use super::bench::{Bench, pmode};
use crate::store::delivery::{self, Job};
use crate::store::sender_log::{self, Ended};
use crate::store::{At, Message, Outgoing, StoreError, Tx, message};

fn now() -> At {
    At::from(time::OffsetDateTime::now_utc())
}

/// Brings the one message that is due to its end.
async fn end(bench: &Bench, next: Outgoing) {
    bench
        .write(move |tx| {
            let claimed = sender_log::claim(tx, "n", "b", now(), 10, 10)?;
            let delivered = next == Outgoing::Delivered;
            let ended = Ended {
                next,
                due: None,
                proof: delivered.then_some("receipt"),
                outcome: "x",
                detail: "EBMS:0301".to_owned(),
                http_status: None,
                fully_written: true,
                unanswered: false,
                refused: false,
            };
            assert!(sender_log::conclude(tx, &claimed[0], &ended, now())?);
            Ok(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_message_is_repeated_under_its_id() {
    let bench = Bench::new();
    let id = bench.submitted("k", "x").await;
    end(&bench, Outgoing::Failed).await;
    let said =
        bench.act(&format!("/api/v1/messages/{id}/resend"), r#"{"as":"repeat","reason":"INC-42","force":false}"#).await;
    assert_eq!((said.status.as_u16(), &said.json()["id"], &said.json()["state"]), (200, &json!(id), &json!("pending")));
    assert_eq!(bench.get(&format!("/api/v1/messages/{id}")).await.json()["state"], "pending");
    let timeline = bench.get(&format!("/api/v1/messages/{id}/timeline")).await.json();
    let last = timeline["events"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned();
    assert_eq!(last, "sent again by erp: INC-42");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_delivered_is_sent_again_by_force_and_as_new() {
    let bench = Bench::new();
    let id = bench.submitted("k", "<Invoice/>").await;
    let target = format!("/api/v1/messages/{id}/resend");
    bench.act(&target, r#"{"as":"new"}"#).await.problem(409);
    end(&bench, Outgoing::Delivered).await;
    for order in ["", "{}", r#"{"as":"repeat","reason":null,"force":false}"#, r#"{"force":true}"#, r#"{"as":"new"}"#] {
        let said = bench.act(&target, order).await;
        assert!(said.problem(409).contains("is delivered"), "{order}");
        assert!(said.json()["next"].as_str().unwrap().contains("force"), "{order}");
    }
    let new = bench.act(&target, r#"{"as":"new","force":true}"#).await.json();
    let other = new["id"].as_str().unwrap();
    assert_ne!(other, id);
    let (old, new) = (
        bench.get(&format!("/api/v1/messages/{id}")).await.json(),
        bench.get(&format!("/api/v1/messages/{other}")).await.json(),
    );
    for same in ["payload_hash", "conversation_id", "pmode", "service", "action", "ref_to_message_id"] {
        assert_eq!(old[same], new[same], "{same}");
    }
    assert_eq!((&old["state"], &new["state"]), (&json!("delivered"), &json!("pending")));
    assert_eq!(old["header"]["parts"][0]["media_type"], new["header"]["parts"][0]["media_type"]);
    assert_eq!(bench.get(&format!("/api/v1/messages/{other}/payloads/0")).await.body, b"<Invoice/>");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resend_as_new_has_a_key_of_its_own() {
    let bench = Bench::new();
    let id = bench.submitted("k", "x").await;
    end(&bench, Outgoing::Failed).await;
    let resend = async || {
        let request =
            super::bench::asked("POST", &format!("/api/v1/messages/{id}/resend")).header("idempotency-key", "k");
        bench.raw(request.body(r#"{"as":"new"}"#.into()).unwrap()).await.json()["id"].clone()
    };
    let first = resend().await;
    assert_ne!(first, json!(id));
    assert_eq!(first, resend().await, "the same act again sends nothing more");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_judged() {
    let bench = Bench::new();
    let id = bench.submitted("k", "x").await;
    let target = format!("/api/v1/messages/{id}/resend");
    assert!(bench.act(&target, r#"{"reson":"x"}"#).await.problem(400).contains("did you mean `reason`?"));
    assert!(bench.act(&target, r#"{"as":"neu"}"#).await.problem(400).contains("did you mean `new`?"));
    bench.act(&target, "[").await.problem(400);
    bench.act(&target, &format!("{{\"reason\":\"{}\"}}", "x".repeat(70_000))).await.problem(413);
    bench.act("/api/v1/messages/none@x/resend", "").await.problem(404);
}

fn received(tx: &mut Tx<'_>, id: &str, message_id: &str, state: &str) -> Result<(), StoreError> {
    let text = |text: &str| text.to_owned();
    let new = Message {
        id: text(id),
        direction: text("in"),
        message_id: text(message_id),
        state: text(state),
        partner: text("red"),
        us: text("blue"),
        pmode: text("plain"),
        pmode_revision: text("1"),
        service: text("s"),
        action: text("a"),
        conversation_id: text("c"),
        ref_to: None,
        header: text("{}"),
        size: 0,
        payload_hash: text("sha256:00"),
        created_at: now(),
        updated_at: now(),
        error: None,
    };
    message::insert(tx, &new, &[])?;
    let job = Job {
        state: text(state),
        attempts: 30,
        next_at: None,
        last_error: Some(text("disk full")),
        settled_at: Some(now()),
        ..Job::new(format!("j{id}"), id, "inbox", text("d"), now())
    };
    delivery::add(tx, &job)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_message_is_offered_again() {
    let bench = Bench::new();
    bench.write(|tx| received(tx, "01", "m@red", "failed")).await;
    let message = bench.get("/api/v1/messages/m@red").await.json();
    assert_eq!((&message["direction"], &message["deliveries"][0]["last_error"]), (&json!("in"), &json!("disk full")));
    let said = bench.act("/api/v1/messages/m@red/redeliver", r#"{"reason":"disk is larger"}"#).await;
    assert_eq!((said.status.as_u16(), &said.json()["state"]), (200, &json!("received")));
    bench.act("/api/v1/messages/m@red/redeliver", "").await.problem(409);
    assert!(bench.act("/api/v1/messages/m@red/resend", "").await.problem(409).contains("was received"));
    bench.act("/api/v1/messages/none@red/redeliver", "").await.problem(404);
}

/// A message to ourselves is there twice under one id.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_message_to_ourselves_the_sent_one_is_meant() {
    let bench = Bench::new();
    let id = bench.submitted("k", "x").await;
    let arrived = id.clone();
    bench.write(move |tx| received(tx, "fffffff1", &arrived, "failed")).await;
    let seen =
        async |query: &str| bench.get(&format!("/api/v1/messages/{id}{query}")).await.json()["direction"].clone();
    assert_eq!(seen("").await, "out");
    assert_eq!(seen("?direction=out").await, "out");
    assert_eq!(seen("?direction=in").await, "in");
    assert_eq!(bench.get("/api/v1/messages/fffffff1").await.json()["direction"], "in");
    assert_eq!(bench.act(&format!("/api/v1/messages/{id}/redeliver"), "").await.status, 200);
    assert_eq!(bench.act(&format!("/api/v1/messages/{id}/resend"), "").await.status, 200);
    bench.get(&format!("/api/v1/messages/{id}?direction=up")).await.problem(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn p_modes_are_listed_and_loaded_again() {
    let bench = Bench::new();
    let list = bench.get("/api/v1/pmodes").await.json();
    let row = &list["pmodes"][0];
    assert_eq!((&row["id"], &row["sends"], &row["receives"]), (&json!("plain"), &json!(true), &json!(false)));
    assert_eq!(row["service"]["value"], "urn:example:service");
    std::fs::write(bench.dir().join("pmodes/third.xml"), pmode("third", "")).unwrap();
    assert_eq!(bench.act("/api/v1/pmodes/reload", "").await.json()["loaded"], 3);
    std::fs::write(bench.dir().join("pmodes/third.xml"), "<PMode").unwrap();
    let refused = bench.act("/api/v1/pmodes/reload", "").await;
    assert!(refused.problem(422).contains("third.xml"));
    assert_eq!(refused.json()["problems"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        bench.get("/api/v1/pmodes").await.json()["pmodes"].as_array().map(Vec::len),
        Some(3),
        "the old ones stay"
    );
}
