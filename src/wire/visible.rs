//! Texts of others in texts of ours.

use std::borrow::Cow;

/// A text with its control characters, and what XML cannot hold, as escapes such as `\u{0}`. Texts that quote a stranger
/// go into answers, logs and databases, and must not act there (AT-25).
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if acts(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_act_is_shown() {
        assert_eq!(visible("Köln \u{1F9FE} 'a' \\"), "Köln \u{1F9FE} 'a' \\");
        assert_eq!(visible("a\r\nERROR\tb"), "a\\r\\nERROR\\tb");
        assert_eq!(visible("\0\u{1b}[31m\u{9b}\u{FFFF}"), "\\u{0}\\u{1b}[31m\\u{9b}\\u{ffff}");
    }
}
