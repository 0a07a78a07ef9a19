//! Values of attributes as text and as numbers, of whatever type they are.

use ferrocdf_model::{Values, each_numbers};

/// Returns the text of an attribute without the zero bytes at its end.
pub(super) fn text(value: &Values) -> Option<&[u8]> {
    let bytes = match value {
        Values::Char(bytes) => bytes,
        Values::String(texts) => match &texts[..] {
            [Some(bytes)] => bytes,
            _ => return None,
        },
        _ => return None,
    };
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    Some(&bytes[..end])
}

/// Returns numbers of any type, each with its whole part, which tells 64-bit integers apart that are the same rounded.
#[allow(clippy::unnecessary_cast, reason = "the macro is expanded for f64 too")]
pub(super) fn numbers(values: &Values) -> Option<Vec<(f64, i128)>> {
    each_numbers!(values, list => Some(list.iter().map(|&number| (number as f64, number as i128)).collect()), _ => None)
}
