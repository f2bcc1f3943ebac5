use super::*;

/// (file, signer)
const SIGNED: [(&str, &str); 23] = [
    ("phase4/push-signed.request.http", "partya"),
    ("phase4/push-signed.response.http", "partyb"),
    ("phase4/push-signed-compressed.request.http", "partya"),
    ("phase4/push-signed-compressed.response.http", "partyb"),
    ("phase4/push-signed-two-attachments.request.http", "partya"),
    ("phase4/push-signed-two-attachments.response.http", "partyb"),
    ("phase4/push-signed-no-attachment.request.http", "partya"),
    ("phase4/push-signed-no-attachment.response.http", "partyb"),
    ("phase4/push-signed-ski.request.http", "partya"),
    ("phase4/push-signenc.request.http", "partya"),
    ("phase4/push-signenc.response.http", "partyb"),
    ("phase4/push-signenc-two-attachments.request.http", "partya"),
    ("phase4/push-peppol.request.http", "partya"),
    ("phase4/push-peppol.response.http", "partyb"),
    ("phase4/pull-signed.request.http", "partya"),
    ("phase4/receipt-of-pulled-signed.request.http", "partya"),
    ("phase4/error-untrusted-signer.request.http", "stranger"),
    ("oxalis/push-peppol.request.http", "partya"),
    ("oxalis/push-peppol.response.http", "partyb"),
    ("oxalis/ping.request.http", "partya"),
    ("oxalis/ping.response.http", "partyb"),
    ("pyas4/push-peppol.request.http", "partya"),
    ("pyas4/push-peppol.response.http", "partyb"),
];

#[test]
fn agrees_on_the_messages_and_receipts_of_three_peers() {
    for (name, signer) in SIGNED {
        let mut message = captured::read(name);
        assert_eq!(opinion(&mut message, signer), Opinion::Agrees, "{name}");
        let cids = captured::references(&message.envelope).iter().filter(|r| r.uri.starts_with("cid:")).count();
        assert_eq!(message.parts.opened.len(), cids, "{name}: every part is read once");
    }
}

#[test]
fn many_threads_keep_their_messages_apart() {
    std::thread::scope(|scope| {
        for thread in 0..16 {
            scope.spawn(move || {
                for round in 0..20 {
                    let (name, signer) = SIGNED[(thread * 7 + round) % SIGNED.len()];
                    let mut message = captured::read(name);
                    if (thread + round) % 3 == 0 {
                        let other = if signer == "partyb" { "partya" } else { "partyb" };
                        assert!(why(opinion(&mut message, other)).contains(&format!("CN={other}")), "{name}");
                    } else {
                        assert_eq!(opinion(&mut message, signer), Opinion::Agrees, "{name}");
                    }
                }
            });
        }
    });
}

#[test]
fn leaves_openssls_error_queue_empty() {
    let mut message = captured::read("phase4/push-signed.request.http");
    let _ = opinion(&mut message, "stranger");
    assert!(openssl::error::ErrorStack::get().errors().is_empty());
}
