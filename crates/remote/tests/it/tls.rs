//! HTTPS: whose certificates are trusted. `localhost.pem` signs itself, and is valid for a century.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;

use ferrocdf_bytes::Code;
use ferrocdf_remote::{Settings, open};
use ferrocdf_store::{ByteRange, Store};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::settings;

const CERTIFICATE: &str = include_str!("localhost.pem");
const KEY: &[u8] = include_bytes!("localhost.key.der");

/// Starts a server that answers each request with the byte `x`. Returns its port.
fn start() -> u16 {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(KEY).into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut reader = BufReader::new(StreamOwned::new(connection, stream.unwrap()));
            // Errors are those of clients that do not trust the certificate.
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|len| len > 2) {
                line.clear();
            }
            let _ = reader
                .get_mut()
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx");
        }
    });
    port
}

#[test]
fn only_named_authorities_are_trusted() {
    let port = start();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), CERTIFICATE).unwrap();
    let path = file.path().display().to_string();
    let url = format!("https://localhost:{port}/a");
    let get = |set: &Settings| open(&url, set).unwrap().0.get("a", ByteRange::All);

    let error = get(&settings(&[])).unwrap_err();
    assert_eq!(error.code, Code::ECURL);
    assert!(error.what.contains("certificate") && !error.what.contains("attempts"), "{error}");
    let by_variable = settings(&[("SSL_CERT_FILE", &path)]);
    assert_eq!(get(&by_variable).unwrap().unwrap().bytes, b"x");
    let by_setting = Settings { ca_file: Some(file.path().into()), ..settings(&[]) };
    assert_eq!(get(&by_setting).unwrap().unwrap().bytes, b"x");
    let careless = Settings { verify_peer: Some(false), ..settings(&[]) };
    assert_eq!(get(&careless).unwrap().unwrap().bytes, b"x");
    let missing = settings(&[("SSL_CERT_FILE", "/no/such/file")]);
    assert!(get(&missing).unwrap_err().what.contains("certificates in /no/such/file"));
}
