//! `ds:Signature`: one `SignedInfo`, allowed transforms, references that stay inside the message.

use std::collections::HashSet;

use super::super::error::WssError;
use super::super::reference::{Reference, Transform, content_id};
use super::super::suite::{DigestAlgorithm, SignatureAlgorithm};
use super::keys::{Tokens, key_info};
use super::model::{Signature, SignedReference, Target};
use super::schema::{bounded, children, malformed, not_understood, octets, only_child, required};
use crate::wire::xml::{Document, Node, names};

/// References to elements of the envelope: each has its subtree canonicalised before the signer's chain is judged.
const ELEMENTS: usize = 32;
/// Prefixes of one `PrefixList`.
const PREFIXES: usize = 64;
/// `ds:Reference` elements of one signature.
const REFERENCES: usize = 1_000;

/// XML Signature §4: `SignedInfo` first, then the value, then the key, and nothing else (AT-04).
pub(super) fn read(document: &Document, node: Node<'_>, tokens: &Tokens) -> Result<Signature, WssError> {
    let inside = children(node)?;
    let [signed_info, value, key] = inside.as_slice() else {
        return Err(not_understood(node, "it must hold SignedInfo, SignatureValue and KeyInfo, and nothing else"));
    };
    for (child, local) in [(signed_info, "SignedInfo"), (value, "SignatureValue"), (key, "KeyInfo")] {
        if !child.is(names::DS, local) {
            return Err(not_understood(*child, &format!("ds:{local} must stand here")));
        }
    }
    let (prefix_list, algorithm, references) = read_signed_info(document, *signed_info)?;
    Ok(Signature {
        node: node.id(),
        signed_info: signed_info.id(),
        prefix_list,
        algorithm,
        references,
        value: octets(*value)?,
        key: key_info(*key, tokens)?,
    })
}

type SignedInfo = (Option<String>, SignatureAlgorithm, Vec<SignedReference>);

fn read_signed_info(document: &Document, node: Node<'_>) -> Result<SignedInfo, WssError> {
    let inside = children(node)?;
    let [canonicalization, method, references @ ..] = inside.as_slice() else {
        return Err(malformed(node, "it is empty"));
    };
    if !canonicalization.is(names::DS, "CanonicalizationMethod") || !method.is(names::DS, "SignatureMethod") {
        return Err(malformed(node, "it must begin with CanonicalizationMethod and SignatureMethod"));
    }
    let transform = exclusive(*canonicalization, "canonicalisation")?;
    let uri = required(*method, "Algorithm")?;
    let algorithm = SignatureAlgorithm::from_uri(uri)
        .ok_or_else(|| WssError::Algorithm { use_for: "signature", uri: uri.to_owned() })?;
    // AT-11: no truncated HMAC, and no parameters of any kind.
    if let Some(parameter) = children(*method)?.first() {
        return Err(not_understood(*parameter, "a signature method has no parameters here"));
    }
    if references.is_empty() {
        return Err(malformed(node, "it refers to nothing"));
    }
    bounded(references.len(), REFERENCES, "references in its signature")?;
    let elements = references.iter().filter(|r| r.attribute("URI").is_some_and(|uri| uri.starts_with('#'))).count();
    bounded(elements, ELEMENTS, "signed elements")?;
    let mut seen = HashSet::new();
    let mut read = Vec::with_capacity(references.len());
    for node in references {
        let reference = read_reference(document, *node)?;
        if !seen.insert(reference.reference.uri.clone()) {
            return Err(malformed(*node, "its URI stands in another reference too"));
        }
        read.push(reference);
    }
    Ok((transform.prefix_list, algorithm, read))
}

fn read_reference(document: &Document, node: Node<'_>) -> Result<SignedReference, WssError> {
    if !node.is(names::DS, "Reference") {
        return Err(not_understood(node, "only references belong here"));
    }
    let uri = node.attribute("URI").unwrap_or_default();
    let target = target(document, uri)?;
    let inside = children(node)?;
    let [transforms, method, value] = inside.as_slice() else {
        return Err(malformed(node, "it must hold Transforms, DigestMethod and DigestValue"));
    };
    let ordered = transforms.is(names::DS, "Transforms")
        && method.is(names::DS, "DigestMethod")
        && value.is(names::DS, "DigestValue");
    if !ordered {
        return Err(malformed(node, "it must hold Transforms, DigestMethod and DigestValue"));
    }
    let transform = read_transform(*transforms, &target)?;
    let algorithm = required(*method, "Algorithm")?;
    let digest = DigestAlgorithm::from_uri(algorithm)
        .ok_or_else(|| WssError::Algorithm { use_for: "digest", uri: algorithm.to_owned() })?;
    let octets = octets(*value)?;
    if octets.len() != digest.length() {
        return Err(malformed(*value, &format!("a digest of {} octets, not {}", octets.len(), digest.length())));
    }
    let reference = Reference {
        uri: uri.to_owned(),
        transforms: vec![transform],
        digest_method: algorithm.to_owned(),
        digest: octets,
    };
    Ok(SignedReference { reference, digest, target })
}

/// AT-07: an element of this document or a part of this message, and nothing else.
fn target(document: &Document, uri: &str) -> Result<Target, WssError> {
    let refused = |why| WssError::Reference { uri: uri.to_owned(), why };
    if let Some(id) = uri.strip_prefix('#') {
        let element = document.by_id(id).ok_or_else(|| refused("no element of the envelope has that Id"))?;
        return Ok(Target::Element(element.id()));
    }
    let id = content_id(uri).ok_or_else(|| refused("a signature refers to `#id` and `cid:` only"))?;
    Ok(Target::Part(id))
}

/// Exactly one transform, the one that fits the target (WS-023, WS-025, AT-06).
fn read_transform(transforms: Node<'_>, target: &Target) -> Result<Transform, WssError> {
    let one = match children(transforms)?.as_slice() {
        [one] if one.is(names::DS, "Transform") => *one,
        [] => return Err(malformed(transforms, "it is empty")),
        _ => return Err(not_understood(transforms, "a reference has exactly one transform")),
    };
    match target {
        Target::Element(_) => exclusive(one, "transform"),
        Target::Part(_) => {
            let algorithm = required(one, "Algorithm")?;
            if algorithm != names::SWA_CONTENT_SIGNATURE {
                return Err(WssError::Algorithm { use_for: "transform", uri: algorithm.to_owned() });
            }
            if children(one)?.is_empty() {
                return Ok(Transform { algorithm: algorithm.to_owned(), prefix_list: None });
            }
            Err(not_understood(one, "this transform has no parameters"))
        }
    }
}

/// Exclusive C14N without comments, maybe with `InclusiveNamespaces`.
fn exclusive(node: Node<'_>, use_for: &'static str) -> Result<Transform, WssError> {
    let algorithm = required(node, "Algorithm")?;
    if algorithm != names::EXC_C14N {
        return Err(WssError::Algorithm { use_for, uri: algorithm.to_owned() });
    }
    let prefix_list = if children(node)?.is_empty() {
        None
    } else {
        let list = only_child(node)?;
        if !list.is(names::EXC_C14N, "InclusiveNamespaces") || !children(list)?.is_empty() {
            return Err(not_understood(list, "only InclusiveNamespaces belongs here"));
        }
        let prefixes = list.attribute("PrefixList").unwrap_or_default();
        bounded(prefixes.split_whitespace().count(), PREFIXES, "prefixes in a PrefixList")?;
        Some(prefixes.to_owned())
    };
    Ok(Transform { algorithm: algorithm.to_owned(), prefix_list })
}
