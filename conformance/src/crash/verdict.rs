//! The three logs compared.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::kill::Kill;
use super::producer::Submission;
use super::relay::Attempt;
use crate::consumer::Delivered;

/// What the logs say. Each list names what is wrong and must be empty.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Verdict {
    /// Documents that the producer was answered for.
    pub submitted: usize,
    /// Messages that the consumer has.
    pub delivered: usize,
    /// Calls of the consumer; repetitions under one key are one delivery.
    pub deliveries: usize,
    /// Attempts on the wire.
    pub attempts: usize,
    /// Attempts that no answer was passed on for.
    pub unanswered: usize,
    /// Documents above 64 KiB.
    pub large: usize,
    /// Answered submissions that never arrived.
    pub lost: Vec<String>,
    /// Messages that came under two keys, and documents that came as two messages.
    pub doubled: Vec<String>,
    /// Messages whose payload is not the submitted one.
    pub altered: Vec<String>,
    /// Messages that came and that no answer had named.
    pub unknown: Vec<String>,
    /// Keys whose answers named different messages, and messages signed differently from attempt to attempt.
    pub changed: Vec<String>,
    /// Messages without an answer that reached the sender.
    pub unreceipted: Vec<String>,
    /// Submissions that were refused or never answered.
    pub refused: Vec<String>,
}

impl Verdict {
    /// Whether all is as promised.
    #[must_use]
    pub fn good(&self) -> bool {
        self.submitted > 0 && self.wrong().iter().all(|(_, list)| list.is_empty())
    }

    /// Everything that may be wrong, by name.
    pub(super) fn wrong(&self) -> [(&'static str, &Vec<String>); 7] {
        [
            ("lost", &self.lost),
            ("delivered twice", &self.doubled),
            ("altered", &self.altered),
            ("unknown", &self.unknown),
            ("id or signature changed", &self.changed),
            ("without receipt", &self.unreceipted),
            ("not taken", &self.refused),
        ]
    }
}

pub(super) fn judge(submissions: &[Submission], wire: &[Attempt], deliveries: &[Delivered]) -> Verdict {
    let mut verdict = Verdict { deliveries: deliveries.len(), attempts: wire.len(), ..Verdict::default() };
    verdict.unanswered = wire.iter().filter(|attempt| attempt.answered.is_none()).count();
    let mut arrived: BTreeMap<&str, Vec<&Delivered>> = BTreeMap::new();
    for delivered in deliveries {
        arrived.entry(&delivered.message_id).or_default().push(delivered);
    }
    verdict.delivered = arrived.len();
    let known = of_submissions(&mut verdict, submissions, &arrived);
    for (id, calls) in &arrived {
        let keys: HashSet<&str> = calls.iter().map(|call| call.key.as_str()).collect();
        if keys.len() > 1 {
            verdict.doubled.push(format!("{id} under {} keys", keys.len()));
        }
        if !known.contains(id) {
            verdict.unknown.push((*id).to_owned());
        }
    }
    of_documents(&mut verdict, &arrived);
    of_wire(&mut verdict, wire, &known);
    verdict
}

/// Each submission: one id, arrived, unaltered. Gives the ids.
fn of_submissions<'s>(
    verdict: &mut Verdict,
    submissions: &'s [Submission],
    arrived: &BTreeMap<&str, Vec<&Delivered>>,
) -> HashSet<&'s str> {
    let mut known = HashSet::new();
    for submission in submissions {
        let key = &submission.key;
        if let Some(why) = &submission.refused {
            verdict.refused.push(format!("{key}: {why}"));
        }
        let Some(id) = submission.ids.first() else {
            verdict.refused.push(format!("{key}: never answered"));
            continue;
        };
        verdict.submitted += 1;
        verdict.large += usize::from(submission.size > 64 << 10);
        known.extend(submission.ids.iter().map(String::as_str));
        if submission.ids.iter().any(|other| other != id) {
            verdict.changed.push(format!("{key}: {}", submission.ids.join(", ")));
        }
        match arrived.get(id.as_str()) {
            None => verdict.lost.push(format!("{key} {id}")),
            Some(calls) if calls.iter().any(|call| call.sha256 != [submission.sha256.as_str()]) => {
                verdict.altered.push(format!("{key} {id}"));
            }
            Some(_) => {}
        }
    }
    known
}

/// Payloads are random: one that comes in two messages is one document delivered twice.
fn of_documents(verdict: &mut Verdict, arrived: &BTreeMap<&str, Vec<&Delivered>>) {
    let mut bearers: HashMap<&[String], &str> = HashMap::new();
    for (id, calls) in arrived {
        for call in calls {
            let first = bearers.entry(&call.sha256).or_insert(id);
            if first != id {
                verdict.doubled.push(format!("one document as {first} and as {id}"));
            }
        }
    }
}

/// Every attempt of a message is the same message; each got an answer at last.
fn of_wire(verdict: &mut Verdict, wire: &[Attempt], known: &HashSet<&str>) {
    let mut signatures: HashMap<&str, &str> = HashMap::new();
    let mut answered: HashSet<&str> = HashSet::new();
    for attempt in wire {
        let id = attempt.message_id.as_str();
        if signatures.insert(id, &attempt.signature).is_some_and(|before| before != attempt.signature) {
            verdict.changed.push(format!("{id}: another signature"));
        }
        if !known.contains(id) {
            verdict.unknown.push(format!("{id} on the wire"));
        }
        if attempt.answered.is_some() {
            answered.insert(id);
        }
    }
    verdict.unreceipted = known.iter().filter(|id| !answered.contains(*id)).map(|id| (*id).to_owned()).collect();
}

/// Kills of the receiver after its commit, proven from outside: the message came to the consumer before any other attempt
/// of it had reached the receiver whole, and the answer of the killed attempt was never passed on. Of the sender: the
/// answer was there and was never passed on.
pub(super) fn proven(kills: &[Kill], wire: &[Attempt], deliveries: &[Delivered]) -> usize {
    let proof = |kill: &&Kill| {
        let Some(id) = &kill.message_id else { return false };
        if kill.answer_begun {
            return true;
        }
        let next = wire.iter().filter(|a| a.message_id == *id).filter_map(|a| a.whole).find(|whole| *whole > kill.at);
        let answered = wire.iter().any(|a| a.message_id == *id && a.answered.is_some_and(|at| at <= kill.at));
        let first = deliveries.iter().filter(|d| d.message_id == *id).map(|d| d.at).min();
        !answered && first.is_some_and(|at| next.is_none_or(|next| at < next))
    };
    kills.iter().filter(proof).count()
}

#[cfg(test)]
mod tests {
    use super::super::schedule::{Moment, Victim};
    use super::*;

    fn submission(key: &str, id: &str, sha: &str) -> Submission {
        Submission { key: key.into(), sha256: sha.into(), ids: vec![id.into()], ..Submission::default() }
    }

    fn delivered(key: &str, id: &str, sha: &str, at: u64) -> Delivered {
        Delivered { key: key.into(), message_id: id.into(), sha256: vec![sha.into()], at }
    }

    fn attempt(id: &str, whole: u64, answered: Option<u64>) -> Attempt {
        Attempt { message_id: id.into(), signature: "s".into(), whole: Some(whole), answered }
    }

    #[test]
    fn a_repeated_call_under_one_key_is_one_delivery() {
        let wire = [attempt("a", 1, None), attempt("a", 5, Some(6))];
        let calls = [delivered("k", "a", "1", 2), delivered("k", "a", "1", 3)];
        let verdict = judge(&[submission("d", "a", "1")], &wire, &calls);
        assert!(verdict.good(), "{verdict:?}");
        assert_eq!((verdict.delivered, verdict.deliveries, verdict.unanswered), (1, 2, 1));
    }

    #[test]
    fn each_breach_is_seen() {
        let good = (submission("d", "a", "1"), attempt("a", 1, Some(2)), delivered("k", "a", "1", 2));
        let name = |submissions: &[Submission], wire: &[Attempt], calls: &[Delivered]| {
            let verdict = judge(submissions, wire, calls);
            verdict.wrong().iter().filter(|(_, list)| !list.is_empty()).map(|(name, _)| *name).collect::<Vec<_>>()
        };
        let (s, w, c) = good;
        let (submissions, wire) = ([s.clone()], [w.clone()]);
        assert!(name(&submissions, &wire, std::slice::from_ref(&c)).is_empty());
        assert_eq!(name(&submissions, &wire, &[]), ["lost"]);
        assert_eq!(name(&submissions, &wire, &[c.clone(), delivered("l", "a", "1", 3)]), ["delivered twice"]);
        assert_eq!(
            name(&submissions, &wire, &[c.clone(), delivered("l", "b", "1", 3)]),
            ["delivered twice", "unknown"]
        );
        assert_eq!(name(&submissions, &wire, &[delivered("k", "a", "2", 2)]), ["altered"]);
        assert_eq!(name(&submissions, &[attempt("a", 1, None)], std::slice::from_ref(&c)), ["without receipt"]);
        let signed_anew = Attempt { signature: "t".into(), ..w.clone() };
        assert_eq!(
            name(&submissions, &[w.clone(), signed_anew], std::slice::from_ref(&c)),
            ["id or signature changed"]
        );
        let two = Submission { ids: vec!["a".into(), "b".into()], ..s.clone() };
        assert_eq!(
            name(&[two], &[w.clone(), attempt("b", 1, Some(2))], std::slice::from_ref(&c)),
            ["id or signature changed"]
        );
        let refused = Submission { refused: Some("HTTP 400".into()), ..s };
        assert_eq!(name(&[refused], &[w], &[c]), ["not taken"]);
    }

    #[test]
    fn a_commit_is_proven_by_a_delivery_before_the_next_attempt() {
        let kill = |answer_begun| Kill {
            moment: Moment::ReceiverCommitted,
            victim: Victim::Red,
            message_id: Some("a".into()),
            answer_begun,
            at: 10,
        };
        let wire = [attempt("a", 9, None), attempt("a", 20, Some(21))];
        assert_eq!(proven(&[kill(false)], &wire, &[delivered("k", "a", "1", 15)]), 1);
        assert_eq!(proven(&[kill(false)], &wire, &[delivered("k", "a", "1", 25)]), 0);
        assert_eq!(proven(&[kill(true)], &wire, &[]), 1);
    }
}
