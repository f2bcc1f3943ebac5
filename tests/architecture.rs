//! Keeps the layout true: imports point inwards, the core does no I/O, files stay small, names say something.
//!
//! The rules are functions over a file's text, so that the tests below can show each of them a sample that breaks it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::Span;
use syn::visit::{self, Visit};

/// Rings, innermost first. A module may import its own ring and those before it; in ring 2 only itself.
const RINGS: [&[&str]; 5] = [
    &["wire", "ebms", "pmode", "wss", "edi"],
    &["msh"],
    &["store", "transport", "trust", "discovery", "backend", "config", "telemetry"],
    &["gateway"],
    &["api", "console", "cli"],
];
/// Adapters: none knows another.
const ADAPTERS: usize = 2;
/// Plain data of ring 1 that P-Modes hold: the one import that points outwards, and it is a value.
const OUTWARD: [(&str, &str); 1] = [("pmode", "msh::reliability")];
/// Crates that rings 0 and 1 may use.
const CORE_CRATES: [&str; 20] = [
    "base64",
    "bytes",
    "encoding_rs",
    "flate2",
    "foreign_types",
    "humantime",
    "libc",
    "memchr",
    "openssl",
    "openssl_sys",
    "percent_encoding",
    "quick_xml",
    "serde",
    "serde_json",
    "strsim",
    "thiserror",
    "time",
    "url",
    "xmlsec",
    "zeroize",
];
/// Where the core draws by chance all the same: content keys and IVs belong to encryption itself, as its padding does.
const MAY_DRAW: &str = "wss/gcm.rs";
/// Names that rings 0 and 1 never say: I/O, clocks, ids, chance, threads.
const CORE_FORBIDDEN: [&str; 16] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::Read",
    "std::io::Write",
    "SystemTime",
    "Instant",
    "now_utc",
    "now_local",
    "Uuid",
    "rand",
    "rand_bytes",
];
/// Module names that say nothing.
const VAGUE: [&str; 9] = ["util", "utils", "common", "helper", "helpers", "manager", "handler", "types", "misc"];
/// Lines that a file may have.
const LONGEST: usize = 500;

/// A source file: its path below `src`, and its text.
struct Source<'a> {
    path: &'a str,
    text: &'a str,
}

impl Source<'_> {
    fn module(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    fn ring(&self) -> Option<usize> {
        ring_of(self.module())
    }

    /// Tests may read files and clocks; they are not the program.
    fn is_test(&self) -> bool {
        self.path.ends_with("tests.rs") || self.path.contains("/tests/")
    }
}

fn ring_of(module: &str) -> Option<usize> {
    RINGS.iter().position(|ring| ring.contains(&module))
}

/// Paths and attributes of a file, without its unit tests.
#[derive(Default)]
struct Seen {
    /// Every path, `use` trees flattened, with its line.
    paths: Vec<(String, usize)>,
    allows: Vec<usize>,
    unsafes: Vec<usize>,
}

impl Seen {
    fn of(source: &Source<'_>) -> Result<Self, String> {
        let file = syn::parse_file(source.text).map_err(|e| format!("{}: {e}", source.path))?;
        let mut seen = Self::default();
        seen.visit_file(&file);
        Ok(seen)
    }

    fn tree(&mut self, before: &str, tree: &syn::UseTree) {
        let join = |name: String| if before.is_empty() { name } else { format!("{before}::{name}") };
        match tree {
            syn::UseTree::Path(path) => self.tree(&join(path.ident.to_string()), &path.tree),
            syn::UseTree::Name(name) => self.paths.push((join(name.ident.to_string()), line(name.ident.span()))),
            syn::UseTree::Rename(name) => self.paths.push((join(name.ident.to_string()), line(name.ident.span()))),
            syn::UseTree::Glob(glob) => self.paths.push((join("*".to_owned()), line(glob.star_token.spans[0]))),
            syn::UseTree::Group(group) => group.items.iter().for_each(|inner| self.tree(before, inner)),
        }
    }

    /// Paths inside macro calls, such as `format!("{}", std::env::temp_dir())`.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let mut path = String::new();
        let mut at = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(ident) if colons == 2 => {
                    path.push_str("::");
                    path.push_str(&ident.to_string());
                }
                proc_macro2::TokenTree::Ident(ident) => {
                    self.flush(&mut path, at);
                    at = line(ident.span());
                    path = ident.to_string();
                }
                proc_macro2::TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                proc_macro2::TokenTree::Group(group) => {
                    self.flush(&mut path, at);
                    self.tokens(group.stream());
                }
                _ => self.flush(&mut path, at),
            }
            colons = 0;
        }
        self.flush(&mut path, at);
    }

    fn flush(&mut self, path: &mut String, at: usize) {
        let whole = std::mem::take(path);
        if whole.contains("::") {
            self.paths.push((whole, at));
        }
    }
}

fn line(span: Span) -> usize {
    span.start().line
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("test")
            || (a.path().is_ident("cfg") && a.parse_args::<syn::Path>().is_ok_and(|p| p.is_ident("test")))
    })
}

impl<'ast> Visit<'ast> for Seen {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            if let Some(token) = &item.sig.unsafety {
                self.unsafes.push(line(token.span));
            }
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.tree("", &item.tree);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let Some(token) = &item.unsafety {
            self.unsafes.push(line(token.span));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.unsafes.push(line(block.unsafe_token.span));
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("allow") {
            self.allows.push(line(attribute.pound_token.spans[0]));
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let Some(first) = path.segments.first() {
            self.paths.push((words.join("::"), line(first.ident.span())));
        }
        visit::visit_path(self, path);
    }
}

/// Every rule that a file breaks.
fn faults(source: &Source<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, what: String| faults.push(format!("src/{}:{line}: {what}", source.path));
    let lines = source.text.lines().count();
    if lines > LONGEST && !source.path.ends_with("schema.rs") {
        fault(lines, format!("is longer than {LONGEST} lines: split it by what it does"));
    }
    for word in source.path.trim_end_matches(".rs").split('/').filter(|word| VAGUE.contains(word)) {
        fault(1, format!("`{word}` says nothing about what is in it"));
    }
    let seen = match Seen::of(source) {
        Ok(seen) => seen,
        Err(error) => return vec![error],
    };
    for at in &seen.allows {
        fault(*at, "use #[expect(…, reason = \"…\")] in place of #[allow]".to_owned());
    }
    for at in &seen.unsafes {
        if !source.path.starts_with("wss/engine/") {
            fault(*at, "unsafe belongs into wss/engine alone".to_owned());
        }
    }
    if source.is_test() {
        return faults;
    }
    for (path, at) in &seen.paths {
        if let Some(what) = outward(source, path).or_else(|| impure(source, path)) {
            fault(*at, what);
        }
    }
    faults.sort();
    faults.dedup();
    faults
}

/// An import that points outwards, or from adapter to adapter.
fn outward(source: &Source<'_>, path: &str) -> Option<String> {
    let inner = path.strip_prefix("crate::")?;
    let target = inner.split("::").next()?;
    let (own, other) = (source.ring()?, ring_of(target)?);
    if OUTWARD.iter().any(|(from, to)| *from == source.module() && inner.starts_with(to)) {
        return None;
    }
    if other > own {
        return Some(format!("`{}` (ring {own}) reaches out to `{target}` (ring {other})", source.module()));
    }
    let neighbours = own == ADAPTERS && other == ADAPTERS && target != source.module();
    neighbours.then(|| format!("adapter `{}` knows adapter `{target}`", source.module()))
}

/// A crate or a name that the core may not use.
fn impure(source: &Source<'_>, path: &str) -> Option<String> {
    if source.ring()? >= ADAPTERS {
        return None;
    }
    let padded = format!("::{path}::");
    // What is written into memory is no I/O.
    let forbidden = CORE_FORBIDDEN.iter().find(|name| {
        padded.contains(&format!("::{name}::")) && !(padded.contains("::fmt::") && name.ends_with("Write"))
    });
    if let Some(name) = forbidden.filter(|name| !(source.path == MAY_DRAW && name.starts_with("rand"))) {
        return Some(format!("`{name}` in the core: it is given bytes, `now` and ids"));
    }
    let first = path.split("::").next()?;
    (dependencies().contains(first) && !CORE_CRATES.contains(&first))
        .then(|| format!("crate `{first}` is not on the core's list"))
}

/// The crates in Cargo.toml, as Rust names them.
fn dependencies() -> &'static BTreeSet<String> {
    static NAMES: std::sync::OnceLock<BTreeSet<String>> = std::sync::OnceLock::new();
    NAMES.get_or_init(|| {
        let manifest = include_str!("../Cargo.toml");
        let sections = manifest.split("\n[").filter(|s| s.starts_with("dependencies]"));
        let lines = sections.flat_map(str::lines).filter_map(|line| line.split_once('='));
        lines.map(|(name, _)| name.trim().replace('-', "_")).filter(|name| !name.starts_with('#')).collect()
    })
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry of it").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_layout_holds() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    assert!(files.len() > 20, "the sources are not where this test looks");
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let path = file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
        found.extend(faults(&Source { path: &path, text: &text }));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_module_has_its_ring() {
    let lib = include_str!("../src/lib.rs");
    let named = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let without: Vec<&str> = named.filter(|module| ring_of(module).is_none() && *module != "manual").collect();
    assert!(without.is_empty(), "add {without:?} to RINGS");
    assert!(dependencies().contains("tokio") && dependencies().contains("serde_json"), "{:?}", dependencies());
}

/// Each rule against a sample that breaks it, and against one that is near and does not.
#[test]
fn each_rule_fails_on_what_breaks_it() {
    let long = "// x\n".repeat(LONGEST + 1);
    let told = |path: &str, text: &str| faults(&Source { path, text });
    for (path, text, word) in [
        ("msh/open.rs", "use crate::store::Inbox;", "reaches out to `store`"),
        ("ebms/read.rs", "use crate::{wire::xml, gateway::receive};", "reaches out to `gateway`"),
        ("wire/mime/read.rs", "fn f() { crate::msh::judge(); }", "reaches out to `msh`"),
        ("gateway/send.rs", "use crate::cli::exit;", "reaches out to `cli`"),
        ("store/inbox.rs", "use crate::telemetry::event;", "adapter `store` knows adapter `telemetry`"),
        ("msh/judge.rs", "use std::io::{self, Read};", "std::io::Read"),
        ("pmode/read/mod.rs", "fn f() -> String { std::fs::read_to_string(\"x\").unwrap() }", "std::fs"),
        ("msh/judge.rs", "fn f() { let _ = time::OffsetDateTime::now_utc(); }", "now_utc"),
        ("msh/judge.rs", "use std::time::{Duration, Instant};", "Instant"),
        ("msh/package.rs", "fn f() { println!(\"{}\", uuid::Uuid::now_v7()); }", "Uuid"),
        ("wss/encrypt.rs", "fn f(b: &mut [u8]) { openssl::rand::rand_bytes(b); }", "rand"),
        ("wss/verify.rs", "use tokio::sync::Mutex;", "crate `tokio`"),
        ("api/list.rs", "#[allow(dead_code)]\nfn f() {}", "#[expect"),
        ("wss/verify.rs", "fn f() { unsafe { g() } }", "unsafe"),
        ("trust/path.rs", "unsafe impl Send for X {}", "unsafe"),
        ("store/helpers.rs", "", "says nothing"),
        ("store/util/mod.rs", "", "says nothing"),
        ("store/inbox.rs", &long, "longer than"),
        ("store/inbox.rs", "fn (", "store/inbox.rs"),
    ] {
        let found = told(path, text);
        assert!(found.iter().any(|fault| fault.contains(word)), "{path} `{}`: {found:?}", text.trim());
    }
    for (path, text) in [
        ("gateway/send.rs", "use crate::msh::package;\nuse crate::store::Lease;"),
        ("store/inbox.rs", "use crate::store::lease;\nuse crate::ebms::MessageId;\nuse std::io::Read;"),
        ("pmode/model.rs", "use crate::msh::reliability::RetryPlan;"),
        ("msh/reply.rs", "use std::fmt::Write;\nuse std::time::Duration;\nuse std::io;"),
        ("msh/judge.rs", "#[cfg(test)]\nmod tests { use std::fs; }"),
        ("msh/judge/tests.rs", "use std::fs;"),
        ("wss/engine/context.rs", "fn f() { unsafe { g() } }"),
        ("store/schema.rs", &long),
        ("store/inbox.rs", "#[expect(dead_code, reason = \"kept\")]\nfn f() {}"),
    ] {
        assert_eq!(told(path, text), Vec::<String>::new(), "{path}");
    }
}
