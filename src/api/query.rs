//! Query parameters: the known ones, each once.

use axum::http::Uri;
use url::form_urlencoded;

use super::problem::Problem;
use crate::config::nearest;

/// Decoded parameters of a request.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads them; one that is not known is refused with the nearest that is.
    pub(super) fn read(uri: &Uri, known: &[&str]) -> Result<Self, Problem> {
        let all: Vec<(String, String)> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        for (name, value) in &all {
            if !known.contains(&name.as_str()) {
                return Err(unknown("query parameter", name, known));
            }
            if value.contains(char::is_control) {
                return Err(Problem::bad(format!("the query parameter `{name}` holds a control character")));
            }
        }
        Ok(Self(all))
    }

    /// The value of a parameter that may come once; an empty one counts as left out.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut all = self.all(name);
        match (all.next(), all.next()) {
            (Some(_), Some(_)) => Err(Problem::bad(format!("the query parameter `{name}` comes twice"))),
            (one, _) => Ok(one.filter(|value| !value.is_empty())),
        }
    }

    /// All values of a parameter.
    pub(super) fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// A number within a range.
    pub(super) fn number(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<i64>,
        default: i64,
    ) -> Result<i64, Problem> {
        let Some(text) = self.one(name)? else { return Ok(default) };
        text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            Problem::bad(format!("`{name}` is `{text}`; expected a number from {} to {}", range.start(), range.end()))
        })
    }
}

/// An unknown word, with the nearest known one and all of them.
pub(super) fn unknown(what: &str, word: &str, known: &[&str]) -> Problem {
    let shown: String = word.chars().take(100).collect();
    let hint = nearest(word, known.iter().copied()).map_or_else(String::new, |n| format!(", did you mean `{n}`?"));
    let all: Vec<String> = known.iter().map(|k| format!("`{k}`")).collect();
    let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    Problem::bad(format!("there is no {what} `{shown}`{hint} (known: {all})"))
}
