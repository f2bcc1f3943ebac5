use libxml::parser::Parser;
use libxml::tree::c14n::{CanonicalizationMode, CanonicalizationOptions};
use proptest::prelude::*;

use super::*;
use crate::wire::xml::c14n::{canonical, canonicalize_document};
use crate::wire::xml::{Document, Limits};

fn stream(text: &[u8], piece: usize) -> Result<String, Problem> {
    let mut all = Vec::new();
    let mut canonicalizer = StreamCanonicalizer::default();
    let mut sink = |octets: &[u8]| all.extend_from_slice(octets);
    for octets in text.chunks(piece.max(1)) {
        canonicalizer.push(octets, &mut sink).map_err(|e| e.problem)?;
    }
    canonicalizer.finish().map_err(|e| e.problem)?;
    Ok(String::from_utf8(all).unwrap())
}

fn tree(text: &str, list: Option<&str>) -> String {
    let document = Document::parse(text, &Limits::ENVELOPE).unwrap();
    let mut all = Vec::new();
    canonicalize_document(&document, list, &mut |octets| all.extend_from_slice(octets));
    String::from_utf8(all).unwrap()
}

fn options(list: &[&str]) -> CanonicalizationOptions {
    CanonicalizationOptions {
        mode: CanonicalizationMode::ExclusiveCanonical1_0,
        with_comments: false,
        inclusive_ns_prefixes: list.iter().map(|p| (*p).to_owned()).collect(),
    }
}

/// Turns a tape of choices into a document: every tape gives a well-formed one.
struct Maker<'t> {
    tape: &'t [u8],
    text: String,
    ids: usize,
}

impl Maker<'_> {
    fn choose(&mut self, of: u8) -> u8 {
        match self.tape.split_first() {
            Some((first, rest)) => {
                self.tape = rest;
                first % of
            }
            None => 0,
        }
    }

    fn document(mut self) -> String {
        if self.choose(2) == 1 {
            self.text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        }
        self.beside();
        self.element(0, &mut vec![]);
        self.beside();
        self.text
    }

    fn beside(&mut self) {
        for _ in 0..self.choose(3) {
            let choice = usize::from(self.choose(4));
            self.text.push_str(["\n", "<?pi  data ?>", "<!-- c - d -->", "<?pi?>"][choice]);
        }
    }

    fn element(&mut self, depth: usize, scope: &mut Vec<(&'static str, &'static str)>) {
        const PREFIXES: [&str; 4] = ["", "p", "q", "rr"];
        const NAMES: [&str; 3] = ["urn:one", "urn:two", "http://example.org/b?c=d;e"];
        let mark = scope.len();
        let mut tag = String::new();
        for prefix in PREFIXES {
            let choice = usize::from(self.choose(8));
            let name = match (choice, prefix) {
                (1..4, _) => NAMES[choice - 1],
                (4, "") => "",
                _ => continue,
            };
            scope.push((prefix, name));
            let colon = if prefix.is_empty() { "" } else { ":" };
            tag.push_str(&format!(" xmlns{colon}{prefix}='{name}'"));
        }
        let value =
            |prefix: &str, scope: &[(&str, &'static str)]| scope.iter().rev().find(|s| s.0 == prefix).map(|s| s.1);
        let mut seen = vec![];
        for prefix in PREFIXES {
            for local in ["a", "b-é", "Zz"] {
                let namespace = if prefix.is_empty() { Some("") } else { value(prefix, scope) };
                let Some(namespace) = namespace else { continue };
                if self.choose(5) != 1 || seen.contains(&(namespace, local)) {
                    continue;
                }
                seen.push((namespace, local));
                let content = ["", "v", "a &lt;&gt; '&#9;&#13;\t\r\n", "é&amp;𝄞>]]>"][usize::from(self.choose(4))];
                let colon = if prefix.is_empty() { "" } else { ":" };
                tag.push_str(&format!("\n {prefix}{colon}{local} = \"{content}\""));
            }
        }
        self.ids += 1;
        tag.push_str(&format!(" xml:lang=\"en\" Id=\"n{}\"", self.ids));
        let prefix = PREFIXES[usize::from(self.choose(4))];
        let prefix = if value(prefix, scope).is_some() { prefix } else { "" };
        let name = if prefix.is_empty() { "e".to_owned() } else { format!("{prefix}:e") };
        let children = if depth > 5 { 0 } else { self.choose(5) };
        if children == 0 {
            self.text.push_str(&format!("<{name}{tag} />"));
        } else {
            self.text.push_str(&format!("<{name}{tag}>"));
            for _ in 0..children {
                self.child(depth, scope);
            }
            self.text.push_str(&format!("</{name} >"));
        }
        scope.truncate(mark);
    }

    fn child(&mut self, depth: usize, scope: &mut Vec<(&'static str, &'static str)>) {
        const TEXTS: [&str; 10] = [
            "text",
            " \r\n\r\t ",
            "a > b ]] \" '",
            "&amp;&lt;&gt;&quot;&apos;&#13;&#x1D11E;",
            "<![CDATA[]]]]><![CDATA[>&<]]>",
            "<![CDATA[ ]>]] x ]]>",
            "<!-- a <b> &c; -->",
            "<?pi a=\"b>\" ?>",
            "é𝄞€",
            "]",
        ];
        match self.choose(14) {
            n @ 0..10 => self.text.push_str(TEXTS[usize::from(n)]),
            _ => self.element(depth + 1, scope),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tree_stream_and_libxml2_agree(tape in proptest::collection::vec(any::<u8>(), 0..400), piece in 1usize..90) {
        let text = Maker { tape: &tape, text: String::new(), ids: 0 }.document();
        let ours = tree(&text, None);
        prop_assert_eq!(&stream(text.as_bytes(), piece).unwrap(), &ours, "{}", text);
        let theirs = Parser::default().parse_string(&text).unwrap();
        prop_assert_eq!(&theirs.canonicalize(options(&[]), None).unwrap(), &ours, "{}", text);
        // A second pass changes nothing.
        prop_assert_eq!(&tree(&ours, None), &ours);
        // Prefix lists, of the document and of a subtree.
        let listed = tree(&text, Some("p #default rr"));
        prop_assert_eq!(&theirs.canonicalize(options(&["p", "#default", "rr"]), None).unwrap(), &listed, "{}", text);
        let document = Document::parse(&text, &Limits::ENVELOPE).unwrap();
        if let Some(node) = document.by_id("n3") {
            let mut other = theirs.get_root_element().unwrap().findnodes("//*[@Id='n3']").unwrap().remove(0);
            for (list, one) in [(None, &[][..]), (Some("q #default"), &["q", "#default"][..])] {
                let ours = String::from_utf8(canonical(node, list)).unwrap();
                prop_assert_eq!(&other.canonicalize(options(one)).unwrap(), &ours, "{}", text);
            }
        }
    }

    #[test]
    fn no_input_makes_it_panic_and_the_tree_reader_accepts_what_it_does(
        choices in proptest::collection::vec(0usize..24, 0..24), piece in 1usize..5,
    ) {
        const BITS: [&str; 24] = [
            "<", ">", "/", "!", "--", "[CDATA[", "]]>", "?", "a", "xmlns", ":", "=", "\"", "'", "&", ";", "#x", " ",
            "\r", "\n", "<a>", "</a>", "é", "<a b='",
        ];
        let text: String = choices.iter().map(|c| BITS[*c]).collect();
        let tree = Document::parse(&text, &Limits { nodes: 1000, ..LIMITS });
        match (stream(text.as_bytes(), piece), tree) {
            (Ok(_), Err(error)) => prop_assert!(false, "only the stream takes {:?}: {}", text, error),
            (Ok(streamed), Ok(_)) => prop_assert_eq!(streamed, self::tree(&text, None)),
            (Err(_), _) => {}
        }
    }
}

#[test]
fn what_the_tree_refuses_is_refused() {
    let cases: [(&str, Problem); 12] = [
        ("<!DOCTYPE a><a/>", Problem::Dtd),
        ("<p:a/>", Problem::UnboundPrefix("p".into())),
        ("<a/><b/>", Problem::Root("there are two root elements")),
        ("<a>", Problem::Root("the document ends inside an element")),
        ("  ", Problem::Root("there is no root element")),
        ("<a/>x", Problem::TextOutside),
        ("<a>&e;</a>", Problem::Entity("e".into())),
        ("<a>\u{1}</a>", Problem::Character(1)),
        ("<a xmlns:p='urn:1' xmlns:q='urn:1' p:x='' q:x=''/>", Problem::RepeatedAttribute("x".into())),
        ("<a xmlns:p=''/>", Problem::Declaration("p".into())),
        ("<1a/>", Problem::Name("1a".into())),
        ("<a>&#0;</a>", Problem::Character(0)),
    ];
    for (text, problem) in cases {
        assert_eq!(stream(text.as_bytes(), 3), Err(problem), "{text}");
    }
    let deep = "<a>".repeat(LIMITS.depth + 1);
    assert_eq!(stream(deep.as_bytes(), 64), Err(Problem::TooDeep(LIMITS.depth)));
    let nested: String = (0..300).map(|n| format!("<a xmlns:p{n}='urn:x' xmlns:q{n}='urn:x'>")).collect();
    assert!(matches!(stream(nested.as_bytes(), 64), Err(Problem::Markup(_))));
    for text in [
        "<a></b>",
        "</a>",
        "<a x=1/>",
        "<a x='1'y='2'/>",
        "<a x='<'/>",
        "<a>]]></a>",
        "<a>]]",
        "<a>]]&gt;</a><",
        "<a/><!--",
        "<a><!-- -- --></a>",
        "<!--c--><?xml version='1.0'?><a/>",
        "<a><?xml ?></a>",
        "<>",
        "<!a/>",
        "<a x='1' x='2'/>",
        "<?xml version='1.0' encoding='ISO-8859-1'?><a/>",
        "<a>&amp</a>",
    ] {
        assert!(stream(text.as_bytes(), 1).is_err(), "{text}");
        assert!(stream(text.as_bytes(), 100).is_err(), "{text}");
    }
    assert!(stream(&[0xFF, 0xFE, b'<', 0, b'a', 0], 100).unwrap_err().to_string().contains("UTF-16"));
    assert!(stream(b"<a>\xE9</a>", 1).is_err());
    assert!(stream(b"<a>\xE9", 10).is_err());
}

#[test]
fn a_byte_order_mark_and_a_declaration_leave_no_trace() {
    let text = "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><a>x\r\ny\rz</a>";
    for piece in 1..text.len() {
        assert_eq!(stream(text.as_bytes(), piece).unwrap(), "<a>x\ny\nz</a>");
    }
}

#[test]
fn memory_stays_small_however_long_a_text_is() {
    let mut canonicalizer = StreamCanonicalizer::default();
    let mut length = 0;
    let mut sink = |octets: &[u8]| length += octets.len();
    canonicalizer.push(b"<a>", &mut sink).unwrap();
    let piece = vec![b'x'; 64 * 1024];
    for _ in 0..256 {
        canonicalizer.push(&piece, &mut sink).unwrap();
    }
    canonicalizer.push(b"<![CDATA[", &mut sink).unwrap();
    canonicalizer.push(&piece, &mut sink).unwrap();
    canonicalizer.push(b"]]><!--", &mut sink).unwrap();
    canonicalizer.push(&piece, &mut sink).unwrap();
    assert!(canonicalizer.scanner.footprint() < 16 * 1024);
    canonicalizer.push(b"--></a>", &mut sink).unwrap();
    canonicalizer.finish().unwrap();
    assert_eq!(length, 257 * piece.len() + 7);
    let long_tag = format!("<a b='{}'/>", "x".repeat(TAG_LIMIT));
    assert!(matches!(stream(long_tag.as_bytes(), 4096), Err(Problem::Markup(_))));
}
