//! Lists, one message, its timeline and explanation.

use serde_json::json;

use super::bench::Bench;
use crate::store::sender_log;
use crate::store::{At, exchange};

#[tokio::test(flavor = "multi_thread")]
async fn pages_follow_each_other_without_gap_or_repeat() {
    let bench = Bench::new();
    let mut sent = Vec::new();
    for n in 0..5 {
        sent.push(bench.submitted(&format!("k{n}"), &n.to_string()).await);
    }
    sent.reverse();
    let (mut seen, mut target) = (Vec::new(), "/api/v1/messages?limit=2".to_owned());
    loop {
        let page = bench.get(&target).await.json();
        assert_eq!(page["schema"], "postrider.messages/1");
        let rows = page["messages"].as_array().unwrap();
        assert!(!rows.is_empty(), "no page is empty");
        seen.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        target = format!("/api/v1/messages?limit=2&cursor={next}");
    }
    assert_eq!(seen, sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_find_and_unknown_words_are_named() {
    let bench = Bench::new();
    let id = bench.submitted("a", "1").await;
    bench.form("b", r#"{"pmode":"small"}"#, &[b"2"]).await;
    let count = async |query: &str| {
        let said = bench.get(&format!("/api/v1/messages?{query}")).await;
        assert_eq!(said.status, 200, "{query}: {}", said.json());
        said.json()["messages"].as_array().unwrap().len()
    };
    assert_eq!(count("").await, 2);
    assert_eq!(count("q=state:pending+direction:out").await, 2);
    assert_eq!(count("q=state:failed").await, 0);
    assert_eq!(count("q=pmode:small&state=pending").await, 1);
    assert_eq!(count("q=partner:urn:example:red").await, 2);
    assert_eq!(count("q=partner:%22urn:example:red%22").await, 2);
    assert_eq!(count(&format!("q=id:{id}")).await, 1);
    assert_eq!(count(&format!("q={id}")).await, 1);
    assert_eq!(count(&format!("message_id={id}")).await, 1);

    let refused = async |query: &str| bench.get(&format!("/api/v1/messages?{query}")).await.problem(400);
    assert!(refused("q=stat:failed").await.contains("did you mean `state`?"));
    assert!(refused("q=state:faild").await.contains("did you mean `failed`?"));
    assert!(refused("q=age:%3E1h").await.contains("known: `state`"));
    assert!(refused("q=hello").await.contains("`hello`"));
    assert!(refused("q=state:").await.contains("no value"));
    assert!(refused("q=direction:up").await.contains("`in`, `out`"));
    assert!(refused("q=state:failed&state=pending").await.contains("twice"));
    assert!(refused("q=partner:%22x").await.contains("never closed"));
    assert!(refused("q=partner:a%00b").await.contains("control"));
    assert!(refused("partnr=x").await.contains("did you mean `partner`?"));
    assert!(refused("state=pending&state=failed").await.contains("twice"));
    for limit in ["0", "501", "-1", "x", "99999999999999999999"] {
        assert!(refused(&format!("limit={limit}")).await.contains("from 1 to 500"), "{limit}");
    }
    for cursor in ["x", "!!", "eCB5", "MjAyNi0wMS0wMVQwMDowMDowMFogJw"] {
        assert!(refused(&format!("cursor={cursor}")).await.contains("none of ours"), "{cursor}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_has_its_timeline_and_checks() {
    let bench = Bench::new();
    let id = bench.submitted("INV-1", "<Invoice/>").await;
    for path in ["", "/timeline", "/attempts", "/explain", "/exchanges"] {
        let said = bench.get(&format!("/api/v1/messages/{id}{path}")).await;
        assert_eq!((said.status.as_u16(), &said.json()["id"]), (200, &json!(id)), "{path}");
    }
    let timeline = bench.get(&format!("/api/v1/messages/{id}/timeline")).await.json();
    let line = &timeline["events"][0];
    assert_eq!((&timeline["schema"], &line["code"]), (&json!("postrider.timeline/1"), &json!("submit.accepted")));
    assert!(line["at"].as_str().unwrap().ends_with('Z') && line["text"].as_str().unwrap().contains("INV-1"));
    assert_eq!(line.as_object().unwrap().len(), 3);

    let explained = bench.get(&format!("/api/v1/messages/{id}/explain")).await.json();
    let checks = explained["checks"].as_array().unwrap();
    let pass = |name: &str| checks.iter().find(|c| c["check"] == name).map(|c| c["pass"].clone());
    assert_eq!(pass("pmode"), Some(json!(true)));
    assert_eq!(pass("payload 1"), Some(json!(true)));
    assert_eq!(pass("submit.accepted"), Some(json!(true)));
    assert_eq!(pass("receipt"), Some(json!(null)), "it is not here yet");

    let row = bench.get(&format!("/api/v1/messages/{id}")).await.json()["row"].as_str().unwrap().to_owned();
    assert_eq!(bench.get(&format!("/api/v1/messages/{row}")).await.json()["id"], id.as_str());
    let encoded = id.replace('@', "%40");
    assert_eq!(bench.get(&format!("/api/v1/messages/{encoded}")).await.json()["id"], id.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_and_the_sender_log_are_shown() {
    let bench = Bench::new();
    let id = bench.submitted("k", "x").await;
    bench.write(|tx| sender_log::claim(tx, "n", "b", At::from(time::OffsetDateTime::now_utc()), 10, 10)).await;
    let message = bench.get(&format!("/api/v1/messages/{id}")).await.json();
    assert_eq!((&message["state"], &message["attempt_count"]), (&json!("sending"), &json!(1)));
    assert_eq!((&message["attempts"][0]["number"], &message["late"]), (&json!(1), &json!(false)));
    let attempts = bench.get(&format!("/api/v1/messages/{id}/attempts")).await.json();
    assert_eq!(attempts["attempts"], message["attempts"]);
}

pub(super) fn refusal(id: &str, message_id: &str) -> exchange::Exchange {
    exchange::Exchange {
        id: id.to_owned(),
        at: At::from(time::OffsetDateTime::now_utc()),
        direction: "in".to_owned(),
        verdict: "rejected".to_owned(),
        message: None,
        message_id: Some(message_id.to_owned()),
        partner: None,
        peer: "192.0.2.1".to_owned(),
        code: Some("EBMS:0101".to_owned()),
        reason: Some("the signature does not agree".to_owned()),
        request_head: b"POST /as4".to_vec(),
        soap: String::new(),
        mime: "{}".to_owned(),
        raw: Some(b"\x00<raw>".to_vec()),
        raw_size: 6,
        answer_status: Some(500),
        answer_head: None,
        answer: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_is_listed_explained_and_kept() {
    let bench = Bench::new();
    bench.write(|tx| exchange::record(tx, &refusal("01ab", "bad@red"))).await;
    let list = bench.get("/api/v1/rejected?limit=10").await.json();
    assert_eq!(list["schema"], "postrider.rejected/1");
    let row = &list["rejected"][0];
    assert_eq!(
        (&row["id"], &row["code"], &row["message_id"]),
        (&json!("01ab"), &json!("EBMS:0101"), &json!("bad@red"))
    );
    assert!(row["reason"].as_str().unwrap().contains("signature") && row["peer"] == "192.0.2.1");
    for id in ["bad@red", "01ab"] {
        let explained = bench.get(&format!("/api/v1/messages/{id}/explain")).await.json();
        assert_eq!(explained["state"], "rejected");
        assert!(explained["checks"].as_array().unwrap().iter().any(|c| c["pass"] == false && c["check"] == "refusal"));
    }
    assert_eq!(bench.get("/api/v1/rejected/01ab/request").await.body, b"\x00<raw>");
    bench.get("/api/v1/rejected/01ab/answer").await.problem(410);
    bench.get("/api/v1/rejected/none/request").await.problem(404);
    bench.get("/api/v1/rejected?limt=1").await.problem(400);
    bench.get("/api/v1/messages/bad@red").await.problem(404);
}
