//! A draft to a complete P-Mode: inheritance, the defaults of AS4 (spec §9.1), certificates, then the rules (EB-154).

mod certificates;
mod leg;
mod rules;

use std::path::PathBuf;

use time::OffsetDateTime;

pub(super) use self::certificates::Certificates;
pub use self::certificates::Files;
use super::draft::{Draft, LegDraft, Maybe, PartyDraft, Set};
use super::error::{PModeError, PModeWarning, Place, Problem};
use super::model::{Binding, Mep, PMode, PartySpec, ProfileChecks};
use super::profiles::Profiles;
use super::write::revision;

/// What is found while completing.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<PModeError>,
    pub(super) warnings: Vec<PModeWarning>,
}

impl Findings {
    fn error(&mut self, place: &Place, problem: Problem) {
        self.errors.push(PModeError { place: place.clone(), problem });
    }

    fn rule(&mut self, place: &Place, text: impl Into<String>) {
        self.error(place, Problem::Rule(text.into()));
    }

    fn warning(&mut self, place: &Place, text: impl Into<String>) {
        self.warnings.push(PModeWarning { place: place.clone(), text: text.into() });
    }
}

/// Completes one P-Mode.
///
/// # Errors
/// All rules that it breaks, each with its place. What merely deserves attention comes as warnings.
pub fn complete(
    draft: &Draft,
    profiles: &Profiles,
    files: &dyn Files,
    now: OffsetDateTime,
) -> Result<(PMode, Vec<PModeWarning>), Vec<PModeError>> {
    complete_with(draft, profiles, &mut Certificates::new(files), now)
}

/// As [`complete()`], with certificates shared by a whole set.
pub(super) fn complete_with(
    draft: &Draft,
    profiles: &Profiles,
    certificates: &mut Certificates<'_>,
    now: OffsetDateTime,
) -> Result<(PMode, Vec<PModeWarning>), Vec<PModeError>> {
    let terms = profiles.resolve(draft).map_err(|error| vec![*error])?;
    let mut findings = Findings::default();
    let first = LegDraft::default();
    let mut legs = terms.legs.0.iter();
    let leg = leg::leg(legs.next().unwrap_or(&first), certificates, &mut findings);
    let reply_leg = legs.next().map(|reply| leg::leg(reply, certificates, &mut findings));
    let mut pmode = PMode {
        id: draft.name.value.clone(),
        revision: String::new(),
        file: PathBuf::from(&*draft.name.at.file),
        place: draft.name.at.clone(),
        profile: draft.profile.as_ref().map(|p| p.value.clone()),
        agreement: terms.agreement.given(),
        send_pmode_id: terms.send_pmode_id.given_or(false),
        mep: terms.mep.given_or(Mep::OneWay),
        binding: terms.binding.given_or(Binding::Push),
        initiator: party(&terms.initiator, certificates, now, &mut findings),
        responder: party(&terms.responder, certificates, now, &mut findings),
        leg,
        reply_leg,
        lenient_identifiers: terms.lenient.given_or(false),
        checks: ProfileChecks {
            sbdh: terms.checks.sbdh.given_or(ProfileChecks::default().sbdh),
            empty_body: terms.checks.empty_body.given_or(ProfileChecks::default().empty_body),
            single_party_id: terms.checks.single_party_id.given_or(ProfileChecks::default().single_party_id),
            four_corner: terms.checks.four_corner.given_or(ProfileChecks::default().four_corner),
        },
    };
    rules::check(&pmode, &terms, &draft.name.at, &mut findings);
    if !findings.errors.is_empty() {
        return Err(findings.errors);
    }
    pmode.revision = revision(&pmode);
    Ok((pmode, findings.warnings))
}

fn party(
    draft: &PartyDraft,
    certificates: &mut Certificates<'_>,
    now: OffsetDateTime,
    findings: &mut Findings,
) -> PartySpec {
    PartySpec {
        ids: list(&draft.ids),
        role: draft.role.given(),
        signing: certificates.pin(&draft.signing, now, findings),
        encryption: certificates.pin(&draft.encryption, now, findings),
        subject: draft.subject.given().unwrap_or_default(),
    }
}

/// What is given, without its place.
trait Given<T> {
    fn given(&self) -> Option<T>;
    fn given_or(&self, default: T) -> T;
}

impl<T: Clone> Given<T> for Maybe<T> {
    fn given(&self) -> Option<T> {
        self.as_ref().map(|set| set.value.clone())
    }

    fn given_or(&self, default: T) -> T {
        self.given().unwrap_or(default)
    }
}

fn list<T: Clone>(set: &[Set<T>]) -> Vec<T> {
    set.iter().map(|set| set.value.clone()).collect()
}

#[cfg(test)]
mod tests;
