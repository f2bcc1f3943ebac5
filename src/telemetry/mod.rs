//! Ring 2: event catalogue, metrics, logs.
