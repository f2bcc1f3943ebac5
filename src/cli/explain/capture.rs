//! Reading the file of a capture.

use std::io::Read;
use std::path::Path;

use bytes::Bytes;

use crate::cli::exit;
use crate::cli::failure::Failure;

/// A capture is held in memory: beyond this it is refused.
const LARGEST: u64 = 1 << 30;

/// The octets of a capture; `-` is standard input.
pub(in crate::cli) fn octets(path: &Path) -> Result<Bytes, Failure> {
    let failed = |e: std::io::Error| Failure::file("read", path, &e);
    let mut octets = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut octets).map_err(failed)?;
    } else {
        let about = std::fs::metadata(path).map_err(failed)?;
        if about.is_dir() {
            return Err(Failure::file("read", path, &std::io::ErrorKind::IsADirectory.into()));
        }
        if about.len() > LARGEST {
            return Err(large(path));
        }
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(LARGEST + 1).read_to_end(&mut octets).map_err(failed)?;
    }
    if octets.len() as u64 > LARGEST { Err(large(path)) } else { Ok(octets.into()) }
}

fn large(path: &Path) -> Failure {
    let cause = format!("{} has more than {} MiB, the most that is explained", path.display(), LARGEST >> 20);
    Failure::new(exit::USAGE, cause).next(format!("head -c {} {} > part", LARGEST, path.display()))
}
