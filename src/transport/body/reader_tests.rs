use super::*;

fn gzip(octets: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}

fn reader(octets: &[u8], max: u64, max_ratio: u64) -> BodyReader {
    let limits = BodyLimits { max, max_ratio, wait: Duration::MAX, until: None, pace: None };
    let chunks = octets.chunks(100).map(Bytes::copy_from_slice).collect();
    BodyReader::new(Source::Held(chunks), limits, true, Arc::default())
}

#[tokio::test]
async fn chunks_come_as_they_are_and_then_none() {
    let mut body = BodyReader::held([Bytes::from_static(b"a"), Bytes::new(), Bytes::from_static(b"bc")]);
    assert_eq!(body.next().await.unwrap().unwrap(), "a");
    assert_eq!(body.next().await.unwrap().unwrap(), "bc");
    assert_eq!(body.next().await.unwrap(), None);
    assert_eq!(body.received(), 3);
    assert!(body.ended.load(Ordering::Acquire));
}

#[tokio::test]
async fn collecting_stops_at_its_bound() {
    let chunks = || [Bytes::from_static(b"abc"), Bytes::from_static(b"de")];
    assert_eq!(BodyReader::held(chunks()).collect(5).await.unwrap(), "abcde");
    assert_eq!(BodyReader::held(chunks()).collect(4).await, Err(BodyError::TooLarge { limit: 4 }));
    assert_eq!(BodyReader::held([]).collect(0).await.unwrap(), "");
}

#[tokio::test]
async fn gzip_is_undone_over_chunks_and_members() {
    let text: Vec<u8> = (0..100_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes()).collect();
    let mut coded = gzip(&text);
    coded.extend(gzip(b"tail"));
    let all = reader(&coded, 1 << 20, 200).collect(1 << 20).await.unwrap();
    assert_eq!(all.len(), text.len() + 4);
    assert!(all.starts_with(&text) && all.ends_with(b"tail"));
}

#[tokio::test]
async fn a_bomb_is_met_before_it_is_in_memory() {
    let bomb = gzip(&vec![0; 64 << 20]);
    let mut body = reader(&bomb, u64::MAX, 10);
    let mut given = 0;
    let failure = loop {
        match body.next().await {
            Ok(Some(octets)) => given += octets.len(),
            Ok(None) => panic!("a bomb went off"),
            Err(failure) => break failure,
        }
    };
    assert_eq!(failure, BodyError::Ratio { limit: 10 });
    assert!(given < 8 << 20, "{given}");
    assert_eq!(body.next().await, Err(BodyError::Ratio { limit: 10 }));
    let failure = reader(&bomb, 2 << 20, u64::MAX).collect(usize::MAX).await;
    assert_eq!(failure, Err(BodyError::TooLarge { limit: 2 << 20 }));
}

#[tokio::test]
async fn broken_gzip_is_an_error_and_no_short_body() {
    let mut coded = gzip(b"some text that is coded");
    let crc = coded.len() - 6;
    let whole = coded.clone();
    coded[crc] ^= 1;
    for broken in [coded, whole[..whole.len() - 4].to_vec(), b"no gzip at all".to_vec(), whole[..5].to_vec()] {
        let failure = reader(&broken, 1 << 20, 200).collect(1 << 20).await;
        assert!(matches!(failure, Err(BodyError::Encoding(_))), "{failure:?}");
    }
}
