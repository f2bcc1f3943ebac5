//! Unsigned packages that want memory, files or addresses (AT-17 … AT-21, AT-23, AT-24, AT-31).

use std::io::Write as _;
use std::net::TcpListener;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{altered, open, refused, still_works};
use crate::support::database::Database;
use crate::support::inbox::Inbox;
use crate::support::{http, message};

const INVALID: &[&str] = &["EBMS:0009"];

fn zeros(mebibytes: usize) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let block = vec![0; 1 << 20];
    (0..mebibytes).for_each(|_| gzip.write_all(&block).expect("memory takes it"));
    gzip.finish().expect("memory takes it")
}

/// A message with one compressed part of these octets.
fn compressed(id: &str, octets: &[u8]) -> Vec<u8> {
    let property = "application/xml\
         </eb:Property></eb:PartProperties>";
    let with = "application/xml</eb:Property><eb:Property name=\"CompressionType\">application/gzip</eb:Property>\
                </eb:PartProperties>";
    let request = altered(id, property, with);
    let head = request.windows(4).position(|w| w == b"\r\n\r\n").expect("a request has a head") + 4;
    let mark = b"<payload/>";
    let at = request.windows(mark.len()).rposition(|w| w == mark).expect("it has a payload");
    let body = [&request[head..at], octets, &request[at + mark.len()..]].concat();
    http::post("/as4", "multipart/related; boundary=\"b1\"; type=\"application/soap+xml\"", &body)
}

#[test]
fn what_inflates_without_end_is_stopped() {
    let node = open(|builder| builder);
    let files = || Inbox::files(&node.dir().join("data")).len();
    let before = files();
    let bomb = zeros(256);
    refused(&node, "a bomb", &compressed("bomb@node.example", &bomb), &["EBMS:0303"]);
    let members = zeros(16).repeat(16);
    refused(&node, "many members", &compressed("members@node.example", &members), &["EBMS:0303"]);
    let empty = zeros(0).repeat(50_000);
    refused(&node, "members of nothing", &compressed("nothing@node.example", &empty), &["EBMS:0303"]);
    assert_eq!(files(), before, "nothing of them is left on the disk");
    still_works(&node);
}

#[test]
fn nesting_and_size_have_their_limits() {
    let node = open(|builder| builder);
    // Fewer octets than the SOAP part may have: it is the depth that is refused.
    let deep = format!("{}x{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    for (from, to, what) in [
        ("</S:Header>", format!("{deep}</S:Header>"), "a header"),
        ("<S:Body/>", format!("<S:Body>{deep}</S:Body>"), "the Body"),
        (">c1<", format!(">{deep}<"), "a value"),
        ("<S:Header>", "<S:Header><!DOCTYPE x>".to_owned(), "a document type in the middle"),
        ("<S:Body/>", "<S:Body>&undeclared;</S:Body>".to_owned(), "an entity that nobody declared"),
    ] {
        refused(&node, what, &altered("deep@node.example", from, &to), INVALID);
    }
    // AT-31: what could overflow a column is refused long before.
    let long = format!(">{}</eb:ConversationId>", "c".repeat(3 << 20));
    let request = altered("long@node.example", ">c1</eb:ConversationId>", &long);
    refused(&node, "a value of three mebibytes", &request, &["EBMS:0004"]);
    // FR-009: header sections of parts.
    let line = format!("Content-ID: <p1@node.example>\r\nX: {}", "x".repeat(1 << 20));
    refused(&node, "a long line", &altered("l@node.example", "Content-ID: <p1@node.example>", &line), &["EBMS:0007"]);
    let lines = format!("Content-ID: <p1@node.example>{}", "\r\nX: y".repeat(10_000));
    refused(&node, "many lines", &altered("m@node.example", "Content-ID: <p1@node.example>", &lines), &["EBMS:0007"]);
    let parts = "--b1\r\nContent-Type: text/plain\r\n\r\nx\r\n".repeat(10_000) + "--b1--";
    refused(&node, "many parts", &altered("p@node.example", "--b1--", &parts), &["EBMS:0007"]);
    still_works(&node);
}

#[test]
fn a_part_is_never_looked_into() {
    let node = open(|builder| builder);
    let mut nested = String::new();
    for level in 0..10_000 {
        nested += &format!("--n{level}\r\nContent-Type: multipart/mixed; boundary=\"n{}\"\r\n\r\n", level + 1);
    }
    let external = "<!DOCTYPE x SYSTEM \"http://127.0.0.1:9/x.dtd\"><x/>";
    for (id, payload) in [("nested@node.example", nested.as_str()), ("dtd@node.example", external)] {
        let answer = http::exchange(node.msh, &message::plain(id, payload)).expect("an answer");
        assert!(message::is_receipt(&answer, id), "{}", answer.text());
        assert_eq!(node.inbox.take(id).part(1), payload.as_bytes(), "delivered as it came");
    }
}

#[test]
fn nothing_is_fetched_from_where_a_message_says() {
    let node = open(|builder| builder);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let there = format!("http://{}/x", listener.local_addr().expect("it is bound"));
    let include = |href: &str| {
        format!(
            "<S:Body><o><xop:Include xmlns:xop=\"http://www.w3.org/2004/08/xop/include\" href=\"{href}\"/></o></S:Body>"
        )
    };
    let attachment = "<eb:PartInfo href=\"cid:p1@node.example\">";
    for href in [there.as_str(), "file:///etc/hostname", "ftp://127.0.0.1/x"] {
        let named = altered("ext@node.example", attachment, &format!("<eb:PartInfo href=\"{href}\">"));
        refused(&node, href, &named, &["EBMS:0011"]);
        let of_body = altered("xop@node.example", attachment, "<eb:PartInfo>");
        let text = String::from_utf8(of_body).expect("it is text");
        let (_, body) = text.split_once("\r\n\r\n").expect("a request has a head");
        let body = body.replacen("<S:Body/>", &include(href), 1);
        let media_type = "multipart/related; boundary=\"b1\"; type=\"application/soap+xml\"";
        refused(&node, &format!("{href} included"), &http::post("/as4", media_type, body.as_bytes()), &["EBMS:0011"]);
    }
    let schema = format!("{attachment}<eb:Schema location=\"{there}\"/>");
    let answer = http::exchange(node.msh, &altered("schema@node.example", attachment, &schema)).expect("an answer");
    assert!(message::is_receipt(&answer, "schema@node.example"), "a schema is a hint: {}", answer.text());
    node.inbox.take("schema@node.example");
    listener.set_nonblocking(true).expect("it can be asked");
    assert!(listener.accept().is_err(), "somebody came to fetch what a stranger named");
    still_works(&node);
}

/// A message whose part suggests a file name.
fn named(id: &str, name: &str) -> Vec<u8> {
    let head = "Content-ID: <p1@node.example>\r\n";
    altered(id, head, &format!("{head}Content-Disposition: attachment; filename=\"{name}\"\r\n"))
}

fn names_of_a_message_are_never_names_of_files(database: Database) {
    let node = open(|builder| builder.database(database));
    let long = "n".repeat(5_000);
    for (number, name) in ["/etc/cron.d/x", "..\\..\\x", "..%2f..%2fx", "CON", &long].into_iter().enumerate() {
        let id = format!("name-{number}@node.example");
        let answer = http::exchange(node.msh, &named(&id, name)).expect("an answer");
        assert!(message::is_receipt(&answer, &id), "{name}: {}", answer.text());
        assert_eq!(node.inbox.take(&id).parts[0].0, "part-1.xml", "{name}");
    }
    refused(&node, "NUL in a part's head", &named("nul@node.example", "a\0b"), &["EBMS:0007"]);
    let folders = ["in", "data", "keys", "pmodes", "postrider.toml", "postrider.log"];
    let strange = Inbox::files(node.dir()).into_iter().find(|file| {
        let inside = file.strip_prefix(node.dir()).expect("it is in the folder");
        !folders.iter().any(|folder| inside.starts_with(folder))
    });
    assert_eq!(strange, None, "a file that nobody asked for");
    still_works(&node);
}

#[test]
fn names_of_a_message_are_never_names_of_files_on_sqlite() {
    names_of_a_message_are_never_names_of_files(Database::Sqlite);
}

#[test]
fn names_of_a_message_are_never_names_of_files_on_postgresql() {
    names_of_a_message_are_never_names_of_files(Database::Postgres);
}

/// AT-25, AT-31: whatever is refused can be written down, with its reason.
#[test]
fn what_no_database_holds_is_refused_and_told() {
    let node = open(|builder| builder.database(Database::Postgres));
    let value = "<eb:ConversationId>c1<";
    let head = "Content-ID: <p1@node.example>";
    for (from, to, codes) in [
        (value, "<eb:ConversationId>c\0<", INVALID),
        (value, "<eb:ConversationId>c&#0;<", INVALID),
        (value, "<eb:ConversationId>c\u{FFFF}<", INVALID),
        (value, "<eb:\0>c1<", INVALID),
        (">Deliver<", ">De\u{7f}\u{9b}31mliver<", &["EBMS:0001"]),
        ("<eb:PartyId>urn:example:party:a", "<eb:PartyId type=\"t\">&#13;&#10;ERROR forged", &["EBMS:0001"]),
        (head, "Content-ID: <p1\0@node.example>", &["EBMS:0007"]),
        (head, "\0: <p1@node.example>", &["EBMS:0007"]),
        (
            head,
            "Content-ID: <p1@node.example>\r\nContent-Transfer-Encoding: \u{1}'; drop table message;--",
            &["EBMS:0007"],
        ),
    ] {
        refused(&node, &format!("{to:?}"), &altered("odd@node.example", from, to), codes);
    }
    assert_eq!(node.api.get("/api/v1/rejected").text().matches("\"code\":").count(), 9, "each is written down");
    let log = node.log();
    let acts = |c: char| c.is_control() && c != '\n';
    let odd = log.lines().find(|line| line.contains(acts) || line.starts_with("ERROR forged"));
    assert_eq!(odd, None, "a stranger's words act in the log");
    still_works(&node);
}

/// The same, where the octets come in escapes: the header is advisory, the reference is not.
#[test]
fn escapes_of_what_no_database_holds() {
    let node = open(|builder| builder.database(Database::Postgres));
    let head = "Content-ID: <p1@node.example>\r\n";
    let name = format!("{head}Content-Disposition: attachment; filename*=UTF-8''a%00b%0Ac%9B\r\n");
    let id = "escaped@node.example";
    let answer = http::exchange(node.msh, &altered(id, head, &name)).expect("an answer");
    assert!(message::is_receipt(&answer, id), "{}", answer.text());
    assert_eq!(node.inbox.take(id).part(1), b"<payload/>");
    let (from, to) = ("cid:p1@node.example", "cid:p1%00@node.example");
    let request = String::from_utf8(altered("cid@node.example", from, to)).expect("it is text");
    let (_, body) = request.split_once("\r\n\r\n").expect("a request has a head");
    let body = body.replacen("<p1@node.example>", "<p1%00@node.example>", 1);
    let media_type = "multipart/related; boundary=\"b1\"; type=\"application/soap+xml\"";
    let answer = http::exchange(node.msh, &http::post("/as4", media_type, body.as_bytes())).expect("an answer");
    assert!(message::is_receipt(&answer, "cid@node.example"), "the spelling names it: {}", answer.text());
    assert_eq!(node.inbox.take("cid@node.example").part(1), b"<payload/>");
    still_works(&node);
}
