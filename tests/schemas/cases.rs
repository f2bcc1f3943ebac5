//! One table: a place of a valid message changed, and the verdicts of our schema, the published one and the reader.

use postrider::ebms::Code;
use postrider::pmode::SoapVersion;

use super::super::{Schemas, emitted, enveloped, read};

/// What each judge says: valid, or not; for the reader the code.
struct Case {
    /// Name of the emitted message that is changed.
    base: &'static str,
    from: &'static str,
    to: &'static str,
    ours: bool,
    published: bool,
    reader: Result<(), Code>,
}

const RICH: &str = "rich user message";
const MINIMAL: &str = "minimal user message";
const RECEIPT: &str = "non-repudiation receipt";
const ERROR: &str = "error signal";
const PULL: &str = "pull request";

/// A change that all three judge alike.
fn agreed(base: &'static str, from: &'static str, to: &'static str, good: bool) -> Case {
    let reader = if good { Ok(()) } else { Err(Code::INVALID_HEADER) };
    Case { base, from, to, ours: good, published: good, reader }
}

fn invalid() -> Vec<Case> {
    [
        (MINIMAL, "<eb:UserMessage>", "<eb:UserMessage foo=\"1\">"),
        (MINIMAL, "<eb:UserMessage>", "<eb:UserMessage wsu:Id=\"u\">"),
        (MINIMAL, "<eb:From>", "<eb:From xml:lang=\"en\">"),
        (MINIMAL, "<eb:From>", "<eb:From>text"),
        (MINIMAL, "<eb:Action>", "<x xmlns=\"urn:x\"></x><eb:Action>"),
        (MINIMAL, "</eb:UserMessage>", "<x xmlns=\"urn:x\"></x></eb:UserMessage>"),
        (MINIMAL, "</eb:Messaging>", "<x></x></eb:Messaging>"),
        (MINIMAL, "</eb:Messaging>", "text</eb:Messaging>"),
        (MINIMAL, ">Deliver<", "><x xmlns=\"urn:x\"></x><"),
        (MINIMAL, "<eb:Action>Deliver</eb:Action>", ""),
        (MINIMAL, "<eb:ConversationId></eb:ConversationId>", ""),
        (MINIMAL, "<eb:MessageId>m1@node.example</eb:MessageId>", ""),
        (MINIMAL, ">m1@node.example<", "><"),
        (MINIMAL, "<eb:Timestamp>2026-07-01T10:00:00.000Z</eb:Timestamp>", ""),
        (MINIMAL, "2026-07-01T10:00:00.000Z", "2026-02-30T10:00:00Z"),
        (MINIMAL, "2026-07-01T10:00:00.000Z", "2026-07-01 10:00:00"),
        (MINIMAL, "2026-07-01T10:00:00.000Z", "2026-07-01T10:00:60Z"),
        (MINIMAL, "2026-07-01T10:00:00.000Z", "2026-07-01T10:00:00+15:00"),
        (MINIMAL, "<eb:PartyId>urn:example:party:a</eb:PartyId>", ""),
        (MINIMAL, ">urn:example:party:a<", "><"),
        (MINIMAL, "<eb:PartyId>", "<eb:PartyId type=\"\">"),
        (MINIMAL, "</eb:UserMessage>", "<eb:MessageProperties></eb:MessageProperties></eb:UserMessage>"),
        (MINIMAL, "</eb:UserMessage>", "<eb:PayloadInfo></eb:PayloadInfo></eb:UserMessage>"),
        (MINIMAL, "<eb:Service>", "<eb:AgreementRef></eb:AgreementRef><eb:Service>"),
        (MINIMAL, "wsu:Id=\"_m\"", "id=\"1\""),
        (MINIMAL, "wsu:Id=\"_m\"", "other=\"1\""),
        (MINIMAL, "mustUnderstand=\"true\"", "mustUnderstand=\"yes\""),
        (RICH, ">v<", "><"),
        (RICH, "name=\"p\"", "name=\"\""),
        (RICH, "name=\"p\"", ""),
        (RICH, " xml:lang=\"en\"", ""),
        (RICH, "location=\"http://node.example/x.xsd\" ", ""),
        (RICH, "version=\"1\"", "version=\"\""),
        (RICH, "<eb:Description xml:lang=\"en\">An invoice</eb:Description>", "<eb:Extra></eb:Extra>"),
        (PULL, "<eb:PullRequest ", "<eb:PullRequest other=\"1\" "),
        (PULL, "</eb:PullRequest>", "<eb:x></eb:x></eb:PullRequest>"),
        (PULL, "<eb:SignalMessage>", "<eb:SignalMessage mpc=\"urn:m\">"),
    ]
    .into_iter()
    .map(|(base, from, to)| agreed(base, from, to, false))
    .collect()
}

fn valid() -> Vec<Case> {
    [
        (MINIMAL, "2026-07-01T10:00:00.000Z", "2026-07-01T24:00:00"),
        (MINIMAL, "2026-07-01T10:00:00.000Z", "2026-07-01T10:00:00.123456789123+14:00"),
        (MINIMAL, ">Deliver<", ">\n  Deliver\t<"),
        (MINIMAL, ">Deliver<", "><!-- none -->De<![CDATA[li]]>ver<"),
        (MINIMAL, "</eb:Messaging>", "<x xmlns=\"urn:x\"></x></eb:Messaging>"),
        (MINIMAL, "wsu:Id=\"_m\"", "id=\"_m\" x:a=\"1\" xmlns:x=\"urn:x\""),
        (MINIMAL, "wsu:Id=\"_m\"", "id=\"_m\" wsu:Id=\"_n\""),
        (MINIMAL, " env:mustUnderstand=\"true\"", ""),
        (MINIMAL, "mustUnderstand=\"true\"", "mustUnderstand=\" 1 \""),
        (PULL, "<eb:PullRequest ", "<eb:PullRequest x:a=\"1\" xmlns:x=\"urn:x\" "),
        (PULL, "</eb:PullRequest>", "<x xmlns=\"urn:x\"></x></eb:PullRequest><x xmlns=\"urn:x\"></x>"),
        (RECEIPT, "</eb:Receipt>", "<x xmlns=\"urn:x\"></x></eb:Receipt>"),
        (RECEIPT, "<ds:DigestValue>", "<ds:DigestValue>\n"),
    ]
    .into_iter()
    .map(|(base, from, to)| agreed(base, from, to, true))
    .collect()
}

/// Where the judges differ, and why.
fn differing() -> Vec<Case> {
    let case = |base, from, to, ours, published, reader| Case { base, from, to, ours, published, reader };
    let refused = |code: Code| Err(code);
    vec![
        // EB-037: the published schema takes any text that is not empty.
        case(MINIMAL, ">m1@node.example<", ">m1<", false, true, refused(Code::INVALID_HEADER)),
        case(MINIMAL, ">m1@node.example<", "> m1@node.example <", false, true, refused(Code::INVALID_HEADER)),
        // White space around a date is collapsed by the standard, but not by libxml2.
        case(MINIMAL, "2026-07-01T10:00:00.000Z", " 2026-07-01T10:00:00\n", false, false, Ok(())),
        // EB-039 and FR-054 cannot be said in a schema.
        case(MINIMAL, ">urn:example:party:a<", ">node a<", true, true, refused(Code::VALUE_INCONSISTENT)),
        case(MINIMAL, ">urn:example:service<", ">My Service<", true, true, refused(Code::VALUE_INCONSISTENT)),
        case(RICH, "urn:example:type:2", "urn:example:type:1", true, true, refused(Code::VALUE_INCONSISTENT)),
        // FR-053: the P-Mode named alone.
        case(MINIMAL, "<eb:Service>", "<eb:AgreementRef pmode=\"p\"/><eb:Service>", false, false, Ok(())),
        // EB-033: no bundling.
        case(
            MINIMAL,
            "</eb:Messaging>",
            "<eb:UserMessage></eb:UserMessage></eb:Messaging>",
            false,
            false,
            refused(Code::FEATURE_NOT_SUPPORTED),
        ),
        // FR-024, FR-064: partners' errors are read whatever their form.
        case(ERROR, "severity=\"failure\"", "severity=\"FAILURE\"", false, true, Ok(())),
        case(ERROR, " severity=\"failure\"", "", false, false, Ok(())),
        case(ERROR, " xml:lang=\"en\"", "", false, false, Ok(())),
        case(ERROR, "<eb:Error ", "<eb:Error odd=\"1\" ", false, false, Ok(())),
        // EB-065, EB-066: what a Receipt must say.
        case(
            RECEIPT,
            "<eb:RefToMessageId>m1@node.example</eb:RefToMessageId>",
            "",
            true,
            true,
            refused(Code::INVALID_RECEIPT),
        ),
        case(RECEIPT, " URI=\"#_b\"", "", true, true, refused(Code::INVALID_RECEIPT)),
        case(RECEIPT, "<ds:DigestValue>", "<ds:DigestValue>*", false, true, refused(Code::INVALID_RECEIPT)),
        // A signal that says nothing.
        case(
            PULL,
            "<eb:PullRequest mpc=\"urn:example:mpc\"></eb:PullRequest>",
            "<x xmlns=\"urn:x\"></x>",
            true,
            true,
            refused(Code::FEATURE_NOT_SUPPORTED),
        ),
    ]
}

/// Every case with its message.
fn each(mut judge: impl FnMut(&Case, &str)) {
    let bases = emitted(SoapVersion::Soap12);
    for case in invalid().into_iter().chain(valid()).chain(differing()) {
        let (_, whole) = bases.iter().find(|(name, _)| *name == case.base).expect("a base");
        assert!(whole.contains(case.from), "{} has no {}", case.base, case.from);
        judge(&case, &enveloped(&whole.replacen(case.from, case.to, 1), SoapVersion::Soap12));
    }
}

#[test]
fn our_schema_judges_the_cases() {
    let ours = Schemas::ours();
    each(|case, message| {
        let verdict = ours.check(message);
        assert_eq!(verdict.is_ok(), case.ours, "{} -> {}: {verdict:?}", case.from, case.to);
    });
}

#[test]
fn the_reader_judges_the_cases() {
    each(|case, message| assert_eq!(read(message), case.reader, "{} -> {}", case.from, case.to));
}

#[test]
#[ignore = "needs the published schemas: tests/published-schema.sh"]
fn the_published_schema_judges_the_cases() {
    let published = Schemas::published();
    each(|case, message| {
        let verdict = published.check(message);
        assert_eq!(verdict.is_ok(), case.published, "{} -> {}: {verdict:?}", case.from, case.to);
    });
}
