//! `postrider.toml` as a text for people.

/// Every key with its default as a comment.
pub const DEFAULT_FILE: &str = include_str!("postrider.toml");

/// The commented file with some lines set: each pair is a line of [`DEFAULT_FILE`] without its `#`, and what is written
/// in its place. A pair is used once, where its line stands first.
#[must_use]
pub fn default_file(set: &[(&str, &str)]) -> String {
    let mut open: Vec<&(&str, &str)> = set.iter().collect();
    let mut text = String::with_capacity(DEFAULT_FILE.len() + 256);
    for line in DEFAULT_FILE.lines() {
        let found = line.strip_prefix('#').and_then(|bare| open.iter().position(|(old, _)| *old == bare));
        text.push_str(found.map_or(line, |n| open.swap_remove(n).1));
        text.push('\n');
    }
    debug_assert!(open.is_empty(), "not in the default file: {open:?}");
    text
}
