//! The gateways that the cases are sent to, by the names in `expected.toml`.

use crate::support::database::Database;
use crate::support::keys::pki;
use crate::support::node::{Builder, Node};
use crate::support::pmode::{PMode, Party};

/// Sender of all cases.
pub(super) const A: &str = "urn:example:party:a";
/// Their receiver.
pub(super) const B: &str = "urn:example:party:b";
/// Their agreement.
pub(super) const AGREEMENT: &str = "urn:example:agreement:1";
const SERVICE: &str = "urn:example:service";
const TEST_SERVICE: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/service";
const TEST_ACTION: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/test";
/// The cases stay dated when they were written: none may be refused by its age.
const FOR_EVER: &str = "36500d";

/// Between the parties of the cases, with nothing agreed about security.
fn plain(id: &str) -> PMode {
    bare(id).agreement(AGREEMENT).service(None, SERVICE, "Deliver")
}

fn bare(id: &str) -> PMode {
    PMode::new(id, "plain").parties(Party::uri(A), Party::uri(B)).window(FOR_EVER).deliver()
}

fn of(pmodes: impl IntoIterator<Item = PMode>) -> Builder {
    pmodes.into_iter().fold(Builder::new("cases").party(B, None, None), Builder::pmode)
}

/// Starts a gateway.
pub(super) fn site(name: &str, database: Database) -> Node {
    let builder = match name {
        // What the cases are written for, and what is agreed with the same partner besides.
        "open" => of([
            plain("open"),
            plain("two-ids").initiator_too("urn:example:party:a2"),
            bare("test").agreement(AGREEMENT).service(None, TEST_SERVICE, TEST_ACTION),
            bare("test-service-alone").agreement(AGREEMENT).service(None, TEST_SERVICE, "Deliver"),
            bare("test-action-alone").agreement(AGREEMENT).service(None, SERVICE, TEST_ACTION),
        ]),
        // Looser agreements, which `open` must not have.
        "loose" => of([
            plain("with-agreement"),
            bare("pm-1").service(None, SERVICE, "Deliver"),
            plain("evil").parties(Party::uri("urn:example:party:a.evil"), Party::uri(B)),
            plain("lenient").parties(Party::uri("node a"), Party::uri(B)).lenient(),
        ]),
        "secured" => {
            let parties = (Party::uri(A).certificate("blue"), Party::uri(B).certificate("red"));
            let pmode = PMode::new("secured", "edelivery-1.15").parties(parties.0, parties.1).agreement(AGREEMENT);
            Builder::new("cases")
                .party(B, None, Some(&pki().red))
                .certificate("blue", &pki().blue.certificate)
                .certificate("red", &pki().red.certificate)
                .pmode(pmode.service(None, SERVICE, "Deliver").window(FOR_EVER).deliver())
        }
        "documents" => of([bare("documents").checks("<Checks sbdh=\"enforce\"/>")]),
        other => panic!("no site is named {other}"),
    };
    builder.database(database).start()
}
