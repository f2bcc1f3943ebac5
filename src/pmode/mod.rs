//! Ring 0: P-Modes: what two partners agreed, from XML to the answer to "which agreement does this message belong to".
//!
//! ```text
//! file ──read──▶ draft ──complete (profile, defaults, certificates, rules)──▶ P-Mode ──PModeSet──▶ agree · submit
//! ```

mod agree;
mod complete;
mod draft;
mod error;
mod identifier;
mod model;
mod profiles;
mod read;
#[cfg(test)]
mod sample;
mod set;
mod submit;
mod write;

pub use agree::{
    Agreed, Candidate, Criterion, Explanation, Finding, Judged, Outcome, PROCESSING_MODE_MISMATCH, Reason, Refusal,
    VALUE_INCONSISTENT, VALUE_NOT_RECOGNIZED, agree, explain,
};
pub use complete::{Files, complete};
pub use draft::Draft;
pub use error::{PModeError, PModeWarning, Place, Problem};
pub use identifier::is_absolute_uri;
pub use model::*;
pub use profiles::{BASE, BUILT_IN, Profiles};
pub use read::read;
pub use set::PModeSet;
pub use submit::{MissingValue, NewIds, Submission, Wanted, complete_submission, pmode_for};
pub use write::write;
