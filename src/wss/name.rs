//! Comparison of distinguished names across the spellings of RFC 2253, RFC 4514 and OpenSSL (WS-013).
//!
//! It finds one of our own certificates by the name that a message gives; the serial number stands beside it. So the
//! order of the attributes, which the spellings turn round, is left out of the comparison.

use openssl::asn1::Asn1Object;
use openssl::nid::Nid;
use openssl::x509::X509NameRef;

/// Whether `spelled` is a spelling of `name`.
#[must_use]
pub fn same_name(spelled: &str, name: &X509NameRef) -> bool {
    let mut ours: Vec<(String, String)> = name
        .entries()
        .map(|entry| {
            let value = entry.data().to_string().map(|s| (*s).to_owned()).unwrap_or_default();
            (kind(entry.object()), folded(&value))
        })
        .collect();
    let Some(mut theirs) = attributes(spelled) else { return false };
    ours.sort_unstable();
    theirs.sort_unstable();
    ours == theirs
}

fn kind(object: &openssl::asn1::Asn1ObjectRef) -> String {
    match object.nid() {
        Nid::UNDEF => object.to_string(),
        nid => nid.as_raw().to_string(),
    }
}

/// Case and white space do not distinguish names (RFC 5280 §7.1).
fn folded(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The attribute types that RFC 4514, the JDK and OpenSSL spell in their own ways.
fn object(name: &str) -> Option<Asn1Object> {
    let name = name.trim();
    let dotted = name.strip_prefix("OID.").or_else(|| name.strip_prefix("oid.")).unwrap_or(name);
    let known = match name.to_ascii_uppercase().as_str() {
        "CN" => "2.5.4.3",
        "SN" | "SURNAME" => "2.5.4.4",
        "SERIALNUMBER" => "2.5.4.5",
        "C" => "2.5.4.6",
        "L" => "2.5.4.7",
        "ST" | "S" | "SP" => "2.5.4.8",
        "STREET" => "2.5.4.9",
        "O" => "2.5.4.10",
        "OU" => "2.5.4.11",
        "T" | "TITLE" => "2.5.4.12",
        "GN" | "G" | "GIVENNAME" => "2.5.4.42",
        "INITIALS" => "2.5.4.43",
        "DNQ" | "DNQUALIFIER" => "2.5.4.46",
        "ORGANIZATIONIDENTIFIER" => "2.5.4.97",
        "UID" => "0.9.2342.19200300.100.1.1",
        "DC" => "0.9.2342.19200300.100.1.25",
        "E" | "EMAIL" | "EMAILADDRESS" => "1.2.840.113549.1.9.1",
        _ => dotted,
    };
    Asn1Object::from_str(known).ok()
}

fn attributes(spelled: &str) -> Option<Vec<(String, String)>> {
    let spelled = spelled.trim();
    let slashes = spelled.starts_with('/');
    let mut found = Vec::new();
    for piece in pieces(spelled, slashes) {
        let piece = piece.trim();
        if piece.is_empty() {
            continue;
        }
        let (name, value) = piece.split_once('=')?;
        found.push((kind(object(name)?.as_ref()), folded(&value_of(value)?)));
    }
    Some(found)
}

/// Splits at `,`, `;` and `+` (or at `/` in OpenSSL's one-line form) outside quotes and escapes.
fn pieces(spelled: &str, slashes: bool) -> Vec<&str> {
    let (mut found, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in spelled.char_indices() {
        let separates = if slashes { c == '/' } else { matches!(c, ',' | ';' | '+') };
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if separates && !quoted => {
                found.push(&spelled[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&spelled[from..]);
    found
}

/// The value itself: quotes and escapes taken away, `#hex` decoded.
fn value_of(written: &str) -> Option<String> {
    let written = written.trim();
    if let Some(hex) = written.strip_prefix('#') {
        let der = hex_octets(hex)?;
        let (_, content, _) = super::der::element(&der)?;
        return Some(String::from_utf8_lossy(content).into_owned());
    }
    let inner = written.strip_prefix('"').and_then(|w| w.strip_suffix('"')).unwrap_or(written);
    let mut octets = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'\\' {
            octets.push(*first);
            rest = after;
            continue;
        }
        if let Some(pair) = after.get(..2).and_then(|pair| hex_octets(std::str::from_utf8(pair).ok()?)) {
            octets.extend(pair);
            rest = &after[2..];
        } else {
            octets.push(*after.first()?);
            rest = &after[1..];
        }
    }
    Some(String::from_utf8_lossy(&octets).into_owned())
}

fn hex_octets(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    let digits = digits?;
    (digits.len() % 2 == 0).then(|| digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::x509::X509Name;

    fn name(entries: &[(&str, &str)]) -> X509Name {
        let mut builder = X509Name::builder().unwrap();
        for (kind, value) in entries {
            builder.append_entry_by_text(kind, value).unwrap();
        }
        builder.build()
    }

    #[test]
    fn every_spelling_is_the_same_name() {
        let issuer =
            name(&[("C", "DE"), ("O", "Muster, Söhne + Co"), ("emailAddress", "ca@example.org"), ("CN", "Test CA")]);
        for spelled in [
            r"CN=Test CA,emailAddress=ca@example.org,O=Muster\, Söhne \+ Co,C=DE",
            r"cn=test  ca, EMAILADDRESS=ca@example.org, o=Muster\2C S\C3\B6hne \2B Co, c=de",
            r#"C = DE, O = "Muster, Söhne + Co", emailAddress = ca@example.org, CN = Test CA"#,
            "/C=DE/O=Muster, Söhne + Co/emailAddress=ca@example.org/CN=Test CA",
            r"2.5.4.3=#0c0754657374204341;1.2.840.113549.1.9.1=ca@example.org;OID.2.5.4.10=Muster\, Söhne \+ Co;C=DE",
            r"CN=Test CA+E=ca@example.org,O=Muster\, Söhne \+ Co,C=DE",
        ] {
            assert!(same_name(spelled, &issuer), "{spelled}");
        }
    }

    #[test]
    fn another_name_is_another_name() {
        let issuer = name(&[("C", "DE"), ("CN", "Test CA")]);
        for spelled in [
            "CN=Test CA",
            "CN=Test CB,C=DE",
            "CN=Test CA,C=DE,O=x",
            "OU=Test CA,C=DE",
            "Test CA",
            "",
            r"CN=Test CA,C=DE\",
        ] {
            assert!(!same_name(spelled, &issuer), "{spelled}");
        }
    }
}
