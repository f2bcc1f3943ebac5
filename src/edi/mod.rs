//! Ring 0: what business documents say of themselves.
//!
//! [`read()`], or [`Reading`] for what arrives in pieces, makes a [`Document`] of a payload: UBL, CII, EDIFACT, X12 or an
//! MDN, by its content. From it come the [`BusinessKey`] under which it has its one effect, the key under which it is
//! sent ([`Template`], [`revision_key`]), and the [`Acknowledgement`]s in it. Or a [`NoKey`], which says why there is
//! none and where the reason stands.

mod acknowledge;
mod charset;
mod cii;
mod document;
mod edifact;
mod error;
mod key;
mod kind;
mod mdn;
mod read;
mod sbdh;
mod segments;
mod stream;
mod template;
#[cfg(test)]
mod tests;
mod ubl;
mod x12;
mod xml;

pub use acknowledge::{Acknowledgement, Form, Reference, Status, acknowledgements};
pub use cii::Cii;
pub use document::{Business, Document};
pub use edifact::{Interchange as EdifactInterchange, Message as EdifactMessage, Uci, UciPart};
pub use error::NoKey;
pub use key::{BusinessKey, instance_key};
pub use kind::Kind;
pub use mdn::Mdn;
pub use read::{Reading, read};
pub use sbdh::{Sbdh, SbdhError, Scope, Typed as SbdhIdentifier};
pub use template::{MissingValue, Placeholder, Template, TemplateError, revision_key};
pub use ubl::{Response as UblResponse, Ubl, UblType};
pub use x12::{GroupAnswer, Set as X12Set, Ta1, X12};
