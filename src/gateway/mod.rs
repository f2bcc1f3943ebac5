//! Ring 3: journeys; one file reads from first byte to last.

mod agreements;
mod assemble;
mod intake;
mod opinion;
mod spool;
