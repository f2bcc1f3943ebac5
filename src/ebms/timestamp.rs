//! `xsd:dateTime` as ebMS uses it: read in every legal spelling, written in one (FR-023).

use std::fmt::Write as _;

use time::{Date, Duration, Month, OffsetDateTime, Time, UtcOffset};

/// Why a text is no point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTimestamp {
    /// Not of the form `YYYY-MM-DDThh:mm:ss`.
    #[error("not an xsd:dateTime such as 2026-07-01T10:00:00.000Z")]
    Form,
    /// A day that the calendar does not have.
    #[error("no such day in the calendar")]
    Day,
    /// A time that the day does not have; 24:00:00 is its end, a leap second is not in the value space.
    #[error("no such time of day")]
    Time,
    /// Neither `Z` nor an offset of at most 14 hours.
    #[error("no such time zone offset")]
    Zone,
    /// Legal for the schema, but no time at which a message was sent.
    #[error("outside the years 1 to 9999")]
    Range,
}

/// Reads an `xsd:dateTime`; without a zone it is UTC (ebMS3 Core §5.2.2.1).
///
/// # Errors
/// When it is no legal `xsd:dateTime`, or outside the years 1 to 9999.
pub fn parse(text: &str) -> Result<OffsetDateTime, BadTimestamp> {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let (date, rest) = text.split_once('T').ok_or(BadTimestamp::Form)?;
    let date = day(date)?;
    let (time, offset) = split_zone(rest)?;
    let (time, next_day) = time_of_day(time)?;
    let local = date.with_time(time).assume_utc();
    let local = if next_day { local.checked_add(Duration::DAY) } else { Some(local) };
    local
        .and_then(|local| local.checked_sub(Duration::seconds(offset.whole_seconds().into())))
        .filter(|utc| (1..=9999).contains(&utc.year()))
        .ok_or(BadTimestamp::Range)
}

/// Appends the instant in UTC with `Z` and exactly three fraction digits, which every known partner takes.
pub fn write(out: &mut String, instant: OffsetDateTime) {
    let utc = instant.to_offset(UtcOffset::UTC);
    let (year, month, day) = utc.to_calendar_date();
    let (hour, minute, second, milli) = utc.to_hms_milli();
    // Writing to a String cannot fail.
    let _ = write!(out, "{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z", u8::from(month));
}

fn day(text: &str) -> Result<Date, BadTimestamp> {
    if text.starts_with('-') {
        return Err(BadTimestamp::Range);
    }
    let mut fields = text.split('-');
    let (Some(year), Some(month), Some(day), None) = (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(BadTimestamp::Form);
    };
    if year.len() < 4 || (year.len() > 4 && year.starts_with('0')) || !year.bytes().all(|b| b.is_ascii_digit()) {
        return Err(BadTimestamp::Form);
    }
    let year: i32 = year.parse().ok().filter(|y| (1..=9999).contains(y)).ok_or(BadTimestamp::Range)?;
    let month = Month::try_from(two(month)?).map_err(|_| BadTimestamp::Day)?;
    Date::from_calendar_date(year, month, two(day)?).map_err(|_| BadTimestamp::Day)
}

fn split_zone(text: &str) -> Result<(&str, UtcOffset), BadTimestamp> {
    if let Some(time) = text.strip_suffix('Z') {
        return Ok((time, UtcOffset::UTC));
    }
    let Some(at) = text.find(['+', '-']) else { return Ok((text, UtcOffset::UTC)) };
    let (time, zone) = text.split_at(at);
    let (hours, minutes) = zone[1..].split_once(':').ok_or(BadTimestamp::Zone)?;
    let (hours, minutes) = (two(hours).or(Err(BadTimestamp::Zone))?, two(minutes).or(Err(BadTimestamp::Zone))?);
    if minutes > 59 || hours > 14 || (hours == 14 && minutes > 0) {
        return Err(BadTimestamp::Zone);
    }
    let seconds = i32::from(hours) * 3600 + i32::from(minutes) * 60;
    let seconds = if zone.starts_with('-') { -seconds } else { seconds };
    UtcOffset::from_whole_seconds(seconds).map(|offset| (time, offset)).map_err(|_| BadTimestamp::Zone)
}

/// The time, and whether it is the end of the day, which is the next day's beginning.
fn time_of_day(text: &str) -> Result<(Time, bool), BadTimestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let nanosecond = nanoseconds(fraction)?;
    let mut fields = whole.split(':');
    let (Some(hour), Some(minute), Some(second), None) = (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(BadTimestamp::Form);
    };
    let (hour, minute, second) = (two(hour)?, two(minute)?, two(second)?);
    if (hour, minute, second) == (24, 0, 0) && fraction.bytes().all(|b| b == b'0') {
        return Ok((Time::MIDNIGHT, true));
    }
    Time::from_hms_nano(hour, minute, second, nanosecond).map(|time| (time, false)).map_err(|_| BadTimestamp::Time)
}

/// The first nine digits of a fraction; finer ones are cut.
fn nanoseconds(fraction: &str) -> Result<u32, BadTimestamp> {
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(BadTimestamp::Form);
    }
    let nine = &fraction[..fraction.len().min(9)];
    let scale = 10_u32.pow(9 - u32::try_from(nine.len()).unwrap_or(9));
    nine.parse::<u32>().map(|digits| digits * scale).map_err(|_| BadTimestamp::Form)
}

fn two(text: &str) -> Result<u8, BadTimestamp> {
    match text.as_bytes() {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Ok((tens - b'0') * 10 + (ones - b'0')),
        _ => Err(BadTimestamp::Form),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn every_legal_spelling_is_read() {
        for (text, instant) in [
            ("2026-07-01T10:00:00", datetime!(2026-07-01 10:00 UTC)),
            ("2026-07-01T10:00:00.1", datetime!(2026-07-01 10:00:00.1 UTC)),
            ("2026-07-01T10:00:00.123456789Z", datetime!(2026-07-01 10:00:00.123456789 UTC)),
            ("2026-07-01T10:00:00.1234567891234Z", datetime!(2026-07-01 10:00:00.123456789 UTC)),
            ("2026-07-01T10:00:00+02:00", datetime!(2026-07-01 8:00 UTC)),
            ("2026-07-01T24:00:00Z", datetime!(2026-07-02 0:00 UTC)),
            ("2026-12-31T24:00:00.000-14:00", datetime!(2027-01-01 14:00 UTC)),
            ("2026-07-01T10:00:00-00:00", datetime!(2026-07-01 10:00 UTC)),
            ("2024-02-29T00:00:00Z", datetime!(2024-02-29 0:00 UTC)),
            ("\n 2026-07-01T10:00:00Z\t", datetime!(2026-07-01 10:00 UTC)),
        ] {
            assert_eq!(parse(text), Ok(instant), "{text}");
        }
    }

    #[test]
    fn what_no_calendar_has_is_refused() {
        for (text, why) in [
            ("2026-02-30T10:00:00Z", BadTimestamp::Day),
            ("2025-02-29T10:00:00Z", BadTimestamp::Day),
            ("2026-13-01T10:00:00Z", BadTimestamp::Day),
            ("2026-07-00T10:00:00Z", BadTimestamp::Day),
            ("2026-07-01T24:00:01Z", BadTimestamp::Time),
            ("2026-07-01T24:00:00.5Z", BadTimestamp::Time),
            ("2026-07-01T24:00:00.0000000001Z", BadTimestamp::Time),
            ("2026-07-01T25:00:00Z", BadTimestamp::Time),
            ("2026-07-01T10:60:00Z", BadTimestamp::Time),
            ("2026-06-30T23:59:60Z", BadTimestamp::Time),
            ("2026-07-01T10:00:00+14:01", BadTimestamp::Zone),
            ("2026-07-01T10:00:00+0200", BadTimestamp::Zone),
            ("2026-07-01T10:00:00+02:60", BadTimestamp::Zone),
            ("2026-07-01 10:00:00Z", BadTimestamp::Form),
            ("2026-07-01T10:00Z", BadTimestamp::Form),
            ("2026-07-01T10:00:00.Z", BadTimestamp::Form),
            ("2026-07-01T10:00:00,5Z", BadTimestamp::Form),
            ("26-07-01T10:00:00Z", BadTimestamp::Form),
            ("02026-07-01T10:00:00Z", BadTimestamp::Form),
            ("2026-7-1T10:00:00Z", BadTimestamp::Form),
            ("2026-07-01T10:00:00z", BadTimestamp::Form),
            ("\u{0662}026-07-01T10:00:00Z", BadTimestamp::Form),
            ("", BadTimestamp::Form),
            ("0000-01-01T00:00:00Z", BadTimestamp::Range),
            ("-0001-01-01T00:00:00Z", BadTimestamp::Range),
            ("12026-07-01T10:00:00Z", BadTimestamp::Range),
            ("9999-12-31T24:00:00Z", BadTimestamp::Range),
            ("0001-01-01T00:00:00+01:00", BadTimestamp::Range),
        ] {
            assert_eq!(parse(text), Err(why), "{text}");
        }
    }

    #[test]
    fn we_write_utc_with_three_digits() {
        for (instant, text) in [
            (datetime!(2026-07-01 10:00:00.1239 UTC), "2026-07-01T10:00:00.123Z"),
            (datetime!(2026-07-01 10:00 +2), "2026-07-01T08:00:00.000Z"),
            (datetime!(0033-04-03 1:02:03 UTC), "0033-04-03T01:02:03.000Z"),
        ] {
            let mut out = String::new();
            write(&mut out, instant);
            assert_eq!(out, text);
        }
    }
}
