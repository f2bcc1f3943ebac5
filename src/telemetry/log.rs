//! Log lines: to standard error, for people or as JSON, at a level that can be changed while running.

use std::io::{self, IsTerminal, Write};

use thiserror::Error;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people; in colour on a terminal unless `NO_COLOR` is set.
    Text,
    /// One JSON object a line.
    Json,
}

/// Why logging cannot be set up or changed.
#[derive(Debug, Error)]
pub enum LogError {
    /// The level is not one.
    #[error(
        "`{level}` is not a log level: write error, warn, info, debug or trace, by module like \"info,postrider::gateway=debug\""
    )]
    Level {
        /// What was asked for.
        level: String,
        /// Why.
        source: tracing_subscriber::filter::ParseError,
    },
    /// Something else logs already.
    #[error("logging is set up already")]
    Twice(#[from] tracing_subscriber::util::TryInitError),
    /// The subscriber has gone.
    #[error("the log has ended")]
    Gone(#[from] reload::Error),
}

/// The running log; changes its level.
#[derive(Clone, Debug)]
pub struct LogControl {
    filter: reload::Handle<EnvFilter, Registry>,
}

impl LogControl {
    /// Sets the level from now on.
    pub fn set_level(&self, level: &str) -> Result<(), LogError> {
        Ok(self.filter.reload(filter(level)?)?)
    }

    /// The level in force.
    pub fn level(&self) -> Option<String> {
        self.filter.with_current(ToString::to_string).ok()
    }
}

/// Starts logging for the process, once.
pub fn init(format: Format, level: &str) -> Result<LogControl, LogError> {
    let (filter, handle) = reload::Layer::new(filter(level)?);
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let lines = match format {
        Format::Text => fmt::layer().with_writer(|| OneLine(std::io::stderr())).with_ansi(colour).boxed(),
        Format::Json => fmt::layer().with_writer(std::io::stderr).json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines).try_init()?;
    Ok(LogControl { filter: handle })
}

/// An event stays one line, whatever a partner wrote into it (AT-25): control characters are shown. Escape sequences
/// that are not ours have been taken out before.
struct OneLine<W>(W);

impl<W: Write> Write for OneLine<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = event.strip_suffix(b"\n").unwrap_or(event);
        let acts = |octet: &u8| octet.is_ascii_control() && *octet != 0x1b;
        if !text.iter().any(acts) {
            self.0.write_all(event)?;
            return Ok(event.len());
        }
        let mut shown = Vec::with_capacity(event.len() + 8);
        for octet in text {
            if acts(octet) { shown.extend(std::ascii::escape_default(*octet)) } else { shown.push(*octet) }
        }
        shown.extend_from_slice(&event[text.len()..]);
        self.0.write_all(&shown)?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn filter(level: &str) -> Result<EnvFilter, LogError> {
    level.parse().map_err(|source| LogError::Level { level: level.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::telemetry::event;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(line);
            Ok(line.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_a_line_with_its_code_and_what_to_do_next() {
        let sink = Sink::default();
        let writer = sink.clone();
        let lines = fmt::layer().with_writer(move || writer.clone()).json().flatten_event(true);
        let subscriber = tracing_subscriber::registry().with(filter("info").unwrap()).with(lines);
        tracing::subscriber::with_default(subscriber, || {
            crate::emit!(event::SEND_FAILED, { "message.id" = "m@blue", attempt = 13 }, "{} gave up", "m@blue");
            crate::emit!(event::SEND_ATTEMPT, {}, "not shown at info");
        });
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
        assert_eq!(line["level"], "ERROR");
        assert_eq!(line["event"], "send.failed");
        assert_eq!(line["message.id"], "m@blue");
        assert_eq!(line["attempt"], 13);
        assert_eq!(line["message"], "m@blue gave up");
        assert_eq!(line["next"], event::SEND_FAILED.remedy);
    }

    #[test]
    fn an_event_stays_one_line() {
        let sink = Sink::default();
        let writer = sink.clone();
        let lines = fmt::layer().with_writer(move || OneLine(writer.clone())).with_ansi(false);
        let subscriber = tracing_subscriber::registry().with(lines);
        tracing::subscriber::with_default(subscriber, || {
            let id = "x\r\n2026-12-01T00:00:00Z ERROR forged\0\u{1b}[31m";
            crate::emit!(event::SEND_FAILED, { partner = id }, "{id} gave up");
        });
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("x\\r\\n2026-12-01T00:00:00Z ERROR forged\\x00"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn levels_are_checked() {
        assert!(filter("info,postrider::gateway=debug").is_ok());
        assert!(filter("postrider=loud").unwrap_err().to_string().contains("postrider=loud"));
    }
}
