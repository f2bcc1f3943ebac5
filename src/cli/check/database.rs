//! The database: there, ours, and with the schema of this program. It is looked at and left as it is.

use super::{Context, Finding, Severity};
use crate::cli::db::remedy;
use crate::store::{StoreError, look};

pub(super) fn database(context: &Context<'_>) -> Vec<Finding> {
    let at = |severity, message: String| Finding::at(severity, context.loaded, "store.url", message);
    let url = match context.loaded.config.store_url() {
        Ok(url) => url,
        Err(error) => {
            let next = "write the URL there, as one line of text";
            return vec![at(Severity::Error, format!("the URL of the database: {error}")).next(next)];
        }
    };
    let broken = |error: &StoreError| at(Severity::Error, error.to_string()).next(remedy(error));
    match look(url.expose()) {
        Err(error) => vec![broken(&error)],
        // Serving makes it, and its folder is looked at elsewhere.
        Ok(None) => Vec::new(),
        Ok(Some(status)) if !status.newer.is_empty() => vec![broken(&StoreError::Newer(status.newer))],
        Ok(Some(status)) if status.pending.is_empty() => Vec::new(),
        Ok(Some(status)) => {
            let message = format!("the database lacks migrations: {}", status.pending.join(", "));
            vec![at(Severity::Warning, message).next("postrider db migrate; serve applies them too")]
        }
    }
}
