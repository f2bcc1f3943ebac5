//! SQL types of our own, so that one schema serves both databases.

use std::io::Write;

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{SqlType, Timestamptz};
use diesel::sqlite::Sqlite;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// An instant in UTC: `TIMESTAMPTZ` on PostgreSQL, text with six digits on SQLite, which sorts as it should.
#[derive(SqlType, diesel::query_builder::QueryId, Debug, Clone, Copy)]
#[diesel(sqlite_type(name = "Text"))]
#[diesel(postgres_type(name = "timestamptz"))]
pub struct Instant;

/// The Rust side of `Instant`, cut to microseconds so that both databases give back what was put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, FromSqlRow, AsExpression)]
#[diesel(sql_type = Instant)]
pub struct At(pub OffsetDateTime);

impl From<OffsetDateTime> for At {
    fn from(instant: OffsetDateTime) -> Self {
        let utc = instant.to_offset(UtcOffset::UTC);
        let micros = utc.nanosecond() / 1000 * 1000;
        Self(utc.replace_nanosecond(micros).unwrap_or(utc))
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text(self.0).map_err(|_| std::fmt::Error)?)
    }
}

impl serde::Serialize for At {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn text(instant: OffsetDateTime) -> Result<String, time::error::Format> {
    // Whatever offset it was made with: Z is written.
    instant
        .to_offset(UtcOffset::UTC)
        .format(format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z"))
}

impl ToSql<Instant, Sqlite> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(text(self.0)?);
        Ok(IsNull::No)
    }
}

impl FromSql<Instant, Sqlite> for At {
    fn from_sql(value: <Sqlite as diesel::backend::Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let text = <String as FromSql<diesel::sql_types::Text, Sqlite>>::from_sql(value)?;
        Ok(Self(OffsetDateTime::parse(&text, &Rfc3339)?))
    }
}

impl ToSql<Instant, Pg> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        // PostgreSQL counts microseconds from 2000-01-01.
        let since = self.0 - time::macros::datetime!(2000-01-01 00:00 UTC);
        let micros = i64::try_from(since.whole_microseconds())?;
        out.write_all(&micros.to_be_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Instant, Pg> for At {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(<OffsetDateTime as FromSql<Timestamptz, Pg>>::from_sql(value)?.to_offset(UtcOffset::UTC)))
    }
}
