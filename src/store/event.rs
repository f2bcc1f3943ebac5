//! The timeline of a message.

use diesel::prelude::*;

use super::error::StoreError;
use super::instant::At;
use super::schema::event;
use super::tx::{Tx, on};

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, Queryable, Selectable, serde::Serialize)]
#[diesel(table_name = event, treat_none_as_default_value = false)]
pub struct Event {
    /// Sortable id.
    #[serde(skip)]
    pub id: String,
    /// [`super::Message::id`].
    #[serde(skip)]
    pub message: String,
    /// When.
    pub at: At,
    /// A code of the event catalogue.
    pub code: String,
    /// What happened, for people.
    pub text: String,
}

/// Adds a line.
pub fn add(tx: &mut Tx<'_>, message: &str, at: At, code: &str, text: &str) -> Result<(), StoreError> {
    let id = uuid::Uuid::now_v7().simple().to_string();
    let new = Event { id, message: message.to_owned(), at, code: code.to_owned(), text: text.to_owned() };
    on!(tx, c => diesel::insert_into(event::table).values(&new).execute(c)?);
    Ok(())
}

/// The timeline of a message, oldest first.
pub fn timeline(tx: &mut Tx<'_>, message: &str) -> Result<Vec<Event>, StoreError> {
    Ok(on!(tx, c => event::table
        .filter(event::message.eq(message))
        .order((event::at, event::id))
        .select(Event::as_select())
        .load(c)?))
}
