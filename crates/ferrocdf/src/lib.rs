//! ferrocdf
