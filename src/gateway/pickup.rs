//! Submits files that appear in producers' folders, each by its folder's P-Mode.
//!
//! The key is made of name and content, so that a crash at any moment submits the same message again, not a second one.
//! What the P-Mode or the payload does not allow goes to `refused/` with the reason; what our own store cannot take now
//! stays, and is tried again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};

use super::Gateway;
use super::outpart::{OutPartError, PartMeta, PreparedPart};
use super::submit::{self, NewMessage, SubmitError};
use crate::backend::pickup::{self, Taken};
use crate::config::FolderConfig;
use crate::ebms::{Property, Typed};
use crate::edi::Sbdh;
use crate::emit;
use crate::pmode::{Check, PMode, Wanted};
use crate::telemetry::event;
use crate::wire::hex;

/// Octets read at once.
const CHUNK: usize = 256 << 10;
/// How long a folder rests after a failure of ours.
const REST: Duration = Duration::from_secs(5);
/// Longest part of a name that goes into a key.
const NAME: usize = 100;

/// Works until the process stops.
pub async fn run(gateway: Arc<Gateway>, folders: Vec<FolderConfig>, mut stop: watch::Receiver<bool>) {
    let mut workers = JoinSet::new();
    for folder in folders {
        workers.spawn(watch(Arc::clone(&gateway), folder, stop.clone()));
    }
    if workers.is_empty() {
        // Ending before the process stops would count as a failure of it.
        while !*stop.borrow() && stop.changed().await.is_ok() {}
    }
    while workers.join_next().await.is_some() {}
}

async fn watch(gateway: Arc<Gateway>, folder: FolderConfig, mut stop: watch::Receiver<bool>) {
    let look = (folder.settle / 2).clamp(Duration::from_millis(100), Duration::from_secs(2));
    while !*stop.borrow() {
        let pause = match round(&gateway, &folder, &stop).await {
            Ok(()) => look,
            Err(trouble) => {
                emit!(
                    event::STORE_UNAVAILABLE,
                    { folder = folder.name },
                    "folder `{}`: {trouble}; tried again",
                    folder.name
                );
                REST
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = stop.changed() => if changed.is_err() { return },
        }
    }
}

/// Takes what is ready, and submits it in the order of its names. `Err`: trouble of ours; what is left is tried again.
async fn round(gateway: &Arc<Gateway>, folder: &FolderConfig, stop: &watch::Receiver<bool>) -> Result<(), String> {
    let (dir, settle) = (folder.watch.to_path_buf(), folder.settle);
    let taken = blocking({
        let dir = dir.clone();
        move || pickup::take(&dir, settle, SystemTime::now()).map_err(|e| format!("`{}`: {e}", dir.display()))
    })
    .await?;
    let mut trouble = None;
    for file in taken {
        if *stop.borrow() {
            return Ok(());
        }
        let outcome = one(gateway, folder, &file).await;
        let dir = dir.clone();
        let put = match outcome {
            Ok(()) => blocking(move || pickup::sent(&dir, &file).map_err(|e| away(&file, &e))).await,
            Err(Stop::Refused(reason)) => {
                let (name, folder) = (&file.name, &folder.name);
                emit!(event::SUBMIT_REFUSED, { folder, file = name }, "{name} in folder `{folder}` refused: {reason}");
                blocking(move || pickup::refused(&dir, &file, &reason).map_err(|e| away(&file, &e))).await
            }
            // One file that cannot be read holds up no other.
            Err(Stop::File(why)) => Err(format!("{}: {why}", file.name)),
            Err(Stop::Trouble(why)) => return Err(format!("{}: {why}", file.name)),
        };
        trouble = trouble.or(put.err());
    }
    trouble.map_or(Ok(()), Err)
}

fn away(file: &Taken, error: &io::Error) -> String {
    format!("{} cannot be put away: {error}", file.name)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    spawn_blocking(work).await.unwrap_or_else(|e| Err(e.to_string()))
}

/// Why a file is not submitted.
#[derive(Debug)]
enum Stop {
    /// For good.
    Refused(String),
    /// The file itself cannot be read now.
    File(String),
    /// Our store or our keys cannot be used now.
    Trouble(String),
}

impl From<SubmitError> for Stop {
    fn from(error: SubmitError) -> Self {
        let told = error.to_string();
        match error {
            SubmitError::Part(OutPartError::Payload { .. })
            | SubmitError::Values(_)
            | SubmitError::OtherPayload { .. }
            | SubmitError::OtherMessage { .. }
            | SubmitError::Key(_) => Self::Refused(told),
            SubmitError::Part(_) | SubmitError::Store(_) | SubmitError::Signing(_) => Self::Trouble(told),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::File(format!("it cannot be read: {error}"))
    }
}

async fn one(gateway: &Arc<Gateway>, folder: &FolderConfig, file: &Taken) -> Result<(), Stop> {
    let named = Wanted { pmode: Some(folder.pmode.clone()), ..Wanted::default() };
    let pmode = submit::pmode_for(gateway, &named)?;
    let work = {
        let (gateway, pmode, path, name) =
            (Arc::clone(gateway), Arc::clone(&pmode), file.path.clone(), file.name.clone());
        spawn_blocking(move || packed(&gateway, &pmode, &path, &name))
    };
    let (beginning, part) = work.await.map_err(|e| Stop::Trouble(e.to_string()))??;
    let wanted = described(&pmode, named, &beginning).map_err(Stop::Refused)?;
    let key = key(&file.name, &part.content_sha256);
    let new = NewMessage { producer: folder.name.clone(), key: Some(key), wanted, parts: vec![part] };
    submit::submit(gateway, new).await?;
    Ok(())
}

/// Packs a file as a payload, and gives its beginning for the profile to look at. Blocking.
fn packed(gateway: &Gateway, pmode: &PMode, path: &PathBuf, name: &str) -> Result<(Vec<u8>, PreparedPart), Stop> {
    let mut file = File::open(path)?;
    let mut beginning = Vec::new();
    if pmode.checks.sbdh != Check::Off {
        file.by_ref().take(Sbdh::HEAD as u64).read_to_end(&mut beginning)?;
        file.seek(SeekFrom::Start(0))?;
    }
    let meta =
        PartMeta { media_type: media_type(name).to_owned(), file_name: Some(name.to_owned()), ..PartMeta::default() };
    let mut part = submit::part(gateway, pmode, 0, meta).map_err(SubmitError::from)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = file.read(&mut chunk)?;
        match chunk.get(..count) {
            Some(octets) if count > 0 => part.push(octets).map_err(SubmitError::from)?,
            _ => break,
        }
    }
    Ok((beginning, part.finish().map_err(SubmitError::from)?))
}

/// Name and content: the same file dropped again is the same message.
fn key(name: &str, content: &[u8; 32]) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME).collect();
    format!("{name}:{}", hex(content))
}

/// What the SBDH says of a Peppol document, where the P-Mode leaves it open (PR-093).
fn described(pmode: &PMode, mut wanted: Wanted, beginning: &[u8]) -> Result<Wanted, String> {
    let sbdh = match (pmode.checks.sbdh, Sbdh::read(beginning)) {
        (Check::Off, _) | (Check::Log, Err(_)) => return Ok(wanted),
        (Check::Enforce, Err(error)) => return Err(error.to_string()),
        (_, Ok(sbdh)) => sbdh,
    };
    let business = &pmode.leg.business;
    if business.service.is_none() {
        wanted.service = Some(Typed { value: sbdh.process.value, kind: sbdh.process.scheme });
    }
    if business.action.is_none() {
        let document = &sbdh.document;
        wanted.action = Some(match &document.scheme {
            Some(scheme) => format!("{scheme}::{}", document.value),
            None => document.value.clone(),
        });
    }
    for (name, party) in [("originalSender", sbdh.sender), ("finalRecipient", sbdh.receiver)] {
        if !business.properties.iter().any(|spec| spec.name == name && spec.default.is_some()) {
            wanted.properties.push(Property { name: name.to_owned(), kind: party.scheme, value: party.value });
        }
    }
    Ok(wanted)
}

/// The media type that a name tells.
fn media_type(name: &str) -> &'static str {
    let extension = Path::new(name).extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "xml" => "application/xml",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "edi" | "edifact" => "application/EDIFACT",
        "x12" => "application/EDI-X12",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests;
