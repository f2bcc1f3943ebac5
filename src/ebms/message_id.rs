//! `MessageIds` (EB-036, EB-037).

/// An ebMS MessageId: RFC 2822 `msg-id` without angle brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(String);

/// Why a text is no MessageId.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMessageId {
    /// Nothing there.
    #[error("the message id is empty")]
    Empty,
    /// Longer than 255 characters cannot be stored and answered whole (FR-064).
    #[error("the message id has {0} characters, at most 255 are accepted")]
    TooLong(usize),
    /// EB-037.
    #[error("the message id `{0}` is not of the form local@domain (RFC 2822 msg-id without angle brackets)")]
    NoAt(String),
    /// Blanks, control characters or angle brackets.
    #[error("the message id holds {0:?}, which an RFC 2822 msg-id cannot")]
    Character(char),
}

impl MessageId {
    /// Parses an id as it stands on the wire (EB-037).
    ///
    /// # Errors
    /// When it is empty, too long, has no `@`, or holds white space, control characters or angle brackets.
    pub fn parse(text: &str) -> Result<Self, BadMessageId> {
        let id = Self::parse_without_domain(text)?;
        match text.split_once('@') {
            Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok(id),
            _ => Err(BadMessageId::NoAt(text.to_owned())),
        }
    }

    /// Parses an id that may lack `@` (the lenient switch of EB-037).
    ///
    /// # Errors
    /// When it is empty, too long, or holds white space, control characters or angle brackets.
    pub fn parse_without_domain(text: &str) -> Result<Self, BadMessageId> {
        if text.is_empty() {
            return Err(BadMessageId::Empty);
        }
        let length = text.chars().count();
        if length > 255 {
            return Err(BadMessageId::TooLong(length));
        }
        if let Some(bad) = text.chars().find(|c| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>')) {
            return Err(BadMessageId::Character(bad));
        }
        Ok(Self(text.to_owned()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for MessageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_local_at_domain() {
        assert_eq!(MessageId::parse("m1@node.example").unwrap().as_str(), "m1@node.example");
        assert!(MessageId::parse("stra\u{DF}e@node.example").is_ok());
        for bad in ["plain", "@node.example", "m1@"] {
            assert_eq!(MessageId::parse(bad), Err(BadMessageId::NoAt(bad.to_owned())));
            assert!(MessageId::parse_without_domain(bad).is_ok());
        }
    }

    #[test]
    fn what_no_msg_id_holds_is_refused_by_both_readings() {
        for (bad, why) in [
            ("", BadMessageId::Empty),
            ("a b@c", BadMessageId::Character(' ')),
            ("x@y\r\nERROR forged", BadMessageId::Character('\r')),
            ("<a@b>", BadMessageId::Character('<')),
            ("a\u{1b}[31m@b", BadMessageId::Character('\u{1b}')),
        ] {
            assert_eq!(MessageId::parse(bad), Err(why.clone()));
            assert_eq!(MessageId::parse_without_domain(bad), Err(why));
        }
    }

    #[test]
    fn length_is_counted_in_characters() {
        let id = format!("{}@b", "\u{DF}".repeat(253));
        assert_eq!(id.chars().count(), 255);
        assert!(MessageId::parse(&id).is_ok());
        assert_eq!(MessageId::parse(&format!("x{id}")), Err(BadMessageId::TooLong(256)));
    }
}
