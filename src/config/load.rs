//! Reads the layers from where they live.

use std::path::{Path, PathBuf};

use super::fault::{ConfigError, Problem};
use super::layer::Layer;
use super::parse::{Loaded, parse};

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
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Layer::File { path: path.to_path_buf(), text }),
        Err(error) => Err(unreadable(path, &error)),
    }
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
        _ => None,
    };
    let message = format!("{} cannot be read: {error}", path.display());
    ConfigError { problems: vec![Problem { origin: None, key: String::new(), message, remedy }] }
}
