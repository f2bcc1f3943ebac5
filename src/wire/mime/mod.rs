//! `multipart/related`: push reader and writer, content types, Content-IDs.
