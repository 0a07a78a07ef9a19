//! cdl
