//! Conversion of values between the model and the memory of C.

pub(crate) mod conversion;
pub(crate) mod nested;
pub(crate) mod owned;
