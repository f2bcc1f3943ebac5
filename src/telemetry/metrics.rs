//! Every number that the process counts.
//!
//! A metric is declared with its kind, its labels, what it counts and what a rise means; without these it does not
//! compile. Labels take the names of configured partners and P-Modes and closed words, never what a stranger sent, so
//! that their number is bounded.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use thiserror::Error;

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only rises.
    Counter,
    /// Rises and falls.
    Gauge,
    /// Distribution of seconds.
    Histogram,
}

/// A metric of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Full name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it counts.
    pub help: &'static str,
    /// What a rise means and what to do.
    pub rise: &'static str,
}

/// Declares metrics: a function for each, named as the metric is without its prefix, and the catalogue.
macro_rules! declare_metrics {
    (@kind counter) => { Kind::Counter };
    (@kind gauge) => { Kind::Gauge };
    (@kind histogram) => { Kind::Histogram };
    (@handle counter) => { ::metrics::Counter };
    (@handle gauge) => { ::metrics::Gauge };
    (@handle histogram) => { ::metrics::Histogram };
    (@describe counter $name:expr, $help:literal) => { ::metrics::describe_counter!($name, $help) };
    (@describe gauge $name:expr, $help:literal) => { ::metrics::describe_gauge!($name, $help) };
    (@describe histogram $name:expr, $help:literal) => { ::metrics::describe_histogram!($name, $help) };
    (@register counter $($rest:tt)*) => { ::metrics::counter!($($rest)*) };
    (@register gauge $($rest:tt)*) => { ::metrics::gauge!($($rest)*) };
    (@register histogram $($rest:tt)*) => { ::metrics::histogram!($($rest)*) };
    ($($kind:ident $name:ident($($label:ident),*): $help:literal, rise: $rise:literal;)+) => {
        $(
            #[doc = $help]
            pub fn $name($($label: &str),*) -> declare_metrics!(@handle $kind) {
                declare_metrics!(@register $kind
                    concat!("postrider_", stringify!($name)) $(, stringify!($label) => $label.to_owned())*)
            }
        )+

        /// Every metric, by subject.
        pub const CATALOGUE: &[Metric] = &[$(Metric {
            name: concat!("postrider_", stringify!($name)),
            kind: declare_metrics!(@kind $kind),
            labels: &[$(stringify!($label)),*],
            help: $help,
            rise: $rise,
        }),+];

        /// Gives the recorder in force the help texts.
        fn describe() {
            $(declare_metrics!(@describe $kind concat!("postrider_", stringify!($name)), $help);)+
        }
    };
}

declare_metrics! {
    counter messages_total(direction, partner, pmode, outcome):
        "Messages that ended a journey: direction in or out; outcome accepted, delivered or failed.",
        rise: "Traffic. A rising share of `failed` means that a partner or a consumer does not take messages: `postrider message list state:failed`.";
    counter message_bytes_total(direction, partner):
        "Octets of messages on the wire, repeats included.",
        rise: "Traffic. Much faster than messages_total means larger payloads, or repeats.";
    counter attempts_total(partner, result):
        "Posts to partners: result receipt, `no_receipt`, refused or unreachable.",
        rise: "Anything but `receipt` rising means that the partner is away, slow or refuses.";
    counter duplicates_total(partner):
        "Messages that came again and were answered with the stored reply.",
        rise: "The partner does not get our receipts, or repeats too soon.";
    counter errors_total(direction, code, stage):
        "ebMS errors sent (out) and received (in), by code.",
        rise: "Look at the code: `EBMS:01..` is security, `EBMS:02..` reliability, `EBMS:03..` reception awareness.";
    counter rejected_total(reason):
        "Requests that became no message.",
        rise: "Someone knocks wrongly: a partner after a change, or a stranger.";
    counter deliveries_total(backend, result):
        "Offers of received messages to consumers: result done, retry or failed.",
        rise: "`retry` and `failed` mean that the consumer is away or refuses.";

    histogram receipt_seconds(partner):
        "Time from the first attempt to the receipt.",
        rise: "The partner, or the way to it, is slower; beyond its time limit messages are repeated.";
    histogram receive_seconds(stage):
        "Time of an incoming request: stage open, judge, spool, store or all.",
        rise: "`store` points at the database or the disk, `judge` at the processor, `spool` at the partner's line.";
    histogram send_seconds(stage):
        "Time of an outgoing attempt: stage package, post, conclude or all.",
        rise: "`post` points at the partner, `package` at the processor.";
    histogram deliver_seconds(stage):
        "Time of a delivery: stage read, offer or all.",
        rise: "`offer` points at the consumer.";

    gauge queue_messages(queue, state):
        "Rows that wait: queue send or deliver.",
        rise: "More comes in than goes out; queue_oldest_seconds tells whether something is stuck.";
    gauge queue_oldest_seconds(queue, state):
        "Age of the oldest row that waits.",
        rise: "Something is stuck: `postrider message list state:pending`.";
    gauge unacknowledged_messages(partner):
        "Messages sent that have no receipt yet.",
        rise: "The partner does not answer.";
    gauge undelivered_messages(partner):
        "Messages received that no consumer has taken.",
        rise: "A consumer does not take them.";

    counter store_errors_total(operation):
        "Failures of the database or the payload store.",
        rise: "Database or disk are away or full: messages are not taken until they are back.";
    histogram store_seconds(operation):
        "Time of a database transaction, waiting included.",
        rise: "The database or its disk is slow, or too many writers wait.";

    gauge connections(direction):
        "Connections open: direction in or out.",
        rise: "Traffic, or partners that hold connections open.";
    counter connection_failures_total(direction, reason):
        "Connections that came to nothing: reason dns, connect, tls, timeout or limit.",
        rise: "`tls` is often a certificate that has ended, `connect` and `timeout` a partner that is away.";

    gauge certificate_expiry_timestamp_seconds(partner, purpose, serial):
        "When a certificate ends, as Unix time.",
        rise: "A successor is in use. An alert belongs on its distance from now.";
    gauge config_revision():
        "Counts the P-Mode sets loaded since the start.",
        rise: "P-Modes were changed.";
    counter config_reload_failures_total():
        "Changed P-Modes that were refused; the old ones stayed in force.",
        rise: "Run `postrider check`.";
    gauge build_info(version):
        "Always 1; the version stands in the label.",
        rise: "Never rises.";
}

/// Buckets of every histogram, in seconds: from a cached answer to a partner that takes minutes.
const BUCKETS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0];

/// Why metrics cannot be set up.
#[derive(Debug, Error)]
pub enum MetricsError {
    /// The exporter refuses its settings.
    #[error("metrics cannot be set up: {0}")]
    Build(#[from] metrics_exporter_prometheus::BuildError),
    /// Something else counts already.
    #[error("metrics are set up already")]
    Twice,
}

/// The numbers, to be shown.
#[derive(Clone, Debug)]
pub struct Metrics {
    handle: PrometheusHandle,
}

impl Metrics {
    /// The text of `/metrics`.
    #[must_use]
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Folds what was recorded into the histograms. Called now and then, it bounds memory when nobody asks for
    /// `/metrics`.
    pub fn fold(&self) {
        self.handle.run_upkeep();
    }
}

/// Starts counting for the process, once.
pub fn init(version: &str) -> Result<Metrics, MetricsError> {
    let recorder = builder()?.build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).map_err(|_| MetricsError::Twice)?;
    describe();
    build_info(version).set(1.0);
    Ok(Metrics { handle })
}

fn builder() -> Result<PrometheusBuilder, MetricsError> {
    Ok(PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)?)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn what_is_counted_is_rendered_with_help_and_labels() {
        let recorder = builder().unwrap().build_recorder();
        let shown = Metrics { handle: recorder.handle() };
        metrics::with_local_recorder(&recorder, || {
            describe();
            messages_total("in", "red", "invoice", "accepted").increment(2);
            receipt_seconds("red").record(0.03);
            queue_messages("send", "pending").set(7.0);
        });
        let text = shown.render();
        for line in [
            "# HELP postrider_messages_total Messages that ended a journey",
            "# TYPE postrider_messages_total counter",
            "postrider_messages_total{direction=\"in\",partner=\"red\",pmode=\"invoice\",outcome=\"accepted\"} 2",
            "postrider_receipt_seconds_bucket{partner=\"red\",le=\"0.05\"} 1",
            "postrider_queue_messages{queue=\"send\",state=\"pending\"} 7",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn names_follow_the_rules_and_are_unique() {
        let mut seen = HashSet::new();
        for metric in CATALOGUE {
            assert!(seen.insert(metric.name), "{} is there twice", metric.name);
            assert_eq!(metric.name.ends_with("_total"), metric.kind == Kind::Counter, "{}", metric.name);
            assert!(metric.kind != Kind::Histogram || metric.name.ends_with("_seconds"), "{}", metric.name);
            assert!(!metric.help.is_empty() && !metric.rise.is_empty(), "{}", metric.name);
        }
    }
}
