//! Output: data to standard output as table or JSON, words to standard error.
//!
//! The JSON is a contract: `schema` names it and its version, fields are added and never changed. The table is for
//! people and no contract.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use serde_json::{Value, json};

/// How data is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns, for people: not a contract.
    Table,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// Ids alone.
    Quiet,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Heading.
    pub heading: &'static str,
    /// Field of the row.
    pub field: &'static str,
}

/// Where a command writes its data.
pub struct Output {
    format: Option<Format>,
    terminal: bool,
    out: Box<dyn Write>,
}

impl Output {
    /// Standard output; without a chosen format a table on a terminal, JSON elsewhere.
    #[must_use]
    pub fn stdout(format: Option<Format>) -> Self {
        Self { format, terminal: io::stdout().is_terminal(), out: Box::new(io::stdout()) }
    }

    /// Any writer, as if it were no terminal.
    #[must_use]
    pub fn to(format: Option<Format>, out: Box<dyn Write>) -> Self {
        Self { format, terminal: false, out }
    }

    /// Whether people read it.
    #[must_use]
    pub fn for_people(&self) -> bool {
        self.format.map_or(self.terminal, |format| format == Format::Table)
    }

    /// Writes a list. `schema` and `name` head the one JSON document; rows are objects, quiet prints their `id`.
    pub fn list(&mut self, schema: &str, name: &str, rows: &[Value], columns: &[Column]) -> io::Result<()> {
        match self.format.unwrap_or(if self.terminal { Format::Table } else { Format::Jsonl }) {
            Format::Table => self.table(rows, columns),
            Format::Json => self.json(&json!({ "schema": schema, name: rows })),
            Format::Jsonl => rows.iter().try_for_each(|row| writeln!(self.out, "{row}")),
            Format::Quiet => rows.iter().try_for_each(|row| writeln!(self.out, "{}", text(&row["id"]))),
        }
    }

    /// Writes one thing: as JSON, or as `words` for people.
    pub fn one(&mut self, value: &Value, words: &str) -> io::Result<()> {
        match self.format.unwrap_or(if self.terminal { Format::Table } else { Format::Json }) {
            Format::Table => writeln!(self.out, "{}", words.trim_end_matches('\n')),
            Format::Json => self.json(value),
            Format::Jsonl => writeln!(self.out, "{value}"),
            Format::Quiet => writeln!(self.out, "{}", text(&value["id"])),
        }
    }

    /// Writes a text as it is, in every format: for documents that are the data.
    pub fn document(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn json(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.out, value)?;
        writeln!(self.out)
    }

    fn table(&mut self, rows: &[Value], columns: &[Column]) -> io::Result<()> {
        let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|c| c.heading.to_owned()).collect()];
        lines.extend(rows.iter().map(|row| columns.iter().map(|c| text(&row[c.field])).collect()));
        let mut widths = vec![0; columns.len()];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for line in &lines {
            let padded: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(self.out, "{}", padded.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// What a control character looks like.
const SHOWN: char = '\u{fffd}';

/// A field as people read it. Control characters are shown, never obeyed: a partner chooses some of these texts.
#[must_use]
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.chars().map(|c| if c.is_control() { SHOWN } else { c }).collect(),
        other => other.to_string(),
    }
}

/// Writes words to standard error, the first one in colour when that is a terminal and `NO_COLOR` is not set. Names of
/// files and texts of partners are in it: of their control characters, lines and tabs alone are obeyed.
pub fn tell(word: &str, message: &str) {
    let message: String =
        message.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { SHOWN } else { c }).collect();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || !io::stderr().is_terminal();
    let word =
        if plain || word.is_empty() { word.to_owned() } else { format!("\u{1b}[1;{}m{word}\u{1b}[0m", colour(word)) };
    let separator = if word.is_empty() { "" } else { ": " };
    // When even standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{word}{separator}{message}");
}

fn colour(word: &str) -> u8 {
    match word {
        "error" => 31,
        "warning" => 33,
        _ => 36,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(data);
            Ok(data.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(format: Option<Format>) -> String {
        let sink = Sink::default();
        let rows = [json!({"id": "a@blue", "state": "delivered"}), json!({"id": "b\u{1b}[2J", "state": null})];
        let columns = [Column { heading: "ID", field: "id" }, Column { heading: "STATE", field: "state" }];
        Output::to(format, Box::new(sink.clone())).list("postrider.messages/1", "messages", &rows, &columns).unwrap();
        String::from_utf8(sink.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_table_is_aligned_and_shows_control_characters() {
        assert_eq!(written(Some(Format::Table)), "ID      STATE\na@blue  delivered\nb\u{fffd}[2J\n");
    }

    #[test]
    fn a_list_that_nobody_looks_at_is_one_object_a_line() {
        assert_eq!(written(None), written(Some(Format::Jsonl)));
        assert_eq!(written(None).lines().count(), 2);
    }

    #[test]
    fn json_is_one_document_with_its_schema() {
        let document: Value = serde_json::from_str(&written(Some(Format::Json))).unwrap();
        assert_eq!(document["schema"], "postrider.messages/1");
        assert_eq!(document["messages"][1]["id"], "b\u{1b}[2J");
    }

    #[test]
    fn quiet_prints_ids() {
        assert_eq!(written(Some(Format::Quiet)), "a@blue\nb\u{fffd}[2J\n");
    }
}
