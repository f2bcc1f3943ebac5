//! All P-Modes of a gateway, loaded together or not at all, ready for matching.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use time::OffsetDateTime;

use super::agree::{Index, overlap};
use super::complete::{Certificates, Files, complete_with};
use super::draft::{Draft, Root};
use super::error::{PModeError, PModeWarning, Place, Problem};
use super::model::PMode;
use super::profiles::Profiles;
use super::read::read;

/// The P-Modes of a gateway.
#[derive(Clone, Debug, Default)]
pub struct PModeSet {
    pub(super) pmodes: Vec<Arc<PMode>>,
    by_id: HashMap<String, usize>,
    pub(super) index: Index,
    warnings: Vec<PModeWarning>,
}

impl PModeSet {
    /// Loads P-Mode and profile files (path and text), all or nothing: on errors the caller keeps the set it has.
    ///
    /// # Errors
    /// Every fault of every file.
    pub fn load(files: &[(PathBuf, String)], named: &dyn Files, now: OffsetDateTime) -> Result<Self, Vec<PModeError>> {
        let mut errors = Vec::new();
        let mut profiles = Profiles::built_in()?;
        let drafts = drafts(files, &mut profiles, &mut errors);
        let mut certificates = Certificates::new(named);
        let (mut places, mut pmodes, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for draft in &drafts {
            match complete_with(draft, &profiles, &mut certificates, now) {
                Ok((pmode, more)) => {
                    places.push(draft.name.at.clone());
                    pmodes.push(Arc::new(pmode));
                    warnings.extend(more);
                }
                Err(more) => errors.extend(more),
            }
        }
        let mut set = Self::new(pmodes);
        set.warnings = warnings;
        set.compare(&places, &mut errors);
        if errors.is_empty() { Ok(set) } else { Err(errors) }
    }

    /// A set of complete P-Modes, whose ids the caller knows to be unique.
    #[must_use]
    pub fn new(pmodes: Vec<Arc<PMode>>) -> Self {
        let by_id = pmodes.iter().enumerate().map(|(at, pmode)| (pmode.id.clone(), at)).collect();
        let index = Index::new(&pmodes);
        Self { pmodes, by_id, index, warnings: Vec::new() }
    }

    /// Finds pairs that match the same messages: the same criteria are an error (FR-057), criteria that overlap and
    /// of which none is more specific deserve a warning, for they fail only when such a message comes (EB-151).
    fn compare(&mut self, places: &[Place], errors: &mut Vec<PModeError>) {
        for (left, right, same) in overlap(&self.pmodes, &self.index) {
            let (Some(first), Some(second)) = (self.pmodes.get(left), self.pmodes.get(right)) else { continue };
            let (Some(at), Some(place)) = (places.get(left).cloned(), places.get(right).cloned()) else { continue };
            if same {
                errors.push(PModeError { place, problem: Problem::Ambiguous { other: first.id.clone(), at } });
            } else {
                let text = format!(
                    "P-Modes `{}` and `{}` ({at}) both match some messages, and neither is more specific: those messages \
                     are answered with EBMS:0010",
                    second.id, first.id
                );
                self.warnings.push(PModeWarning { place, text });
            }
        }
    }

    /// The P-Mode with that id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Arc<PMode>> {
        self.position(id).and_then(|at| self.pmodes.get(at))
    }

    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// All P-Modes, in the order of their files.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<PMode>> {
        self.pmodes.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pmodes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pmodes.is_empty()
    }

    /// What deserves attention: certificates out of date, messages in the clear, overlaps.
    #[must_use]
    pub fn warnings(&self) -> &[PModeWarning] {
        &self.warnings
    }
}

/// Reads all files; profiles go to the profiles, P-Modes come back. Names are unique for each.
fn drafts(files: &[(PathBuf, String)], profiles: &mut Profiles, errors: &mut Vec<PModeError>) -> Vec<Draft> {
    let mut seen: HashMap<(bool, String), Place> = HashMap::new();
    let mut drafts = Vec::new();
    for (path, text) in files {
        let draft = match read(path, text) {
            Ok(draft) => draft,
            Err(more) => {
                errors.extend(more);
                continue;
            }
        };
        match seen.entry((draft.root == Root::Profile, draft.name.value.clone())) {
            Entry::Occupied(first) => {
                let problem = Problem::RepeatedName { id: draft.name.value.clone(), other: first.get().clone() };
                errors.push(PModeError { place: draft.name.at.clone(), problem });
                continue;
            }
            Entry::Vacant(free) => {
                free.insert(draft.name.at.clone());
            }
        }
        if draft.root == Root::Profile { profiles.insert(draft) } else { drafts.push(draft) }
    }
    drafts
}
