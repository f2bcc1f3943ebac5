//! Submits files that appear in producers' folders.

use std::sync::Arc;

use tokio::sync::watch;

use super::Gateway;
use crate::config::FolderConfig;

/// Works until the process stops.
pub async fn run(_gateway: Arc<Gateway>, _folders: Vec<FolderConfig>, mut stop: watch::Receiver<bool>) {
    let _ = stop.changed().await;
}
