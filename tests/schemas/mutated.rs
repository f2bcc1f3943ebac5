//! Valid messages with elements removed, doubled, swapped, emptied or added to: reader and schema must agree.

use postrider::ebms::Code;
use postrider::pmode::SoapVersion;
use postrider::wire::xml::{Document, Limits, Node, names};
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{Schemas, emitted, enveloped, read};

#[derive(Clone, Copy, Debug)]
enum Change {
    Remove,
    Double,
    Swap,
    Empty,
    AddAttribute,
    AddForeignAttribute,
    AddText,
    AddForeign,
}

const CHANGES: [Change; 8] = [
    Change::Remove,
    Change::Double,
    Change::Swap,
    Change::Empty,
    Change::AddAttribute,
    Change::AddForeignAttribute,
    Change::AddText,
    Change::AddForeign,
];

/// The ebMS elements below and including `node`, in document order, as byte ranges of their source.
fn elements(node: Node<'_>, all: &mut Vec<(usize, usize)>) {
    if node.namespace() == names::EB {
        all.push((node.data().offset, node.data().end));
    }
    node.elements().for_each(|child| elements(child, all));
}

/// The fragment with one change at the element chosen by `at`; `other` is a second one, for swaps.
fn changed(fragment: &str, change: Change, at: Index, other: Index) -> String {
    let document = Document::parse(fragment, &Limits::ENVELOPE).expect("a document");
    let mut all = Vec::new();
    elements(document.root(), &mut all);
    let (start, end) = *at.get(&all[1..]);
    let element = &fragment[start..end];
    let tag = element.find('>').expect("a start tag");
    let (before, after) = (&fragment[..start], &fragment[end..]);
    let (head, tail) = element.split_at(tag);
    match change {
        Change::Remove => format!("{before}{after}"),
        Change::Double => format!("{before}{element}{element}{after}"),
        Change::Empty => {
            let close = element.rfind("</").expect("an end tag");
            format!("{before}{}{}{after}", &element[..=tag], &element[close..])
        }
        // Twice the same would be no XML at all.
        Change::AddAttribute | Change::AddForeignAttribute if head.contains("odd=") => fragment.to_owned(),
        Change::AddAttribute => format!("{before}{head} odd=\"1\"{tail}{after}"),
        Change::AddForeignAttribute => format!("{before}{head} x:odd=\"1\" xmlns:x=\"urn:x\"{tail}{after}"),
        Change::AddText => format!("{before}{element}x{after}"),
        Change::AddForeign => format!("{before}{element}<x:x xmlns:x=\"urn:x\"></x:x>{after}"),
        Change::Swap => {
            let (from, to) = *other.get(&all[1..]);
            let ((a, b), (c, d)) = if start < from { ((start, end), (from, to)) } else { ((from, to), (start, end)) };
            if b > c {
                return fragment.to_owned();
            }
            format!("{}{}{}{}{}", &fragment[..a], &fragment[c..d], &fragment[b..c], &fragment[a..b], &fragment[d..])
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reader_and_schema_agree(
        base in any::<Index>(), changes in prop::collection::vec((0..CHANGES.len(), any::<Index>(), any::<Index>()), 1..3),
    ) {
        // Errors are taken in any shape, so they are left out.
        let bases: Vec<String> =
            emitted(SoapVersion::Soap12).into_iter().filter(|(name, _)| *name != "error signal").map(|(_, text)| text).collect();
        let mut fragment = base.get(&bases).clone();
        for (change, at, other) in changes {
            fragment = changed(&fragment, CHANGES[change], at, other);
            let document = Document::parse(&fragment, &Limits::ENVELOPE).expect("a document");
            if document.root().elements().next().is_none() {
                break;
            }
        }
        let message = enveloped(&fragment, SoapVersion::Soap12);
        thread_local!(static OURS: Schemas = Schemas::ours());
        match (OURS.with(|ours| ours.check(&message)), read(&message)) {
            (Ok(()), Ok(())) | (Err(_), Err(_)) => {}
            // Rules that a schema cannot say, among them EB-033: no two signals of a kind.
            (Ok(()), Err(code)) => {
                let signals = fragment.matches("<eb:SignalMessage").count();
                prop_assert!(code != Code::INVALID_HEADER || signals > 1, "{}", message);
            }
            // The P-Mode named alone (FR-053). A copy in a Receipt is kept, not judged.
            (Err(why), Ok(())) => {
                let tolerated = why.contains("AgreementRef") || fragment.contains("<eb:Receipt>");
                prop_assert!(tolerated, "{}\n{}", why, message);
            }
        }
    }
}
