//! Ring 3: journeys; one file reads from first byte to last.
