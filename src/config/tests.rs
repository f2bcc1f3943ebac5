use std::path::{Path, PathBuf};
use std::time::Duration;

use super::decode::Source;
use super::fault::DecodeFault;
use super::*;

fn file(name: &str, text: &str) -> Layer {
    Layer::File { path: PathBuf::from(name), text: text.to_owned() }
}

/// Decodes any piece of configuration out of one text.
fn piece<T: for<'de> serde::Deserialize<'de>>(text: &str) -> Result<T, DecodeFault> {
    let (tree, _) = file("etc/x.toml", text).tree();
    T::deserialize(Source { node: &tree, base: Path::new("") })
}

fn env(pairs: &[(&str, &str)]) -> Layer {
    Layer::Environment(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
}

fn flags(pairs: &[(&str, &str)]) -> Layer {
    Layer::Flags(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
}

fn parsed(layers: &[Layer]) -> Loaded {
    parse(Path::new("etc"), layers).unwrap_or_else(|e| panic!("{e}"))
}

fn faults(text: &str) -> Vec<String> {
    let error = parse(Path::new("etc"), &[file("etc/postrider.toml", text)]).expect_err("this is wrong");
    error.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn without_a_file_the_defaults_hold() {
    let loaded = parsed(&[]);
    let config = &loaded.config;
    assert_eq!(config.msh.len(), 1);
    assert_eq!(config.msh[0].listen, "127.0.0.1:4080".parse().unwrap());
    assert_eq!(config.msh[0].path, "/as4");
    assert_eq!(config.msh[0].limits.message, 2 << 30);
    assert_eq!(config.admin.listen, "127.0.0.1:4081".parse().unwrap());
    assert_eq!(config.shutdown.grace, Duration::from_secs(30));
    assert_eq!(config.store_url().unwrap().expose(), "sqlite:etc/data/postrider.db");
    assert_eq!(loaded.origin("msh[0].limits.soap"), Some(&Origin::Default));
}

#[test]
fn each_layer_beats_the_one_before() {
    let layers = [
        file("etc/postrider.toml", "[log]\nlevel = 'warn'\n[send]\nworkers = 2\nper_partner = 2\npoll = '2s'\n"),
        file("etc/postrider.d/10.toml", "[send]\nworkers = 3\nper_partner = 3\npoll = '3s'\n"),
        env(&[("POSTRIDER__SEND__PER_PARTNER", "4"), ("POSTRIDER__SEND__POLL", "4s"), ("POSTRIDER_CONFIG", "x")]),
        flags(&[("send.poll", "5s")]),
    ];
    let loaded = parsed(&layers);
    let send = &loaded.config.send;
    assert_eq!((send.workers, send.per_partner, send.poll), (3, 4, Duration::from_secs(5)));
    assert_eq!(loaded.config.log.level, "warn");
    let origins: Vec<String> = ["log.level", "send.workers", "send.per_partner", "send.poll", "log.format"]
        .map(|key| loaded.origin(key).unwrap().to_string())
        .to_vec();
    assert_eq!(
        origins,
        [
            "etc/postrider.toml:2:1",
            "etc/postrider.d/10.toml:2:1",
            "environment POSTRIDER__SEND__PER_PARTNER",
            "flag --set send.poll",
            "default"
        ]
    );
}

#[test]
fn the_printed_file_says_nothing_but_the_defaults() {
    let printed = parsed(&[file("etc/postrider.toml", DEFAULT_FILE)]);
    assert_eq!(format!("{:?}", printed.config), format!("{:?}", parsed(&[]).config));
}

/// Every key is in the printed file, and uncommenting it changes no default.
#[test]
fn the_printed_file_uncommented_is_valid_and_keeps_the_defaults() {
    let is_key =
        |rest: &str| rest.starts_with('[') || rest.split(" = ").next().is_some_and(|k| !k.contains(' ') && k != rest);
    let text: Vec<&str> =
        DEFAULT_FILE.lines().map(|line| line.strip_prefix('#').filter(|rest| is_key(rest)).unwrap_or(line)).collect();
    let all = parsed(&[file("etc/postrider.toml", &text.join("\n"))]);
    for effective in &parsed(&[]).effective {
        let shown = all.effective.iter().find(|e| e.key == effective.key);
        let shown = shown.unwrap_or_else(|| panic!("{} is not in the printed file", effective.key));
        assert_eq!(shown.value, effective.value, "{}", effective.key);
        assert_ne!(shown.origin, Origin::Default, "{} is not in the printed file", effective.key);
    }
    assert_eq!(all.config.party.len(), 1);
    assert_eq!(all.config.backend.len(), 2);
    assert!(all.config.msh[0].tls.is_some());
    assert_eq!(all.config.store_url().unwrap().expose(), "sqlite:etc/data/postrider.db");
}

#[test]
fn unknown_keys_are_told_with_place_and_nearest_name() {
    assert_eq!(
        faults("[store]\nurl = 'sqlite:x'\n\n[[msh]]\nlistne = '1.2.3.4:5'\n"),
        ["etc/postrider.toml:5:1: `msh[0].listne`: unknown key\n   next: did you mean `listen`?"]
    );
    assert_eq!(
        faults("[stroe]\nurl = 'x'\n"),
        ["etc/postrider.toml:1:2: `stroe`: unknown key\n   next: did you mean `store`?"]
    );
}

#[test]
fn every_fault_is_told_at_once_in_the_order_of_lines() {
    let text = "[shutdown]\ngrace = 'later'\n[send]\nworkers = 'x'\npoll = 5\nfoo = 1\n[log]\nformat = 'jsn'\nlevel = 'loud'\n";
    let keys: Vec<String> = parse(Path::new(""), &[file("p.toml", text)])
        .expect_err("five faults")
        .problems
        .iter()
        .map(|p| format!("{} {}", p.origin.as_ref().unwrap(), p.key))
        .collect();
    assert_eq!(
        keys,
        [
            "p.toml:2:1 shutdown.grace",
            "p.toml:4:1 send.workers",
            "p.toml:5:1 send.poll",
            "p.toml:6:1 send.foo",
            "p.toml:8:1 log.format",
            "p.toml:9:1 log.level"
        ]
    );
}

#[test]
fn missing_keys_name_the_table_that_lacks_them() {
    assert_eq!(
        faults("[[party]]\nname = 'blue'\n"),
        ["etc/postrider.toml:1:1: `party[0]`: `id` is missing\n   next: add `id = …`"]
    );
}

#[test]
fn what_is_not_toml_is_told_with_its_place() {
    let told = faults("[store]\nurl = \n");
    assert!(told[0].starts_with("etc/postrider.toml:2:"), "{told:?}");
    assert!(told[0].contains("not TOML"), "{told:?}");
}

#[test]
fn a_literal_secret_is_refused_and_not_repeated() {
    for text in ["[[admin.token]]\nname = 'a'\nsecret = 'hunter2'\n", "[[admin.token]]\nname = 'a'\nsecret = 42\n"] {
        let told = faults(text).join("\n");
        assert!(told.contains("a secret is written as a reference"), "{told}");
        assert!(told.contains("{ env ="), "{told}");
        assert!(!told.contains("hunter2") && !told.contains("42"), "{told}");
    }
}

#[test]
fn a_secret_is_one_reference() {
    let told = faults("[[admin.token]]\nname = 'a'\nsecret = { file = 'x', env = 'Y' }\n").join("\n");
    assert!(told.contains("exactly one of"), "{told}");
}

#[test]
fn a_password_in_the_store_url_is_refused_in_a_file_and_taken_from_the_environment() {
    let url = "postgres://me:hunter2@db/postrider";
    let told = faults(&format!("[store]\nurl = '{url}'\n")).join("\n");
    assert!(told.contains("holds a password") && !told.contains("hunter2"), "{told}");
    let loaded = parsed(&[env(&[("POSTRIDER__STORE__URL", url)])]);
    assert_eq!(loaded.config.store_url().unwrap().expose(), url);
    assert!(!format!("{loaded:?}").contains("hunter2"), "shown");
}

#[test]
fn a_later_reference_replaces_an_earlier_one() {
    let below = file("p.toml", "[store]\nurl = { file = 'url' }\n");
    let loaded = parsed(&[below, env(&[("POSTRIDER__STORE__URL__ENV", "DB")])]);
    assert_eq!(loaded.config.store.url, Some(StoreUrl::Secret(Secret::Env("DB".into()))));
}

#[test]
fn paths_are_relative_to_the_file_that_names_them() {
    let layers = [
        file(
            "etc/postrider.toml",
            "[data]\ndir = 'var'\n[trust]\nanchors = ['ca.pem', '/abs.pem']\n[store]\nurl = 'sqlite:x.db'\n",
        ),
        file(
            "etc/postrider.d/a.toml",
            "[pmodes]\ndir = '../agreements'\n[[admin.token]]\nname = 'a'\nsecret = { file = 'a.token' }\n",
        ),
        env(&[("POSTRIDER__TRUST__CRLS", "one.crl, two.crl")]),
    ];
    let config = parsed(&layers).config;
    assert_eq!(&*config.data.dir, Path::new("etc/var"));
    assert_eq!(&*config.trust.anchors[0], Path::new("etc/ca.pem"));
    assert_eq!(&*config.trust.anchors[1], Path::new("/abs.pem"));
    assert_eq!(&*config.trust.crls[1], Path::new("two.crl"));
    assert_eq!(&*config.pmodes.dir, Path::new("etc/postrider.d/../agreements"));
    assert_eq!(config.store.url, Some(StoreUrl::Plain("sqlite:etc/x.db".into())));
    assert_eq!(config.admin.token[0].secret, Secret::File(PathBuf::from("etc/postrider.d/a.token").into()));
}

#[test]
fn lists_grow_by_name_and_by_number() {
    let layers = [
        file("p.toml", "[msh]\npath = '/one'\n[[party]]\nname = 'blue'\nid = 'b'\n"),
        file("d/1.toml", "[[party]]\nname = 'red'\nid = 'r'\n[[party]]\nname = 'blue'\ntype = 'urn:t'\n"),
        file("d/2.toml", "[[msh]]\nlisten = '[::1]:4090'\n"),
        env(&[("POSTRIDER__MSH__1__PATH", "/two"), ("POSTRIDER__MSH__0__LIMITS__PARTS", "7")]),
    ];
    let config = parsed(&layers).config;
    let parties: Vec<_> = config.party.iter().map(|p| (p.name.as_str(), p.id.as_str(), p.kind.as_deref())).collect();
    assert_eq!(parties, [("blue", "b", Some("urn:t")), ("red", "r", None)]);
    let listeners: Vec<_> =
        config.msh.iter().map(|m| (m.listen.to_string(), m.path.as_str(), m.limits.parts)).collect();
    assert_eq!(listeners, [("127.0.0.1:4080".into(), "/one", 7), ("[::1]:4090".into(), "/two", 100)]);
}

#[test]
fn a_single_table_in_a_later_layer_changes_the_only_listener() {
    let layers = [file("p.toml", "[[msh]]\npath = '/x'\n"), file("d/1.toml", "[msh]\nlisten = '127.0.0.1:1'\n")];
    let config = parsed(&layers).config;
    assert_eq!(config.msh.len(), 1);
    assert_eq!((config.msh[0].path.as_str(), config.msh[0].listen.port()), ("/x", 1));
    let layers = [file("p.toml", "[msh]\npath = '/x'\n"), env(&[("POSTRIDER__MSH__0__LISTEN", "127.0.0.1:3")])];
    let config = parsed(&layers).config;
    assert_eq!((config.msh[0].path.as_str(), config.msh[0].listen.port()), ("/x", 3));
    let config = parsed(&[env(&[("POSTRIDER__MSH__0__LISTEN", "127.0.0.1:2")])]).config;
    assert_eq!((config.msh.len(), config.msh[0].listen.port()), (1, 2));
}

#[test]
fn backends_take_the_keys_of_their_kind_only() {
    let hook: BackendConfig = piece("name = 'h'\nkind = 'webhook'\nurl = 'https://x/'\nretries = 3\n").unwrap();
    assert!(
        matches!(hook.kind, BackendKind::Webhook { retries: 3, timeout, .. } if timeout == Duration::from_secs(30))
    );
    assert!(piece::<BackendConfig>("name = 'f'\nkind = 'folder'\n").is_err());
    assert!(piece::<BackendConfig>("name = 'f'\nkind = 'folder'\ndir = 'x'\nurl = 'y'\n").is_err());
    assert!(
        piece::<BackendConfig>("name = 'f'\nkind = 'fodler'\ndir = 'x'\n")
            .unwrap_err()
            .remedy
            .unwrap()
            .contains("folder")
    );
}

#[test]
fn what_must_hold_between_values_is_checked() {
    for (text, key) in [
        ("[host]\nname = 'a@b'\n", "host.name"),
        ("[admin]\nlisten = '127.0.0.1:4080'\n", "admin.listen"),
        ("[admin]\nlisten = '0.0.0.0:4081'\n", "admin.listen"),
        ("[msh]\npath = 'as4'\n", "msh[0].path"),
        ("[msh.limits]\nsoap = '3 GiB'\n", "msh[0].limits.soap"),
        ("[msh.tls]\ncertificate = 'c'\nkey = {file='k'}\nclient_auth = 'required'\n", "msh[0].tls.client_auth"),
        ("[[party]]\nname='a'\nid='1'\n[[party]]\nname='a'\nid='2'\n", "party[1].name"),
        ("[[party]]\nname='a'\nid='1'\n[[party]]\nname='b'\nid='1'\n", "party[1].id"),
        ("[send]\nworkers = 0\n", "send.workers"),
        ("[store]\nurl = 'mysql://x'\n", "store.url"),
        ("[[backend]]\nname='h'\nkind='webhook'\nurl='ftp://x'\n", "backend[0].url"),
        (
            "[[folder]]\nname='f'\nwatch='x'\npmode='p'\n[[backend]]\nname='b'\nkind='folder'\ndir='x'\n",
            "backend[0].dir",
        ),
    ] {
        let told = faults(text);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(&format!("`{key}`")) && told[0].contains("postrider.toml:"), "{key}: {told:?}");
    }
}

#[test]
fn secrets_are_read_without_their_line_end_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "s3cret\n").unwrap();
    let secret = Secret::File(path.clone().into());
    let text = secret.read_text().unwrap();
    assert_eq!(text.expose(), "s3cret");
    assert_eq!(format!("{text:?}"), "•••");
    std::fs::write(&path, "\n").unwrap();
    assert!(matches!(secret.read_text(), Err(SecretError::Empty(_))));
    assert!(matches!(Secret::Env("POSTRIDER_NOT_SET".into()).read(), Err(SecretError::Env(_))));
}

#[test]
fn files_are_loaded_with_their_drop_ins_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("postrider.toml");
    std::fs::create_dir(folder.path().join("postrider.d")).unwrap();
    std::fs::write(&main, "[host]\nname = 'one'\n").unwrap();
    std::fs::write(folder.path().join("postrider.d/20.toml"), "[host]\nname = 'three'\n").unwrap();
    std::fs::write(folder.path().join("postrider.d/10.toml"), "[host]\nname = 'two'\n").unwrap();
    std::fs::write(folder.path().join("postrider.d/notes.txt"), "no TOML").unwrap();
    assert_eq!(load(&main, &[]).unwrap().config.host.name, "three");
    let missing = load(&folder.path().join("none.toml"), &[]).unwrap_err().to_string();
    assert!(missing.contains("postrider init"), "{missing}");
}
