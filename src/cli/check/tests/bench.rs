//! Gateways to be checked, and certificates with something wrong about them.

use std::path::{Path, PathBuf};

use clap::Parser;
use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::KeyUsage;
use openssl::x509::{X509, X509NameBuilder};
use time::{Duration, OffsetDateTime};

use crate::cli::Cli;
use crate::cli::check::{Context, Finding, examine};
use crate::config::load;

/// A gateway as `init` leaves it, in a folder of its own.
pub(super) struct Site(tempfile::TempDir);

impl Site {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_str().unwrap().to_owned();
        let cli = Cli::parse_from(["postrider", "init", &dir, "--party", "blue", "--yes"]);
        let crate::cli::Command::Init(args) = cli.command else { panic!("init") };
        crate::cli::init::run(&args).unwrap();
        Self(folder)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// Adds to the configuration.
    pub(super) fn configure(&self, toml: &str) {
        let text = std::fs::read_to_string(self.path("postrider.toml")).unwrap();
        self.write("postrider.toml", format!("{text}\n{toml}\n"));
    }

    /// Replaces a line of the configuration.
    pub(super) fn replace(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path("postrider.toml")).unwrap();
        assert!(text.contains(from), "{from}");
        self.write("postrider.toml", text.replacen(from, to, 1));
    }

    /// A P-Mode between blue, with whatever certificates, and red.
    pub(super) fn pmode(&self, blue: &str, red: &str, leg: &str) {
        let kind = "urn:oasis:names:tc:ebcore:partyid-type:unregistered";
        self.write(
            "pmodes/red.xml",
            format!(
                "<PMode xmlns=\"urn:postrider:pmode:1\" id=\"red\" profile=\"edelivery-1.15\">\n\
                 <Initiator><Party type=\"{kind}\">blue</Party>\n{blue}</Initiator>\n\
                 <Responder><Party type=\"{kind}\">red</Party>\n{red}</Responder>\n\
                 <Leg><Protocol><Address>http://127.0.0.1:9/as4</Address></Protocol>\n{leg}</Leg></PMode>"
            ),
        );
    }

    pub(super) fn at(&self, now: OffsetDateTime) -> Vec<Finding> {
        let loaded = load(&self.path("postrider.toml"), &[]).unwrap();
        examine(&Context::new(&loaded, now))
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        self.at(OffsetDateTime::now_utc())
    }

    /// The one finding, which has everything that a finding needs.
    pub(super) fn one(&self) -> Finding {
        let mut found = self.findings();
        assert_eq!(found.len(), 1, "{found:#?}");
        let one = found.remove(0);
        assert!(one.next.is_some() && one.place.is_some(), "{one:?}");
        one
    }

    pub(super) fn root(&self) -> &Path {
        self.0.path()
    }
}

/// Makes certificates.
pub(super) struct Issue {
    bits: u32,
    days: std::ops::Range<i64>,
    usage: KeyUsage,
}

impl Issue {
    /// Good for everything.
    pub(super) fn new() -> Self {
        let mut usage = KeyUsage::new();
        usage.critical().digital_signature().key_encipherment();
        Self { bits: 2048, days: -100..1000, usage }
    }

    pub(super) fn bits(self, bits: u32) -> Self {
        Self { bits, ..self }
    }

    /// Valid from and to, in days from now.
    pub(super) fn days(self, days: std::ops::Range<i64>) -> Self {
        Self { days, ..self }
    }

    pub(super) fn only_for_encryption(self) -> Self {
        let mut usage = KeyUsage::new();
        usage.critical().key_encipherment();
        Self { usage, ..self }
    }

    pub(super) fn only_for_signing(self) -> Self {
        let mut usage = KeyUsage::new();
        usage.critical().digital_signature();
        Self { usage, ..self }
    }

    /// The certificate, PEM.
    pub(super) fn certificate(&self) -> Vec<u8> {
        self.pair().1
    }

    /// Key and certificate, PEM.
    pub(super) fn pair(&self) -> (Vec<u8>, Vec<u8>) {
        let key: PKey<Private> = PKey::from_rsa(Rsa::generate(self.bits).unwrap()).unwrap();
        let mut name = X509NameBuilder::new().unwrap();
        name.append_entry_by_text("CN", "made").unwrap();
        let name = name.build();
        let at = |days: i64| {
            let at = OffsetDateTime::now_utc() + Duration::days(days) + Duration::hours(1);
            Asn1Time::from_unix(at.unix_timestamp()).unwrap()
        };
        let mut made = X509::builder().unwrap();
        made.set_version(2).unwrap();
        made.set_serial_number(&BigNum::from_u32(7).unwrap().to_asn1_integer().unwrap()).unwrap();
        made.set_subject_name(&name).unwrap();
        made.set_issuer_name(&name).unwrap();
        made.set_pubkey(&key).unwrap();
        made.set_not_before(&at(self.days.start)).unwrap();
        made.set_not_after(&at(self.days.end)).unwrap();
        made.append_extension(self.usage.build().unwrap()).unwrap();
        made.sign(&key, MessageDigest::sha256()).unwrap();
        (key.private_key_to_pem_pkcs8().unwrap(), made.build().to_pem().unwrap())
    }
}
