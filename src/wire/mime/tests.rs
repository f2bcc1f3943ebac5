//! Whole packages through the reader, whole, octet by octet and cut at random.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

/// Head or content of the parts, in order; adjacent pieces of content joined.
#[derive(Clone, Debug, Default, PartialEq)]
struct Package {
    parts: Vec<(PartHead, Vec<u8>)>,
    ended: usize,
    complete: bool,
}

fn read_pieces<'p>(
    boundary: &str,
    limits: MimeLimits,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> (Package, Result<(), MimeError>) {
    let mut reader = MultipartReader::new(boundary, limits).unwrap();
    let mut events = Vec::new();
    let mut outcome = Ok(());
    for piece in pieces {
        outcome = outcome.and_then(|()| reader.push(Bytes::copy_from_slice(piece), &mut events));
    }
    let outcome = outcome.and_then(|()| reader.finish(&mut events));
    assert_eq!(reader.finish(&mut events), outcome, "an error stays");
    assert_eq!(reader.is_complete(), outcome.is_ok());
    let mut package = Package::default();
    for event in events {
        assert!(!package.complete, "nothing after the end");
        match event {
            MimeEvent::Head(head) => package.parts.push((head, Vec::new())),
            MimeEvent::Data(data) => {
                assert!(!data.is_empty());
                package.parts.last_mut().unwrap().1.extend_from_slice(&data);
            }
            MimeEvent::PartEnd => package.ended += 1,
            MimeEvent::End => package.complete = true,
        }
    }
    (package, outcome)
}

/// Reads a package whole and octet by octet: both must agree.
fn read(boundary: &str, package: &[u8]) -> Result<Package, MimeError> {
    let (whole, outcome) = read_pieces(boundary, MimeLimits::default(), [package]);
    let (small, again) = read_pieces(boundary, MimeLimits::default(), package.chunks(1));
    assert_eq!(again, outcome);
    outcome?;
    assert_eq!(small, whole);
    assert_eq!(whole.ended, whole.parts.len());
    Ok(whole)
}

/// The contents of a package whose boundary is `b1`.
fn contents(package: &str) -> Vec<String> {
    let read = read("b1", package.as_bytes()).unwrap();
    read.parts.into_iter().map(|(_, content)| String::from_utf8(content).unwrap()).collect()
}

#[test]
fn preamble_padding_epilogue_and_a_boundary_in_a_line() {
    let text = "This is a multi-part message.\r\n\r\n--b1  \t\r\nContent-ID: <r@x>\r\n\r\n<a>a --b1 b</a>\r\n--b1x\r\n\
                --b1\r\n\r\n\r\n\r\n--b1--\r\nepilogue --b1\r\n--b1\r\n";
    assert_eq!(contents(text), ["<a>a --b1 b</a>\r\n--b1x", "\r\n"]);
}

#[test]
fn parts_without_headers_or_content() {
    assert_eq!(contents("--b1\r\n\r\n--b1\r\nX: y\r\n\r\n--b1\r\n\r\nz\r\n--b1--"), ["", "", "z"]);
    assert_eq!(contents("--b1\n\nx\ny\n--b1\nX: y\n\nz\r\n--b1--\n"), ["x\ny", "z"]);
}

#[test]
fn transfer_encodings_are_undone() {
    let text = "--b1\r\nContent-Transfer-Encoding: BASE64\r\n\r\ncGF5\r\nbG9hZA==\r\n--b1\r\n\
                Content-Transfer-Encoding: quoted-printable\r\n\r\ncaf=C3=A9 =\r\nand more=20\r\n--b1\r\n\
                Content-Transfer-Encoding: binary (raw)\r\n\r\ncGF5=\r\n--b1--";
    assert_eq!(contents(text), ["payload", "café and more ", "cGF5="]);
    let bad = "--b1\r\nContent-Transfer-Encoding: base64\r\n\r\ncGF5bG9\r\n--b1--";
    assert!(matches!(read("b1", bad.as_bytes()), Err(MimeError::Content { part: 1, encoding: "base64", .. })));
}

#[test]
fn cut_anywhere_before_the_end_is_an_error() {
    let text = "preamble\r\n--b1\r\nContent-ID: <r@x>\r\n\r\ncontent\r\n--b1\r\nX: y\r\n\r\nmore\r\n--b1--";
    assert!(read("b1", text.as_bytes()).is_ok());
    for end in 0..text.len() {
        let cut = read("b1", &text.as_bytes()[..end]);
        assert!(matches!(cut, Err(MimeError::Truncated { .. } | MimeError::NoParts(_))), "cut to {end}: {cut:?}");
    }
    assert_eq!(
        read("b1", &text.as_bytes()[..text.len() - 2]),
        Err(MimeError::Truncated { part: 2, place: "the content", boundary: "b1".into() })
    );
    assert_eq!(read("b1", b"--b1--"), Err(MimeError::NoParts("b1".into())));
}

#[test]
fn header_sections_and_part_counts_are_bounded() {
    let limits = MimeLimits { header_octets: 100, header_lines: 5, parts: 3 };
    let outcome = |text: &str| {
        let whole = read_pieces("b1", limits, [text.as_bytes()]).1;
        assert_eq!(read_pieces("b1", limits, text.as_bytes().chunks(1)).1, whole);
        whole
    };
    let head = |octets: usize| format!("--b1\r\nX: {}\r\n\r\n\r\n--b1--", "y".repeat(octets - 7));
    assert_eq!(outcome(&head(100)), Ok(()));
    assert_eq!(outcome(&head(101)), Err(MimeError::HeaderOctets { part: 1, limit: 100 }));
    assert_eq!(
        outcome("--b1\r\nX: yyyyyyyyyyyyyyyyyyyyyyyy"),
        Err(MimeError::Truncated { part: 1, place: "the header section", boundary: "b1".into() })
    );
    let lines = |lines: usize| format!("--b1\r\n{}\r\n\r\n--b1--", "X: y\r\n".repeat(lines));
    assert_eq!(outcome(&lines(5)), Ok(()));
    assert_eq!(outcome(&lines(6)), Err(MimeError::HeaderLines { part: 1, limit: 5 }));
    let parts = |parts: usize| format!("{}--b1--", "--b1\r\n\r\nx\r\n".repeat(parts));
    assert_eq!(outcome(&parts(3)), Ok(()));
    assert_eq!(outcome(&parts(4)), Err(MimeError::TooManyParts(3)));
}

#[test]
fn a_header_line_without_end_is_stopped_at_the_limit() {
    let mut reader = MultipartReader::new("b1", MimeLimits::default()).unwrap();
    let mut events = Vec::new();
    reader.push(Bytes::from_static(b"--b1\r\nX: "), &mut events).unwrap();
    let chunk = Bytes::from_static(&[b'y'; 1000]);
    let pushed = (0..1000).take_while(|_| reader.push(chunk.clone(), &mut events).is_ok()).count();
    assert_eq!(pushed, MimeLimits::default().header_octets / 1000);
}

#[test]
fn binary_content_is_not_copied() {
    let package = Bytes::from_static(b"--b1\r\nContent-Transfer-Encoding: binary\r\n\r\nsome content\r\n--b1--");
    let mut events = Vec::new();
    MultipartReader::new("b1", MimeLimits::default()).unwrap().push(package.clone(), &mut events).unwrap();
    let MimeEvent::Data(data) = &events[1] else { panic!("{events:?}") };
    assert_eq!(&data[..], b"some content");
    assert!(package.as_ptr_range().contains(&data.as_ptr()));
}

#[test]
fn what_is_written_is_read() {
    let mut writer = MultipartWriter::new("=_b 1").unwrap();
    let mut package = Vec::new();
    let contents: [&[u8]; 3] = [b"<Envelope/>", b"", b"\r\n--=_b 1x\0\r\n"];
    for (at, content) in contents.iter().enumerate() {
        let id = ContentId::from_header(&format!("p{at}@x")).unwrap().to_string();
        let disposition = content_disposition("ä.xml");
        let headers = [("Content-ID", id.as_str()), ("Content-Disposition", &disposition)];
        package.extend_from_slice(&writer.part_head(&headers).unwrap());
        package.extend_from_slice(content);
    }
    package.extend_from_slice(&writer.close());
    let read = read("=_b 1", &package).unwrap();
    assert_eq!(read.parts.len(), 3);
    for (at, (head, content)) in read.parts.iter().enumerate() {
        assert_eq!(content, contents[at]);
        assert_eq!(head.content_id, Some(format!("p{at}@x")));
        assert_eq!(head.file_name.as_deref(), Some("ä.xml"));
        assert!(head.raw.ends_with(b"\r\n\r\n"));
    }
}

/// Octets that delimiters are made of, and few others: near misses are frequent.
fn near_delimiters() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"\r\n--b1"[..]),
        Just(&b"\r\n--b1\r\n\r\n"[..]),
        Just(&b"\n--b1\n\n"[..]),
        Just(&b"--b1"[..]),
        Just(&b"--"[..]),
        Just(&b"\r"[..]),
        Just(&b"\n"[..]),
        Just(&b" "[..]),
        Just(&b"\r\nContent-Transfer-Encoding: base64\r\n\r\ncGF5"[..]),
        Just(&b"Content-Transfer-Encoding: quoted-printable\r\n\r\n=3D=\r\n"[..]),
        Just(&b"bG9h ZA=="[..]),
        Just(&b"X: y"[..]),
        Just(&b"=41"[..]),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_chunking_gives_the_same_events(
        middle in near_delimiters(),
        sizes in proptest::collection::vec(1_usize..20, 1..30),
    ) {
        let package = [b"--b1\r\n\r\n".as_slice(), &middle, b"\r\n--b1--"].concat();
        let mut pieces = Vec::new();
        let mut rest = package.as_slice();
        for size in sizes.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let (whole, outcome) = read_pieces("b1", MimeLimits::default(), [package.as_slice()]);
        let (cut, again) = read_pieces("b1", MimeLimits::default(), pieces);
        prop_assert_eq!(&outcome, &again);
        if outcome.is_ok() {
            prop_assert_eq!(whole, cut);
        }
    }

    #[test]
    fn content_comes_out_as_it_went_in(contents in proptest::collection::vec(near_delimiters(), 1..4), cut in 1_usize..50) {
        let boundary = "not-in-there";
        let mut writer = MultipartWriter::new(boundary).unwrap();
        let mut package = Vec::new();
        for content in &contents {
            package.extend_from_slice(&writer.part_head(&[("Content-Transfer-Encoding", "binary")]).unwrap());
            package.extend_from_slice(content);
        }
        package.extend_from_slice(&writer.close());
        let (read, outcome) = read_pieces(boundary, MimeLimits::default(), package.chunks(cut));
        prop_assert_eq!(outcome, Ok(()));
        prop_assert_eq!(read.parts.into_iter().map(|(_, content)| content).collect::<Vec<_>>(), contents);
    }
}
