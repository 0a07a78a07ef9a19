//! HTTPS: whose certificates are trusted. `localhost.pem` signs itself, and is valid for a century.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use ferrocdf_bytes::Code;
use ferrocdf_remote::{Settings, open};
use ferrocdf_store::{ByteRange, Store};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::settings;

const CERTIFICATE: &str = include_str!("localhost.pem");
const KEY: &[u8] = include_bytes!("localhost.key.der");

/// Starts a server that answers each request with the byte `x`; if it asks for certificates, only to clients that have the one of the tests.
/// Returns its port.
fn start(asks_for_certificates: bool) -> u16 {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = match asks_for_certificates {
        false => builder.with_no_client_auth(),
        true => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate.clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let config = builder.with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(KEY).into()).unwrap();
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
    let port = start(false);
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

#[test]
fn client_proves_who_it_is_with_a_certificate() {
    let url = format!("https://localhost:{}/a", start(true));
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key, both] = ["c.pem", "k.pem", "both.pem"].map(|name| folder.path().join(name));
    let key_text =
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", BASE64_STANDARD.encode(KEY));
    std::fs::write(&certificate, CERTIFICATE).unwrap();
    std::fs::write(&key, &key_text).unwrap();
    std::fs::write(&both, format!("{CERTIFICATE}{key_text}")).unwrap();
    let get = |keys: &[(&str, &Path)]| {
        let mut set = Settings { ca_file: Some(certificate.clone()), retries: Some(0), ..settings(&[]) };
        for (key, path) in keys {
            assert!(set.set(key, path.to_str().unwrap()).unwrap());
        }
        open(&url, &set).unwrap().0.get("a", ByteRange::All)
    };
    assert!(get(&[]).is_err());
    let apart = [("HTTP.SSL.CERTIFICATE", &*certificate), ("HTTP.SSL.KEY", &*key)];
    assert_eq!(get(&apart).unwrap().unwrap().bytes, b"x");
    assert_eq!(get(&[("HTTP.SSL.CERTIFICATE", &both)]).unwrap().unwrap().bytes, b"x");
    let error = get(&apart[..1]).unwrap_err();
    assert!(error.what.contains("c.pem has no private key in PEM"), "{error}");
}
