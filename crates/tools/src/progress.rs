//! Progress on a terminal, silence everywhere else.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use ferrocdf::Location;
use indicatif::{BinaryBytes, HumanDuration, MultiProgress, ProgressBar, ProgressState, ProgressStyle};

/// Work that takes less time than this is over before a bar could be read.
const SHOWN_AFTER: Duration = Duration::from_millis(500);

/// Work takes this long before its rate is shown: buffers and caches take the first bytes at once.
const RATE_AFTER: Duration = Duration::from_secs(2);

/// Time between two looks at the traffic of a remote dataset.
const LOOKS: Duration = Duration::from_millis(100);

/// The bars of all threads, each on a line of its own.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// A bar on standard error, shown only if that is a terminal and the work takes long.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    what: &'static str,
    total: u64,
    done: u64,
}

impl Progress {
    /// A bar for `total` bytes of work.
    pub fn new(what: &'static str, total: u64) -> Self {
        Progress { bar: None, started: Instant::now(), what, total, done: 0 }
    }

    /// Takes note of work that was done.
    pub fn add(&mut self, bytes: u64) {
        self.done += bytes;
        if self.bar.is_none() && self.started.elapsed() >= SHOWN_AFTER && std::io::stderr().is_terminal() {
            let shown = "{msg} {wide_bar} {bytes}/{total_bytes} {rate} {left}";
            let bar = ProgressBar::new(self.total).with_message(self.what).with_style(style(shown));
            self.bar = Some(BARS.add(bar.with_elapsed(self.started.elapsed())));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }
}

impl Drop for Progress {
    /// Takes the bar away.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Prints a line on standard error, between the bars.
pub fn print_line(line: &str) {
    BARS.suspend(|| eprintln!("{line}"));
}

/// The bytes that went to and from a remote dataset, and their rate, on standard error while the tool waits for them. Shown only if
/// that is a terminal and the work takes long.
pub struct RemoteProgress {
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl RemoteProgress {
    /// Shows the traffic until it is dropped, if the dataset is remote.
    pub fn of(location: &Location, what: &'static str) -> RemoteProgress {
        let is_remote = matches!(location, Location::Url(_) | Location::Object { .. });
        if !is_remote || !std::io::stderr().is_terminal() {
            return RemoteProgress { shown: None };
        }
        let (end, ended) = channel();
        let before = traffic();
        let show = move || {
            if ended.recv_timeout(SHOWN_AFTER) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_message(what).with_elapsed(SHOWN_AFTER);
            bar.set_style(style("{spinner} {msg} {bytes} {rate} {elapsed}"));
            while ended.recv_timeout(LOOKS) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(traffic() - before);
            }
            bar.finish_and_clear();
        };
        // Without a thread for it the work is done as well, unseen.
        RemoteProgress { shown: Builder::new().spawn(show).ok().map(|shower| (end, shower)) }
    }
}

impl Drop for RemoteProgress {
    fn drop(&mut self) {
        if let Some((end, shower)) = self.shown.take() {
            drop(end);
            // A panic in it has shown itself already.
            let _ = shower.join();
        }
    }
}

/// Returns the bytes that this process sent and received.
fn traffic() -> u64 {
    #[cfg(feature = "remote")]
    {
        let traffic = ferrocdf::remote::traffic();
        traffic.received + traffic.sent
    }
    #[cfg(not(feature = "remote"))]
    0
}

/// Returns the text of the mean rate since the work began, and that of the time that the rest takes; both are empty as long as they say
/// nothing.
fn outlook(done: u64, total: u64, elapsed: Duration) -> (String, String) {
    if done == 0 || elapsed < RATE_AFTER {
        return Default::default();
    }
    let rate = done as f64 / elapsed.as_secs_f64();
    let left = Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / rate).unwrap_or(Duration::MAX);
    (format!("{}/s", BinaryBytes(rate as u64)), format!("{:#} left", HumanDuration(left)))
}

fn style(template: &str) -> ProgressStyle {
    let of = |state: &ProgressState| outlook(state.pos(), state.len().unwrap_or(0), state.elapsed());
    let write = |line: &mut dyn Write, text: &str| {
        // The bar itself tells nobody either.
        let _ = line.write_str(text);
    };
    let rate = move |state: &ProgressState, line: &mut dyn Write| write(line, &of(state).0);
    let left = move |state: &ProgressState, line: &mut dyn Write| write(line, &of(state).1);
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", rate).with_key("left", left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_are_shown_once_they_are_known() {
        let at = |done, millis| outlook(done, 100 << 20, Duration::from_millis(millis));
        assert_eq!([at(50 << 20, 600), at(0, 5000)], [Default::default(), Default::default()]);
        assert_eq!(at(50 << 20, 5000), ("10.00 MiB/s".to_string(), "5s left".to_string()));
        assert_eq!(at(100 << 20, 5000).1, "0s left");
    }
}
