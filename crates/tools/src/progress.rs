//! Progress on a terminal, silence everywhere else.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Work of fewer bytes than this is over before a bar could be read.
const SHOWN_FROM: u64 = 64 << 20;

/// A bar on standard error, shown only if that is a terminal and the work is long.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for `total` bytes of work.
    pub fn new(what: &'static str, total: u64) -> Self {
        let shown = total >= SHOWN_FROM && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let style =
                ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
            let bar = ProgressBar::new(total).with_message(what);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress { bar }
    }

    /// Takes note of work that was done.
    pub fn add(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
