//! Namespace names and fixed URIs of SOAP, ebMS3/AS4, WS-Security, XML Signature and XML Encryption.

/// Namespace and URI prefix of the ebMS3 core (`CORE` in the specification pages).
pub const EB: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/";
/// SOAP 1.1 envelope.
pub const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// SOAP 1.2 envelope.
pub const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
/// ebBP signals: the non-repudiation information of a Receipt.
pub const EBBP: &str = "http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0";
/// XML Signature.
pub const DS: &str = "http://www.w3.org/2000/09/xmldsig#";
/// XML Encryption 1.0.
pub const XENC: &str = "http://www.w3.org/2001/04/xmlenc#";
/// XML Encryption 1.1.
pub const XENC11: &str = "http://www.w3.org/2009/xmlenc11#";
/// Exclusive C14N: algorithm identifier and namespace of `InclusiveNamespaces`.
pub const EXC_C14N: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
/// WS-Security 1.0 extension namespace.
pub const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
/// WS-Security 1.1 extension namespace.
pub const WSSE11: &str = "http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd";
/// WS-Security utility namespace (`wsu:Id`).
pub const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
/// XOP: its `Include` stands for octets at an address.
pub const XOP: &str = "http://www.w3.org/2004/08/xop/include";
/// `xml:` prefix.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// Namespace of namespace declarations.
pub const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
/// Our own P-Mode documents.
pub const PMODE: &str = "urn:postrider:pmode:1";

/// SwA transform: content of an attachment as signed.
pub const SWA_CONTENT_SIGNATURE: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform";
/// SwA transform: attachment with its MIME headers as signed; refused in AS4.
pub const SWA_COMPLETE_SIGNATURE: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Complete-Signature-Transform";
/// SwA transform in a `CipherReference`.
pub const SWA_CIPHERTEXT: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Ciphertext-Transform";
/// `EncryptedData/@Type`: only the content is encrypted.
pub const SWA_CONTENT_ONLY: &str = "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Only";
/// `EncryptedData/@Type`: MIME headers are encrypted with the content.
pub const SWA_COMPLETE: &str = "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Complete";

/// Base64 encoding of WS-Security tokens.
pub const WSS_BASE64: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary";
/// Token type: one DER certificate.
pub const X509_V3: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3";
/// Token type: `PKIPath`, trust anchor first, end entity last.
pub const X509_PKI_PATH: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509PKIPathv1";
/// Key identifier: the certificate's SubjectKeyIdentifier.
pub const X509_SKI: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier";
/// Key identifier: SHA-1 of the DER certificate.
pub const THUMBPRINT_SHA1: &str = "http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1";
/// Token type of a reference to an `xenc:EncryptedKey`.
pub const ENCRYPTED_KEY_TOKEN: &str = "http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#EncryptedKey";

/// The default message partition channel.
pub const DEFAULT_MPC: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/defaultMPC";
/// Role where nothing was agreed.
pub const DEFAULT_ROLE: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/defaultRole";
/// AS4 default role of the initiator.
pub const ROLE_INITIATOR: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/initiator";
/// AS4 default role of the responder.
pub const ROLE_RESPONDER: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/responder";
/// Service of the ebMS3 test service.
pub const TEST_SERVICE: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/service";
/// Action of the ebMS3 test service.
pub const TEST_ACTION: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/test";
/// AS4 default service.
pub const AS4_SERVICE: &str = "http://docs.oasis-open.org/ebxml-msg/as4/200902/service";
/// AS4 default action.
pub const AS4_ACTION: &str = "http://docs.oasis-open.org/ebxml-msg/as4/200902/action";
