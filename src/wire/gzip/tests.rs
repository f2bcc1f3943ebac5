//! Every kind of gzip there is, every way to break it.

use flate2::Crc;
use proptest::prelude::*;

use super::{Deflater, GzipError, InflateLimits, Inflater};

fn deflate(pieces: &[&[u8]], level: u32) -> Vec<u8> {
    let mut all = Vec::new();
    let mut out = |octets: &[u8]| -> Result<(), GzipError> {
        all.extend_from_slice(octets);
        Ok(())
    };
    let mut deflater = Deflater::new(level);
    for piece in pieces {
        deflater.push(piece, &mut out).unwrap();
    }
    deflater.finish(&mut out).unwrap();
    all
}

fn inflate_with(input: &[u8], piece: usize, limits: InflateLimits) -> Result<Vec<u8>, GzipError> {
    let mut all = Vec::new();
    let mut inflater = Inflater::new(limits);
    for piece in input.chunks(piece) {
        inflater.push(piece, &mut |octets: &[u8]| -> Result<(), GzipError> {
            all.extend_from_slice(octets);
            Ok(())
        })?;
    }
    assert_eq!(inflater.finish()?, all.len() as u64);
    Ok(all)
}

fn inflate(input: &[u8]) -> Result<Vec<u8>, GzipError> {
    let whole = inflate_with(input, input.len().max(1), InflateLimits::default());
    assert_eq!(inflate_with(input, 1, InflateLimits::default()), whole, "octet by octet");
    whole
}

/// A member with those optional header fields: FTEXT 1, FHCRC 2, FEXTRA 4, FNAME 8, FCOMMENT 16.
fn with_fields(flags: u8, payload: &[u8]) -> Vec<u8> {
    let plain = deflate(&[payload], 6);
    let mut all = vec![0x1F, 0x8B, 8, flags, 1, 2, 3, 4, 2, 3];
    for (flag, field) in [(4, &b"\x05\0ext\0a"[..]), (8, b"name.xml\0"), (16, b"comment\0")] {
        if flags & flag != 0 {
            all.extend(field);
        }
    }
    if flags & 2 != 0 {
        let mut crc = Crc::new();
        crc.update(&all);
        all.extend(&crc.sum().to_le_bytes()[..2]);
    }
    all.extend(&plain[10..]);
    all
}

/// A member with every optional header field.
fn adorned(payload: &[u8]) -> Vec<u8> {
    with_fields(0b1_1111, payload)
}

#[test]
fn the_header_says_nothing_about_the_maker() {
    let made = deflate(&[b"payload"], 6);
    assert_eq!(made[..10], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]);
    assert_eq!(inflate(&made).unwrap(), b"payload");
    assert_eq!(deflate(&[], 6).len(), 20);
    assert_eq!(inflate(&deflate(&[], 6)).unwrap(), b"");
}

#[test]
fn all_fields_levels_and_members_are_read() {
    for flags in 0..32 {
        assert_eq!(inflate(&with_fields(flags, b"payload")).unwrap(), b"payload", "flags {flags:05b}");
    }
    let mut empty_extra = deflate(&[b"payload"], 6);
    empty_extra[3] = 4;
    empty_extra.splice(10..10, [0, 0]);
    assert_eq!(inflate(&empty_extra).unwrap(), b"payload");
    for level in [0, 1, 9] {
        assert_eq!(inflate(&deflate(&[&[7; 5000]], level)).unwrap(), [7; 5000]);
    }
    let members = [adorned(b"one "), deflate(&[b""], 6), deflate(&[b"two"], 0)].concat();
    assert_eq!(inflate(&members).unwrap(), b"one two");
}

#[test]
fn every_octet_of_header_and_trailer_counts() {
    let good = adorned(b"some payload");
    let header_crc = good.len() - deflate(&[b"some payload"], 6).len() + 10 - 2;
    for at in (0..4).chain([header_crc, header_crc + 1]) {
        let mut bad = good.clone();
        bad[at] ^= 0x80;
        assert!(matches!(inflate(&bad), Err(GzipError::NotGzip | GzipError::Header(_))), "octet {at}");
    }
    for (back, expected) in [(8, GzipError::Crc), (5, GzipError::Crc), (4, GzipError::Length), (1, GzipError::Length)] {
        let mut bad = good.clone();
        let at = bad.len() - back;
        bad[at] ^= 1;
        assert_eq!(inflate(&bad), Err(expected), "{back} from the end");
    }
}

#[test]
fn cut_anywhere_is_truncated() {
    let good = adorned(b"some payload");
    for end in 0..good.len() {
        assert_eq!(inflate(&good[..end]), Err(GzipError::Truncated(end as u64)), "cut to {end}");
    }
}

#[test]
fn what_follows_the_last_member_is_refused() {
    let good = deflate(&[b"payload"], 6);
    let length = good.len() as u64;
    for garbage in [&b"\0"[..], b"x", b"\x1Fx", b"\0\0\0\0"] {
        assert_eq!(inflate(&[&good, garbage].concat()), Err(GzipError::TrailingGarbage(length)));
    }
    assert_eq!(inflate(b"<order/>"), Err(GzipError::NotGzip));
    assert_eq!(inflate(&[&good[..10], b"\xFF\xFF\xFF\xFF\xFF"].concat()), Err(GzipError::Damaged(10)));
}

#[test]
fn bombs_are_stopped_while_they_inflate() {
    let bomb = deflate(&[&vec![0; 4 << 20]], 9);
    let mut seen = 0;
    let limits = InflateLimits { output: 100_000, ..InflateLimits::default() };
    let outcome = Inflater::new(limits).push(&bomb, &mut |octets: &[u8]| -> Result<(), GzipError> {
        seen += octets.len();
        Ok(())
    });
    assert_eq!(outcome, Err(GzipError::Bomb { limit: 100_000, ratio: 1000 }));
    assert!(seen <= 100_000, "{seen} octets came out");

    let ratio = |ratio| InflateLimits { ratio, ..InflateLimits::default() };
    assert!(matches!(inflate_with(&bomb, 7, ratio(100)), Err(GzipError::Bomb { .. })));
    assert_eq!(inflate_with(&bomb, 4096, ratio(1100)).map(|all| all.len()), Ok(4 << 20));
    let two = [bomb.as_slice(), &bomb].concat();
    let limits = InflateLimits { output: 6 << 20, ratio: 1100, ..InflateLimits::default() };
    assert!(matches!(inflate_with(&two, 4096, limits), Err(GzipError::Bomb { .. })), "totals count over members");
}

#[test]
fn thousands_of_empty_members_are_refused() {
    let empty = deflate(&[], 6);
    assert_eq!(inflate_with(&empty.repeat(1024), 4096, InflateLimits::default()), Ok(vec![]));
    assert_eq!(inflate_with(&empty.repeat(1025), 4096, InflateLimits::default()), Err(GzipError::TooManyMembers(1025)));
}

#[test]
fn nothing_goes_on_after_an_error() {
    #[derive(Debug, PartialEq)]
    enum Sink {
        Full,
        Gzip(GzipError),
    }
    impl From<GzipError> for Sink {
        fn from(error: GzipError) -> Self {
            Self::Gzip(error)
        }
    }
    let mut full = |_: &[u8]| Err(Sink::Full);
    let good = deflate(&[b"payload"], 6);
    let mut inflater = Inflater::new(InflateLimits::default());
    assert_eq!(inflater.push(&good, &mut full), Err(Sink::Full));
    assert_eq!(inflater.push(&good, &mut full), Err(Sink::Gzip(GzipError::Spoilt)));
    assert_eq!(inflater.finish(), Err(GzipError::Spoilt));
    let mut deflater = Deflater::new(6);
    assert_eq!(deflater.push(&vec![7; 100_000], &mut full), Err(Sink::Full));
    assert_eq!(deflater.push(b"x", &mut full), Err(Sink::Gzip(GzipError::Spoilt)));
    assert_eq!(deflater.finish(&mut full), Err(Sink::Gzip(GzipError::Spoilt)));
    let mut deflater = Deflater::new(6);
    assert_eq!(deflater.push(b"x", &mut full), Ok(()), "too little to give anything out");
    assert_eq!(deflater.finish(&mut full), Err(Sink::Full));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_cut_gives_the_same_octets(
        seed in proptest::collection::vec(any::<u8>(), 1..2000),
        times in 1_usize..80,
        cut in 1_usize..70_000,
        level in 0_u32..=9,
    ) {
        let payload = seed.repeat(times);
        let whole = deflate(&[&payload], level);
        let pieces: Vec<&[u8]> = payload.chunks(cut).collect();
        prop_assert_eq!(&deflate(&pieces, level), &whole);
        prop_assert_eq!(inflate_with(&whole, cut, InflateLimits::default()), Ok(payload));
    }
}
