//! The filter language, the same in the API's `q` and on the command line: words such as `state:failed partner:red`.

use super::problem::Problem;
use super::query::{Query, unknown};
use crate::store::message::Filter;
use crate::store::{Incoming, Outgoing};

/// Words of the language. `message_id` is the long form of `id`, and each is a query parameter too.
const WORDS: [&str; 6] = ["state", "direction", "partner", "pmode", "id", "message_id"];
/// Query parameters that hold a filter.
pub(super) const PARAMETERS: [&str; 6] = ["q", "state", "direction", "partner", "pmode", "message_id"];

/// The filter of a request: parameters and the words of `q`, which add up.
pub(super) fn read(query: &Query) -> Result<Filter, Problem> {
    let mut filter = Filter::default();
    for name in PARAMETERS.into_iter().filter(|name| *name != "q") {
        if let Some(value) = query.one(name)? {
            set(&mut filter, name, value)?;
        }
    }
    for word in words(query.one("q")?.unwrap_or_default())? {
        match word.split_once(':') {
            Some((name, value)) if !value.is_empty() => set(&mut filter, name, value)?,
            Some((name, _)) if WORDS.contains(&name) => {
                return Err(Problem::bad(format!("the filter word `{name}:` has no value")));
            }
            // An id needs no name: nothing else holds an @.
            None if word.contains('@') => set(&mut filter, "id", &word)?,
            _ => return Err(unknown("filter word", word.trim_end_matches(':'), &WORDS)),
        }
    }
    Ok(filter)
}

/// Splits at white space, outside of double quotes.
fn words(text: &str) -> Result<Vec<String>, Problem> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    if quoted {
        return Err(Problem::bad("a double quote in `q` is never closed"));
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    Ok(words)
}

fn set(filter: &mut Filter, name: &str, value: &str) -> Result<(), Problem> {
    let place = match name {
        "state" => {
            let mut known: Vec<&str> = Outgoing::ALL.iter().map(|s| s.as_str()).collect();
            known.extend(Incoming::ALL.iter().map(|s| s.as_str()));
            known.dedup();
            one_of("state", value, &known)?;
            &mut filter.state
        }
        "direction" => {
            one_of("direction", value, &["in", "out"])?;
            &mut filter.direction
        }
        "partner" => &mut filter.partner,
        "pmode" => &mut filter.pmode,
        "id" | "message_id" => &mut filter.message_id,
        other => return Err(unknown("filter word", other, &WORDS)),
    };
    match place {
        Some(before) if before != value => {
            Err(Problem::bad(format!("`{name}` is given twice: `{before}` and `{value}`; no message has both")))
        }
        place => {
            *place = Some(value.to_owned());
            Ok(())
        }
    }
}

fn one_of(what: &str, value: &str, known: &[&str]) -> Result<(), Problem> {
    if known.contains(&value) { Ok(()) } else { Err(unknown(what, value, known)) }
}
