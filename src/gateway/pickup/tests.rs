use std::fs;

use tempfile::TempDir;
use time::OffsetDateTime;

use super::*;
use crate::config::{Layer, parse};
use crate::gateway::assemble;
use crate::store::message::{self, Filter};
use crate::store::{Message, StoreError, sender_log};

const DOCUMENT: &str = include_str!("../../../tests/fixtures/documents/sbdh-invoice.xml");

struct Bench {
    gateway: Arc<Gateway>,
    folder: FolderConfig,
    dir: TempDir,
}

fn pmode(business: &str, checks: &str) -> String {
    format!(
        "<PMode xmlns=\"urn:postrider:pmode:1\" id=\"drop\" profile=\"plain\">\
         <Initiator><Party>urn:example:blue</Party></Initiator><Responder><Party>urn:example:red</Party></Responder>\
         <Leg><Protocol><Address>http://127.0.0.1:9/as4</Address></Protocol><BusinessInfo>{business}</BusinessInfo></Leg>\
         {checks}</PMode>"
    )
}

fn bench(pmode: &str) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("pmodes")).unwrap();
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::write(dir.path().join("pmodes/drop.xml"), pmode).unwrap();
    let text = "[host]\nname = \"blue.example\"\n[data]\ndir = \"data\"\n[pmodes]\ndir = \"pmodes\"\n\
                [[party]]\nname = \"blue\"\nid = \"urn:example:blue\"\n\
                [[folder]]\nname = \"erp\"\nwatch = \"out\"\npmode = \"drop\"\nsettle = \"1ms\"\n";
    let file = Layer::File { path: dir.path().join("postrider.toml"), text: text.to_owned() };
    let config = parse(dir.path(), &[file]).unwrap().config;
    let gateway = assemble(&config, OffsetDateTime::now_utc()).unwrap();
    Bench { gateway, folder: config.folder[0].clone(), dir }
}

impl Bench {
    fn drop_file(&self, name: &str, content: &str) {
        fs::write(self.dir.path().join("out").join(name), content).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }

    async fn round(&self) -> Result<(), String> {
        let (_stop, stopped) = watch::channel(false);
        round(&self.gateway, &self.folder, &stopped).await
    }

    fn there(&self, path: &str) -> bool {
        self.dir.path().join("out").join(path).is_file()
    }

    async fn messages(&self) -> Vec<Message> {
        let filter = Filter { limit: 100, ..Filter::default() };
        self.gateway.store.read::<_, StoreError, _>(move |tx| message::list(tx, &filter)).await.unwrap()
    }
}

const PLAIN: &str = "<Service>urn:example:service</Service><Action>Deliver</Action>";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_becomes_a_message_of_its_folder() {
    let bench = bench(&pmode(PLAIN, ""));
    bench.drop_file("order.edi", "UNB+UNOC:3'");
    bench.round().await.unwrap();
    assert!(bench.there("sent/order.edi"));
    let all = bench.messages().await;
    let id = all[0].id.clone();
    let (sent, parts) = bench
        .gateway
        .store
        .read::<_, StoreError, _>(move |tx| Ok((sender_log::by_message(tx, &id)?.unwrap(), message::parts(tx, &id)?)))
        .await
        .unwrap();
    assert_eq!((sent.producer.as_str(), sent.pmode.as_str()), ("erp", "drop"));
    assert!(sent.key.starts_with("order.edi:") && sent.key.len() == "order.edi:".len() + 64, "{}", sent.key);
    assert_eq!(
        (parts[0].payload_type.as_str(), parts[0].file_name.as_deref()),
        ("application/EDIFACT", Some("order.edi"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_before_putting_away_sends_nothing_twice() {
    let bench = bench(&pmode(PLAIN, ""));
    bench.drop_file("a.xml", "<a/>");
    bench.round().await.unwrap();
    fs::rename(bench.dir.path().join("out/sent/a.xml"), bench.dir.path().join("out/.taken/a.xml")).unwrap();
    bench.round().await.unwrap();
    assert_eq!(bench.messages().await.len(), 1);
    bench.drop_file("a.xml", "<b/>");
    bench.round().await.unwrap();
    assert_eq!(bench.messages().await.len(), 2, "another content is another message");
    assert!(bench.there("sent/a.xml") && bench.there("sent/2-a.xml"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_p_mode_refuses_is_put_aside_with_the_reason() {
    let bench = bench(&pmode(&format!("{PLAIN}<PayloadProfile maxSize=\"3 B\"/>"), ""));
    bench.drop_file("a.txt", "abcd");
    bench.drop_file("b.txt", "abc");
    bench.round().await.unwrap();
    assert!(bench.there("refused/a.txt") && bench.there("sent/b.txt"));
    let reason = fs::read_to_string(bench.dir.path().join("out/refused/a.txt.reason.txt")).unwrap();
    assert!(reason.contains("4 octets, at most 3"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_our_store_cannot_take_stays_and_is_tried_again() {
    let bench = bench(&pmode(PLAIN, ""));
    let large = "x".repeat(100_000);
    bench.drop_file("a.bin", &large);
    let incoming = bench.dir.path().join("data/payloads/incoming");
    fs::remove_dir_all(&incoming).unwrap();
    assert!(bench.round().await.unwrap_err().contains("a.bin"));
    assert!(!bench.there("refused/a.bin") && !bench.there("sent/a.bin"));
    fs::create_dir(&incoming).unwrap();
    bench.round().await.unwrap();
    assert!(bench.there("sent/a.bin"));
    assert_eq!(bench.messages().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peppol_document_says_who_and_what() {
    let bench = bench(&pmode("", "<Checks sbdh=\"enforce\"/>"));
    bench.drop_file("invoice.xml", DOCUMENT);
    bench.drop_file("other.xml", "<Invoice/>");
    bench.round().await.unwrap();
    assert!(bench.there("sent/invoice.xml") && bench.there("refused/other.xml"));
    let all = bench.messages().await;
    let header: serde_json::Value = serde_json::from_str(&all[0].header).unwrap();
    let property = |name: &str| {
        let all = header["properties"].as_array().unwrap();
        all.iter().find(|p| p["name"] == name).map(|p| (p["value"].as_str().unwrap(), p["type"].as_str().unwrap()))
    };
    assert_eq!(property("originalSender"), Some(("0088:5798000000001", "iso6523-actorid-upis")));
    assert_eq!(property("finalRecipient"), Some(("9915:red-waterworks", "iso6523-actorid-upis")));
    assert!(all[0].action.starts_with("busdox-docid-qns::urn:oasis:names:specification:ubl"), "{}", all[0].action);
    assert_eq!(header["service"]["type"], "cenbii-procid-ubl");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worker_works_until_it_is_told_to_stop() {
    let bench = bench(&pmode(PLAIN, ""));
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(Arc::clone(&bench.gateway), vec![bench.folder.clone()], stopped.clone()));
    let idle = tokio::spawn(run(Arc::clone(&bench.gateway), Vec::new(), stopped));
    bench.drop_file("a.xml", "<a/>");
    for _ in 0..100 {
        if bench.there("sent/a.xml") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(bench.there("sent/a.xml") && !idle.is_finished());
    stop.send(true).unwrap();
    tokio::time::timeout(Duration::from_secs(10), async { (worker.await, idle.await) }).await.unwrap().0.unwrap();
}

#[test]
fn keys_stay_within_bounds() {
    let key = key(&format!("{}\n", "é".repeat(300)), &[7; 32]);
    assert_eq!(key.chars().count(), NAME + 1 + 64);
    assert!(!key.contains(char::is_control));
}
