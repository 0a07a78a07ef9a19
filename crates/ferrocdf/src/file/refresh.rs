//! Files that another process changes while they are read.

use ferrocdf_bytes::{Code, Error, Result, errno};
use ferrocdf_store::{is_stale, retry};

use super::open::opened;
use super::{File, State};
use crate::location::Location;

impl File {
    /// Reads the model again, with changes by other processes since the file was opened: new records above all. A classic file that a writer
    /// replaced is opened again. Nothing is done for a file that is open for writing.
    pub fn refresh(&self) -> Result<()> {
        let done = retry(
            || {
                let mut state = self.write_state();
                if state.opened.is_writable() {
                    return Ok(());
                }
                if let Some(replacement) = state.open_replacement()? {
                    *state = replacement;
                    return Ok(());
                }
                let seen = state.driver().blob().change_token();
                let model = state.opened.driver_mut().refresh()?;
                state.set_model(model);
                state.seen = seen;
                Ok(())
            },
            |_| self.is_stale(),
        );
        self.named(done)
    }

    /// Runs a read. If it fails and another process has changed the file, the arrays are located again and the read is repeated.
    /// The model stays the one that was opened, so the lengths that callers know stay valid.
    pub(crate) fn reading<T>(&self, mut read: impl FnMut(&State) -> Result<T>) -> Result<T> {
        let done = retry(|| read(&self.read_state()), |error| may_pass(error) && self.relocate());
        self.named(done)
    }

    /// Finds the arrays of the model again, if somebody has changed the file. True if what failed may succeed now.
    fn relocate(&self) -> bool {
        self.is_stale() && {
            let mut state = self.write_state();
            let (seen, model) = (state.driver().blob().change_token(), state.model().clone());
            match state.opened.driver_mut().relocate(&model) {
                Ok(true) => {
                    state.forget_arrays();
                    state.seen = seen;
                    true
                }
                Ok(false) => false,
                // It may be half-way through the next change.
                Err(_) => true,
            }
        }
    }

    /// True if somebody has changed the file since it was last looked at.
    fn is_stale(&self) -> bool {
        let state = self.read_state();
        is_stale(state.seen.as_ref(), state.driver().blob())
    }
}

/// True if a read may fail with this error because another process is writing the file.
pub(crate) fn may_pass(error: &Error) -> bool {
    matches!(error.code, Code::EHDFERR | Code::ETRUNC | Code::EFILTER | Code::EVARSIZE | Code::EINTERNAL)
}

impl State {
    /// Opens the file that a writer put in the place of this classic one; `None` if there is no other in its place.
    fn open_replacement(&self) -> Result<Option<State>> {
        let Some((path, options)) = self.origin.as_ref().filter(|_| self.driver().blob().is_nameless())
        else {
            return Ok(None);
        };
        let location = Location::Path(path.clone());
        let opened = match opened(&location, options) {
            Err(error) if error.code == errno::NOENT => return Ok(None),
            opened => opened?,
        };
        let state = State::open(opened, &location, options)?;
        if !state.model().format().is_classic_file() {
            let what = "a file of another format has taken its place; open it again";
            return Err(Error::new(Code::ENOTNC, what));
        }
        Ok(Some(state))
    }
}
