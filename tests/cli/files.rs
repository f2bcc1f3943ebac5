//! Files that are missing, folders, empty, cut off, in another encoding, or noise.

use std::os::unix::fs::PermissionsExt;

use super::site::{Site, exit, run, run_as_nobody, run_with};

/// Octets that are nothing, the same in every run.
fn noise(many: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..many)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u8::try_from(state & 0xff).unwrap_or_default() | 0x80
        })
        .collect()
}

fn utf_16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// Every command that reads the configuration says the same of it.
#[test]
fn a_configuration_that_cannot_be_read() {
    let site = Site::new();
    let good = std::fs::read_to_string(site.path("postrider.toml")).unwrap();
    std::fs::create_dir(site.path("folder.toml")).unwrap();
    site.write("noise.toml", noise(2000));
    site.write("late.toml", [good.as_bytes(), b"# \xe9\n"].concat());
    site.write("wide.toml", utf_16(&good));
    site.write("cut.toml", "[host]\nname = \"blue");
    site.write("unknown.toml", "[host]\nnam = \"blue\"\n[[mhs]]\n");
    site.write("secret.toml", "[[admin.token]]\nname = \"a\"\nsecret = \"geheimnis\"\n");
    let last = format!("late.toml:{}:3", good.lines().count() + 1);
    let cases: [(&str, &[&str]); 8] = [
        ("none.toml", &["none.toml cannot be read", "`postrider init` writes one"]),
        ("folder.toml", &["folder.toml cannot be read", "--config folder.toml/postrider.toml"]),
        ("noise.toml", &["noise.toml:1:1", "not UTF-8", "save the file as UTF-8"]),
        ("late.toml", &[&last, "not UTF-8"]),
        ("wide.toml", &["wide.toml:1:1", "UTF-16", "save the file as UTF-8"]),
        ("cut.toml", &["cut.toml:2:", "this is not TOML", "mend that line"]),
        ("unknown.toml", &["unknown.toml:2:1", "did you mean `name`?", "unknown.toml:3:", "did you mean `msh`?"]),
        ("secret.toml", &["secret.toml:3:1", "a secret is written as a reference", "{ file = "]),
    ];
    let commands: [&[&str]; 7] = [
        &["serve"],
        &["message", "list"],
        &["submit", "postrider.toml", "--pmode", "self-test"],
        &["db", "status"],
        &["db", "migrate"],
        &["pmode", "list"],
        &["explain", "postrider.toml"],
    ];
    for (name, said) in cases {
        for command in commands {
            let ran = site.run(&[command, &["--config", name]].concat());
            // What is given with the command is looked at before the configuration.
            if command[0] != "explain" {
                ran.fails(exit::CONFIG, said);
            }
            assert!(!ran.err.contains("geheimnis"), "a secret is never told: {ran:#?}");
        }
        let found = site.run(&["check", "--config", name, "--output", "table"]);
        found.fails(exit::NO, said);
    }
    assert_eq!(site.data(), []);
}

/// An editor may have put a byte order mark first, or nothing at all.
#[test]
fn a_mark_before_the_configuration_is_no_fault() {
    let site = Site::new();
    let good = std::fs::read_to_string(site.path("postrider.toml")).unwrap();
    site.write("postrider.toml", format!("\u{feff}{good}"));
    site.run(&["check"]).good().says(&["0 errors, 0 warnings"]);
    site.write("empty.toml", "");
    let empty = site.run(&["check", "--config", "empty.toml", "--output", "table"]);
    empty.fails(exit::NO, &["there is no [[party]]", "no [[backend]] has that name"]);
}

#[test]
fn p_modes_that_cannot_be_read() {
    let site = Site::new();
    let good = std::fs::read_to_string(site.path("pmodes/self-test.xml")).unwrap();
    let slip = good.replace("<Leg>", "<Lek>").replace("</Leg>", "</Lek>");
    let cases: [(&str, Vec<u8>, &[&str]); 7] = [
        ("empty.xml", Vec::new(), &["empty.xml:1:1", "no root element", "partner.xml.sample"]),
        ("noise.xml", noise(3000), &["noise.xml:1:1", "save it as UTF-8"]),
        ("nul.xml", vec![0; 100], &["nul.xml:1:1"]),
        ("cut.xml", good.as_bytes()[..good.len() / 2].to_vec(), &["cut.xml:", "partner.xml.sample"]),
        ("other.xml", b"<a/>".to_vec(), &["other.xml:1:1", "expected `PMode` or `Profile`"]),
        ("slip.xml", slip.into_bytes(), &["slip.xml:16:3", "did you mean `Leg`?"]),
        (
            "lost.xml",
            good.replace("blue-signing.pem", "none.pem").into_bytes(),
            &["lost.xml:8:5", "none.pem` cannot be used"],
        ),
    ];
    for (name, octets, said) in &cases {
        site.write(name, octets);
        site.run(&["pmode", "check", name, "--output", "table"]).fails(exit::CONFIG, said);
        let json = site.run(&["pmode", "check", name, "--output", "json"]);
        assert_eq!(json.code, exit::CONFIG, "{json:#?}");
        assert!(json.json()["findings"][0]["place"].as_str().unwrap().starts_with(name), "{json:#?}");
        std::fs::copy(site.path(name), site.path("pmodes/bad.xml")).unwrap();
        let said: Vec<String> = said.iter().map(|part| part.replace(name, "bad.xml")).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        site.run(&["pmode", "check", "--output", "table"]).fails(exit::CONFIG, &said);
        site.run(&["pmode", "list"]).fails(exit::CONFIG, &[said[0], "next: postrider pmode check"]);
        site.run(&["check", "--output", "table"]).fails(exit::NO, &said);
        site.run(&["serve"]).fails(exit::CONFIG, &said);
    }
    assert_eq!(site.data(), [], "serve stopped before it made a database");
    site.run(&["pmode", "check", "nowhere.xml"]).fails(exit::USAGE, &["nowhere.xml cannot be read"]);
    site.run(&["pmode", "list", "--pmodes", "nowhere"]).fails(exit::CONFIG, &["folder `nowhere`"]);
    site.run(&["pmode", "list", "--pmodes", "postrider.toml"]).fails(exit::CONFIG, &["folder `postrider.toml`"]);
}

#[test]
fn an_unknown_p_mode_is_answered_with_the_nearest() {
    let site = Site::new();
    site.run(&["pmode", "show", "self-tset"])
        .fails(exit::NO, &["no P-Mode `self-tset`", "postrider pmode show self-test"]);
    site.run(&["pmode", "show", "\u{1b}[2J"]).fails(exit::NO, &["postrider pmode list"]);
}

#[test]
fn captures_that_are_none() {
    let site = Site::new();
    std::fs::create_dir(site.path("folder")).unwrap();
    site.write("empty", "");
    site.write("blank", " \r\n\r\n");
    site.write("noise", noise(5000));
    site.write("text", "hello\n");
    site.write("head", "POST /as4 HTTP/1.1\r\nHost: x\r\n");
    for (name, said) in [
        ("none", "none cannot be read"),
        ("folder", "folder cannot be read"),
        ("empty", "the file is empty"),
        ("blank", "the file is empty"),
        ("noise", "no HTTP request"),
        ("text", "no HTTP request"),
        ("head", "the HTTP head does not end"),
    ] {
        for command in [["explain", name], ["pmode", "match"]] {
            let line = if command[0] == "explain" { command.to_vec() } else { vec!["pmode", "match", name] };
            site.run(&line).fails(exit::USAGE, &[name, said, "next: "]);
        }
    }
    run_with(site.dir(), &["explain", "-"], b"").fails(exit::USAGE, &["the file is empty"]);
    for (name, text) in [("cut.xml", "<a"), ("other.xml", "<a/>"), ("wide.xml", "\u{fffe}")] {
        site.write(name, text);
    }
    for name in ["cut.xml", "other.xml"] {
        let ran = site.run(&["explain", name, "--output", "json"]);
        assert_eq!((ran.code, &ran.json()["verdict"]), (exit::NO, &"refused".into()), "{ran:#?}");
        site.run(&["pmode", "match", name]).fails(exit::USAGE, &[name]);
    }
}

#[test]
fn keys_for_an_explanation_that_are_none() {
    let site = Site::new();
    site.write("capture", "<a/>");
    site.write("noise", noise(5000));
    site.write("empty", "");
    let pem = std::fs::read_to_string(site.path("keys/blue-signing.pem")).unwrap();
    site.write("cut.pem", &pem[..pem.len() / 2]);
    site.write("cut.key", &std::fs::read_to_string(site.path("keys/blue-signing.key")).unwrap()[..600]);
    let p12 = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured/keys/partyb.p12");
    std::fs::copy(p12, site.path("locked.p12")).unwrap();
    for (name, said) in [
        ("none", "none cannot be read"),
        ("keys", "no file of at most 1 MiB"),
        ("noise", "neither PEM nor PKCS #12"),
        ("empty", "neither PEM nor PKCS #12"),
        ("cut.pem", "cut.pem holds no key or certificate"),
        ("cut.key", "cut.key holds no key or certificate"),
        ("keys/blue-signing.key", "no certificate in it belongs to the private key"),
        ("locked.p12", "the password is wrong"),
    ] {
        site.run(&["explain", "capture", "--key", name]).fails(exit::USAGE, &[name, said, "next: "]);
    }
    let password = ["explain", "capture", "--key", "locked.p12", "--password-file"];
    site.run(&[&password[..], &["noise"]].concat()).fails(exit::USAGE, &["noise is no text in UTF-8"]);
    site.run(&[&password[..], &["none"]].concat()).fails(exit::USAGE, &["none cannot be read"]);
}

#[test]
fn payloads_that_cannot_be_read_are_told_before_anything_is_sent() {
    let site = Site::new();
    let submit = |name: &str| site.run(&["submit", name, "--pmode", "self-test"]);
    submit("none.xml").fails(exit::USAGE, &["none.xml cannot be read", "next: "]);
    submit("pmodes").fails(exit::USAGE, &["pmodes is not a file", "next: "]);
    site.write("closed.xml", "<a/>");
    std::fs::set_permissions(site.path("closed.xml"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(site.dir(), open).unwrap();
    let endpoint = format!("http://{}", site.admin);
    let ran = run_as_nobody(site.dir(), &["submit", "closed.xml", "--pmode", "p", "--endpoint", &endpoint]);
    ran.fails(exit::USAGE, &["closed.xml cannot be read", "Permission denied", "next: "]);
}

#[test]
fn what_may_not_be_read_is_told() {
    let site = Site::new();
    std::fs::set_permissions(site.dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
    // The keys' folder is for its owner alone: nobody sees that they are there.
    let found = run_as_nobody(site.dir(), &["check", "--output", "table"]);
    found
        .fails(exit::NO, &["blue-signing.key cannot be read: Permission denied", "admin.token cannot be read", "data"]);
    run_as_nobody(site.dir(), &["message", "list"])
        .fails(exit::DENIED, &["admin.token cannot be read", "--token-file"]);
    std::fs::set_permissions(site.path("postrider.toml"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let ran = run_as_nobody(site.dir(), &["serve"]);
    ran.fails(
        exit::CONFIG,
        &["postrider.toml cannot be read: Permission denied", "let the user that runs postrider read it"],
    );
    let ran = run_as_nobody(site.dir(), &["init", "new", "--yes"]);
    ran.fails(exit::USAGE, &["new/pmodes cannot be made: Permission denied", "next: "]);
}

#[test]
fn init_overwrites_nothing_and_needs_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "mine").unwrap();
    run(dir.path(), &["init", "file", "--yes"]).fails(exit::USAGE, &["file/pmodes cannot be made", "next: "]);
    std::fs::create_dir(dir.path().join("there")).unwrap();
    std::fs::write(dir.path().join("there/postrider.toml"), "mine").unwrap();
    run(dir.path(), &["init", "there", "--yes"])
        .fails(exit::CONFLICT, &["there/postrider.toml", "next: postrider init DIR"]);
    assert_eq!(std::fs::read_dir(dir.path().join("there")).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(dir.path().join("there/postrider.toml")).unwrap(), "mine");
}
