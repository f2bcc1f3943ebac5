use super::*;

fn head(fields: &str) -> Result<Screened, HeadFault> {
    screen(format!("POST /as4 HTTP/1.1\r\nHost: gateway.example\r\n{fields}\r\n").as_bytes(), 4096, 16)
}

fn length(fields: &str) -> Result<Length, HeadFault> {
    match head(fields)? {
        Screened::Head(_, length) => Ok(length),
        Screened::Partial => panic!("the head is whole"),
    }
}

#[test]
fn one_length_is_taken() {
    assert_eq!(length(""), Ok(Length::Known(0)));
    assert_eq!(length("content-length: 10\r\n"), Ok(Length::Known(10)));
    assert_eq!(length("Transfer-Encoding: Chunked \r\n"), Ok(Length::Chunked));
}

#[test]
fn two_readings_are_refused() {
    for both in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: gzip, chunked\r\nContent-Length: 6\r\n",
    ] {
        assert_eq!(length(both), Err(HeadFault::TwoLengths), "{both}");
    }
    for coding in
        ["gzip, chunked", "xchunked", "chunked, chunked", "identity", "", "chunked\r\nTransfer-Encoding: chunked"]
    {
        assert_eq!(length(&format!("Transfer-Encoding: {coding}\r\n")), Err(HeadFault::TransferEncoding), "{coding}");
    }
    for number in ["+10", "-1", "0x10", "", "5, 5", "1 0", "9223372036854775808", "99999999999999999999"] {
        assert_eq!(length(&format!("Content-Length: {number}\r\n")), Err(HeadFault::ContentLength), "{number}");
    }
    assert_eq!(length("Content-Length: 5\r\nContent-Length: 6\r\n"), Err(HeadFault::ContentLength));
    assert_eq!(length("Content-Length: 5\r\nContent-Length: 5\r\n"), Err(HeadFault::ContentLength));
}

#[test]
fn a_chunked_request_of_http_1_0_is_refused() {
    let head = b"POST /as4 HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(screen(head, 4096, 16), Err(HeadFault::TransferEncoding));
}

#[test]
fn odd_lines_are_unreadable() {
    for fields in ["Content-Length : 5\r\n", "A: b\r\n folded\r\n", "A\r\n", "A: b\0\r\n"] {
        assert!(matches!(head(fields), Err(HeadFault::Unreadable(_))), "{fields:?}");
    }
    assert_eq!(screen(b"\x16\x03\x01\x02\x00", 4096, 16), Err(HeadFault::Unreadable(httparse::Error::Token)));
    assert_eq!(screen(b"PRI * HTTP/2.0\r\n\r\n", 4096, 16).map_err(HeadFault::status), Err(505));
}

#[test]
fn the_head_ends_at_its_blank_line_in_either_spelling() {
    assert_eq!(screen(b"\r\nPOST / HTTP/1.1\r\nA: b\r\n\r\nrest", 4096, 16), Ok(Screened::Head(27, Length::Known(0))));
    assert_eq!(screen(b"POST / HTTP/1.1\nA: b\n\nrest", 4096, 16), Ok(Screened::Head(22, Length::Known(0))));
    assert_eq!(screen(b"POST / HTTP/1.1\r\nA: b\r\n", 4096, 16), Ok(Screened::Partial));
    assert_eq!(screen(b"\r\n\r\n", 4096, 16), Ok(Screened::Partial));
}

#[test]
fn a_head_over_its_limits_is_too_large() {
    let long = format!("POST / HTTP/1.1\r\nA: {}", "b".repeat(5000));
    assert_eq!(screen(long.as_bytes(), 4096, 16), Err(HeadFault::TooLarge));
    assert_eq!(head(&"A: b\r\n".repeat(16)), Err(HeadFault::TooLarge), "17 with Host");
}

/// Feeds `octets` in one piece and octet by octet; both must agree.
fn chunked(octets: &[u8]) -> Result<(usize, bool), ChunkFault> {
    let mut whole = Framing::new(Length::Chunked);
    let taken = whole.advance(octets).map(|taken| (taken, whole.is_complete()));
    let mut single = Framing::new(Length::Chunked);
    let mut count = 0;
    for octet in octets {
        match single.advance(std::slice::from_ref(octet)) {
            Ok(taken) => count += taken,
            Err(fault) => {
                assert_eq!(taken, Err(fault));
                return taken;
            }
        }
    }
    assert_eq!(taken, Ok((count, single.is_complete())));
    taken
}

#[test]
fn a_chunked_body_ends_where_it_says() {
    assert_eq!(chunked(b"5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1"), Ok((15, true)));
    assert_eq!(chunked(b"1;x=y\r\n<\r\n00\r\nTrailer: 1\r\n\r\nmore"), Ok((28, true)));
    assert_eq!(chunked(b"A \t\r\n0123456789\r\n"), Ok((17, false)));
}

#[test]
fn broken_chunks_are_refused() {
    for broken in [
        &b"0x10\r\n"[..],
        b"FFFFFFFFFFFFFFFF\r\n",
        b"00000000000000000\r\n",
        b"+5\r\nhello\r\n",
        b"\r\n",
        b"5\nhello",
        b"5\r\nhelloX\r\n",
        b"5;a\nb\r\n",
        b"5\rX",
        b"0\r\nA: b\n\r\n",
        b"0\r\n\rX",
    ] {
        assert!(chunked(broken).is_err(), "{:?}", String::from_utf8_lossy(broken));
    }
    let mut long = b"5;".to_vec();
    long.resize(20_000, b'x');
    assert!(chunked(&long).is_err());
}

#[test]
fn a_counted_body_ends_with_its_last_octet() {
    let mut framing = Framing::new(Length::Known(5));
    assert_eq!((framing.advance(b"hel"), framing.is_complete()), (Ok(3), false));
    assert_eq!((framing.advance(b"lo, world"), framing.is_complete()), (Ok(2), true));
}
