//! `postrider generate`: reference texts out of the program itself, so that they are never older than it.

use std::fmt::Write;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::arguments::Global;
use super::failure::Failure;
use super::output::Format;
use crate::config::DEFAULT_FILE;
use crate::telemetry::event;
use crate::telemetry::metrics::{self, Kind};

/// What to print.
#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// postrider.toml with every key, its default and what it does.
    Config(ConfigArgs),
    /// Every metric: what it counts, what a rise means.
    Metrics(MetricsArgs),
    /// Every event: its code, level, and what to do.
    Events(EventsArgs),
}

/// Arguments of `generate config`.
#[derive(Debug, Args)]
#[command(before_help = "Examples:\n  postrider generate config\n  postrider generate config --output table")]
pub struct ConfigArgs {}

/// Arguments of `generate metrics`.
#[derive(Debug, Args)]
#[command(before_help = "Examples:\n  postrider generate metrics\n  postrider generate metrics --output json")]
pub struct MetricsArgs {}

/// Arguments of `generate events`.
#[derive(Debug, Args)]
#[command(before_help = "Examples:\n  postrider generate events\n  postrider generate events --output json")]
pub struct EventsArgs {}

pub(super) fn run(global: &Global, command: &GenerateCommand) -> Result<(), Failure> {
    let json = matches!(global.output, Some(Format::Json | Format::Jsonl));
    let mut output = global.output();
    match command {
        GenerateCommand::Config(_) => output.document(DEFAULT_FILE)?,
        GenerateCommand::Metrics(_) if json => output.list("postrider.metrics/1", "metrics", &metric_rows(), &[])?,
        GenerateCommand::Metrics(_) => output.document(&metric_pages())?,
        GenerateCommand::Events(_) if json => output.list("postrider.events/1", "events", &event_rows(), &[])?,
        GenerateCommand::Events(_) => output.document(&event_pages())?,
    }
    Ok(())
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    }
}

fn metric_rows() -> Vec<Value> {
    let row = |m: &metrics::Metric| json!({ "name": m.name, "kind": kind(m.kind), "labels": m.labels, "help": m.help, "rise": m.rise });
    metrics::CATALOGUE.iter().map(row).collect()
}

fn metric_pages() -> String {
    metrics::CATALOGUE.iter().fold("# Metrics\n".to_owned(), |mut page, m| {
        let labels = if m.labels.is_empty() { "none".to_owned() } else { m.labels.join(", ") };
        // Writing to a String cannot fail.
        let _ = write!(
            page,
            "\n## {}\n\n{}, labels: {labels}.\n{}\n\nWhen it rises: {}\n",
            m.name,
            kind(m.kind),
            m.help,
            m.rise
        );
        page
    })
}

fn event_rows() -> Vec<Value> {
    let row = |e: &&event::Event| json!({ "code": e.code, "level": e.level.to_string(), "sentence": e.sentence, "next": e.remedy });
    event::CATALOGUE.iter().map(row).collect()
}

fn event_pages() -> String {
    event::CATALOGUE.iter().fold("# Events\n".to_owned(), |mut page, e| {
        // Writing to a String cannot fail.
        let _ = write!(page, "\n## {}\n\n{}: {}\n", e.code, e.level, e.sentence);
        if !e.remedy.is_empty() {
            let _ = write!(page, "\nNext: {}\n", e.remedy);
        }
        page
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_and_event_has_its_section() {
        assert_eq!(metric_pages().matches("\n## ").count(), metrics::CATALOGUE.len());
        assert_eq!(event_pages().matches("\n## ").count(), event::CATALOGUE.len());
        assert_eq!(event_rows().len(), event::CATALOGUE.len());
        assert_eq!(metric_rows()[0]["name"], "postrider_messages_total");
    }
}
