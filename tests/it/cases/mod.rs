//! Inputs that made other gateways fail, replayed octet for octet; `tests/fixtures/cases` says what each must come to.
//!
//! What falls short for want of a feature stands in `conformance/exceptions.toml`. It is replayed all the same: an
//! exception that is no longer needed fails, so that the list only ever tells of what is missing.

mod answers;
mod documents;
mod expected;
mod outcome;
mod requests;
mod sites;

use expected::{Book, exceptions};

/// What is wrong with some cases, one line each.
type Faults = Vec<String>;

/// Sorts what a case came to: a fault, unless it is an exception. An exception that came out right is a fault too, and
/// one that came to something else than it says.
fn settle(faults: &mut Faults, file: &str, found: &[String]) {
    let excepted = exceptions().iter().find(|e| e.file == file);
    match (excepted, found) {
        (None, found) => faults.extend(found.iter().map(|what| format!("{file}: {what}"))),
        (Some(_), []) => faults.push(format!("{file} comes out right: strike it from conformance/exceptions.toml")),
        (Some(exception), found) => {
            let meanwhile = exception.meanwhile.as_deref().unwrap_or_default();
            if meanwhile.is_empty() || !found.iter().any(|what| what.contains(meanwhile)) {
                faults.push(format!("{file}, an exception, came to {found:?}"));
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the list ends here")]
fn none(faults: Faults) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_file_has_an_expectation_or_an_exception() {
    let book = Book::read();
    let files = expected::files();
    let mut faults: Faults = book.repeated();
    let named = book.files();
    for file in &files {
        if !named.contains(&file.as_str()) && !exceptions().iter().any(|e| e.file == *file) {
            faults.push(format!("{file} has neither an expectation nor an exception"));
        }
    }
    let gone = named.into_iter().chain(exceptions().iter().map(|e| e.file.as_str()));
    faults.extend(gone.filter(|name| !files.iter().any(|f| f == name)).map(|name| format!("{name} is not there")));
    for exception in exceptions() {
        let told = exception.reason.len() > 20 && exception.waits_for.len() > 3 && exception.issue > 0;
        if !told {
            faults.push(format!("the exception of {} does not say why, and what it waits for", exception.file));
        }
    }
    none(faults);
}
