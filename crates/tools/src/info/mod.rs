//! `ferrocdf info`: what a file holds, at a glance.
//!
//! The facts are gathered once, into JSON; the text for people is made from them, so that both say the same.

mod gather;
mod layout;
mod text;
mod words;

use std::io::{IsTerminal, Write};
use std::path::Path;

use ferrocdf::{Error, File, OpenOptions, Result};

use crate::input::location;
use crate::progress::RemoteProgress;

/// How the facts are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text, with colours on a terminal.
    Text,
    /// One JSON object.
    Json,
}

/// Facts that `ferrocdf info` adds on request.
#[derive(Clone, Copy, Debug, Default)]
pub struct InfoParts {
    /// The requests that it took to find out, if the file is remote.
    pub requests: bool,
    /// The layout of the file. The text then has the layout alone, JSON has it as one more member.
    pub layout: bool,
}

/// Returns what the file holds as one JSON object.
pub fn json(path: &Path, opening: &OpenOptions) -> Result<String> {
    let file = File::open_location(&location(path)?, &opening.clone().all_attributes(true))?;
    Ok(gather::facts(&file)?.to_string())
}

/// Prints what the file holds on standard output.
pub fn run(path: &Path, style: Style, more: InfoParts, opening: &OpenOptions) -> Result<()> {
    let location = location(path)?;
    let shown = RemoteProgress::of(&location, "reading");
    let file = File::open_location(&location, &opening.clone().all_attributes(true))?;
    let mut facts = gather::facts(&file)?;
    if more.layout {
        facts["layout"] = layout::facts(&file)?;
    }
    if more.requests {
        facts["requests"] = gather::requests();
    }
    drop(shown);
    let out = std::io::stdout();
    let shown = match style {
        Style::Json => format!("{facts:#}\n"),
        Style::Text => text::text(&facts, out.is_terminal() && std::env::var_os("NO_COLOR").is_none()),
    };
    match out.lock().write_all(shown.as_bytes()) {
        // A reader that went away has seen enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::system(error, "standard output"))
        }
        _ => Ok(()),
    }
}
