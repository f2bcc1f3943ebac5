//! `postrider.toml` as a text for people.

/// Every key with its default as a comment.
pub const DEFAULT_FILE: &str = include_str!("postrider.toml");

/// The commented file with some lines set: each pair is a line of [`DEFAULT_FILE`] without its `#`, and what is written
/// in its place. A pair that is not found is left out, which a test of the caller shows.
#[must_use]
pub fn default_file(set: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(DEFAULT_FILE.len() + 256);
    for line in DEFAULT_FILE.lines() {
        let written = line.strip_prefix('#').and_then(|bare| set.iter().find(|(old, _)| *old == bare));
        text.push_str(written.map_or(line, |(_, new)| new));
        text.push('\n');
    }
    text
}
