//! The command line itself.

use super::site::{Site, exit, run};

/// Every command with what it needs to be understood.
const COMMANDS: [&str; 19] = [
    "demo",
    "init d2",
    "check",
    "serve",
    "submit x --pmode p",
    "message list",
    "message show a",
    "message explain a",
    "message resend a",
    "pmode check",
    "pmode list",
    "pmode show a",
    "pmode match x",
    "explain x",
    "db migrate",
    "db status",
    "generate config",
    "generate metrics",
    "generate events",
];

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn an_unknown_flag_is_answered_with_the_nearest_by_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let mut line = words(command);
        line.extend(["--outptu", "json"]);
        run(dir.path(), &line)
            .fails(exit::USAGE, &["unexpected argument '--outptu'", "'--output'", "Usage: postrider"]);
        line.truncate(line.len() - 2);
        line.extend(["--output", "xml"]);
        run(dir.path(), &line).fails(exit::USAGE, &["'xml'", "table, json, jsonl, quiet"]);
        line.truncate(line.len() - 2);
        line.extend(["--set", "nothing"]);
        run(dir.path(), &line).fails(exit::USAGE, &["'nothing'", "write KEY=VALUE"]);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn an_unknown_word_is_answered_with_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    for (line, near) in [
        ("chekc", "'check'"),
        ("serv", "'serve'"),
        ("message lst", "'list'"),
        ("message resent a", "'resend'"),
        ("pmode chek", "'check'"),
        ("db migrat", "'migrate'"),
        ("generate confg", "'config'"),
    ] {
        run(dir.path(), &words(line)).fails(exit::USAGE, &["unrecognized subcommand", near]);
    }
    for line in ["", "message", "pmode", "db", "generate"] {
        run(dir.path(), &words(line)).fails(exit::USAGE, &["Usage: postrider", "Commands:"]);
    }
}

#[test]
fn values_of_flags_are_judged_and_their_form_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for (line, said) in [
        ("submit", "--pmode <ID>"),
        ("submit --pmode p", "<FILE>..."),
        ("submit x", "--pmode <ID>"),
        ("submit x --pmode p --property a", "write KEY=VALUE"),
        ("submit x --pmode p --wait delvered", "'delivered'"),
        ("submit x --pmode p --wait delivered --timeout soon", "like 30s or 5min"),
        ("submit x --pmode p --wait delivered --timeout 30", "like 30s or 5min"),
        ("submit x --pmode p --timeout 3s", "--wait <STATE>"),
        ("message list --limit many", "a number from 1 on"),
        ("message list --limit 0", "a number from 1 on"),
        ("message list --limit=-1", "a number from 1 on"),
        ("message list --endpoint nonsense", "like http://127.0.0.1:4081"),
        ("message list --endpoint ftp://x/", "like http://127.0.0.1:4081"),
        ("message resend", "<ID>..."),
        ("message resend a --as neu", "repeat, new"),
        ("message resend a b", "--reason TEXT"),
        ("pmode match x --most none", "a number from 1 on"),
        ("serve --listen nowhere", "like 127.0.0.1:4080"),
        ("serve --admin 127.0.0.1", "like 127.0.0.1:4080"),
        ("explain x --at tomorrow", "like 2027-02-03T12:00:00Z"),
        ("explain", "<CAPTURE>"),
        ("init --party a/b", "letters, digits"),
        ("init --host=", "--host <NAME>"),
        ("check --config", "--config <FILE>"),
    ] {
        let ran = run(dir.path(), &words(line));
        assert_eq!((ran.code, ran.out.as_str()), (exit::USAGE, ""), "{ran:#?}");
        ran.says(&[said]);
    }
}

/// A key of the configuration given on the command line or by a variable is told as such.
#[test]
fn unknown_keys_are_answered_with_the_nearest() {
    let site = Site::new();
    for command in ["serve", "message list", "db status", "db migrate", "pmode list", "submit postrider.toml --pmode p"]
    {
        let mut line = words(command);
        line.extend(["--set", "admin.listn=127.0.0.1:1"]);
        site.run(&line).fails(exit::CONFIG, &["flag --set admin.listn", "did you mean `listen`?"]);
        line.truncate(line.len() - 2);
        line.extend(["--set", "send.workers=many"]);
        site.run(&line).fails(exit::CONFIG, &["flag --set send.workers", "`send.workers`"]);
    }
    assert_eq!(site.data(), []);
}
