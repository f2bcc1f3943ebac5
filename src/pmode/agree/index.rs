//! Finds the few legs that can match at all.
//!
//! Legs are kept by the digest of what they set of service, action and parties. A message is looked up once for each
//! combination of these that some P-Mode leaves open: at most sixteen, mostly one or two. Digests may collide; every
//! candidate is judged in full afterwards.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use super::criteria::{ALL, channel, named, same_ids};
use super::{Criterion, LegOf, legs};
use crate::ebms::{PartyId, UserMessage};
use crate::pmode::model::{LegNumber, PMode};
use crate::wire::xml::names;

/// Digests of service, action, sender and receiver; `None` is any.
type Key = [Option<u64>; 4];

/// How many legs are kept for one value: a stranger's message must not make us look at all of them.
const NEAR: usize = 64;

/// The index of a set.
#[derive(Clone, Debug, Default)]
pub(in crate::pmode) struct Index {
    legs: HashMap<Key, Vec<LegOf>>,
    /// Which of the four are set, for each combination in use.
    masks: Vec<[bool; 4]>,
    /// Some legs for each value of the four, and some of all: where the nearest one is looked for after a refusal.
    near: HashMap<(usize, u64), Vec<LegOf>>,
    some: Vec<LegOf>,
    /// Every value that some leg sets.
    known: HashSet<(Criterion, u64)>,
    state: RandomState,
}

impl Index {
    pub(in crate::pmode) fn new(pmodes: &[Arc<PMode>]) -> Self {
        let mut index = Self::default();
        for (at, pmode) in pmodes.iter().enumerate() {
            for leg in legs(pmode) {
                let key = index.key(pmode, leg);
                let mask = key.map(|digest| digest.is_some());
                if !index.masks.contains(&mask) {
                    index.masks.push(mask);
                }
                let one = LegOf { pmode: at, leg };
                for (slot, digest) in key.iter().enumerate().filter_map(|(slot, digest)| Some((slot, (*digest)?))) {
                    keep(index.near.entry((slot, digest)).or_default(), one);
                }
                keep(&mut index.some, one);
                let known =
                    ALL.into_iter().filter_map(|criterion| Some((criterion, index.set(criterion, pmode, leg)?)));
                let known: Vec<_> = known.collect();
                index.known.extend(known);
                index.legs.entry(key).or_default().push(one);
            }
        }
        index
    }

    fn of(&self, message: &UserMessage) -> [u64; 4] {
        [
            self.digest(&message.service),
            self.digest(&message.action),
            self.party(&message.from.ids),
            self.party(&message.to.ids),
        ]
    }

    /// Legs that have something in common with a message, and some others; some may come twice.
    pub(super) fn near(&self, message: &UserMessage) -> impl Iterator<Item = LegOf> {
        let full = self.of(message).into_iter().enumerate();
        full.filter_map(|key| self.near.get(&key)).flatten().chain(&self.some).copied()
    }

    /// Whether some leg sets the value that the message has.
    pub(super) fn knows(&self, criterion: Criterion, message: &UserMessage) -> bool {
        let digest = match criterion {
            Criterion::Agreement => message.agreement.as_ref().map(|a| self.digest((&a.value, a.kind.as_ref()))),
            Criterion::From => Some(self.party(&message.from.ids)),
            Criterion::FromRole => Some(self.digest(&message.from.role)),
            Criterion::To => Some(self.party(&message.to.ids)),
            Criterion::ToRole => Some(self.digest(&message.to.role)),
            Criterion::Service => Some(self.digest(&message.service)),
            Criterion::Action => Some(self.digest(&message.action)),
            Criterion::Mpc => Some(self.digest(message.mpc.as_deref().unwrap_or(names::DEFAULT_MPC))),
            Criterion::PModeId => named(message).map(|id| self.digest(id)),
        };
        digest.is_some_and(|digest| self.known.contains(&(criterion, digest)))
    }

    /// The digest of what a leg sets.
    fn set(&self, criterion: Criterion, pmode: &PMode, number: LegNumber) -> Option<u64> {
        let leg = pmode.leg(number)?;
        let party = |ids: &[PartyId]| (!ids.is_empty()).then(|| self.party(ids));
        match criterion {
            Criterion::Agreement => pmode.agreement.as_ref().map(|a| self.digest((&a.value, a.kind.as_ref()))),
            Criterion::From => party(&pmode.sender(number).ids),
            Criterion::FromRole => pmode.sender(number).role.as_ref().map(|role| self.digest(role)),
            Criterion::To => party(&pmode.receiver(number).ids),
            Criterion::ToRole => pmode.receiver(number).role.as_ref().map(|role| self.digest(role)),
            Criterion::Service => leg.business.service.as_ref().map(|service| self.digest(service)),
            Criterion::Action => leg.business.action.as_ref().map(|action| self.digest(action)),
            Criterion::Mpc => Some(self.digest(channel(leg))),
            Criterion::PModeId => pmode.send_pmode_id.then(|| self.digest(&pmode.id)),
        }
    }

    /// The legs that may match a message.
    pub(super) fn candidates(&self, message: &UserMessage) -> impl Iterator<Item = LegOf> {
        let full = self.of(message);
        let keys = self.masks.iter().map(move |mask| {
            let mut key = [None; 4];
            for ((slot, set), digest) in key.iter_mut().zip(mask).zip(full) {
                *slot = set.then_some(digest);
            }
            key
        });
        keys.filter_map(|key| self.legs.get(&key)).flatten().copied()
    }

    fn key(&self, pmode: &PMode, number: LegNumber) -> Key {
        [Criterion::Service, Criterion::Action, Criterion::From, Criterion::To]
            .map(|criterion| self.set(criterion, pmode, number))
    }

    fn digest(&self, value: impl Hash) -> u64 {
        self.state.hash_one(value)
    }

    /// The sum does not depend on the order.
    fn party(&self, ids: &[PartyId]) -> u64 {
        ids.iter().fold(0, |sum, id| sum.wrapping_add(self.digest(id)))
    }
}

fn keep(list: &mut Vec<LegOf>, one: LegOf) {
    if list.len() < NEAR {
        list.push(one);
    }
}

/// Pairs of legs that both match some message and are equally specific; `true` when they match exactly the same ones.
pub(in crate::pmode) fn overlap(pmodes: &[Arc<PMode>], index: &Index) -> Vec<(usize, usize, bool)> {
    let mut pairs = Vec::new();
    let (closed, open): (Vec<_>, Vec<_>) = index.legs.iter().partition(|(key, _)| key.iter().all(Option::is_some));
    let mut compare = |left: LegOf, right: LegOf| {
        let (Some(a), Some(b)) = (pmodes.get(left.pmode), pmodes.get(right.pmode)) else { return };
        if left.pmode != right.pmode
            && super::specificity(a, left.leg) == super::specificity(b, right.leg)
            && let Some(same) = meet(a, left.leg, b, right.leg)
        {
            pairs.push((left.pmode.min(right.pmode), left.pmode.max(right.pmode), same));
        }
    };
    // Legs that set all four meet others of the same key only; the others are compared with every compatible key.
    for legs in closed.iter().map(|(_, legs)| legs) {
        each_pair(legs, &mut compare);
    }
    for (at, (key, legs)) in open.iter().enumerate() {
        each_pair(legs, &mut compare);
        for (_, others) in open.iter().skip(at + 1).chain(&closed).filter(|(other, _)| compatible(key, other)) {
            for left in *legs {
                others.iter().for_each(|right| compare(*left, *right));
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn each_pair(legs: &[LegOf], compare: &mut impl FnMut(LegOf, LegOf)) {
    for (at, left) in legs.iter().enumerate() {
        legs.iter().skip(at + 1).for_each(|right| compare(*left, *right));
    }
}

fn compatible(left: &Key, right: &Key) -> bool {
    left.iter().zip(right).all(|(l, r)| l.is_none() || r.is_none() || l == r)
}

/// Whether some message matches both, and whether every message that matches one matches the other.
fn meet(a: &PMode, left: LegNumber, b: &PMode, right: LegNumber) -> Option<bool> {
    fn both<T: ?Sized>(a: Option<&T>, b: Option<&T>, same: impl Fn(&T, &T) -> bool) -> Option<bool> {
        match (a, b) {
            (Some(a), Some(b)) => same(a, b).then_some(true),
            (None, None) => Some(true),
            _ => Some(false),
        }
    }
    fn set(ids: &[PartyId]) -> Option<&[PartyId]> {
        (!ids.is_empty()).then_some(ids)
    }
    let (x, y) = (&a.leg(left)?.business, &b.leg(right)?.business);
    let channel = |mpc: &Option<String>| mpc.as_deref().unwrap_or(names::DEFAULT_MPC).to_owned();
    let same = [
        both(a.agreement.as_ref(), b.agreement.as_ref(), PartialEq::eq)?,
        both(set(&a.sender(left).ids), set(&b.sender(right).ids), same_ids)?,
        both(set(&a.receiver(left).ids), set(&b.receiver(right).ids), same_ids)?,
        both(a.sender(left).role.as_ref(), b.sender(right).role.as_ref(), PartialEq::eq)?,
        both(a.receiver(left).role.as_ref(), b.receiver(right).role.as_ref(), PartialEq::eq)?,
        both(x.service.as_ref(), y.service.as_ref(), PartialEq::eq)?,
        both(x.action.as_ref(), y.action.as_ref(), PartialEq::eq)?,
        both(Some(&channel(&x.mpc)), Some(&channel(&y.mpc)), PartialEq::eq)?,
        both(a.send_pmode_id.then_some(&a.id), b.send_pmode_id.then_some(&b.id), PartialEq::eq)?,
    ];
    Some(same.into_iter().all(|same| same))
}
