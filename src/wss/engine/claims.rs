//! What the signature claims to cover, read from libxml2's tree: the second engine's own list of references, to be
//! compared with the first one's. Everything that is not understood is refused here, before libxmlsec1 sees it.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Opinion;
use super::tree::{AttributeRef, Doc, NodeRef};
use crate::wire::xml::names::{DS, EXC_C14N, SOAP11, SOAP12, SWA_CONTENT_SIGNATURE, WSSE, WSU, XML};
use crate::wss::{Reference, Transform};

/// The role of the final recipient, who we are (SOAP 1.2 part 1 §2.2).
const ULTIMATE_RECEIVER: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// The claims of the one signature that is meant for us.
pub(super) struct Claims<'d> {
    /// `ds:Signature`.
    pub(super) signature: NodeRef<'d>,
    /// `ds:SignatureMethod/@Algorithm`.
    pub(super) method: String,
    /// In document order.
    pub(super) references: Vec<Reference>,
}

/// Reads them.
pub(super) fn read(doc: &Doc) -> Result<Claims<'_>, Opinion> {
    let signature = find_signature(doc)?;
    let info = only_child(signature, "SignedInfo")?;
    let mut children = info.elements();
    let canonicalization = children.next().filter(|n| n.is(DS, "CanonicalizationMethod"));
    let method = children.next().filter(|n| n.is(DS, "SignatureMethod"));
    let (Some(canonicalization), Some(method)) = (canonicalization, method) else {
        return Err(Opinion::disagrees("ds:SignedInfo does not start with its two methods"));
    };
    if read_transform(canonicalization)?.algorithm != EXC_C14N {
        return Err(Opinion::disagrees("ds:SignedInfo is not canonicalised by exclusive C14N"));
    }
    let references = children.map(read_reference).collect::<Result<Vec<_>, _>>()?;
    Ok(Claims { signature, method: algorithm(method)?, references })
}

/// The one `ds:Signature` in the Security header that is addressed to the ultimate receiver.
fn find_signature(doc: &Doc) -> Result<NodeRef<'_>, Opinion> {
    let envelope = doc.root().filter(|n| n.local() == "Envelope" && [SOAP11, SOAP12].contains(&n.namespace()));
    let envelope = envelope.ok_or_else(|| Opinion::disagrees("libxml2 sees no SOAP envelope"))?;
    let soap = envelope.namespace();
    let mut found = envelope
        .elements()
        .filter(|n| n.is(soap, "Header"))
        .flat_map(NodeRef::elements)
        .filter(|n| n.is(WSSE, "Security") && is_for_us(*n, soap))
        .flat_map(NodeRef::elements)
        .filter(|n| n.is(DS, "Signature"));
    match (found.next(), found.next()) {
        (Some(signature), None) => Ok(signature),
        (None, _) => Err(Opinion::disagrees("libxml2 sees no ds:Signature in the Security header")),
        (Some(_), Some(_)) => Err(Opinion::disagrees("libxml2 sees several ds:Signature in the Security header")),
    }
}

fn is_for_us(security: NodeRef<'_>, soap: &str) -> bool {
    let to = security.attributes().find(|a| a.namespace() == soap && ["actor", "role"].contains(&a.local()));
    to.is_none_or(|a| matches!(a.value().trim(), "" | ULTIMATE_RECEIVER))
}

fn only_child<'d>(parent: NodeRef<'d>, local: &str) -> Result<NodeRef<'d>, Opinion> {
    let mut found = parent.elements().filter(|n| n.is(DS, local));
    match (found.next(), found.next()) {
        (Some(child), None) => Ok(child),
        _ => Err(Opinion::disagrees(format!("ds:{} has not exactly one ds:{local}", parent.local()))),
    }
}

/// An attribute by its local name. libxmlsec1 looks attributes up without regard to namespaces and takes the first, so
/// another one of the same local name could lead it astray.
fn attribute(node: NodeRef<'_>, local: &str) -> Result<Option<String>, Opinion> {
    let mut found = node.attributes().filter(|a| a.local() == local);
    match (found.next(), found.next()) {
        (None, _) => Ok(None),
        (Some(a), None) if a.namespace().is_empty() => Ok(Some(a.value())),
        _ => Err(Opinion::disagrees(format!("ds:{} has an ambiguous attribute {local}", node.local()))),
    }
}

fn algorithm(node: NodeRef<'_>) -> Result<String, Opinion> {
    attribute(node, "Algorithm")?.ok_or_else(|| Opinion::disagrees(format!("ds:{} has no Algorithm", node.local())))
}

fn read_transform(node: NodeRef<'_>) -> Result<Transform, Opinion> {
    let algorithm = algorithm(node)?;
    let mut children = node.elements();
    let prefix_list = match children.next() {
        None => None,
        Some(list) if algorithm == EXC_C14N && list.is(EXC_C14N, "InclusiveNamespaces") => {
            attribute(list, "PrefixList")?
        }
        Some(other) => return Err(unknown_child(node, other)),
    };
    if let Some(other) = children.next() {
        return Err(unknown_child(node, other));
    }
    Ok(Transform { algorithm, prefix_list })
}

fn unknown_child(parent: NodeRef<'_>, child: NodeRef<'_>) -> Opinion {
    Opinion::disagrees(format!("ds:{} has a child {} that is not understood", parent.local(), child.local()))
}

fn read_reference(node: NodeRef<'_>) -> Result<Reference, Opinion> {
    if !node.is(DS, "Reference") {
        return Err(Opinion::disagrees(format!("ds:SignedInfo has a child {} that is not understood", node.local())));
    }
    let uri = attribute(node, "URI")?.ok_or_else(|| Opinion::disagrees("a ds:Reference has no URI"))?;
    let transforms = node.elements().filter(|n| n.is(DS, "Transforms")).flat_map(NodeRef::elements);
    let transforms = transforms.map(read_transform).collect::<Result<Vec<_>, _>>()?;
    check_transforms(&uri, &transforms)?;
    let digest = only_child(node, "DigestValue")?.text();
    let digest: String = digest.split_ascii_whitespace().collect();
    let digest =
        STANDARD.decode(digest).map_err(|_| Opinion::disagrees(format!("the DigestValue of `{uri}` is not Base64")))?;
    Ok(Reference { digest_method: algorithm(only_child(node, "DigestMethod")?)?, uri, transforms, digest })
}

/// Exactly one transform, the one that belongs to the kind of reference (WS-023, WS-025). Ids that are more than names
/// are refused, for libxmlsec1 puts them into an `XPointer` expression.
fn check_transforms(uri: &str, transforms: &[Transform]) -> Result<(), Opinion> {
    let wanted = match fragment(uri) {
        Some(id) if is_name(id) => EXC_C14N,
        None if uri.starts_with("cid:") && uri.len() > 4 && !uri.contains('#') => SWA_CONTENT_SIGNATURE,
        _ => return Err(Opinion::disagrees(format!("the reference `{uri}` is neither `#id` nor `cid:`"))),
    };
    match transforms {
        [only] if only.algorithm == wanted => Ok(()),
        _ => Err(Opinion::disagrees(format!("the reference `{uri}` has other transforms than <{wanted}>"))),
    }
}

fn fragment(uri: &str) -> Option<&str> {
    uri.strip_prefix('#')
}

fn is_name(id: &str) -> bool {
    !id.is_empty()
        && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c) || (c >= '\u{b7}' && c.is_alphanumeric()))
}

/// Makes the referenced ids known to libxml2, and only those. Each must stand exactly once, in whichever of the
/// attributes that count as ids.
pub(super) fn register_ids(doc: &Doc, references: &[Reference]) -> Result<(), Opinion> {
    let mut wanted: HashMap<&str, Vec<AttributeRef<'_>>> =
        references.iter().filter_map(|r| fragment(&r.uri)).map(|id| (id, Vec::new())).collect();
    for attribute in doc.all().flat_map(NodeRef::attributes).filter(|a| is_id(*a)) {
        if let Some(holders) = wanted.get_mut(attribute.value().as_str()) {
            holders.push(attribute);
        }
    }
    for (id, holders) in wanted {
        let [holder] = holders.as_slice() else {
            return Err(Opinion::disagrees(format!("libxml2 sees {} elements with the id `{id}`", holders.len())));
        };
        if holder.namespace() != XML && !holder.make_id(doc, id) {
            return Err(Opinion::disagrees(format!("libxml2 does not take `{id}` as an id")));
        }
    }
    Ok(())
}

fn is_id(attribute: AttributeRef<'_>) -> bool {
    match attribute.namespace() {
        "" => attribute.local().eq_ignore_ascii_case("id"),
        WSU => attribute.local() == "Id",
        XML => attribute.local() == "id",
        _ => false,
    }
}

/// The first difference between two lists of references, in words.
pub(super) fn difference(ours: &[Reference], expected: &[Reference]) -> Option<String> {
    if ours.len() != expected.len() {
        return Some(format!("libxml2 sees {} references, the first engine {}", ours.len(), expected.len()));
    }
    ours.iter().zip(expected).find_map(|(a, b)| {
        let what = if a.uri != b.uri {
            format!("URI `{}`", a.uri)
        } else if !a.attests_as(b) {
            format!("algorithms or digest of `{}`", a.uri)
        } else if !a.transforms.iter().map(prefixes).eq(b.transforms.iter().map(prefixes)) {
            format!("PrefixList of `{}`", a.uri)
        } else {
            return None;
        };
        Some(format!("the engines read the references differently: {what}, where the first engine has `{}`", b.uri))
    })
}

fn prefixes(transform: &Transform) -> Vec<&str> {
    transform.prefix_list.as_deref().unwrap_or_default().split_ascii_whitespace().collect()
}
