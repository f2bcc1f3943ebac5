use std::{fs, io, path::Path, time::Duration};

use futures_util::StreamExt;

use super::*;

const INLINE: PayloadOptions = PayloadOptions { inline: 8, reserve: 0 };

fn store(dir: &Path) -> PayloadStore {
    PayloadStore::open_with(dir, INLINE).unwrap()
}

fn put(store: &PayloadStore, pieces: &[&[u8]]) -> Stored {
    let mut writer = store.writer();
    for piece in pieces {
        writer.push(piece).unwrap();
    }
    let stored = writer.finish().unwrap();
    // As the transaction does that stores the row.
    stored.hold().into_iter().for_each(Hold::keep);
    stored
}

/// Every file below the folder.
/// Every file but the lock.
fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path.display().to_string()) }
    }
    found.retain(|path| !path.ends_with("/.lock"));
    found
}

fn read(store: &PayloadStore, digest: Digest) -> Vec<u8> {
    store.read(digest).unwrap().flat_map(Result::unwrap).collect()
}

#[test]
fn a_folder_has_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let first = PayloadStore::open(dir.path()).unwrap();
    assert!(matches!(PayloadStore::open(dir.path()), Err(PayloadError::InUse { .. })));
    drop(first);
    PayloadStore::open(dir.path()).unwrap();
}

#[test]
fn small_payloads_come_back_and_make_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let stored = put(&store, &[b"ei", b"ght", b"888"]);
    assert_eq!(stored, Stored::Inline { digest: Digest::of(b"eight888"), octets: b"eight888".to_vec() });
    assert_eq!(put(&store, &[]).size(), 0);
    assert_eq!(files(dir.path()), [""; 0]);
}

#[test]
fn larger_payloads_are_files_named_by_their_digest() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let stored = put(&store, &[b"abc", b"defghi", b"", b"a piece that is longer than the buffer", b"j"]);
    let all = b"abcdefghia piece that is longer than the bufferj";
    let digest = Digest::of(all);
    assert!(stored.hold().is_some());
    assert_eq!((stored.digest(), stored.size()), (digest, all.len() as u64));
    let name = digest.to_string();
    assert_eq!(files(dir.path()), [dir.path().join(&name[..2]).join(&name[2..]).display().to_string()]);
    assert_eq!(read(&store, digest), all);
    assert!(store.exists(digest).unwrap());
    assert_eq!(store.read(digest).unwrap().size(), all.len() as u64);
    assert_eq!(put(&store, &[all]), stored, "the same octets are the same payload");
    assert_eq!(files(dir.path()).len(), 1);
}

#[test]
fn a_digest_known_already_is_not_computed_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let all = b"a digest was computed over this for its signature";
    let mut writer = store.writer_unhashed();
    writer.push(all).unwrap();
    assert_eq!(writer.finish_as(Digest::of(all)).unwrap().digest(), Digest::of(all));
    let mut writer = store.writer_unhashed();
    writer.push(all).unwrap();
    assert_eq!(writer.finish().unwrap().digest(), Digest::of(all), "read back where none is given");
    let mut writer = store.writer();
    writer.push(all).unwrap();
    assert_eq!(writer.finish_as(Digest([0; 32])).unwrap().digest(), Digest::of(all));
}

#[test]
fn abandoned_writers_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let mut writer = store.writer();
    writer.push(b"longer than eight").unwrap();
    writer.push(b"and longer").unwrap();
    assert_eq!(files(dir.path()).len(), 1);
    drop(writer);
    assert_eq!(files(dir.path()), [""; 0]);
}

#[test]
fn leftovers_of_a_crash_are_removed_at_start_and_payloads_stay() {
    let dir = tempfile::tempdir().unwrap();
    let digest = put(&store(dir.path()), &[b"kept over the restart"]).digest();
    fs::write(dir.path().join("incoming/0123.part"), b"half").unwrap();
    let store = store(dir.path());
    assert_eq!(files(dir.path()).len(), 1);
    assert_eq!(read(&store, digest), b"kept over the restart");
}

#[test]
fn removing_spares_what_was_stored_again_lately() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let digest = put(&store, &[b"removed in the end"]).digest();
    assert!(!store.remove(digest, Duration::from_hours(1)).unwrap());
    let old = std::time::SystemTime::now() - Duration::from_hours(2);
    let path = store.shared.path(digest);
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    put(&store, &[b"removed in the end"]);
    assert!(!store.remove(digest, Duration::from_hours(1)).unwrap(), "its age began anew");
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    assert!(store.remove(digest, Duration::from_hours(1)).unwrap());
    assert!(!store.remove(digest, Duration::ZERO).unwrap());
    assert!(!store.exists(digest).unwrap());
    assert!(matches!(store.read(digest), Err(PayloadError::Missing { .. })));
}

#[test]
fn damage_is_seen_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let digest = put(&store, &[b"a bit of this will flip"]).digest();
    fs::write(store.shared.path(digest), b"a bit of that will flip").unwrap();
    let mut reader = store.read(digest).unwrap();
    assert!(reader.next().unwrap().is_ok());
    assert!(matches!(reader.next(), Some(Err(PayloadError::Damaged { .. }))));
    assert!(reader.next().is_none());
}

#[tokio::test]
async fn a_stream_gives_the_same_octets() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let all: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_be_bytes()[3]).collect();
    let digest = put(&store, &[&all]).digest();
    let mut stream = store.read(digest).unwrap().into_stream();
    let mut got = Vec::new();
    while let Some(chunk) = stream.next().await {
        got.extend_from_slice(&chunk.unwrap());
    }
    assert!(got == all);
    drop(store.read(digest).unwrap().into_stream());
}

#[test]
fn no_space_is_known_before_and_while_writing() {
    let dir = tempfile::tempdir().unwrap();
    let options = PayloadOptions { inline: 8, reserve: u64::MAX };
    let store = PayloadStore::open_with(dir.path(), options).unwrap();
    assert_eq!(store.free_space().unwrap(), 0);
    let mut writer = store.writer();
    writer.push(b"small").unwrap();
    let error = writer.push(b"and now too large").unwrap_err();
    assert!(matches!(error, PayloadError::NoSpace { .. }) && error.is_unavailable(), "{error}");
    assert!(store.probe().is_err());
    assert_eq!(files(dir.path()), [""; 0]);
}

#[test]
fn errors_of_the_system_are_sorted() {
    use io::Write as _;
    let full = fs::File::options().write(true).open("/dev/full").unwrap().write_all(b"x").unwrap_err();
    let sorted = PayloadError::io("write", Path::new("/data"))(full);
    assert!(matches!(sorted, PayloadError::NoSpace { .. }), "{sorted}");
    let read_only = PayloadError::io("write", Path::new("/data"))(io::ErrorKind::ReadOnlyFilesystem.into());
    assert!(matches!(read_only, PayloadError::ReadOnly { .. }) && read_only.is_unavailable());
    assert!(!PayloadError::Missing { digest: Digest([0; 32]) }.is_unavailable());
}

#[test]
fn a_healthy_folder_passes_the_probe() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path()).probe().unwrap();
    assert_eq!(files(dir.path()), [""; 0]);
}

#[test]
fn digests_are_read_as_they_are_written() {
    let digest = Digest::of(b"abc");
    assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(digest.to_string().parse(), Ok(digest));
    for odd in ["", "../../etc/passwd", &digest.to_string().to_uppercase(), &digest.to_string()[1..]] {
        assert!(odd.parse::<Digest>().is_err(), "{odd}");
    }
}

/// A file that no row will name goes with whoever wrote it; one that a row names stays, whoever else let it go.
#[test]
fn a_file_is_held_until_a_row_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = PayloadStore::open_with(dir.path(), INLINE).unwrap();
    let octets = b"longer than eight octets".as_slice();
    let digest = Digest::of(octets);
    let write = || {
        let mut writer = store.writer();
        writer.push(octets).unwrap();
        writer.finish().unwrap()
    };

    let first = write();
    let second = write();
    drop(first);
    assert!(store.exists(digest).unwrap(), "another holder is there");
    drop(second.clone());
    assert!(store.exists(digest).unwrap(), "a copy is no other holder");
    drop(second);
    assert!(!store.exists(digest).unwrap(), "nobody named it");

    let (refused, named) = (write(), write());
    named.hold().unwrap().keep();
    drop(named);
    drop(refused);
    assert!(store.exists(digest).unwrap(), "a row names it");
    drop(write());
    assert!(store.exists(digest).unwrap(), "it was there before");
}

/// Many write and let go at once: what one of them kept is there.
#[test]
fn what_one_kept_no_other_takes_away() {
    let dir = tempfile::tempdir().unwrap();
    let store = PayloadStore::open_with(dir.path(), INLINE).unwrap();
    for round in 0_u32..20 {
        let octets = format!("the payload of round {round}");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let (store, octets) = (&store, octets.as_bytes());
                scope.spawn(move || {
                    let mut pass = store.writer();
                    pass.push(octets).unwrap();
                    let stored = pass.finish().unwrap();
                    if writer == 3 {
                        stored.hold().unwrap().keep();
                    }
                });
            }
        });
        assert!(store.exists(Digest::of(octets.as_bytes())).unwrap(), "round {round}");
    }
}
