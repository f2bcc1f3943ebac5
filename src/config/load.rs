//! Reads the layers from where they live.

use std::path::{Path, PathBuf};

use super::fault::{ConfigError, Problem};
use super::layer::Layer;
use super::parse::{Loaded, parse};
use super::tree::Origin;

/// Variables that begin so are configuration; `__` goes one level down.
pub const ENV_PREFIX: &str = "POSTRIDER__";

/// Loads `postrider.toml` at `path` with `postrider.d/*.toml` beside it, the process's environment and `flags`
/// (key with dots, value).
pub fn load(path: &Path, flags: &[(String, String)]) -> Result<Loaded, ConfigError> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with(ENV_PREFIX))
        .collect();
    let mut layers = file_layers(path)?;
    layers.push(Layer::Environment(environment));
    layers.push(Layer::Flags(flags.to_vec()));
    parse(path.parent().unwrap_or(Path::new("")), &layers)
}

fn file_layers(path: &Path) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = vec![file_layer(path)?];
    for drop_in in drop_ins(path)? {
        layers.push(file_layer(&drop_in)?);
    }
    Ok(layers)
}

fn file_layer(path: &Path) -> Result<Layer, ConfigError> {
    let octets = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let wide = octets.starts_with(b"\xff\xfe") || octets.starts_with(b"\xfe\xff");
    String::from_utf8(octets)
        .map(|text| Layer::File { path: path.to_path_buf(), text })
        .map_err(|error| no_text(path, error.as_bytes(), error.utf8_error().valid_up_to(), wide))
}

/// TOML is UTF-8: tells where that ends.
fn no_text(path: &Path, octets: &[u8], at: usize, wide: bool) -> ConfigError {
    let before = octets.get(..at).unwrap_or_default();
    let line = before.split(|octet| *octet == b'\n').count();
    let in_line = before.rsplit(|octet| *octet == b'\n').next().unwrap_or_default();
    let column = String::from_utf8_lossy(in_line).chars().count() + 1;
    let what = if wide { "this is UTF-16, and TOML is UTF-8" } else { "this is not UTF-8, and TOML is" };
    let problem = Problem {
        origin: Some(Origin::File { file: path.into(), line, column }),
        key: String::new(),
        message: what.to_owned(),
        remedy: Some("save the file as UTF-8; `postrider generate config` prints one to begin with".to_owned()),
    };
    ConfigError { problems: vec![problem] }
}

/// `postrider.d/*.toml`, in order of name.
fn drop_ins(path: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let folder = path.with_extension("d");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(&folder, &error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(|error| unreadable(&folder, &error))?.path();
        if file.extension().is_some_and(|extension| extension == "toml") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn unreadable(path: &Path, error: &std::io::Error) -> ConfigError {
    let remedy = match error.kind() {
        std::io::ErrorKind::NotFound => {
            Some("`postrider init` writes one; --config or POSTRIDER_CONFIG names another".to_owned())
        }
        std::io::ErrorKind::PermissionDenied => Some("let the user that runs postrider read it".to_owned()),
        std::io::ErrorKind::IsADirectory => {
            Some(format!("name the file: --config {}", path.join("postrider.toml").display()))
        }
        _ => Some("look at the file and the disk it is on".to_owned()),
    };
    let origin = Some(Origin::File { file: path.into(), line: 1, column: 1 });
    let message = format!("{} cannot be read: {error}", path.display());
    ConfigError { problems: vec![Problem { origin, key: String::new(), message, remedy }] }
}
