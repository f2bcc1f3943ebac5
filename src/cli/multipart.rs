//! A submission as `multipart/form-data` (RFC 7578): JSON first, then each file, streamed from disk.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde_json::Value;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

use super::client::Body;
use super::exit;
use super::failure::Failure;

/// What is read from disk at once.
const CHUNK: usize = 256 << 10;

/// A file to send.
#[derive(Clone, Debug)]
pub(super) struct Part {
    path: PathBuf,
    size: u64,
    head: String,
}

/// The whole body: its size is known before the first octet is sent.
#[derive(Debug)]
pub(super) struct Multipart {
    boundary: String,
    submission: String,
    parts: Vec<Part>,
}

impl Multipart {
    /// A body of a submission and its files. `boundary` must not occur in them; a random one does not.
    pub(super) fn new(
        boundary: &str,
        submission: &Value,
        files: &[PathBuf],
        kind: Option<&str>,
    ) -> Result<Self, Failure> {
        let submission = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"submission\"\r\n\
             Content-Type: application/json\r\n\r\n{submission}"
        );
        let parts = files.iter().map(|path| Part::new(boundary, path, kind)).collect::<Result<_, _>>()?;
        Ok(Self { boundary: boundary.to_owned(), submission, parts })
    }

    pub(super) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    fn end(&self) -> String {
        format!("\r\n--{}--\r\n", self.boundary)
    }

    /// Octets in all.
    pub(super) fn size(&self) -> u64 {
        let files: u64 = self.parts.iter().map(|part| part.head.len() as u64 + part.size).sum();
        self.submission.len() as u64 + files + self.end().len() as u64
    }

    /// The body. Files are opened one after the other, when their turn comes.
    pub(super) fn body(self) -> Body {
        let end = self.end();
        let first = stream::once(async move { Ok(Bytes::from(self.submission)) });
        let files = stream::iter(self.parts).flat_map(Part::stream);
        let last = stream::once(async move { Ok(Bytes::from(end)) });
        let all = first.chain(files).chain(last).map_ok(Frame::data);
        BodyExt::boxed_unsync(StreamBody::new(all))
    }
}

impl Part {
    fn new(boundary: &str, path: &Path, kind: Option<&str>) -> Result<Self, Failure> {
        let about = std::fs::metadata(path).map_err(|e| Failure::file("read", path, &e))?;
        if !about.is_file() {
            return Err(Failure::new(exit::USAGE, format!("{} is not a file", path.display()))
                .next("name the files themselves, each a payload of the one message"));
        }
        // Whether it may be read is found out before anything is sent.
        std::fs::File::open(path).map_err(|e| Failure::file("read", path, &e))?;
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.replace('\\', "%5C").replace('"', "%22").replace(['\r', '\n'], " ");
        let kind = kind.map_or_else(|| media_type(path), str::to_owned);
        let head = format!(
            "\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"payload\"; filename=\"{name}\"\r\n\
             Content-Type: {kind}\r\n\r\n"
        );
        Ok(Self { path: path.to_path_buf(), size: about.len(), head })
    }

    fn stream(self) -> impl Stream<Item = std::io::Result<Bytes>> {
        let head = Bytes::from(self.head);
        let open = async move { Ok::<_, std::io::Error>((File::open(&self.path).await?, self.size)) };
        let content = stream::once(open).map_ok(|(file, size)| {
            // A file that grows meanwhile is sent as long as it was; one that shrinks breaks the request off.
            stream::try_unfold(file.take(size), |mut file| async move {
                let mut chunk = Vec::with_capacity(CHUNK);
                let read = (&mut file).take(CHUNK as u64).read_to_end(&mut chunk).await?;
                Ok((read > 0).then(|| (Bytes::from(chunk), file)))
            })
        });
        stream::once(async move { Ok(head) }).chain(content.try_flatten())
    }
}

/// The media type that a file's name tells.
fn media_type(path: &Path) -> String {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let known = match extension.as_str() {
        "xml" => "application/xml",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "edi" => "application/EDIFACT",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        _ => "application/octet-stream",
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_body_is_as_long_as_it_says_and_holds_the_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let small = folder.path().join("in\"voice.xml");
        let large = folder.path().join("scan.bin");
        std::fs::write(&small, "<Invoice/>").unwrap();
        std::fs::write(&large, vec![7; CHUNK * 2 + 3]).unwrap();
        let body = Multipart::new("B0", &json!({"pmode": "p"}), &[small, large], None).unwrap();
        assert_eq!(body.content_type(), "multipart/form-data; boundary=B0");
        let size = body.size();

        let bytes = super::super::client::block_on(async {
            body.body().collect().await.map(http_body_util::Collected::to_bytes).map_err(Failure::from)
        })
        .unwrap();

        assert_eq!(bytes.len() as u64, size);
        let begin = "--B0\r\nContent-Disposition: form-data; name=\"submission\"\r\nContent-Type: application/json\r\n\r\n\
                     {\"pmode\":\"p\"}\r\n--B0\r\nContent-Disposition: form-data; name=\"payload\"; filename=\"in%22voice.xml\"\r\n\
                     Content-Type: application/xml\r\n\r\n<Invoice/>\r\n--B0\r\n";
        assert_eq!(String::from_utf8_lossy(&bytes[..begin.len()]), begin);
        assert!(bytes.ends_with(b"\x07\r\n--B0--\r\n"));
    }

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let failure = Multipart::new("B", &json!({}), &[folder.path().to_path_buf()], None).unwrap_err();
        assert_eq!(failure.exit, exit::USAGE);
    }
}
