//! The API over a gateway in a temporary folder.

mod acts;
mod bench;
mod faults;
mod finding;
mod octets;
mod stored;
mod submissions;
