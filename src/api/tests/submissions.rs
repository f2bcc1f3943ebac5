//! `POST /api/v1/messages`.

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::oneshot;

use super::bench::{Bench, asked, form};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_stands_for_one_document() {
    let bench = Bench::new();
    let submission = r#"{"pmode":"plain","conversation_id":"c1","properties":[{"name":"order","value":"117"}],
        "payloads":[{"file_name":"../in voice.xml","character_set":"utf-8","properties":[{"name":"kind","value":"x"}]}]}"#;
    let first = bench.form("INV-1", submission, &[b"<Invoice/>"]).await;
    assert_eq!(first.status, 201, "{}", first.json());
    let told = first.json();
    assert_eq!((&told["schema"], &told["key"]), (&"postrider.submission/1".into(), &"INV-1".into()));
    assert_eq!((&told["state"], &told["repeat"]), (&"pending".into(), &false.into()));

    let again = bench.form("INV-1", submission, &[b"<Invoice/>"]).await;
    assert_eq!((again.status.as_u16(), &again.json()["id"]), (200, &told["id"]));
    assert_eq!(again.json()["repeat"], true);

    let other = bench.form("INV-1", submission, &[b"<Invoice>2</Invoice>"]).await;
    assert!(other.problem(422).contains("INV-1"));
    assert_eq!(other.json()["message_id"], told["id"]);

    // Where a submission is said to be, it is: ids hold an @.
    let place = first.headers["location"].to_str().unwrap();
    assert!(place.contains("%40"), "{place}");
    let message = bench.get(place).await.json();
    assert_eq!((&message["id"], &message["producer"], &message["key"]), (&told["id"], &"erp".into(), &"INV-1".into()));
    assert_eq!(message["conversation_id"], "c1");
    assert_eq!(message["header"]["properties"][0]["value"], "117");
    assert_eq!(message["payloads"][0]["file_name"], "in voice.xml");
    assert_eq!(message["header"]["parts"][0]["properties"][1]["value"], "utf-8");
    assert_eq!(message["header"]["parts"][0]["properties"][2]["name"], "kind");
}

/// A producer's keys are its own.
#[tokio::test(flavor = "multi_thread")]
async fn another_producer_may_have_the_same_key() {
    let bench = Bench::new();
    bench.submitted("1", "a").await;
    let request = asked("POST", "/api/v1/messages?pmode=plain")
        .header("content-type", "text/plain")
        .header("idempotency-key", "1")
        .body(Body::from("b"));
    let mut request = request.unwrap();
    request.headers_mut().insert("authorization", "bearer secret".parse().unwrap());
    assert_eq!(bench.raw(request).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_payload_as_the_body() {
    let bench = Bench::new();
    let raw = |target: &str, kind: &str, body: &'static [u8]| {
        let request = asked("POST", target).header("content-type", kind);
        bench.raw(request.body(Body::from(body)).unwrap())
    };
    let target = "/api/v1/messages?pmode=plain&property=order%3D117&property=a%3Db%3Dc&file_name=x.json";
    let said = raw(target, "application/json", b"{}").await;
    assert_eq!(said.status, 201, "{}", said.json());
    let message = bench.get(said.headers["location"].to_str().unwrap()).await.json();
    assert_eq!(message["payloads"][0]["media_type"], "application/json");
    assert_eq!(message["payloads"][0]["file_name"], "x.json");
    assert_eq!(message["header"]["properties"][1]["value"], "b=c");

    assert!(raw("/api/v1/messages", "text/xml", b"<a/>").await.problem(400).contains("not named"));
    assert!(raw("/api/v1/messages?pmode=plai", "text/xml", b"<a/>").await.problem(400).contains("`plain`"));
    assert!(raw("/api/v1/messages?pmod=plain", "text/xml", b"<a/>").await.problem(400).contains("`pmode`"));
    assert!(
        raw("/api/v1/messages?pmode=plain&property=x", "text/xml", b"<a/>").await.problem(400).contains("name=value")
    );
    assert!(raw("/api/v1/messages?pmode=plain", "xml", b"<a/>").await.problem(400).contains("type/subtype"));
    for kind in ["", "application/x-www-form-urlencoded", "multipart/mixed; boundary=x"] {
        raw("/api/v1/messages?pmode=plain", kind, b"<a/>").await.problem(415);
    }
    let packed = asked("POST", "/api/v1/messages?pmode=plain").header("content-type", "text/xml");
    let packed = packed.header("content-encoding", "gzip").body(Body::from("x")).unwrap();
    bench.raw(packed).await.problem(415);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_json_is_said() {
    let bench = Bench::new();
    let refused = async |submission: &str| bench.form("k", submission, &[b"x"]).await.problem(400);
    let told = refused(r#"{"pmod":"plain"}"#).await;
    assert!(
        told.contains("field `pmod`") && told.contains("did you mean `pmode`?") && told.contains("line 1"),
        "{told}"
    );
    let told = refused("{\"pmode\":\"plain\",\n\"properties\":[{\"name\":\"a\",\"vale\":\"b\"}]}").await;
    assert!(told.contains("properties[0].vale") && told.contains("`value`") && told.contains("line 2"), "{told}");
    let told = refused(r#"{"to":{"value":"x","typ":"y"}}"#).await;
    assert!(told.contains("did you mean `type`?"), "{told}");
    assert!(refused(r#"{"pmode":7}"#).await.contains("expected a string"));
    assert!(refused(r#"{"pmode":"plain"} x"#).await.contains("trailing"));
    assert!(refused("{").await.contains("EOF"));
    assert!(refused("").await.contains("EOF"));
    assert!(refused(r#"{"pmode":"plain","action":"a\u0000b"}"#).await.contains("control character"));
    assert!(refused(r#"{"pmode":"plain","ref_to_message_id":"a b"}"#).await.contains("ref_to_message_id"));
    assert!(refused(r#"{"pmode":"plain","payloads":[{},{}]}"#).await.contains("describes 2 payloads, and 1 came"));
    assert!(refused(r#"{"pmode":"plain","payloads":[{"content_id":"a\r\nb@x"}]}"#).await.contains("content_id"));
    assert!(refused(r#"{"pmode":"plain","payloads":[{"media_type":"a"}]}"#).await.contains("type/subtype"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_p_mode_does_not_allow_is_said_value_by_value() {
    let bench = Bench::new();
    let said = bench.form("k", r#"{"pmode":"plain","action":"Other","to":"urn:example:green"}"#, &[b"x"]).await;
    assert!(said.problem(400).contains("Other"));
    assert_eq!(said.json()["problems"].as_array().map(Vec::len), Some(2), "{}", said.json());
    let said = bench.form("k", r#"{"pmode":"plan"}"#, &[b"x"]).await;
    assert!(said.problem(400).contains("did you mean `plain`?"));
    assert_eq!(said.json()["code"], "submit.refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_itself_is_judged() {
    let bench = Bench::new();
    let sent = async |body: Vec<u8>| {
        let request = asked("POST", "/api/v1/messages").header("content-type", "multipart/form-data; boundary=B0");
        bench.raw(request.body(Body::from(body)).unwrap()).await
    };
    let good = String::from_utf8(form(r#"{"pmode":"plain"}"#, &[b"x"])).unwrap();
    assert_eq!(sent(good.clone().into_bytes()).await.status, 201);
    let renamed = sent(good.replace("\"payload\"", "\"paylod\"").into_bytes()).await;
    assert!(renamed.problem(400).contains("did you mean `payload`?"));
    let first = sent(good.replace("\"submission\"", "\"payload\"").into_bytes()).await;
    assert!(first.problem(400).contains("`submission` comes first"));
    assert!(sent(good.replace("\"payload\"", "\"message\"").into_bytes()).await.problem(400).contains("more than one"));
    sent(good[..good.len() - 8].into()).await.problem(400);
    assert!(sent(b"--B0--\r\n".to_vec()).await.problem(400).contains("no field `submission`"));
    sent(Vec::new()).await.problem(400);
    let large = form(&format!("{{\"pmode\":\"{}\"}}", "x".repeat(1 << 20)), &[]);
    sent(large).await.problem(413);
    let without = asked("POST", "/api/v1/messages").header("content-type", "multipart/form-data");
    bench.raw(without.body(Body::from("x")).unwrap()).await.problem(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn sizes_are_bounded_by_the_p_mode() {
    let bench = Bench::new();
    let payload = vec![b'x'; 700];
    assert_eq!(bench.form("a", r#"{"pmode":"small"}"#, &[&payload]).await.status, 201);
    assert!(bench.form("b", r#"{"pmode":"small"}"#, &[&payload, &payload]).await.problem(413).contains("`small`"));
    let many: Vec<&[u8]> = vec![b"x"; 101];
    bench.form("c", r#"{"pmode":"plain"}"#, &many).await.problem(413);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_megabytes_stream_in_and_out() {
    let bench = Bench::new();
    let chunk = |n: u8| {
        Bytes::from((0..100_000u32).map(|i| n ^ (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>())
    };
    let body = Body::from_stream(stream::iter((0..30).map(move |n| Ok::<_, std::io::Error>(chunk(n)))));
    let request = asked("POST", "/api/v1/messages?pmode=plain").header("content-type", "application/octet-stream");
    let said = bench.raw(request.body(body).unwrap()).await;
    assert_eq!(said.status, 201, "{}", said.json());
    let place = format!("{}/payloads/0", said.headers["location"].to_str().unwrap());
    let payload = bench.get(&place).await;
    assert_eq!((payload.status.as_u16(), payload.body.len()), (200, 3_000_000));
    assert_eq!(payload.headers["content-length"], "3000000");
    assert_eq!(payload.body, (0..30).flat_map(chunk).collect::<Vec<u8>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_in_progress_is_told_to_wait() {
    let bench = Bench::new();
    let (finish, finished) = oneshot::channel::<()>();
    let (begun, begins) = oneshot::channel::<()>();
    let begun = std::sync::Mutex::new(Some(begun));
    let body = Body::from_stream(stream::once(async move {
        begun.lock().unwrap().take().unwrap().send(()).unwrap();
        finished.await.unwrap();
        Ok::<_, std::io::Error>(Bytes::from_static(b"x"))
    }));
    let request = |body| {
        let request = asked("POST", "/api/v1/messages?pmode=plain").header("content-type", "text/plain");
        request.header("idempotency-key", "slow").body(body).unwrap()
    };
    let slow = bench.raw(request(body));
    let others = async {
        begins.await.unwrap();
        let second = bench.raw(request(Body::from("x"))).await;
        second.problem(409);
        assert_eq!(second.headers["retry-after"], "1");
        assert_eq!(bench.form("other", r#"{"pmode":"plain"}"#, &[b"x"]).await.status, 201);
        finish.send(()).unwrap();
    };
    let (slow, ()) = tokio::join!(slow, others);
    assert_eq!(slow.status, 201);
    assert_eq!(bench.raw(request(Body::from("x"))).await.status, 200, "the key is free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_leaves_nothing() {
    let bench = Bench::new();
    let body = Body::from_stream(stream::iter([Ok(Bytes::from_static(b"x")), Err(std::io::Error::other("line cut"))]));
    let request = asked("POST", "/api/v1/messages?pmode=plain").header("content-type", "text/plain");
    let said = bench.raw(request.header("idempotency-key", "cut").body(body).unwrap()).await;
    assert!(said.problem(400).contains("broke off"));
    assert_eq!(bench.get("/api/v1/messages").await.json()["messages"], serde_json::json!([]));
    bench.submitted("cut", "x").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_judged() {
    let bench = Bench::new();
    bench.form(&"k".repeat(201), r#"{"pmode":"plain"}"#, &[b"x"]).await.problem(400);
    bench.form("", r#"{"pmode":"plain"}"#, &[b"x"]).await.problem(400);
    let twice = asked("POST", "/api/v1/messages?pmode=plain").header("content-type", "text/plain");
    let twice = twice.header("idempotency-key", "a").header("idempotency-key", "b").body(Body::from("x")).unwrap();
    bench.raw(twice).await.problem(400);
    let none = asked("POST", "/api/v1/messages?pmode=plain").header("content-type", "text/plain");
    let said = bench.raw(none.body(Body::from("x")).unwrap()).await.json();
    assert_eq!(said["key"].as_str().map(str::len), Some(36), "a key is drawn");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_is_503_and_nothing_is_half_taken() {
    let bench = Bench::new();
    let large = vec![b'x'; 100_000];
    let incoming = bench.dir().join("data/payloads/incoming");
    std::fs::remove_dir_all(&incoming).unwrap();
    let said = bench.form("k", r#"{"pmode":"plain"}"#, &[&large]).await;
    said.problem(503);
    assert_eq!(
        (&said.json()["code"], &said.headers["retry-after"]),
        (&"store.unavailable".into(), &"5".parse().unwrap())
    );
    std::fs::create_dir(&incoming).unwrap();
    assert_eq!(bench.form("k", r#"{"pmode":"plain"}"#, &[&large]).await.status, 201);
}
