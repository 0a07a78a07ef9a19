//! Command lines as the C library's `getopt` reads them.
//!
//! The drop-in tools must take every command line that the C tools take: clustered flags (`-hs`), values that follow
//! at once or as the next argument (`-ofile`, `-o file`), options after operands, `--` as the end of options, and the
//! same words when one is wrong. Long options were left out: none of the tools has any.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One option found on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opt {
    /// An option without a value.
    Flag(u8),
    /// An option with its value.
    Value(u8, OsString),
    /// What is not an option of this program, or lacks its value: the message to print, with no newline. The tool then
    /// does what it does at `'?'` in C.
    Wrong(Vec<u8>),
}

/// Reads a command line, option by option.
///
/// ```
/// use ferrocdf_tools::getopt::{Getopt, Opt};
/// let args = ["ncgen", "-bo", "out.nc", "in.cdl", "-x"].map(Into::into);
/// let mut options = Getopt::new(args, "bo:x");
/// assert_eq!(options.next(), Some(Opt::Flag(b'b')));
/// assert_eq!(options.next(), Some(Opt::Value(b'o', "out.nc".into())));
/// assert_eq!(options.next(), Some(Opt::Flag(b'x')));
/// assert_eq!(options.next(), None);
/// assert_eq!(options.operands(), ["in.cdl"]);
/// ```
#[derive(Debug)]
pub struct Getopt {
    program: OsString,
    rest: VecDeque<OsString>,
    operands: Vec<OsString>,
    known: &'static str,
    cluster: VecDeque<u8>,
    in_order: bool,
}

impl Getopt {
    /// Starts on `args`, whose first is the program as it was called. `known` is the option string of C: a letter for
    /// each option, with `:` after it if it takes a value. As in C, the environment variable `POSIXLY_CORRECT` makes
    /// the first operand end the options.
    pub fn new(args: impl IntoIterator<Item = OsString>, known: &'static str) -> Self {
        let mut rest: VecDeque<_> = args.into_iter().collect();
        let program = rest.pop_front().unwrap_or_default();
        let in_order = std::env::var_os("POSIXLY_CORRECT").is_some();
        Getopt { program, rest, operands: vec![], known, cluster: VecDeque::new(), in_order }
    }

    /// The program's name without its directory.
    pub fn program_name(&self) -> String {
        let bytes = self.program.as_bytes();
        let start = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }

    /// The arguments that are no options, in their order; to be asked for when there are no more options.
    pub fn operands(self) -> Vec<OsString> {
        self.operands.into_iter().chain(self.rest).collect()
    }

    fn wrong(&self, why: &str, letter: u8) -> Opt {
        let mut message = self.program.as_bytes().to_vec();
        message.extend_from_slice(format!(": {why} -- '").as_bytes());
        message.push(letter);
        message.push(b'\'');
        Opt::Wrong(message)
    }

    /// Moves to the next argument that holds options; `false` if there is none.
    fn next_cluster(&mut self) -> bool {
        while let Some(arg) = self.rest.front() {
            let bytes = arg.as_bytes();
            if bytes == b"--" {
                self.rest.pop_front();
                self.operands.extend(self.rest.drain(..));
                return false;
            }
            if bytes.len() > 1 && bytes[0] == b'-' {
                self.cluster = bytes[1..].iter().copied().collect();
                self.rest.pop_front();
                return true;
            }
            if self.in_order {
                return false;
            }
            self.operands.extend(self.rest.pop_front());
        }
        false
    }
}

impl Iterator for Getopt {
    type Item = Opt;

    fn next(&mut self) -> Option<Opt> {
        if self.cluster.is_empty() && !self.next_cluster() {
            return None;
        }
        let letter = self.cluster.pop_front()?;
        let known = self.known.as_bytes();
        let place = known.iter().position(|&byte| byte == letter && byte != b':' && byte != b';');
        let Some(place) = place else { return Some(self.wrong("invalid option", letter)) };
        if known.get(place + 1) != Some(&b':') {
            return Some(Opt::Flag(letter));
        }
        let value = match self.cluster.is_empty() {
            false => Some(OsString::from_vec(self.cluster.drain(..).collect())),
            true => self.rest.pop_front(),
        };
        Some(match value {
            Some(value) => Opt::Value(letter, value),
            None => self.wrong("option requires an argument", letter),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(args: &[&str]) -> (Vec<Opt>, Vec<OsString>) {
        let mut options = Getopt::new(args.iter().map(OsString::from), "ab:c");
        let mut seen = vec![];
        for option in options.by_ref() {
            seen.push(option);
        }
        (seen, options.operands())
    }

    #[test]
    fn clusters_and_values() {
        let (seen, operands) = run(&["p", "-acbx", "-b", "-a", "-bc"]);
        let value = |text: &str| Opt::Value(b'b', text.into());
        assert_eq!(seen, [Opt::Flag(b'a'), Opt::Flag(b'c'), value("x"), value("-a"), value("c")]);
        assert!(operands.is_empty());
    }

    #[test]
    fn operands_may_come_first_and_two_dashes_end_the_options() {
        let (seen, operands) = run(&["p", "x", "-a", "-", "--", "-c", "y"]);
        assert_eq!(seen, [Opt::Flag(b'a')]);
        assert_eq!(operands, ["x", "-", "-c", "y"]);
    }

    #[test]
    fn messages_are_those_of_c() {
        let (seen, _) = run(&["/bin/p", "-q:", "--all", "-b"]);
        let texts: Vec<_> = seen
            .iter()
            .map(|option| match option {
                Opt::Wrong(message) => String::from_utf8(message.clone()).unwrap(),
                other => format!("{other:?}"),
            })
            .collect();
        let expected = [
            "/bin/p: invalid option -- 'q'",
            "/bin/p: invalid option -- ':'",
            "/bin/p: invalid option -- '-'",
            "Flag(97)",
            "/bin/p: invalid option -- 'l'",
            "/bin/p: invalid option -- 'l'",
            "/bin/p: option requires an argument -- 'b'",
        ];
        assert_eq!(texts, expected);
        assert_eq!(Getopt::new(["/bin/p".into()], "").program_name(), "p");
    }
}
