//! What is wrong with P-Mode files, and where: every fault of a file is reported, not only the first.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A place in a P-Mode file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    #[serde(serialize_with = "path")]
    pub file: Arc<Path>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

fn path<S: Serializer>(path: &Arc<Path>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// A fault that keeps a set of P-Modes from being loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct PModeError {
    /// Where.
    pub place: Place,
    /// What, and what to do next.
    pub problem: Problem,
}

/// Something that works, and that an operator should know (`postrider check --deny-warnings` refuses it).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PModeWarning {
    /// Where.
    pub place: Place,
    /// What, and what to do next.
    pub text: String,
}

impl fmt::Display for PModeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file is no XML that we read.
    #[error("{0}")]
    Xml(String),
    /// Neither a P-Mode nor a profile.
    #[error("the root element is `{found}`; expected `PMode` or `Profile` in namespace `urn:postrider:pmode:1`")]
    Root {
        /// The root as it stands.
        found: String,
    },
    /// An element or attribute that we do not know there.
    #[error("`{found}` is not known in `{parent}`{}; known here: {}", nearest_of(.nearest.as_deref()), .known.join(", "))]
    Unknown {
        /// Its name; attributes begin with `@`.
        found: String,
        /// The element it stands in.
        parent: String,
        /// The nearest name known there.
        nearest: Option<String>,
        /// All names known there.
        known: Vec<String>,
    },
    /// An element that may stand once.
    #[error("`{name}` stands twice in `{parent}`; keep one")]
    Repeated {
        /// Its name.
        name: String,
        /// The element it stands in.
        parent: String,
    },
    /// Something that must be there.
    #[error("`{name}` is missing in `{parent}`; {expected}")]
    Missing {
        /// Its name; attributes begin with `@`.
        name: String,
        /// The element it belongs into.
        parent: String,
        /// What it should hold.
        expected: String,
    },
    /// A value of the wrong form.
    #[error("`{name}` is `{found}`; expected {expected}{}", nearest_of(.nearest.as_deref()))]
    Value {
        /// Whose value.
        name: String,
        /// The value.
        found: String,
        /// What it should be.
        expected: String,
        /// The nearest known word.
        nearest: Option<String>,
    },
    /// A parameter of the specifications that this version does not carry out.
    #[error("{what} is not offered in this version; {instead}")]
    NotOffered {
        /// The parameter and its value.
        what: String,
        /// What to do.
        instead: String,
    },
    /// A file that the P-Mode names.
    #[error("`{}` cannot be used: {reason}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// The profile is not there.
    #[error("the profile `{found}` does not exist{}; known: {}", nearest_of(.nearest.as_deref()), .known.join(", "))]
    UnknownProfile {
        /// Its name.
        found: String,
        /// The nearest one.
        nearest: Option<String>,
        /// All there are.
        known: Vec<String>,
    },
    /// Profiles that inherit from each other in a ring.
    #[error("the profile `{0}` inherits from itself; break the ring")]
    ProfileRing(String),
    /// Parameters that contradict each other (EB-154).
    #[error("{0}")]
    Rule(String),
    /// An id that another file has.
    #[error("the id `{id}` stands already in {other}; ids are unique in a gateway")]
    RepeatedName {
        /// The id, or the profile's name.
        id: String,
        /// Where it stands too.
        other: Place,
    },
    /// EB-151, FR-057.
    #[error(
        "it matches exactly the messages of P-Mode `{other}` ({at}); let them differ in agreement, parties, roles, \
         service, action or MPC, or remove one"
    )]
    Ambiguous {
        /// The other P-Mode.
        other: String,
        /// Where it stands.
        at: Place,
    },
}

fn nearest_of(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(", did you mean `{n}`?"))
}

/// The known word that is nearest to `found`, if any is near enough to be a slip.
pub(super) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let folded = found.to_lowercase();
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&folded, &k.to_lowercase()), k))
        .filter(|(distance, k)| *distance <= (k.len() / 3).max(1))
        .min()
        .map(|(_, k)| k.to_owned())
}
