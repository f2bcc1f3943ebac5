//! Downloads.

use super::bench::Bench;
use super::finding::refusal;
use crate::store::{At, exchange, message};

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_is_saved_never_shown() {
    let bench = Bench::new();
    let submission = r#"{"pmode":"plain","payloads":[{"media_type":"text/html","file_name":"résumé.html"}]}"#;
    let said = bench.form("k", submission, &[b"<script>", b""]).await;
    let place = said.headers["location"].to_str().unwrap().to_owned();
    let payload = bench.get(&format!("{place}/payloads/0")).await;
    assert_eq!((payload.status.as_u16(), payload.body.as_slice()), (200, b"<script>".as_slice()));
    assert_eq!(payload.headers["content-type"], "text/html");
    assert_eq!(payload.headers["x-content-type-options"], "nosniff");
    assert!(payload.headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    assert!(payload.headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename="));
    let empty = bench.get(&format!("{place}/payloads/1")).await;
    assert_eq!((empty.status.as_u16(), empty.body.len()), (200, 0));
    assert!(bench.get(&format!("{place}/payloads/2")).await.problem(404).contains("2 payloads"));
    bench.get(&format!("{place}/payloads/x")).await.problem(400);
    bench.get(&format!("{place}/payloads/-1")).await.problem(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_receipt_and_the_exchanges_are_the_octets_that_came() {
    let bench = Bench::new();
    let id = bench.submitted("k", "x").await;
    let receipt = format!("/api/v1/messages/{id}/receipt");
    assert!(bench.get(&receipt).await.problem(404).contains("it is pending"));
    let row = bench.get(&format!("/api/v1/messages/{id}")).await.json()["row"].as_str().unwrap().to_owned();
    bench
        .write(move |tx| {
            message::keep_receipt(tx, &row, "<S:Envelope/>", At::from(time::OffsetDateTime::now_utc()))?;
            let sent = exchange::Exchange {
                verdict: "sent".to_owned(),
                direction: "out".to_owned(),
                message: Some(row.clone()),
                raw: None,
                soap: "<sent/>".to_owned(),
                answer: Some(b"\xff answer".to_vec()),
                ..refusal("02", "x")
            };
            exchange::record(tx, &sent)
        })
        .await;
    assert_eq!(bench.get(&receipt).await.body, b"<S:Envelope/>");
    let list = bench.get(&format!("/api/v1/messages/{id}/exchanges")).await.json();
    let one = &list["exchanges"][0];
    assert_eq!(
        (one["n"].as_i64(), one["request"].as_bool(), one["answer"].as_bool()),
        (Some(1), Some(true), Some(true))
    );
    let side = async |path: &str| bench.get(&format!("/api/v1/messages/{id}/exchanges/{path}")).await;
    assert_eq!(side("1/request").await.body, b"<sent/>");
    assert_eq!(side("1/answer").await.body, b"\xff answer");
    assert!(side("2/request").await.problem(404).contains("1 exchanges"));
    side("0/request").await.problem(404);
    side("1/reqest").await.problem(400);
    side("99999999999999999999/request").await.problem(400);
}
