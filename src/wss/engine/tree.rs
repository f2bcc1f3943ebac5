//! A borrowed, read-only view of a libxml2 tree, so that the code that walks it is safe.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::{Opinion, ffi, trail};

/// A parsed document; freed on drop.
pub(super) struct Doc(NonNull<ffi::xmlDoc>);

/// Why a text did not become a tree. The trail holds libxml2's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotParsed {
    /// It has a document type declaration.
    Dtd,
    /// It is not well-formed, or beyond libxml2's limits.
    Malformed,
}

/// `XML_PARSE_NONET`: no DTD is loaded, no entity replaced, and the built-in limits hold (no `XML_PARSE_HUGE`).
const PARSE: c_int = ffi::xmlParserOption_XML_PARSE_NONET.cast_signed();
/// The text is UTF-8 whatever its XML declaration says (it was decoded before).
const PARSE_TEXT: c_int = PARSE | ffi::xmlParserOption_XML_PARSE_IGNORE_ENC.cast_signed();

impl Doc {
    /// Parses text that was decoded before.
    pub(super) fn from_text(text: &str) -> Result<Self, NotParsed> {
        Self::parse(text.as_bytes(), Some(c"UTF-8"), PARSE_TEXT)
    }

    /// Parses octets, whose encoding libxml2 finds out.
    pub(super) fn from_octets(octets: &[u8]) -> Result<Self, NotParsed> {
        Self::parse(octets, None, PARSE)
    }

    fn parse(octets: &[u8], encoding: Option<&CStr>, options: c_int) -> Result<Self, NotParsed> {
        let length = c_int::try_from(octets.len()).map_err(|_| NotParsed::Malformed)?;
        let mut has_dtd = false;
        // SAFETY: the parser context is ours from xmlNewParserCtxt to xmlFreeParserCtxt; `sax` is its own copy of the
        // handler. `_private` is ours by libxml2's contract and points at `has_dtd`, which outlives the context. The
        // octets outlive the call, and libxml2 copies them. A document of a failed parse is freed here.
        unsafe {
            let context = ffi::xmlNewParserCtxt();
            if context.is_null() || (*context).sax.is_null() {
                return Err(NotParsed::Malformed);
            }
            (*(*context).sax).internalSubset = Some(refuse_dtd);
            (*context)._private = (&raw mut has_dtd).cast();
            let encoding = encoding.map_or(std::ptr::null(), CStr::as_ptr);
            let doc =
                ffi::xmlCtxtReadMemory(context, octets.as_ptr().cast(), length, std::ptr::null(), encoding, options);
            // libxml2 2.9 gives out what it has of a document that broke one of its limits, without calling it
            // malformed; only `errNo` tells.
            let whole = (*context).errNo == 0 && (*context).wellFormed == 1 && (*context).nsWellFormed == 1;
            ffi::xmlFreeParserCtxt(context);
            let doc = NonNull::new(doc).map(Self);
            match doc {
                _ if has_dtd => Err(NotParsed::Dtd),
                Some(doc) if !(*doc.0.as_ptr()).intSubset.is_null() => Err(NotParsed::Dtd),
                Some(doc) if whole => Ok(doc),
                _ => Err(NotParsed::Malformed),
            }
        }
    }

    /// For calls into the libraries.
    pub(super) fn as_ptr(&self) -> ffi::xmlDocPtr {
        self.0.as_ptr()
    }

    /// The document element.
    pub(super) fn root(&self) -> Option<NodeRef<'_>> {
        // SAFETY: the document lives as long as `self`, and the node as long as the document.
        NodeRef::new(unsafe { ffi::xmlDocGetRootElement(self.as_ptr()) })
    }

    /// Every element, in document order.
    pub(super) fn all(&self) -> impl Iterator<Item = NodeRef<'_>> {
        let root = self.root();
        std::iter::successors(root, move |node| node.following(root))
    }

    /// The whole document as text.
    pub(super) fn to_text(&self) -> Option<String> {
        let (mut memory, mut length) = (std::ptr::null_mut::<ffi::xmlChar>(), 0);
        // SAFETY: libxml2 allocates `memory` (or leaves it null), `length` octets long; it is copied and freed here.
        unsafe {
            ffi::xmlDocDumpMemoryEnc(self.as_ptr(), &raw mut memory, &raw mut length, c"UTF-8".as_ptr());
            take_string(memory)
        }
    }
}

impl Drop for Doc {
    fn drop(&mut self) {
        // SAFETY: we own the document, and no NodeRef outlives us.
        unsafe { ffi::xmlFreeDoc(self.0.as_ptr()) };
    }
}

/// Called by libxml2 at `<!DOCTYPE`, before any declaration is read.
unsafe extern "C" fn refuse_dtd(
    context: *mut c_void,
    _name: *const ffi::xmlChar,
    _external: *const ffi::xmlChar,
    _system: *const ffi::xmlChar,
) {
    let context = context.cast::<ffi::xmlParserCtxt>();
    // SAFETY: libxml2 passes the parser context, whose `_private` points at the flag that `parse` holds on its stack.
    unsafe {
        (*context)._private.cast::<bool>().write(true);
        ffi::xmlStopParser(context);
    }
}

/// An element of a [`Doc`].
#[derive(Clone, Copy)]
pub(super) struct NodeRef<'d>(NonNull<ffi::xmlNode>, PhantomData<&'d Doc>);

impl PartialEq for NodeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<'d> NodeRef<'d> {
    fn new(node: ffi::xmlNodePtr) -> Option<Self> {
        NonNull::new(node).map(|n| Self(n, PhantomData))
    }

    fn raw(self) -> &'d ffi::xmlNode {
        // SAFETY: the node belongs to a document that lives for 'd, and nothing changes the tree while views exist.
        unsafe { self.0.as_ref() }
    }

    /// For calls into the libraries.
    pub(super) fn as_ptr(self) -> ffi::xmlNodePtr {
        self.0.as_ptr()
    }

    /// Local name.
    pub(super) fn local(self) -> &'d str {
        // SAFETY: names are C strings that live as long as the node.
        unsafe { text_of(self.raw().name) }
    }

    /// Namespace name, empty for none.
    pub(super) fn namespace(self) -> &'d str {
        // SAFETY: `ns` is null or a namespace of the same document.
        unsafe { self.raw().ns.as_ref().map_or("", |ns| text_of(ns.href)) }
    }

    /// Whether it has this name.
    pub(super) fn is(self, namespace: &str, local: &str) -> bool {
        self.local() == local && self.namespace() == namespace
    }

    /// Child elements.
    pub(super) fn elements(self) -> impl Iterator<Item = NodeRef<'d>> {
        std::iter::successors(first_element(self.raw().children), |n| n.next_element())
    }

    fn next_element(self) -> Option<Self> {
        first_element(self.raw().next)
    }

    /// The element after this one in document order, below `root`.
    fn following(self, root: Option<Self>) -> Option<Self> {
        if let Some(child) = first_element(self.raw().children) {
            return Some(child);
        }
        let mut at = self;
        while Some(at) != root {
            if let Some(next) = at.next_element() {
                return Some(next);
            }
            at = NodeRef::new(at.raw().parent)?;
        }
        None
    }

    /// Attributes.
    pub(super) fn attributes(self) -> impl Iterator<Item = AttributeRef<'d>> {
        // SAFETY: the list of attributes is a chain of the same document, ended by null.
        let as_ref = |p: *mut ffi::xmlAttr| unsafe { p.as_ref() };
        std::iter::successors(as_ref(self.raw().properties), move |a| as_ref(a.next)).map(AttributeRef)
    }

    /// Namespace names declared here.
    pub(super) fn declared(self) -> impl Iterator<Item = &'d str> {
        // SAFETY: as for attributes.
        let as_ref = |p: *mut ffi::xmlNs| unsafe { p.as_ref() };
        // SAFETY: `href` is null or a C string of the document.
        std::iter::successors(as_ref(self.raw().nsDef), move |n| as_ref(n.next)).map(|n| unsafe { text_of(n.href) })
    }

    /// Its text content.
    pub(super) fn text(self) -> String {
        // SAFETY: libxml2 allocates the string, which is copied and freed.
        unsafe { take_string(ffi::xmlNodeGetContent(self.as_ptr())) }.unwrap_or_default()
    }
}

fn first_element<'d>(mut node: ffi::xmlNodePtr) -> Option<NodeRef<'d>> {
    // SAFETY: siblings form a chain within one document, ended by null.
    while let Some(at) = unsafe { node.as_ref() } {
        if at.type_ == ffi::xmlElementType_XML_ELEMENT_NODE {
            return NodeRef::new(node);
        }
        node = at.next;
    }
    None
}

/// An attribute of an element.
#[derive(Clone, Copy)]
pub(super) struct AttributeRef<'d>(&'d ffi::xmlAttr);

impl<'d> AttributeRef<'d> {
    /// Local name.
    pub(super) fn local(self) -> &'d str {
        // SAFETY: names are C strings that live as long as the attribute.
        unsafe { text_of(self.0.name) }
    }

    /// Namespace name, empty for none.
    pub(super) fn namespace(self) -> &'d str {
        // SAFETY: `ns` is null or a namespace of the same document.
        unsafe { self.0.ns.as_ref().map_or("", |ns| text_of(ns.href)) }
    }

    /// Its value.
    pub(super) fn value(self) -> String {
        let attribute = std::ptr::from_ref(self.0).cast::<ffi::xmlNode>();
        // SAFETY: xmlNodeGetContent takes attributes as nodes (they share the head of the struct); the string is ours.
        unsafe { take_string(ffi::xmlNodeGetContent(attribute)) }.unwrap_or_default()
    }

    /// Makes it the identifier of its element; false when libxml2 does not want to (the value is taken).
    pub(super) fn make_id(self, doc: &Doc, value: &str) -> bool {
        let Ok(value) = std::ffi::CString::new(value) else { return false };
        let attribute = std::ptr::from_ref(self.0).cast_mut();
        // SAFETY: attribute and document belong together; libxml2 copies the value and marks the attribute through its
        // own pointer, while no reference into the attribute is read (`self` is not used afterwards).
        unsafe { !ffi::xmlAddID(std::ptr::null_mut(), doc.as_ptr(), value.as_ptr().cast(), attribute).is_null() }
    }
}

/// # Safety
/// `text` is null or a C string that lives for 'd.
unsafe fn text_of<'d>(text: *const ffi::xmlChar) -> &'d str {
    if text.is_null() {
        return "";
    }
    // SAFETY: by contract; libxml2 keeps UTF-8, anything else counts as empty.
    unsafe { CStr::from_ptr(text.cast::<c_char>()) }.to_str().unwrap_or("")
}

/// # Safety
/// `text` is null or a C string allocated by libxml2 that nobody else frees.
unsafe fn take_string(text: *mut ffi::xmlChar) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by contract; xmlFree is set when the library is loaded and never changed by us.
    unsafe {
        let copy = CStr::from_ptr(text.cast::<c_char>()).to_string_lossy().into_owned();
        if let Some(free) = ffi::xmlFree {
            free(text.cast());
        }
        Some(copy)
    }
}

/// What libxml2 would canonicalise other than the specification says, although it parses it: a namespace name with
/// `&`, `<` or `"` (written unescaped or escaped wrongly) or beyond ASCII.
pub(super) fn odd_namespace(doc: &Doc) -> Option<&str> {
    doc.all().find_map(|node| node.declared().find(|name| !name.is_ascii() || name.contains(['&', '<', '"'])))
}

/// Why a document called `what` cannot be judged: beyond libxml2's limits it is left open, otherwise it is refused.
pub(super) fn refused(failure: NotParsed, what: &str) -> Opinion {
    match failure {
        NotParsed::Dtd => Opinion::disagrees(format!("{what} has a document type declaration")),
        NotParsed::Malformed => {
            let trail = trail::take();
            let why = trail.explain(&format!("libxml2 could not read {what}"));
            if trail.beyond_libxml { Opinion::could_not(why) } else { Opinion::disagrees(why) }
        }
    }
}
