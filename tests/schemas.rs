//! Our schemas, our writer, our reader and what partners send: one verdict each, on one table of cases.
//!
//! `tests/published-schema.sh` runs the same table against the published schemas too.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use libxml::parser::Parser;
use libxml::schemas::{SchemaParserContext, SchemaValidationContext};
use libxml::tree::c14n::{CanonicalizationMode, CanonicalizationOptions};
use postrider::ebms::{
    AgreementRef, Cid, Code, Description, EbmsError, ErrorSignal, Href, MessageId, PartInfo, Party, PartyId, Property,
    PullRequest, ReadOptions, Receipt, ReceiptContent, Schema, Typed, UserMessage, find_messaging, fragment,
    read_messaging, write,
};
use postrider::pmode::SoapVersion;
use postrider::wire::xml::{Document, Limits, names};
use postrider::wss::{Reference, Transform};
use time::macros::datetime;

mod schemas {
    mod captured;
    mod cases;
    mod mutated;
}

/// A loaded schema set.
struct Schemas(RefCell<SchemaValidationContext>);

impl Schemas {
    fn ours() -> Self {
        Self::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/message.xsd"))
    }

    /// The published ones, where `tests/published-schema.sh` put them.
    fn published() -> Self {
        let path = std::env::var_os("POSTRIDER_PUBLISHED_SCHEMA").expect("run by tests/published-schema.sh");
        Self::load(&PathBuf::from(path))
    }

    fn load(path: &Path) -> Self {
        let mut parser = SchemaParserContext::from_file(path.to_str().expect("a UTF-8 path"));
        let context = SchemaValidationContext::from_parser(&mut parser);
        Self(RefCell::new(context.unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display()))))
    }

    fn check(&self, message: &str) -> Result<(), String> {
        let document = Parser::default().parse_string(message).map_err(|e| e.to_string())?;
        self.0.borrow_mut().validate_document(&document).map_err(|errors| {
            errors.into_iter().filter_map(|e| e.message).map(|m| m.trim().to_owned()).collect::<Vec<_>>().join("; ")
        })
    }
}

/// The reader's verdict: the code of its first finding.
fn read(message: &str) -> Result<(), Code> {
    let document = Document::parse(message, &Limits::ENVELOPE).expect("a readable document");
    let envelope = document.root();
    let header = envelope.child(envelope.namespace(), "Header").expect("a Header");
    find_messaging(header)
        .and_then(|messaging| read_messaging(messaging, ReadOptions::default()))
        .map(|_| ())
        .map_err(|error| error.code())
}

fn enveloped(messaging: &str, soap: SoapVersion) -> String {
    let envelope = if soap == SoapVersion::Soap11 { names::SOAP11 } else { names::SOAP12 };
    format!(
        "<env:Envelope xmlns:env=\"{envelope}\"><env:Header>{messaging}</env:Header>\
         <env:Body xmlns:wsu=\"{}\" wsu:Id=\"_b\"></env:Body></env:Envelope>",
        names::WSU
    )
}

fn id(text: &str) -> MessageId {
    MessageId::parse(text).expect("a MessageId")
}

fn minimal() -> UserMessage {
    let party =
        |value: &str, role: &str| Party { ids: vec![PartyId { value: value.into(), kind: None }], role: role.into() };
    UserMessage {
        mpc: None,
        timestamp: datetime!(2026-07-01 10:00 UTC),
        message_id: id("m1@node.example"),
        ref_to: None,
        from: party("urn:example:party:a", names::ROLE_INITIATOR),
        to: party("urn:example:party:b", names::ROLE_RESPONDER),
        agreement: None,
        service: Typed { value: "urn:example:service".into(), kind: None },
        action: "Deliver".into(),
        conversation_id: String::new(),
        properties: vec![],
        parts: vec![],
    }
}

fn property(name: &str, kind: Option<&str>, value: &str) -> Property {
    Property { name: name.into(), kind: kind.map(Into::into), value: value.into() }
}

fn rich() -> UserMessage {
    let mut message = minimal();
    message.mpc = Some("urn:example:mpc".into());
    message.ref_to = Some(id("m0@node.example"));
    message.from.ids = vec![
        PartyId { value: "a&<b>".into(), kind: Some("urn:example:type:1".into()) },
        PartyId { value: "0088:1".into(), kind: Some("urn:example:type:2".into()) },
    ];
    message.agreement = Some(AgreementRef {
        value: "A1".into(),
        kind: Some("urn:example:agreements".into()),
        pmode: Some("pm-1".into()),
    });
    message.service = Typed { value: "billing".into(), kind: Some("urn:example:services".into()) };
    message.conversation_id = "c1".into();
    message.properties = vec![property("originalSender", Some("iso6523"), "9999:sender"), property("p", None, "v")];
    message.parts = vec![
        PartInfo {
            href: Href::Attachment(Cid::of("p1/ü@node.example")),
            schema: Some(Schema {
                location: "http://node.example/x.xsd".into(),
                version: Some("1".into()),
                namespace: Some("urn:n".into()),
            }),
            description: Some(Description { lang: "en".into(), text: "An invoice".into() }),
            properties: vec![property("MimeType", None, "application/xml")],
        },
        PartInfo { href: Href::Body, schema: None, description: None, properties: vec![] },
    ];
    message
}

fn non_repudiation() -> Receipt {
    let reference = |uri: &str, algorithm: &str, prefixes: Option<&str>| Reference {
        uri: uri.into(),
        transforms: vec![Transform { algorithm: algorithm.into(), prefix_list: prefixes.map(Into::into) }],
        digest_method: "http://www.w3.org/2001/04/xmlenc#sha256".into(),
        digest: vec![7; 32],
    };
    Receipt {
        message_id: id("r1@peer.example"),
        timestamp: datetime!(2026-07-01 10:00:01 UTC),
        ref_to: id("m1@node.example"),
        content: ReceiptContent::NonRepudiation(vec![
            reference("#_m", names::EXC_C14N, Some("env eb")),
            reference("#_b", names::EXC_C14N, None),
            reference("cid:p1@node.example", names::SWA_CONTENT_SIGNATURE, None),
        ]),
    }
}

fn reception_awareness() -> Receipt {
    let received = write::user_message(&rich(), "_u", SoapVersion::Soap12);
    let document = Document::parse(&received, &Limits::ENVELOPE).expect("our own fragment");
    let message = document.root().elements().next().expect("a user message");
    Receipt { content: ReceiptContent::ReceptionAwareness(fragment::copy(message)), ..non_repudiation() }
}

fn error_signal() -> ErrorSignal {
    let about = id("m1@node.example");
    ErrorSignal {
        message_id: id("e1@peer.example"),
        timestamp: datetime!(2026-07-01 10:00:01 UTC),
        ref_to: Some(about.clone()),
        errors: vec![
            EbmsError::new(Code::INVALID_HEADER, "eb:Action is missing").about(&about),
            EbmsError::new(Code::EMPTY_MESSAGE_PARTITION_CHANNEL, ""),
        ],
    }
}

fn pull_request() -> PullRequest {
    PullRequest {
        message_id: id("p1@node.example"),
        timestamp: datetime!(2026-07-01 10:00 UTC),
        mpc: Some("urn:example:mpc".into()),
    }
}

/// Everything that we emit, by name.
fn emitted(soap: SoapVersion) -> Vec<(&'static str, String)> {
    vec![
        ("minimal user message", write::user_message(&minimal(), "_m", soap)),
        ("rich user message", write::user_message(&rich(), "_m", soap)),
        ("non-repudiation receipt", write::receipt(&non_repudiation(), "_m", soap)),
        ("reception-awareness receipt", write::receipt(&reception_awareness(), "_m", soap)),
        ("error signal", write::error_signal(&error_signal(), "_m", soap)),
        ("pull request", write::pull_request(&pull_request(), "_m", soap)),
    ]
}

const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

#[test]
fn what_we_emit_is_valid_and_readable() {
    let ours = Schemas::ours();
    for soap in BOTH {
        for (name, messaging) in emitted(soap) {
            let message = enveloped(&messaging, soap);
            assert_eq!(ours.check(&message), Ok(()), "{name} in {soap:?}:\n{message}");
            assert_eq!(read(&message), Ok(()), "{name} in {soap:?}");
        }
    }
}

#[test]
#[ignore = "needs the published schemas: tests/published-schema.sh"]
fn what_we_emit_is_valid_by_the_published_schema() {
    let published = Schemas::published();
    for soap in BOTH {
        for (name, messaging) in emitted(soap) {
            assert_eq!(published.check(&enveloped(&messaging, soap)), Ok(()), "{name} in {soap:?}");
        }
    }
}

/// Libxml2's canonicaliser agrees that the fragments are canonical, alone and as part of an envelope.
#[test]
fn what_we_emit_is_its_own_exclusive_canonical_form() {
    let options = || CanonicalizationOptions {
        mode: CanonicalizationMode::ExclusiveCanonical1_0,
        with_comments: false,
        inclusive_ns_prefixes: vec![],
    };
    for soap in BOTH {
        for (name, messaging) in emitted(soap) {
            let document = Parser::default().parse_string(&messaging).expect("a document");
            assert_eq!(document.canonicalize(options(), None), Ok(messaging.clone()), "{name}");
            let envelope = Parser::default().parse_string(enveloped(&messaging, soap)).expect("a document");
            let header = envelope.get_root_element().expect("a root").get_child_nodes().remove(0);
            let mut node = header.get_child_nodes().remove(0);
            assert_eq!(node.canonicalize(options()), Ok(messaging), "{name}");
        }
    }
}
