//! The tables that Diesel is told of are those that the migrations make.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use postrider::store::Tx;

use crate::fixture::{Fixture, both};

both!(the_schema_is_what_the_migrations_make);

const SCHEMA: &str = include_str!("../../src/store/schema.rs");

/// Columns in order, each with its type and whether it may be null; and the primary key.
type Table = (Vec<(String, String, bool)>, Vec<String>);

fn declared(names: &BTreeMap<&str, &str>) -> BTreeMap<String, Table> {
    let mut tables = BTreeMap::<String, Table>::new();
    let mut current = None;
    for line in SCHEMA.lines().map(str::trim) {
        if let Some((name, key)) = line.strip_suffix(") {").and_then(|line| line.split_once(" (")) {
            let key = key.split(',').map(|column| column.trim().to_owned()).collect();
            tables.insert(name.to_owned(), (Vec::new(), key));
            current = Some(name.to_owned());
        } else if let (Some((column, kind)), Some(table)) =
            (line.strip_suffix(',').and_then(|l| l.split_once(" -> ")), &current)
        {
            let (kind, null) =
                kind.strip_prefix("Nullable<").map_or((kind, false), |kind| (kind.trim_end_matches('>'), true));
            let columns = &mut tables.get_mut(table).expect("a table").0;
            columns.push((column.to_owned(), names[kind].to_owned(), null));
        }
    }
    tables
}

#[expect(clippy::struct_field_names, reason = "`column` alone is a word of SQL")]
#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Bool)]
    nullable: bool,
    #[diesel(sql_type = Bool)]
    key: bool,
}

const FROM_SQLITE: &str = "SELECT m.name AS table_name, c.name AS column_name, c.type AS kind, NOT c.\"notnull\" AS nullable, \
    c.pk > 0 AS key FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE \
    '\\_\\_%' ESCAPE '\\' ORDER BY m.name, c.cid";

const FROM_POSTGRES: &str = "SELECT c.relname::text AS table_name, a.attname::text AS column_name, \
    format_type(a.atttypid, NULL)::text AS kind, NOT a.attnotnull AS nullable, coalesce(a.attnum = ANY (i.indkey), false) AS key \
    FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND \
    i.indisprimary WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT \
    a.attisdropped AND c.relname NOT LIKE '\\_\\_%' ORDER BY c.relname, a.attnum";

fn made(f: &Fixture) -> BTreeMap<String, Table> {
    let columns: Vec<Column> = f.read(|tx| {
        Ok(match tx {
            Tx::Sqlite(c) => diesel::sql_query(FROM_SQLITE).load(*c)?,
            Tx::Postgres(c) => diesel::sql_query(FROM_POSTGRES).load(*c)?,
        })
    });
    let mut tables = BTreeMap::<String, Table>::new();
    for column in columns {
        let (list, key) = tables.entry(column.table_name).or_default();
        if column.key {
            key.push(column.column_name.clone());
        }
        list.push((column.column_name, column.kind, column.nullable));
    }
    tables
}

// IN-11, IN-12, OUT-08
fn the_schema_is_what_the_migrations_make(f: &Fixture) {
    let kinds = ["Text", "Instant", "BigInt", "Integer", "Bool", "Binary"];
    let names = if f.store.is_sqlite() {
        ["TEXT", "TEXT", "BIGINT", "INTEGER", "BOOLEAN", "BLOB"]
    } else {
        ["text", "timestamp with time zone", "bigint", "integer", "boolean", "bytea"]
    };
    let declared = declared(&kinds.into_iter().zip(names).collect());
    assert_eq!(declared.len(), 11);
    assert_eq!(made(f), declared);
}
