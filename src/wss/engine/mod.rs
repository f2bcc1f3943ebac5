//! libxmlsec1 as second opinion: the only home of `unsafe`.
