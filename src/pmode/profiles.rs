//! Profiles: P-Mode defaults that many P-Modes share, as data in the same XML (PR-001, PR-002).
//!
//! The built-in ones are the files of `pmodes/profiles/`, compiled in; a file of the same name in the operator's
//! folder takes the place of the built-in one.

use std::collections::BTreeMap;
use std::path::Path;

use super::draft::{Draft, Inherit, Root, Terms};
use super::error::{PModeError, Problem, nearest};
use super::read::read;

/// What a P-Mode without `@profile` inherits from: signed, with receipts, retry and duplicate detection.
pub const BASE: &str = "as4";

/// The built-in profiles: file and text.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("pmodes/profiles/as4.xml", include_str!("../../pmodes/profiles/as4.xml")),
    ("pmodes/profiles/plain.xml", include_str!("../../pmodes/profiles/plain.xml")),
    ("pmodes/profiles/edelivery-1.15.xml", include_str!("../../pmodes/profiles/edelivery-1.15.xml")),
    ("pmodes/profiles/peppol-2.0.xml", include_str!("../../pmodes/profiles/peppol-2.0.xml")),
    ("pmodes/profiles/test-service.xml", include_str!("../../pmodes/profiles/test-service.xml")),
];

/// Profiles by name.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    by_name: BTreeMap<String, Draft>,
}

impl Profiles {
    /// The built-in profiles.
    ///
    /// # Errors
    /// When one does not read: a fault of the program, and reported like any other.
    pub fn built_in() -> Result<Self, Vec<PModeError>> {
        let mut profiles = Self::default();
        for (file, text) in BUILT_IN {
            profiles.insert(read(Path::new(file), text)?);
        }
        Ok(profiles)
    }

    /// Adds a profile, in place of one of the same name; drafts of P-Modes are left out.
    pub fn insert(&mut self, draft: Draft) {
        if draft.root == Root::Profile {
            self.by_name.insert(draft.name.value.clone(), draft);
        }
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The terms of a draft with everything that it inherits.
    pub(super) fn resolve(&self, draft: &Draft) -> Result<Terms, Box<PModeError>> {
        let mut terms = draft.terms.clone();
        let mut seen: Vec<&str> = Vec::new();
        let mut next = Some((draft.profile.as_ref().map_or(BASE, |p| &p.value), draft));
        while let Some((name, from)) = next {
            let place = || from.profile.as_ref().map_or_else(|| from.name.at.clone(), |p| p.at.clone());
            if seen.contains(&name) {
                let problem = Problem::ProfileRing(name.to_owned());
                return Err(Box::new(PModeError { place: place(), problem }));
            }
            let profile = self.by_name.get(name).ok_or_else(|| {
                let known: Vec<String> = self.by_name.keys().cloned().collect();
                let nearest = nearest(name, known.iter().map(String::as_str));
                let problem = Problem::UnknownProfile { found: name.to_owned(), nearest, known };
                Box::new(PModeError { place: place(), problem })
            })?;
            terms.inherit(&profile.terms);
            seen.push(name);
            next = profile.profile.as_ref().map(|p| (p.value.as_str(), profile));
        }
        Ok(terms)
    }
}
