//! Values with units: `"30s"`, `"16 MiB"`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// Reads a duration such as `"30s"`, `"1h 30min"` or `"250ms"`.
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(de::Error::custom)
}

/// Reads an optional duration.
pub(super) fn optional_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    duration(deserializer).map(Some)
}

/// Reads a number of octets such as `"16 MiB"`, `"1.5 GB"` or `"512"`.
pub(super) fn octets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_octets(&text).map_err(de::Error::custom)
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim())
        .map_err(|_| format!("`{text}` is not a duration: write a number and its unit, like \"30s\" or \"5min\""))
}

fn parse_octets(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size: write a number and its unit, like \"64 KiB\" or \"2 GiB\"");
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        "tib" | "t" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(wrong()),
    };
    match number.split_once('.') {
        None => number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(wrong),
        Some((whole, decimals)) => fraction(whole, decimals, factor).ok_or_else(wrong),
    }
}

/// `whole.decimals` times `factor`, in whole octets, without floating point.
fn fraction(whole: &str, decimals: &str, factor: u64) -> Option<u64> {
    let scale = 10_u64.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let part = decimals.parse::<u64>().ok()?;
    let below = u64::try_from(u128::from(part) * u128::from(factor) / u128::from(scale)).ok()?;
    whole.parse::<u64>().ok()?.checked_mul(factor)?.checked_add(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_binary_and_decimal_units() {
        for (text, octets) in [
            ("512", 512),
            ("64 KiB", 65_536),
            ("16MiB", 16_777_216),
            ("1.5 GB", 1_500_000_000),
            ("0.5 kib", 512),
            ("2 GiB", 2_147_483_648),
        ] {
            assert_eq!(parse_octets(text), Ok(octets), "{text}");
        }
    }

    #[test]
    fn sizes_without_sense_are_refused() {
        for text in ["", "MiB", "-1", "1 parsec", "1.2.3 MB", "99999999999 TiB", "1e3"] {
            assert!(parse_octets(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(parse_duration("1h 30min"), Ok(Duration::from_mins(90)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(parse_duration("30").is_err());
        assert!(parse_duration("soon").is_err());
    }
}
