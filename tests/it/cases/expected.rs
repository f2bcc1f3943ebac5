//! The files of cases, and what is right for each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::support::fixture;

/// What is right for one file. `expected.toml` says what each field means.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Case {
    pub(super) answer: String,
    pub(super) codes: Vec<String>,
    pub(super) status: Vec<u16>,
    pub(super) parts: Vec<String>,
    pub(super) effect: Option<bool>,
    pub(super) id: Option<String>,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) same: Vec<String>,
    pub(super) fields: BTreeMap<String, String>,
    pub(super) gateway: String,
    pub(super) closes: bool,
    pub(super) state: String,
    pub(super) says: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    octets: BTreeMap<String, String>,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    reason: String,
    waits_for: String,
}

fn expected() -> Expected {
    let path = fixture("cases/expected.toml");
    let text = std::fs::read_to_string(&path).expect("it is there");
    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn exceptions() -> BTreeMap<String, Exception> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/exceptions.toml");
    let text = std::fs::read_to_string(&path).expect("it is there");
    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The cases whose file name ends so, in order.
pub(super) fn cases(ends: &str) -> Vec<(String, Case)> {
    let all = expected().cases.into_iter();
    all.filter(|(name, _)| name.ends_with(ends)).collect()
}

/// A case's file.
pub(super) fn octets(name: &str) -> Vec<u8> {
    let path: PathBuf = fixture(&format!("cases/{name}"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The octets of a part, by the name that `expected.toml` gives them.
pub(super) fn part(name: &str) -> Option<Vec<u8>> {
    expected().octets.get(name).map(|text| text.clone().into_bytes())
}

#[test]
fn every_case_is_expected_or_an_exception() {
    let there: BTreeSet<String> = std::fs::read_dir(fixture("cases"))
        .expect("it is a folder")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .filter(|name| Path::new(name).extension().is_some_and(|e| e == "http" || e == "xml"))
        .collect();
    let (expected, exceptions) = (expected().cases, exceptions());
    let both: Vec<_> = expected.keys().filter(|name| exceptions.contains_key(*name)).collect();
    assert!(both.is_empty(), "expected, and an exception: {both:?}");
    let known: BTreeSet<String> = expected.into_keys().chain(exceptions.keys().cloned()).collect();
    assert_eq!(there, known, "files, and what is known of them");
    for (name, exception) in exceptions {
        assert!(
            exception.reason.len() > 20 && !exception.waits_for.is_empty(),
            "{name}: say why, and what it waits for"
        );
    }
}
