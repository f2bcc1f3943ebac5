//! `wsse:Security` from its element: tokens first, then what refers to them, in whatever order they stand.

use super::super::error::WssError;
use super::encryption::Encryption;
use super::keys::Tokens;
use super::model::SecurityHeader;
use super::schema::{bounded, children, malformed, not_understood};
use super::signature;
use super::timestamp::Timestamp;
use crate::wire::xml::{Document, Node, names};

/// Tokens and timestamps, signatures and encryption elements in one header.
const CHILDREN: usize = 2_000;
/// `wsse:UsernameToken` elements.
const USERNAME_TOKENS: usize = 4;

/// Reads the security header at `security`.
///
/// # Errors
/// When it is malformed, holds what is not understood, or more of anything than a message can need.
pub fn read(document: &Document, security: Node<'_>) -> Result<SecurityHeader, WssError> {
    if !security.is(names::WSSE, "Security") {
        return Err(malformed(security, "it is not wsse:Security"));
    }
    let blocks = children(security)?;
    bounded(blocks.len(), CHILDREN, "child elements")?;
    let tokens = Tokens::read(&blocks)?;
    let mut signatures = Vec::new();
    let mut timestamps = Vec::new();
    let mut username_tokens = Vec::new();
    let mut encryption = Encryption::new(&tokens);
    for block in blocks {
        match (block.namespace(), block.local()) {
            (names::WSSE, "BinarySecurityToken") => {}
            (names::DS, "Signature") => signatures.push(block),
            (names::XENC, "EncryptedKey") => encryption.key(block)?,
            (names::XENC, "EncryptedData") => encryption.data(block)?,
            (names::XENC, "ReferenceList") => encryption.list(block)?,
            (names::WSU, "Timestamp") => timestamps.push(block),
            (names::WSSE, "UsernameToken") => username_tokens.push(block.id()),
            _ => return Err(not_understood(block, "it has no meaning here")),
        }
    }
    bounded(username_tokens.len(), USERNAME_TOKENS, "UsernameTokens")?;
    // WS-029
    bounded(signatures.len(), 1, "signatures")?;
    bounded(timestamps.len(), 1, "timestamps")?;
    let signature = signatures.first().map(|node| signature::read(document, *node, &tokens)).transpose()?;
    let (encrypted_keys, encrypted_data) = encryption.finish(security)?;
    Ok(SecurityHeader {
        node: security.id(),
        signature,
        encrypted_keys,
        encrypted_data,
        timestamp: timestamps.first().map(|node| Timestamp::read(*node)).transpose()?,
        username_tokens,
    })
}
