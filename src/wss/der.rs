//! The little DER that OpenSSL's binding leaves to us: splitting and building a SEQUENCE.

/// Splits off one DER element: tag, content, what follows.
pub(super) fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, first) = (*der.first()?, *der.get(1)?);
    let (length, head) = if first < 0x80 {
        (usize::from(first), 2)
    } else {
        let octets = der.get(2..2 + usize::from(first & 0x7f))?;
        (octets.iter().try_fold(0usize, |n, b| n.checked_mul(256)?.checked_add(usize::from(*b)))?, 2 + octets.len())
    };
    let end = head.checked_add(length)?;
    Some((tag, der.get(head..end)?, der.get(end..)?))
}

/// The elements of a DER `SEQUENCE OF`, each with its head; at most `limit`.
pub(super) fn sequence(der: &[u8], limit: usize) -> Option<Vec<&[u8]>> {
    let (0x30, mut rest, []) = element(der)? else { return None };
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (_, _, after) = element(rest)?;
        found.push(&rest[..rest.len() - after.len()]);
        rest = after;
        if found.len() > limit {
            return None;
        }
    }
    Some(found)
}

/// A DER `SEQUENCE` of the given elements.
pub(super) fn build_sequence<'e>(elements: impl Iterator<Item = &'e [u8]>) -> Vec<u8> {
    let content: Vec<u8> = elements.flatten().copied().collect();
    let mut der = vec![0x30];
    if let Ok(short @ 0..0x80) = u8::try_from(content.len()) {
        der.push(short);
    } else {
        let octets = content.len().to_be_bytes();
        let significant: Vec<u8> = octets.iter().copied().skip_while(|o| *o == 0).collect();
        // A usize has at most eight octets.
        der.push(0x80 | u8::try_from(significant.len()).unwrap_or(8));
        der.extend(significant);
    }
    der.extend(content);
    der
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_comes_back() {
        for size in [0usize, 1, 100, 130, 70_000] {
            let one = build_sequence(std::iter::once(vec![5; size].as_slice()));
            let two = build_sequence([one.as_slice(), one.as_slice()].into_iter());
            assert_eq!(sequence(&two, 2), Some(vec![one.as_slice(), one.as_slice()]));
            assert_eq!(sequence(&two, 1), None);
            assert_eq!(sequence(&two[..two.len() - 1], 2), None);
        }
        assert_eq!(element(&[0x30, 0xFF]), None);
        assert_eq!(element(&[]), None);
    }
}
