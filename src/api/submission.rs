//! The JSON of a submission: what a producer says of its message.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};

use super::problem::Problem;
use crate::config::nearest;
use crate::ebms::{MessageId, PartyId, Property, Typed};
use crate::pmode::Wanted;

/// Everything may be left to the P-Mode.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Submission {
    pmode: Option<String>,
    from: Parties,
    to: Parties,
    service: Option<Named>,
    action: Option<String>,
    agreement: Option<Named>,
    conversation_id: Option<String>,
    ref_to_message_id: Option<String>,
    properties: Vec<Given>,
    /// What is known of each payload, by position.
    pub(super) payloads: Vec<Payload>,
}

/// What a producer says of one payload.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Payload {
    pub(super) media_type: Option<String>,
    pub(super) character_set: Option<String>,
    pub(super) file_name: Option<String>,
    pub(super) content_id: Option<String>,
    pub(super) properties: Vec<Given>,
}

/// A property.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Given {
    name: String,
    value: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// A value with its type: `{"value", "type"}`, or the value alone.
#[derive(Debug)]
struct Named {
    value: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedFields {
    value: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Named;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an object with `value` and `type`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Named, E> {
                Ok(Named { value: text.to_owned(), kind: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Named, A::Error> {
                let NamedFields { value, kind } = NamedFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Named { value, kind })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// One party id, or several.
#[derive(Debug, Default)]
struct Parties(Vec<Named>);

impl<'de> Deserialize<'de> for Parties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Parties;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a party id, or a list of them")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Parties, E> {
                Ok(Parties::default())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Parties, E> {
                Ok(Parties(vec![Named { value: text.to_owned(), kind: None }]))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Parties, A::Error> {
                let NamedFields { value, kind } = NamedFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Parties(vec![Named { value, kind }]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Parties, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = list.next_element()? {
                    all.push(one);
                }
                Ok(Parties(all))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// Reads JSON. A fault names line, field and, for a word that is not known, the nearest one that is.
pub(super) fn json<T: de::DeserializeOwned>(what: &str, text: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let field = error.path().to_string();
        let told = error.into_inner().to_string();
        let place = if field == "." { String::new() } else { format!(" field `{field}`:") };
        let hint = near(&told).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Problem::bad(format!("{what}:{place} {told}{hint}"))
    })?;
    reader.end().map_err(|error| Problem::bad(format!("{what}: {error}")))?;
    Ok(value)
}

/// The known name nearest to an unknown one, out of serde's own sentence.
fn near(told: &str) -> Option<&str> {
    let mut quoted = told.strip_prefix("unknown ")?.split('`').skip(1).step_by(2);
    nearest(quoted.next()?, quoted)
}

impl Submission {
    /// What is wanted, without the payloads.
    pub(super) fn wanted(self) -> Result<(Wanted, Vec<Payload>), Problem> {
        let optional = |field, value: Option<String>| value.map(|value| clean(field, value)).transpose();
        let ref_to = self.ref_to_message_id.as_deref().map(message_id).transpose()?;
        let wanted = Wanted {
            pmode: optional("pmode", self.pmode)?,
            from: parties("from", self.from)?,
            to: parties("to", self.to)?,
            service: self.service.map(|service| typed("service", service)).transpose()?,
            action: optional("action", self.action)?,
            agreement: self.agreement.map(|agreement| typed("agreement", agreement)).transpose()?,
            conversation_id: optional("conversation_id", self.conversation_id)?,
            ref_to,
            properties: properties("properties", self.properties)?,
            ..Wanted::default()
        };
        Ok((wanted, self.payloads))
    }
}

impl Payload {
    /// The part properties.
    pub(super) fn properties(&mut self) -> Result<Vec<Property>, Problem> {
        properties("payloads.properties", std::mem::take(&mut self.properties))
    }
}

/// A `RefToMessageId`.
pub(super) fn message_id(text: &str) -> Result<MessageId, Problem> {
    MessageId::parse(text).map_err(|error| Problem::bad(format!("field `ref_to_message_id`: {error}")))
}

fn parties(field: &str, parties: Parties) -> Result<Vec<PartyId>, Problem> {
    let one = |named: Named| typed(field, named).map(|Typed { value, kind }| PartyId { value, kind });
    parties.0.into_iter().map(one).collect()
}

fn typed(field: &str, named: Named) -> Result<Typed, Problem> {
    let kind = named.kind.map(|kind| clean(field, kind)).transpose()?;
    Ok(Typed { value: clean(field, named.value)?, kind })
}

fn properties(field: &str, given: Vec<Given>) -> Result<Vec<Property>, Problem> {
    let one = |given: Given| {
        let kind = given.kind.map(|kind| clean(field, kind)).transpose()?;
        Ok(Property { name: clean(field, given.name)?, kind, value: clean(field, given.value)? })
    };
    given.into_iter().map(one).collect()
}

/// A text that XML and the databases can hold.
pub(super) fn clean(field: &str, text: String) -> Result<String, Problem> {
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) {
        return Err(Problem::bad(format!("field `{field}`: it holds a control character")));
    }
    Ok(text)
}
