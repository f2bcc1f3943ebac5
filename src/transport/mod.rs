//! Ring 2: hyper and rustls: listening, posting, spooling, limits.
