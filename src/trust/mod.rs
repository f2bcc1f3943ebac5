//! Ring 2: message certificates: chain, validity, key usage.
