//! How a command fails: the cause, what belongs to it, the next act, and the exit code.

use std::fmt;
use std::io::ErrorKind;

use crate::cli::exit;
use crate::config::ConfigError;

/// A command that did not do what was asked.
#[derive(Debug)]
pub struct Failure {
    /// One of [`crate::cli::exit`].
    pub exit: u8,
    /// What is wrong, in a sentence without full stop; empty when it was printed already.
    pub cause: String,
    /// Lines that belong to it: places, figures.
    pub details: Vec<String>,
    /// Commands or acts that mend it.
    pub next: Vec<String>,
    /// Whether the act may have taken effect all the same: the answer was lost.
    pub uncertain: bool,
}

impl Failure {
    /// A failure with its cause.
    pub fn new(exit: u8, cause: impl Into<String>) -> Self {
        Self { exit, cause: cause.into(), details: Vec::new(), next: Vec::new(), uncertain: false }
    }

    /// A failure that has told everything already.
    #[must_use]
    pub fn silent(exit: u8) -> Self {
        Self::new(exit, "")
    }

    /// Adds a line that belongs to the cause.
    #[must_use]
    pub fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn next(mut self, act: impl Into<String>) -> Self {
        self.next.push(act.into());
        self
    }

    /// A file that could not be read or written.
    #[must_use]
    pub fn file(act: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let failure = Self::new(exit::USAGE, format!("{} cannot be {act}: {error}", path.display()));
        match error.kind() {
            ErrorKind::NotFound => failure.next("look for a slip in the name, and from which folder it is meant"),
            ErrorKind::PermissionDenied => {
                failure.next("let the user that runs this command have it, or run it as another")
            }
            ErrorKind::IsADirectory => failure.next("name a file in it"),
            ErrorKind::NotADirectory => failure.next("a part of the path is a file; name another folder"),
            ErrorKind::StorageFull | ErrorKind::ReadOnlyFilesystem => failure.next("name a place on another disk"),
            _ => failure.next("look at the file and the disk it is on"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)?;
        for line in &self.details {
            write!(f, "\n   {line}")?;
        }
        for (n, act) in self.next.iter().enumerate() {
            write!(f, "\n   {} {act}", if n == 0 { "next:" } else { "     " })?;
        }
        Ok(())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let count = error.problems.len();
        let cause = format!("the configuration has {count} {}", if count == 1 { "fault" } else { "faults" });
        let lines = error.problems.iter().flat_map(|p| p.to_string().lines().map(str::to_owned).collect::<Vec<_>>());
        Self { details: lines.collect(), ..Self::new(exit::CONFIG, cause) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        // The reader of a pipe may leave when it has enough.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::silent(exit::OK);
        }
        Self::new(exit::USAGE, format!("output cannot be written: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_reads_cause_place_next() {
        let failure = Failure::new(exit::CONFIG, "partner `red` cannot be sent to")
            .detail("pmodes/red.xml:41")
            .next("postrider check")
            .next("postrider serve");
        assert_eq!(
            failure.to_string(),
            "partner `red` cannot be sent to\n   pmodes/red.xml:41\n   next: postrider check\n         postrider serve"
        );
    }
}
