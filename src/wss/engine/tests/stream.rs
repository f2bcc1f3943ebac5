use super::*;
use crate::wss::Certificate;
use openssl::pkey::{PKey, Private};

const RSA_SHA256: &str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const SHA256: &str = "http://www.w3.org/2001/04/xmlenc#sha256";

/// A part of any length that is nowhere in memory.
struct Endless {
    media_type: &'static str,
    length: u64,
    told: bool,
    left: u64,
    buffer: Vec<u8>,
}

impl Endless {
    fn new(media_type: &'static str, length: u64, told: bool) -> Self {
        Self { media_type, length, told, left: 0, buffer: vec![b'x'; 64 * 1024] }
    }
}

impl PartReader for Endless {
    fn open(&mut self, _cid: &str) -> Result<Option<OpenPart>, PartUnreadable> {
        self.left = self.length;
        Ok(Some(OpenPart { media_type: self.media_type.to_owned(), length: self.told.then_some(self.length) }))
    }

    fn chunk(&mut self) -> Result<&[u8], PartUnreadable> {
        let take = self.left.min(self.buffer.len() as u64);
        self.left -= take;
        Ok(&self.buffer[..usize::try_from(take).unwrap()])
    }
}

fn signer() -> (crate::wss::PrivateKey, Certificate) {
    let key: PKey<Private> = captured::private_key("partya");
    let private =
        crate::wss::PrivateKey { key, certificate: captured::certificate("partya").into(), chain: Vec::new() };
    (private, captured::certificate("partya"))
}

/// Signs one part with libxmlsec1, then has it judged with another reader.
fn judged(sign: &mut dyn PartReader, verify: &mut dyn PartReader, max: u64) -> Opinion {
    let (key, certificate) = signer();
    let envelope =
        super::super::sign(&captured::template(RSA_SHA256, SHA256, &["cid:big@x"]), &key, sign, u64::MAX).unwrap();
    second_opinion(&envelope, &certificate, verify, &captured::references(&envelope), max)
}

/// Runs the test again in a process of its own, where no other test's memory is counted; true in that process.
fn alone(test: &str) -> bool {
    const MARK: &str = "POSTRIDER_TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(MARK, "1")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"), "no test is called {test}");
    false
}

fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_large_part_streams_in_constant_memory() {
    if !alone("wss::engine::tests::stream::a_large_part_streams_in_constant_memory") {
        return;
    }
    let part = |length| Endless::new("application/octet-stream", length, true);
    let (key, certificate) = signer();
    let envelope =
        super::super::sign(&captured::template(RSA_SHA256, SHA256, &["cid:big@x"]), &key, &mut part(64 << 20), 1)
            .unwrap();
    let expected = captured::references(&envelope);
    let before = resident_pages();
    let opinion = second_opinion(&envelope, &certificate, &mut part(64 << 20), &expected, SECOND_OPINION_MAX);
    let grown = resident_pages().saturating_sub(before) * 4096;
    assert_eq!(opinion, Opinion::Agrees);
    assert!(grown < 4 << 20, "resident memory grew by {grown} octets");
}

#[test]
fn text_is_digested_with_crlf_however_it_is_cut() {
    let text = |octets: &[u8]| captured::Parts::one("text/plain", octets);
    // Parts gives 13 octets at a time: the first chunk ends between CR and LF.
    let signed = b"twelve chars\r\nnext\nlast\r\r";
    assert_eq!(judged(&mut text(signed), &mut text(b"twelve chars\nnext\r\nlast\n\r\n"), 0), Opinion::Agrees);
    assert!(why(judged(&mut text(signed), &mut text(b"twelve chars\n\nnext\nlast\n\n"), 0)).contains("cid:big@x"));
}

#[test]
fn a_canonical_part_beyond_the_maximum_is_left_open() {
    let xml = |told| {
        let mut part = captured::Parts::one("application/xml", b"<a b='1'  c='2'><!-- gone --></a>");
        part.tell_length = told;
        part
    };
    for told in [true, false] {
        assert_eq!(judged(&mut xml(told), &mut xml(told), 33), Opinion::Agrees);
        let Opinion::CouldNotJudge { why } = judged(&mut xml(told), &mut xml(told), 32) else { panic!("{told}") };
        assert!(why.contains("more than 32 octets"), "{why}");
    }
}

#[test]
fn what_libxml2_cannot_canonicalise_is_left_open_not_refused() {
    let part = |octets: &[u8]| captured::Parts::one("text/xml", octets);
    let deep = format!("{}{}", "<a>".repeat(300), "</a>".repeat(300));
    let text = format!("<a>{}&amp;</a>", "x".repeat(10_000_001));
    let odd: [&[u8]; 5] = [
        b"<a xmlns='relative'/>",
        b"<a xmlns='urn:a?b=1&amp;c=2'/>",
        "<a xmlns='urn:\u{e9}'/>".as_bytes(),
        deep.as_bytes(),
        text.as_bytes(),
    ];
    for octets in odd {
        let opinion = judged(&mut part(b"<a/>"), &mut part(octets), u64::MAX);
        let start = String::from_utf8_lossy(&octets[..octets.len().min(40)]).into_owned();
        assert!(matches!(opinion, Opinion::CouldNotJudge { .. }), "{start}: {opinion:?}");
    }
    assert!(why(judged(&mut part(b"<a/>"), &mut part(b"<a>"), u64::MAX)).contains("could not read the part"));
}

#[test]
fn both_readings_of_a_media_type_are_tried() {
    let part = || captured::Parts::one("application/xml-dtd", b"<a  b='1'/>");
    // Signed by the start of the type (as XML); the exact reading takes it raw and fails first.
    let mut verify = part();
    assert_eq!(judged(&mut part(), &mut verify, u64::MAX), Opinion::Agrees);
    assert_eq!(verify.opened.len(), 2);
}

#[test]
fn a_reader_that_fails_or_panics_leaves_the_matter_open() {
    struct Broken(bool);
    impl PartReader for Broken {
        fn open(&mut self, _cid: &str) -> Result<Option<OpenPart>, PartUnreadable> {
            Ok(Some(OpenPart::default()))
        }
        fn chunk(&mut self) -> Result<&[u8], PartUnreadable> {
            assert!(!self.0, "reader");
            Err(PartUnreadable("disk gone".to_owned()))
        }
    }
    for panics in [false, true] {
        let opinion = judged(&mut Endless::new("", 10, true), &mut Broken(panics), 0);
        let Opinion::CouldNotJudge { why } = opinion else { panic!() };
        assert!(why.contains(if panics { "panicked" } else { "disk gone" }), "{why}");
    }
}
