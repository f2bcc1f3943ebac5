//! Finds the message that a path names.

use super::problem::Problem;
use crate::store::message::Filter;
use crate::store::{Direction, Message, Tx, message};

/// The message of an id: its row, or its newest `eb:MessageId`. Of a message to ourselves, which is there in both
/// directions, the sent one is meant unless `direction` or the row's id says otherwise.
pub(super) fn message(tx: &mut Tx<'_>, id: &str, direction: Option<Direction>) -> Result<Message, Problem> {
    let none = || {
        let shown: String = id.chars().filter(|c| !c.is_control()).take(200).collect();
        Problem::not_found(format!("there is no message `{shown}`"))
            .next("look for it: postrider message list; a request that was refused is under /api/v1/rejected")
    };
    // PostgreSQL takes no NUL in a text.
    if id.contains(char::is_control) {
        return Err(none());
    }
    if let Some(direction) = direction {
        return one(tx, id, direction)?.ok_or_else(none);
    }
    let found = message::find(tx, id)?.ok_or_else(none)?;
    if found.direction == "in" && found.id != id {
        return Ok(one(tx, id, Direction::Out)?.unwrap_or(found));
    }
    Ok(found)
}

fn one(tx: &mut Tx<'_>, id: &str, direction: Direction) -> Result<Option<Message>, Problem> {
    if let Some(row) = message::find(tx, id)?.filter(|row| row.direction == direction.as_str()) {
        return Ok(Some(row));
    }
    let (direction, message_id) = (Some(direction.as_str().to_owned()), Some(id.to_owned()));
    let filter = Filter { direction, message_id, limit: 1, ..Filter::default() };
    Ok(message::list(tx, &filter)?.into_iter().next())
}
