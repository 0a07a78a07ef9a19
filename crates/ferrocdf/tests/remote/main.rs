//! Datasets behind a server on loopback that fails on demand: the whole way from requests to values.
#![cfg(feature = "remote")]

mod faults;
#[path = "../../../remote/tests/it/s3.rs"]
mod s3;
#[allow(dead_code, reason = "the tests of stores use the rest")]
#[path = "../../../remote/tests/it/server.rs"]
mod server;
