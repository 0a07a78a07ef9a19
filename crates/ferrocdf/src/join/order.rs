//! The order of the values of a joined coordinate.

use std::cmp::Ordering;

use ferrocdf_bytes::Result;
use ferrocdf_model::{Values, VarId};

use super::attribute_values::numbers;
use super::check::JoinedDataset;

/// The order of the values of a joined coordinate.
#[derive(Default)]
pub(super) struct CoordinateOrder {
    last: Option<(f64, i128)>,
    /// Name of the file that has the last value.
    file: String,
    direction: Option<Ordering>,
}

/// Values of a coordinate that are read at a time.
const READ: u64 = 1 << 20;

impl CoordinateOrder {
    /// Adds the values of another file. `convert` makes them those of the joined file. Returns a warning for the first value that is out of order;
    /// no more can be added then.
    pub(super) fn add(
        &mut self,
        (member, var): (&JoinedDataset, VarId),
        convert: &dyn Fn(Values) -> Result<Values>,
    ) -> Result<Option<String>> {
        let model = member.file.model();
        let len = model.shape(var).first().copied().unwrap_or(0);
        let mut at = 0;
        let mut is_first = true;
        while at < len {
            let count = READ.min(len - at);
            let values = convert(member.file.read_values(var, &[at], &[count])?)?;
            // Text has no order.
            let Some(list) = numbers(&values) else { return Ok(None) };
            for number in list {
                if let Some(before) = self.last.filter(|_| !self.follows(number)) {
                    let (path, (before, _), (number, _)) = (model.var_path(var), before, number);
                    let of = match is_first && self.file != member.name {
                        true => format!(" of {}", self.file),
                        false => String::new(),
                    };
                    return Ok(Some(format!(
                        "{}: {path} has {number} behind {before}{of}: the joined coordinate is not monotonic; the files may overlap, or not be \
                         in their order",
                        member.name
                    )));
                }
                self.last = Some(number);
                is_first = false;
            }
            at += count;
        }
        if !is_first {
            self.file.clone_from(&member.name);
        }
        Ok(None)
    }

    /// True if a number continues in the direction of those before it. The first two give the direction.
    fn follows(&mut self, (number, whole): (f64, i128)) -> bool {
        let Some((last, last_whole)) = self.last else { return true };
        let Some(order) = number.partial_cmp(&last).map(|order| order.then(whole.cmp(&last_whole))) else {
            return true;
        };
        order != Ordering::Equal && *self.direction.get_or_insert(order) == order
    }
}
