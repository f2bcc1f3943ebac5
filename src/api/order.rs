//! The body of an act: a small JSON document, which may be left out.

use axum::body::{Body, to_bytes};
use serde::de::DeserializeOwned;

use super::problem::Problem;
use super::submission;

const LARGEST: usize = 64 << 10;

/// Reads it.
pub(super) async fn read<T: DeserializeOwned + Default>(body: Body) -> Result<T, Problem> {
    let text = to_bytes(body, LARGEST).await.map_err(|e| {
        Problem::new(413, "request.too_large", format!("the body cannot be read, at most {LARGEST} octets: {e}"))
    })?;
    if text.is_empty() { Ok(T::default()) } else { submission::json("body", &text) }
}
