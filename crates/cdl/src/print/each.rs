//! Parallel printing of many variables: their declarations, and the values of small ones.

use ferrocdf_model::VarId;

use super::pipeline::in_order;
use super::{PrintFailure, Printer};

/// Number of variables from which on printing is parallel.
const MANY: usize = 64;

impl Printer<'_> {
    /// Calls `print` for each variable; for many variables in parallel, with at most `together` variables per task.
    /// Sequential if the output may depend on earlier variables: comments with times refer to earlier `bounds`
    /// attributes, and attributes of user-defined types continue at the position in the line where the previous one
    /// ended.
    pub(super) fn each(
        &mut self,
        vars: &[VarId],
        together: usize,
        print: impl Fn(&mut Printer<'_>, VarId) -> Result<(), PrintFailure> + Sync,
    ) -> Result<(), PrintFailure> {
        let (source, options, selection) = (self.source, self.options, self.selection);
        if vars.len() < MANY || options.times.is_some() || !self.model.types().is_empty() {
            return vars.iter().try_for_each(|&var| {
                print(self, var)?;
                Ok(self.out.pour()?)
            });
        }
        let indent = self.line.indent;
        // Smaller tasks for fewer variables, so that all threads have some.
        let together = together.min(vars.len().div_ceil(4 * options.threads.max(1)));
        let blocks: Vec<&[VarId]> = vars.chunks(together).collect();
        let make = |number: u64| {
            let mut text = vec![];
            let mut printer = Printer::new(source, options, selection, &mut text);
            printer.line.indent = indent;
            let done = blocks[number as usize].iter().try_for_each(|&var| print(&mut printer, var));
            let done = done.and(printer.out.flush().map_err(PrintFailure::Output));
            (text, done)
        };
        in_order(blocks.len() as u64, options.threads, make, |_, (text, done)| {
            self.out.put(text);
            done?;
            Ok(self.out.pour()?)
        })
    }
}
