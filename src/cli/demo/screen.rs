//! What the demonstration prints.

use std::io::{IsTerminal, Write};

/// Standard output, in colour on a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    colour: bool,
}

/// Colours, by what they mean.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tone {
    /// Headings.
    Bold,
    /// What matters less.
    Dim,
    /// Blue's lines.
    Blue,
    /// Red's lines.
    Red,
    /// As it should be.
    Good,
    /// As it should not be.
    Bad,
}

impl Screen {
    /// For this process's standard output.
    pub(super) fn new() -> Self {
        Self { colour: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    /// The text in a tone.
    pub(super) fn tone(self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Bold => "1",
            Tone::Dim => "2",
            Tone::Blue => "34",
            Tone::Red => "31",
            Tone::Good => "32",
            Tone::Bad => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// One line.
    #[expect(clippy::unused_self, reason = "the screen is what prints")]
    pub(super) fn line(self, text: &str) {
        // A reader that went away does not stop the demonstration: its exit code still counts.
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    /// The heading of an act, with one sentence on why it matters.
    pub(super) fn act(self, number: usize, title: &str, why: &str) {
        self.line("");
        self.line(&self.tone(Tone::Bold, &format!("{number}. {title}")));
        self.line(&self.tone(Tone::Dim, &format!("   {why}")));
    }

    /// A line of a timeline: when, who, what.
    pub(super) fn event(self, at: &str, who: &str, text: &str) {
        let clock = at.get(11..23).unwrap_or(at);
        let tone = if who == "blue" { Tone::Blue } else { Tone::Red };
        self.line(&format!("   {}  {}  {text}", self.tone(Tone::Dim, clock), self.tone(tone, &format!("{who:<8}"))));
    }

    /// A fact that was checked.
    pub(super) fn fact(self, holds: bool, text: &str) {
        let mark = if holds { self.tone(Tone::Good, "✓") } else { self.tone(Tone::Bad, "✗") };
        self.line(&format!("   {mark} {text}"));
    }
}
