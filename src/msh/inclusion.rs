//! References inside a payload of the SOAP Body to octets that stand elsewhere.

use super::reject::Reject;
use crate::wire::xml::{Node, names};

/// Refuses `xop:Include`: what it names is not in the message that was signed, and to fetch it would be to let a
/// stranger choose whom we connect to (AT-24).
pub(super) fn refuse(body: Node<'_>) -> Result<(), Reject> {
    let mut left: Vec<Node<'_>> = body.elements().collect();
    while let Some(node) = left.pop() {
        if node.is(names::XOP, "Include") {
            return Err(Reject::External(node.attribute("href").unwrap_or_default().to_owned()));
        }
        left.extend(node.elements());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::xml::{Document, Limits};

    fn judged(inside: &str) -> Result<(), Reject> {
        let text = format!("<b><o xmlns:xop=\"{}\">{inside}</o></b>", names::XOP);
        let document = Document::parse(&text, &Limits::ENVELOPE).unwrap();
        refuse(document.root())
    }

    #[test]
    fn an_include_is_refused_however_deep_and_whatever_its_prefix() {
        let refused = |inside| matches!(judged(inside), Err(Reject::External(at)) if at == "http://node.example/x");
        assert!(refused("<xop:Include href=\"http://node.example/x\"/>"));
        assert!(refused(
            "<a/><a><c><Include xmlns=\"http://www.w3.org/2004/08/xop/include\" href=\"http://node.example/x\"/></c></a>"
        ));
    }

    #[test]
    fn other_elements_of_that_name_are_content() {
        assert!(judged("<Include href=\"http://node.example/x\"/><xop:Other/>").is_ok());
    }
}
