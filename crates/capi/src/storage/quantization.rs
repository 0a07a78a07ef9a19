//! Quantization of variables.

use std::ffi::c_int;

use ferrocdf::model::{Quantization, Quantize};
use ferrocdf::{Code, Owner, Values};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Out;
use crate::model::entities::{check_not_global, variable};
use crate::open::ids::{find, find_enhanced};
use crate::storage::definition::wish;

/// Quantization modes: their numbers in C, and the attributes that record them.
const QUANTIZED: [(c_int, Quantization, &[u8]); 3] = [
    (1, Quantization::BitGroom, b"_QuantizeBitGroomNumberOfSignificantDigits"),
    (2, Quantization::GranularBitRound, b"_QuantizeGranularBitRoundNumberOfSignificantDigits"),
    (3, Quantization::BitRound, b"_QuantizeBitRoundNumberOfSignificantBits"),
];

pub extern "C" fn nc_def_var_quantize(ncid: c_int, varid: c_int, mode: c_int, digits: c_int) -> c_int {
    answer(|| {
        find(ncid)?;
        check_not_global(varid)?;
        wish(ncid, varid, |model, var| {
            let quantize = if mode == 0 {
                None
            } else {
                let way = QUANTIZED.iter().find(|(number, ..)| *number == mode);
                let most = way.and_then(|&(_, way, _)| Some((way, way.most_digits(model.var(var).ty)?)));
                match (most, u32::try_from(digits)) {
                    (Some((way, most)), Ok(digits)) if (1..=most).contains(&digits) => {
                        Some(Quantize { way, digits })
                    }
                    _ => {
                        return fail(Code::EINVAL, format!("no way {mode} to keep {digits} digits of these"));
                    }
                }
            };
            model.var_mut(var).storage.quantize = quantize;
            Ok(())
        })
    })
}

pub extern "C" fn nc_inq_var_quantize(
    ncid: c_int,
    varid: c_int,
    mode: Out<c_int>,
    digits: Out<c_int>,
) -> c_int {
    answer(|| {
        find(ncid)?;
        check_not_global(varid)?;
        let (file, group) = find_enhanced(ncid)?;
        let (way, left) = file.file().look(|model| {
            let var = variable(model, group, varid)?;
            let wanted = model.var(var).storage.quantize;
            let found = QUANTIZED.iter().find_map(|&(number, way, name)| {
                if let Some(wanted) = wanted {
                    return (wanted.way == way).then_some((number, wanted.digits as c_int));
                }
                match model.find_attr(Owner::Var(var), name)?.value {
                    Values::Int(ref numbers) => Some((number, *numbers.first()?)),
                    _ => None,
                }
            });
            Ok(found.unwrap_or((0, 0)))
        })?;
        mode.put(way);
        digits.put(left);
        Ok(())
    })
}
