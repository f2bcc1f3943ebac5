//! What the second engine says.

/// Largest part, in octets, that the second engine canonicalises (it needs the whole tree in memory).
pub const SECOND_OPINION_MAX: u64 = 16 * 1024 * 1024;

/// The second engine's word on a signature that the first one accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// The signature holds under the given key and covers exactly the given references.
    Agrees,
    /// It does not hold, or covers other references: the message is refused, and someone has to look.
    Disagrees {
        /// What differed.
        why: String,
    },
    /// Beyond what it can judge; the first engine's word stands alone, and the timeline says so.
    CouldNotJudge {
        /// What stood in the way.
        why: String,
    },
}

impl Opinion {
    #[cfg(feature = "xmlsec")]
    pub(super) fn disagrees(why: impl Into<String>) -> Self {
        Self::Disagrees { why: why.into() }
    }

    pub(super) fn could_not(why: impl Into<String>) -> Self {
        Self::CouldNotJudge { why: why.into() }
    }
}
