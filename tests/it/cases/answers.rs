//! Answers to what we send, given by a scripted partner.

use std::time::Duration;

use super::expected::{Answer, Book, Then, octets};
use super::sites::{A, AGREEMENT, B};
use super::{Faults, none, settle};
use crate::support::api::Submission;
use crate::support::keys::pki;
use crate::support::message::{element, elements};
use crate::support::node::{Builder, Node};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::{PMode, Party};
use crate::support::{http, wait};

/// The id that the answers refer to; the message's own stands for it.
const PUSHED: &str = "push-1@node.example";
/// One retry shows as well as many that it is tried again.
const SOON: &str = r#"<Retry retries="1" first="100ms" multiplier="1" max="100ms" jitter="0%" deadline="1min"/>"#;
const LATE: &str = r#"<Retry retries="1" first="10min" multiplier="1" max="10min" jitter="0%" deadline="1h"/>"#;

/// An answer, its partner, and the message it is given to.
struct Case<'a> {
    answer: &'a Answer,
    pmode: String,
    peer: Peer,
}

fn pmode(case: &Case<'_>) -> PMode {
    let (a, b) = (Party::uri(A), Party::uri(B));
    let of = |profile, a, b| {
        let service = format!("urn:example:{}", case.pmode);
        PMode::new(&case.pmode, profile)
            .parties(a, b)
            .agreement(AGREEMENT)
            .service(None, &service, "Deliver")
            .to(&case.peer.url())
            .retry(SOON)
    };
    match case.answer.pmode.as_str() {
        "plain" => of("plain", a, b),
        "signed" => of("as4", a.certificate("blue"), b.certificate("red")),
        "callback" => of("plain", a, b)
            .retry(LATE)
            .leg("<Security><SendReceipt replyPattern=\"callback\" replyTo=\"http://127.0.0.1:9/as4\"/></Security>"),
        "unreceipted" => {
            of("plain", a, b).leg("<Security><SendReceipt enabled=\"false\"/></Security>").without_awareness()
        }
        other => panic!("no P-Mode is named {other}"),
    }
}

#[test]
fn what_the_sender_makes_of_answers() {
    let book = Book::read();
    let cases: Vec<Case<'_>> = book
        .answer
        .iter()
        .enumerate()
        .map(|(number, answer)| Case {
            answer,
            pmode: format!("answer-{number}"),
            peer: Peer::start([Act::about(PUSHED, octets(&answer.file))]),
        })
        .collect();
    let builder = Builder::new("sender")
        .party(A, None, Some(&pki().blue))
        .certificate("blue", &pki().blue.certificate)
        .certificate("red", &pki().red.certificate);
    let node = cases.iter().map(pmode).fold(builder, Builder::pmode).start();
    let submitted: Vec<String> = cases
        .iter()
        .map(|case| node.api.submit(&Submission::to(&case.pmode).payload("application/xml", "<order/>")))
        .collect();
    let mut faults = Faults::new();
    for (case, id) in cases.iter().zip(&submitted) {
        settle(&mut faults, &case.answer.file, &judge(&node, case, id));
    }
    none(faults);
}

fn judge(node: &Node, case: &Case<'_>, id: &str) -> Vec<String> {
    let Answer { then, code, says, .. } = case.answer;
    if *then == Then::Awaited {
        return awaited(node, case, id);
    }
    let message = wait(&format!("the end of {}", case.answer.file), Duration::from_secs(20), || {
        node.api.message(id).filter(|m| matches!(m["state"].as_str(), Some("delivered" | "failed")))
    });
    let lines: Vec<String> =
        node.api.timeline(id).iter().filter_map(|event| event["text"].as_str().map(str::to_owned)).collect();
    let (story, error) = (lines.join("\n"), message["error"].as_str().unwrap_or_default());
    let seen = case.peer.seen_of(id);
    let (state, attempts, begins) = match then {
        Then::Delivered | Then::Taken | Then::Awaited => ("delivered", 1, ""),
        Then::Retried => ("failed", 2, "EBMS:0301"),
        Then::Failed => ("failed", 1, code.as_deref().expect("a failure has a code")),
    };
    let mut faults = Vec::new();
    if message["state"] != state || seen.len() != attempts || !error.starts_with(begins) {
        let is = &message["state"];
        faults.push(format!("{is} after {} attempts, should be {then:?} {code:?}: {error}\n{story}", seen.len()));
    }
    // A receipt is a proof; that nothing was agreed is none.
    let proof = match then {
        Then::Delivered => Some("receipt"),
        Then::Taken => Some("none"),
        _ => None,
    };
    if message["proof"].as_str() != proof {
        faults.push(format!("the proof is {}", message["proof"]));
    }
    faults.extend(says.iter().filter(|w| !story.contains(*w)).map(|w| format!("`{w}` is not told:\n{story}")));
    let ids: Vec<_> = seen.iter().map(|s| element(&s.request.text(), "MessageId")).collect();
    if ids.windows(2).any(|two| two[0] != two[1]) {
        faults.push(format!("the retry has another id: {ids:?}"));
    }
    faults
}

/// The message waits, and the receipt that comes by itself ends that.
fn awaited(node: &Node, case: &Case<'_>, id: &str) -> Vec<String> {
    let waiting = wait(&format!("the answer of {}", case.answer.file), Duration::from_secs(20), || {
        node.api.message(id).filter(|m| !matches!(m["state"].as_str(), Some("pending" | "sending")))
    });
    if waiting["state"] != "awaiting_receipt" {
        return vec![format!("{} in place of waiting:\n{}", waiting["state"], node.api.story(id))];
    }
    let request = case.peer.seen_of(id).remove(0).request.text();
    let copied = elements(&request, "UserMessage").remove(0);
    let receipt = format!(
        "<S:Envelope xmlns:S=\"http://www.w3.org/2003/05/soap-envelope\" \
         xmlns:eb=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/\"><S:Header>\
         <eb:Messaging S:mustUnderstand=\"true\"><eb:SignalMessage><eb:MessageInfo>\
         <eb:Timestamp>2026-07-01T10:00:01.000Z</eb:Timestamp><eb:MessageId>late-{id}</eb:MessageId>\
         <eb:RefToMessageId>{id}</eb:RefToMessageId></eb:MessageInfo><eb:Receipt><eb:UserMessage>{copied}\
         </eb:UserMessage></eb:Receipt></eb:SignalMessage></eb:Messaging></S:Header><S:Body/></S:Envelope>"
    );
    let answer = http::exchange(node.msh, &http::post("/as4", "application/soap+xml", receipt.as_bytes()));
    let status = answer.map(|a| a.status()).unwrap_or_default();
    node.api.until(id, "delivered");
    let attempts = case.peer.seen_of(id).len();
    if (status, attempts) == (204, 1) { Vec::new() } else { vec![format!("HTTP {status}, {attempts} attempts")] }
}
