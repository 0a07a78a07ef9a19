//! Numcodecs `delta`: the first number, then the difference of each number from the one before it. The parameters are the types of
//! the numbers and of the differences. Integers wrap around.

use ferrocdf_bytes::Result;

use super::conversion::{Conversion, Converted, each};
use super::numbers::{NumberType, two_types};
use crate::filter::boxed;
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("delta"),
    names: &["delta"],
    new: |params, chunk| {
        let [number, difference] = two_types(params)?;
        Ok(boxed(Converted::new(Delta { number, difference }, chunk)))
    },
    derive: None,
    numcodecs: Some(JsonForm {
        id: "delta",
        write: |params| {
            let [number, difference] = two_types(params)?.map(NumberType::typestring);
            Ok(vec![("dtype", number.into()), ("astype", difference.into())])
        },
        read: |json| {
            let number = NumberType::param_of(json, "dtype", None)?;
            Ok(vec![number, NumberType::param_of(json, "astype", Some(number))?])
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct Delta {
    number: NumberType,
    difference: NumberType,
}

impl Conversion for Delta {
    fn types(&self) -> (NumberType, NumberType) {
        (self.number, self.difference)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        let (mut integer, mut float, number, difference) = (0i64, 0f64, self.number, self.difference);
        each((encoded, difference), (decoded, number), |from, to| {
            if number.is_float() {
                float = number.rounded(float + number.rounded(difference.float(from)));
                number.put_float(float, to);
            } else if difference.is_float() {
                integer = integer.wrapping_add(difference.float(from) as i64);
                number.put_integer(integer, to);
            } else {
                integer = integer.wrapping_add(difference.integer(from));
                number.put_integer(integer, to);
            }
        });
        Ok(())
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let (mut integer, mut float, number, difference) = (0i64, 0f64, self.number, self.difference);
        let mut own = [0; 8];
        let own = &mut own[..number.size];
        each((decoded, number), (encoded, difference), |from, to| {
            if number.is_float() {
                let next = number.float(from);
                number.put_float(number.rounded(next - float), own);
                float = next;
            } else {
                let next = number.integer(from);
                number.put_integer(next.wrapping_sub(integer), own);
                integer = next;
            }
            difference.put_cast(number, own, to);
        });
        Ok(())
    }
}
