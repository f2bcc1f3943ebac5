//! Ring 4: REST, one file an endpoint.
