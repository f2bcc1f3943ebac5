//! `--output json` is JSON wherever a command succeeds, with its schema; `--show` tells no secret.

use super::site::Site;

#[test]
fn json_of_everything_that_works_without_a_gateway() {
    let site = Site::new();
    site.migrated();
    for (line, schema) in [
        (&["check"][..], "postrider.findings/1"),
        (&["check", "--show"], "postrider.configuration/1"),
        (&["pmode", "check"], "postrider.findings/1"),
        (&["pmode", "list"], "postrider.pmodes/1"),
        (&["db", "status"], "postrider.database/1"),
        (&["db", "migrate"], "postrider.migrations/1"),
        (&["generate", "metrics"], "postrider.metrics/1"),
        (&["generate", "events"], "postrider.events/1"),
    ] {
        let ran = site.run(&[line, &["--output", "json"]].concat());
        assert_eq!(ran.good().json()["schema"], schema, "{ran:#?}");
        let lines = site.run(&[line, &["--output", "jsonl"]].concat());
        for text in lines.good().out.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{lines:#?}");
        }
    }
    let capture =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured/phase4/push-plain.request.http");
    let ran = site.run(&["explain", capture.to_str().unwrap(), "--output", "json"]);
    assert_eq!(ran.json()["schema"], "postrider.explain/1");
    let ran = site.run(&["pmode", "match", capture.to_str().unwrap(), "--output", "json"]);
    assert_eq!(ran.json()["schema"], "postrider.match/1");
}

#[test]
fn json_of_what_a_gateway_answers() {
    let site = Site::new();
    let _serving = site.serve();
    let sent =
        site.run(&["submit", "postrider.toml", "--pmode", "self-test", "--wait", "delivered", "--output", "json"]);
    let id = sent.good().json()["id"].as_str().unwrap().to_owned();
    let list = site.run(&["message", "list", "direction:out", "--output", "json"]).good().json();
    assert_eq!((&list["schema"], &list["messages"][0]["id"]), (&"postrider.messages/1".into(), &id.as_str().into()));
    for verb in ["show", "explain"] {
        let ran = site.run(&["message", verb, &id, "--output", "json"]);
        assert!(ran.good().json()["schema"].as_str().unwrap().starts_with("postrider."), "{ran:#?}");
    }
    let again = site.run(&["message", "resend", &id, "--dry-run", "--output", "json"]);
    assert_eq!(again.good().json()["schema"], "postrider.resends/1");
    site.run(&["message", "resend", &id]).fails(super::site::exit::CONFLICT, &["is delivered", "force"]);
    let waited = ["submit", "postrider.toml", "--pmode", "self-test", "--wait", "delivered", "--timeout", "0s"];
    let ran = site.run(&waited);
    assert_eq!(ran.code, 7, "{ran:#?}");
    ran.fails(7, &["is `", "next: postrider message show"]);
    site.run(&["message", "list", "--limit", "1", "--output", "json"]).good().says(&["--cursor "]);
}

#[test]
fn show_tells_each_value_with_its_place_and_no_secret() {
    let site = Site::new();
    let token = std::fs::read_to_string(site.path("keys/admin.token")).unwrap();
    let mut command = super::site::program(site.dir());
    command.env("POSTRIDER__LOG__LEVEL", "debug").env("POSTRIDER__STORE__URL", "postgres://u:geheim@127.0.0.1:9/d");
    command.args(["check", "--show", "--output", "json", "--set", "send.workers=3"]);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let values: serde_json::Value = serde_json::from_str(&out).unwrap();
    let value = |key: &str| {
        let all = values["values"].as_array().unwrap().iter();
        let found = all.clone().find(|v| v["key"] == key).unwrap_or_else(|| panic!("{key}: {values}"));
        (found["value"].as_str().unwrap().to_owned(), found["from"].as_str().unwrap().to_owned())
    };
    assert_eq!(value("log.level"), ("\"debug\"".into(), "environment POSTRIDER__LOG__LEVEL".into()));
    assert_eq!(value("send.workers"), ("\"3\"".into(), "flag --set send.workers".into()));
    assert_eq!(value("send.poll"), ("\"1s\"".into(), "default".into()));
    assert!(value("admin.listen").1.starts_with("postrider.toml:"), "{values}");
    assert_eq!(value("store.url").0, "\"postgres://•••\"");
    assert!(!out.contains("geheim") && !err.contains("geheim"), "{out}{err}");
    assert!(!out.contains(token.trim()) && !err.contains(token.trim()), "{out}{err}");
    assert!(err.contains("the database cannot be reached"), "findings are told beside the values: {err}");
}

#[test]
fn warnings_fail_when_they_are_denied() {
    let site = Site::new();
    site.write("keys/admin.token", "short\n");
    site.run(&["check", "--output", "table"])
        .good()
        .says(&["warning: the token of `admin` is short", "0 errors, 1 warning"]);
    let denied = site.run(&["check", "--deny-warnings", "--output", "table"]);
    denied.fails(super::site::exit::NO, &["postrider.toml:", "next: openssl rand -hex 32"]);
}
