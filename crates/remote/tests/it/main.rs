//! Tests of remote stores.
