//! Commands that talk to a gateway: none there, not let in, and asked for what is not there.

use super::site::{Site, exit, run};

/// One gateway for all of them: what they ask for changes nothing.
#[test]
fn a_gateway_that_refuses() {
    let site = Site::new();
    let _serving = site.serve();
    for refused in [not_let_in, filters_and_cursors, ids_of_no_message, submissions_that_are_refused] {
        refused(&site);
        untouched(&site);
    }
}

#[test]
fn nobody_there() {
    let site = Site::new();
    let there = format!("no gateway answers at http://{}/", site.admin);
    for line in [
        &["message", "list"][..],
        &["message", "show", "a"],
        &["message", "explain", "a"],
        &["message", "resend", "a"],
        &["submit", "postrider.toml", "--pmode", "self-test"],
    ] {
        site.run(line).fails(exit::UNREACHABLE, &[&there, "next: postrider serve"]);
    }
    assert_eq!(site.data(), []);
    let ran = site.run(&["message", "list", "--endpoint", "http://127.0.0.1:9"]);
    ran.fails(exit::UNREACHABLE, &["no gateway answers at http://127.0.0.1:9/", "POSTRIDER_ENDPOINT"]);
    // What answers there is no gateway.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let other = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut line, _) = listener.accept().unwrap();
        let _ = line.read(&mut [0; 4096]);
        let _ = line.write_all(b"SSH-2.0-OpenSSH\r\n\r\n");
    });
    let ran = run(site.dir(), &["message", "list", "--endpoint", &endpoint]);
    ran.fails(exit::UNREACHABLE, &["broke off", "next: "]);
    other.join().unwrap();
}

fn not_let_in(site: &Site) {
    let endpoint = format!("http://{}", site.admin);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("wrong.token"), "wrong\n").unwrap();
    std::fs::write(dir.path().join("empty.token"), "\n").unwrap();
    std::fs::write(dir.path().join("noise.token"), [0xff, 0xfe]).unwrap();
    std::fs::write(dir.path().join("a.xml"), "<a/>").unwrap();
    let commands: [&[&str]; 5] = [
        &["message", "list"],
        &["message", "show", "a"],
        &["message", "explain", "a"],
        &["message", "resend", "a"],
        &["submit", "a.xml", "--pmode", "self-test"],
    ];
    for command in commands {
        let with = |more: &[&str]| run(dir.path(), &[command, &["--endpoint", &endpoint], more].concat());
        with(&[]).fails(exit::DENIED, &["no bearer token came", "--token-file"]);
        with(&["--token-file", "wrong.token"]).fails(exit::DENIED, &["not one of [[admin.token]]", "--token-file"]);
        with(&["--token-file", "none.token"]).fails(exit::DENIED, &["none.token cannot be read", "--token-file"]);
        with(&["--token-file", "empty.token"]).fails(exit::DENIED, &["empty.token is empty", "--token-file"]);
        with(&["--token-file", "noise.token"]).fails(exit::DENIED, &["noise.token is not UTF-8", "--token-file"]);
    }
}

/// No message is there, by any count.
fn untouched(site: &Site) {
    let list = site.run(&["message", "list", "--output", "json"]);
    assert_eq!((list.code, &list.json()["messages"]), (exit::NO, &serde_json::json!([])), "{list:#?}");
    assert!(!site.path("in").exists() || std::fs::read_dir(site.path("in")).unwrap().count() == 0);
}

fn filters_and_cursors(site: &Site) {
    for (filter, said) in [
        ("stat:failed", "did you mean `state`?"),
        ("state:faild", "did you mean `failed`?"),
        ("state:", "has no value"),
        ("failed", "there is no filter word `failed`"),
        ("direction:up", "known: `in`, `out`"),
        ("state:failed state:pending", "no message has both"),
        ("partner:\"red", "never closed"),
        ("a\u{1}b:c", "control character"),
    ] {
        site.run(&["message", "list", filter]).fails(exit::REJECTED, &[said, "request.malformed"]);
    }
    let ran = site.run(&["message", "list", "--cursor", "xyz"]);
    ran.fails(exit::REJECTED, &["the cursor is none of ours", "begin without `cursor`"]);
}

fn ids_of_no_message(site: &Site) {
    for id in ["none@nowhere", "../../etc/passwd", "..", "%2e%2e", "a/b", "\u{1b}[2J", "é", &"x".repeat(2000)] {
        for verb in ["show", "explain", "resend"] {
            let ran = site.run(&["message", verb, id]);
            ran.fails(exit::NO, &["there is no message", "postrider message list"]);
            assert!(!ran.err.contains('\u{1b}'), "control characters are shown, never obeyed: {ran:#?}");
        }
    }
}

fn submissions_that_are_refused(site: &Site) {
    let submit = |more: &[&str]| site.run(&[&["submit", "postrider.toml"], more].concat());
    submit(&["--pmode", "self-tset"]).fails(exit::REJECTED, &["did you mean `self-test`?", "submit.refused"]);
    submit(&["--pmode", ""]).fails(exit::REJECTED, &["next: "]);
    let long = "k".repeat(201);
    for key in ["", long.as_str(), "a\tb", "é"] {
        submit(&["--pmode", "self-test", "--key", key]).fails(exit::USAGE, &["--key", "1 to 200"]);
    }
    submit(&["--pmode", "self-test", "--property", "a=\u{1}"]).fails(exit::REJECTED, &["control character"]);
    submit(&["--pmode", "self-test", "--content-type", "xml"]).fails(exit::REJECTED, &["type/subtype"]);
}
