//! The fuzz functions on stable: every fixture and thousands of mutations of them, the same ones each run. Nothing may
//! panic, and no case may take long.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postrider_conformance::hostile;

/// Mutations of each reader.
const CASES: usize = 3000;
/// No case takes longer; debug builds on a busy machine are meant.
const LIMIT: Duration = Duration::from_secs(2);

/// xorshift64*: no more is needed, and it is the same everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit.max(1) as u64)).unwrap()
    }
}

/// Files below `folder` with one of these endings.
fn corpus(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
                files.push(fs::read(path).unwrap());
            }
        }
    }
    assert!(files.len() > 4, "{folder} holds {} files", files.len());
    files
}

/// Changes a few places of `octets`, or weaves a piece of `other` into it.
fn mutated(octets: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    const WORDS: [&[u8]; 18] = [
        b"<",
        b">",
        b"</",
        b"/>",
        b"&#0;",
        b"&#xD;",
        b"]]>",
        b"<![CDATA[",
        b"<!--",
        b"\r\n--",
        b"--\r\n",
        b"\r\n\r\n",
        b"xmlns=\"\"",
        b" xmlns:a=\"urn:a\"",
        b"\xEF\xBB\xBF",
        b"\0",
        b"\xF0\x9D\x84\x9E",
        b"99999999999999999999",
    ];
    let mut octets = octets.to_vec();
    for _ in 0..=chance.below(4) {
        let at = chance.below(octets.len() + 1);
        let end = (at + chance.below(32)).min(octets.len());
        match chance.below(7) {
            0 if at < octets.len() => octets[at] ^= 1 << chance.below(8),
            1 => drop(octets.splice(at..at, WORDS[chance.below(WORDS.len())].iter().copied())),
            2 => drop(octets.drain(at..end)),
            3 => {
                let again = octets[at..end].to_vec();
                drop(octets.splice(end..end, again));
            }
            4 => octets.truncate(at.max(1)),
            5 if !other.is_empty() => {
                let from = chance.below(other.len());
                let to = (from + chance.below(200)).min(other.len());
                drop(octets.splice(at..end, other[from..to].iter().copied()));
            }
            _ if at < octets.len() => octets[at] = u8::try_from(chance.below(256)).unwrap(),
            _ => {}
        }
    }
    octets
}

fn feed(name: &str, read: fn(&[u8]), corpus: &[Vec<u8>]) {
    let mut chance = Chance(0x5EED_0000 + name.len() as u64);
    let timed = |octets: &[u8]| {
        let begun = Instant::now();
        // A panic names the case by its octets: it becomes a fixture.
        if let Err(panic) = std::panic::catch_unwind(|| read(octets)) {
            let path = std::env::temp_dir().join(format!("postrider-fuzz-{name}"));
            fs::write(&path, octets).unwrap();
            eprintln!("{name}: the case is {}", path.display());
            std::panic::resume_unwind(panic);
        }
        assert!(begun.elapsed() < LIMIT, "{name}: {:?} for {} octets", begun.elapsed(), octets.len());
    };
    for octets in corpus {
        timed(octets);
    }
    for _ in 0..CASES {
        let octets = &corpus[chance.below(corpus.len())];
        let other = &corpus[chance.below(corpus.len())];
        timed(&mutated(octets, other, &mut chance));
    }
}

/// Envelopes of the captured messages.
fn envelopes() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for octets in corpus("tests/fixtures", &[".http", ".mime"]) {
        let text = String::from_utf8_lossy(&octets).into_owned();
        let begin = text.find("Envelope").and_then(|at| text[..at].rfind('<'));
        let end = text.rfind("Envelope>").map(|at| at + "Envelope>".len());
        if let (Some(begin), Some(end)) = (begin, end)
            && begin < end
        {
            found.push(text.as_bytes()[begin..end].to_vec());
        }
    }
    assert!(found.len() > 10, "{} envelopes", found.len());
    found
}

#[test]
fn mime() {
    feed("mime", hostile::mime, &corpus("tests/fixtures", &[".mime", ".http"]));
}

#[test]
fn envelope() {
    feed("envelope", hostile::envelope, &envelopes());
}

#[test]
fn ebms_header() {
    feed("ebms_header", hostile::ebms_header, &envelopes());
}

#[test]
fn security_header() {
    feed("security_header", hostile::security_header, &envelopes());
}

#[test]
fn edi() {
    feed("edi", hostile::edi, &corpus("tests/fixtures/documents", &[".xml", ".edi", ".mime"]));
}

#[test]
fn pmode() {
    feed("pmode", hostile::pmode, &corpus("pmodes", &[".xml"]));
}

#[test]
fn c14n() {
    let mut texts = envelopes();
    texts.extend(corpus("pmodes", &[".xml"]));
    texts.extend(corpus("tests/fixtures/documents", &[".xml", ".edi"]).into_iter().filter(|t| t.len() < 20_000));
    feed("c14n", hostile::c14n, &texts);
}

/// The corpora reach what they are for: fixtures that no reader accepts would test nothing.
#[test]
fn the_corpora_are_accepted_unmutated() {
    let opened = envelopes().iter().filter(|e| postrider::msh::open(e, None).is_ok()).count();
    assert!(opened > 10, "{opened} envelopes open");
}
