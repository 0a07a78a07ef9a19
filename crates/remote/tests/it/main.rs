//! Tests of remote stores against a server on loopback.

mod aws_credentials;
mod bucket;
mod clouds;
mod faults;
mod tls;
mod web;

mod s3;
mod server;

use std::sync::Arc;
use std::time::Duration;

use ferrocdf_remote::{Environment, RemoteStore, Settings, open};

use server::Server;

/// Settings with short waits and an environment of these variables alone.
fn settings(variables: &[(&str, &str)]) -> Settings {
    Settings {
        backoff: Some(Duration::from_millis(1)),
        deadline: Some(Duration::from_secs(60)),
        environment: Environment::of(variables.iter().copied()),
        ..Settings::default()
    }
}

/// Opens the folder `/f` of a server.
fn web(server: &Server) -> Arc<RemoteStore> {
    open(&server.url("/f/x"), &settings(&[])).unwrap().0
}

/// Settings for the bucket of a server, with keys.
fn s3_settings(server: &Server) -> Settings {
    let keys = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "hush")];
    Settings { endpoint_url: Some(server.url("")), ..settings(&keys) }
}

/// Opens the bucket `bucket` of a server.
fn s3(server: &Server) -> Arc<RemoteStore> {
    open("s3://bucket/x", &s3_settings(server)).unwrap().0
}
