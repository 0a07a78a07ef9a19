//! Parts of the texts for people: colours, sizes, and what comes from files.

use anstyle::{AnsiColor, Style};
use serde_json::Value;

/// Colours of the parts; all plain where no colours are wanted.
pub(super) struct Colours {
    pub heading: Style,
    pub name: Style,
    pub faint: Style,
    pub warning: Style,
}

impl Colours {
    pub fn new(wanted: bool) -> Self {
        let plain = Style::new();
        if !wanted {
            return Colours { heading: plain, name: plain, faint: plain, warning: plain };
        }
        Colours {
            heading: plain.bold(),
            name: plain.fg_color(Some(AnsiColor::Cyan.into())),
            faint: plain.dimmed(),
            warning: plain.fg_color(Some(AnsiColor::Red.into())).bold(),
        }
    }
}

pub(super) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{}{text}{}", style.render(), style.render_reset())
}

pub(super) fn list<'a>(facts: &'a Value, key: &str) -> &'a [Value] {
    facts[key].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn string<'a>(facts: &'a Value, key: &str) -> &'a str {
    facts[key].as_str().unwrap_or("")
}

/// Text without the control characters of a file, which never reach the terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A number of bytes in the largest unit that keeps it above one.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if count < 1000 {
        return if count == 1 { "1 byte".to_string() } else { format!("{count} bytes") };
    }
    let mut size = count as f64 / 1000.0;
    let mut unit = 0;
    while size >= 999.95 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_for_people() {
        let shown: Vec<_> = [0, 999, 1000, 999_949, 999_950, 1_500_000_000].map(bytes).to_vec();
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 kB", "999.9 kB", "1.0 MB", "1.5 GB"]);
    }
}
