//! Ring 2: producers and consumers.
