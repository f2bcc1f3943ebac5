//! Character repertoires of EDIFACT syntax levels (ISO 9735-1 0001), for values only: separators are ASCII in all.

use encoding_rs::Encoding;

/// How the octets of values are read.
#[derive(Clone, Copy, Default)]
pub(super) enum Charset {
    /// Levels A and B, and X12: ASCII by the book. What is beyond is read as UTF-8 where it is that, else as ISO 8859-1.
    #[default]
    Ascii,
    /// Level C.
    Latin1,
    /// Levels D to K.
    Part(&'static Encoding),
    /// Levels W and Y.
    Utf8,
}

impl Charset {
    /// Of a syntax identifier.
    pub(super) fn of(syntax: &str) -> Option<Self> {
        Some(match syntax {
            // UNOX is ISO 2022 with code extension: read as far as it needs none.
            "UNOA" | "UNOB" | "UNOX" => Self::Ascii,
            "UNOC" => Self::Latin1,
            "UNOD" => Self::Part(encoding_rs::ISO_8859_2),
            "UNOE" => Self::Part(encoding_rs::ISO_8859_5),
            "UNOF" => Self::Part(encoding_rs::ISO_8859_7),
            "UNOG" => Self::Part(encoding_rs::ISO_8859_3),
            "UNOH" => Self::Part(encoding_rs::ISO_8859_4),
            "UNOI" => Self::Part(encoding_rs::ISO_8859_6),
            "UNOJ" => Self::Part(encoding_rs::ISO_8859_8),
            // ISO 8859-9, but for control characters.
            "UNOK" => Self::Part(encoding_rs::WINDOWS_1254),
            "UNOW" | "UNOY" => Self::Utf8,
            _ => return None,
        })
    }

    pub(super) fn decode(self, octets: &[u8]) -> Option<String> {
        match self {
            _ if octets.is_ascii() => String::from_utf8(octets.to_vec()).ok(),
            Self::Ascii => Some(match std::str::from_utf8(octets) {
                Ok(text) => text.to_owned(),
                Err(_) => encoding_rs::mem::decode_latin1(octets).into_owned(),
            }),
            Self::Latin1 => Some(encoding_rs::mem::decode_latin1(octets).into_owned()),
            Self::Part(encoding) => {
                encoding.decode_without_bom_handling_and_without_replacement(octets).map(std::borrow::Cow::into_owned)
            }
            Self::Utf8 => std::str::from_utf8(octets).ok().map(ToOwned::to_owned),
        }
    }
}
