//! Ring 2: `postrider.toml`.
