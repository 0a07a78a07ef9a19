//! Google Cloud Storage and Azure, as far as they differ from S3.

use ferrocdf_bytes::Code;
use ferrocdf_remote::{Environment, Settings, open};
use ferrocdf_store::{Blob, ByteRange, Expected, ObjectBlob, Store, Suffix};

use crate::server::{Fault, Server};
use crate::settings;

/// An account key of Azure in base 64.
const KEY: &str = "aHVzaC1odXNoLWh1c2g=";

fn gcs(server: &Server) -> Settings {
    let url = server.url("");
    let variables =
        [("GOOGLE_BASE_URL", &*url), ("GOOGLE_BEARER_TOKEN", "hush"), ("GOOGLE_SKIP_SIGNATURE", "true")];
    Settings { environment: Environment::of(variables), ..settings(&[]) }
}

fn azure(server: &Server) -> Settings {
    let url = server.url("");
    let variables = [("AZURE_STORAGE_ENDPOINT", &*url), ("AZURE_STORAGE_ACCOUNT_KEY", KEY)];
    Settings { environment: Environment::of(variables), ..settings(&[]) }
}

#[test]
fn generations_are_the_versions_of_google() {
    let server = Server::start();
    let (store, key) = open("gs://bucket/a/b", &gcs(&server)).unwrap();
    let first = store.put_if(&key, b"0123456789", Expected::Absent).unwrap().unwrap();
    assert_eq!(first.as_str(), "1");
    assert_eq!(store.put_if(&key, b"x", Expected::Absent).unwrap(), None);
    let found = store.get(&key, ByteRange::Suffix(3)).unwrap().unwrap();
    assert_eq!((&*found.bytes, found.version), (&b"789"[..], first.clone()));
    let second = store.put_if(&key, b"new", Expected::Version(&first)).unwrap().unwrap();
    assert_eq!(store.put_if(&key, b"x", Expected::Version(&first)).unwrap(), None);
    assert_ne!(first, second);
    assert_eq!(store.list("a").unwrap().objects, ["b"]);
    store.delete(&key).unwrap();
    store.delete(&key).unwrap();
    assert_eq!(store.get(&key, ByteRange::All).unwrap(), None);
    assert!(
        server.take_seen().iter().all(|seen| seen.method != "HEAD" && seen.target.starts_with("/bucket"))
    );
}

#[test]
fn suffix_of_azure_takes_the_size_from_a_bounded_answer() {
    let server = Server::start();
    let content: Vec<u8> = (0..200_000).map(|at| at as u8).collect();
    server.put("/c/a b", &content);
    let (store, key) = open("az://c@account.blob.core.windows.net/a b", &azure(&server)).unwrap();
    let object = ObjectBlob::new(store.clone(), key);
    let mut into = vec![0; 100_000];
    assert_eq!(object.read_suffix(&mut into).unwrap(), Suffix { len: 100_000, size: 200_000 });
    assert_eq!(into, content[100_000..]);
    let seen = server.take_seen();
    let range = |at: usize| seen[at].header("range").or(seen[at].header("x-ms-range"));
    assert_eq!((range(0), range(1)), (Some("bytes=0-65535"), Some("bytes=100000-199999")));
    assert_eq!(seen.len(), 2);
    assert!(seen[0].header("authorization").unwrap().starts_with("SharedKey account:"));
    // The object is replaced between the two requests.
    server.fail_from(1, [Fault::Replace(vec![7; 200_000])]);
    let found = store.get("a b", ByteRange::Suffix(100_000)).unwrap().unwrap();
    assert!(found.bytes.iter().all(|&byte| byte == 7));
    assert_eq!(server.take_seen().len(), 4);
}

#[test]
fn blobs_of_azure_are_put_on_conditions() {
    let server = Server::start();
    let (store, key) = open("abfss://c@account.dfs.core.windows.net/a", &azure(&server)).unwrap();
    let first = store.put_if(&key, b"one", Expected::Absent).unwrap().unwrap();
    assert_eq!(store.put_if(&key, b"x", Expected::Absent).unwrap(), None);
    let second = store.put_if(&key, b"two", Expected::Version(&first)).unwrap().unwrap();
    assert_eq!(store.put_if(&key, b"x", Expected::Version(&first)).unwrap(), None);
    assert_eq!(store.get(&key, ByteRange::All).unwrap().unwrap().version, second);
    server.fail([Fault::Status(
        403,
        vec![("x-ms-error-code", "AuthenticationFailed".to_string())],
        String::new(),
    )]);
    let error = store.get(&key, ByteRange::All).unwrap_err();
    assert_eq!(error.code, Code::EACCESS);
    assert!(error.what.contains("AuthenticationFailed"), "{error}");
    assert!(!error.what.contains(KEY) && !format!("{store:?}").contains(KEY));
}

#[test]
fn container_of_azure_is_listed() {
    let server = Server::start();
    let blob = |name: &str| {
        format!(
            "<Blob><Name>{name}</Name><Properties><Last-Modified>Thu, 01 Jan 1970 00:00:00 GMT</Last-Modified>\
             <Content-Length>1</Content-Length><Content-Type>x</Content-Type><Etag>e</Etag></Properties></Blob>"
        )
    };
    let page = format!(
        "<EnumerationResults><Blobs>{}{}<BlobPrefix><Name>a/c/</Name></BlobPrefix></Blobs><NextMarker/></EnumerationResults>",
        blob("a/b"),
        blob("a/é &amp; d")
    );
    server.state().fixed.insert("/c".to_string(), page);
    let store = open("az://c@account.blob.core.windows.net/a", &azure(&server)).unwrap().0;
    let listing = store.list("a").unwrap();
    assert_eq!((listing.objects, listing.folders), (vec!["b".into(), "é & d".into()], vec!["c".to_string()]));
    let seen = &server.take_seen()[0];
    assert!(seen.target.contains("comp=list") && seen.target.contains("prefix=a%2F"), "{}", seen.target);
}

#[test]
fn shared_access_signature_is_in_no_message() {
    let server = Server::start();
    let url = server.url("");
    let variables = [("AZURE_STORAGE_ENDPOINT", &*url), ("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=hush")];
    let set = Settings { environment: Environment::of(variables), ..settings(&[]) };
    let (store, key) = open("az://c@account.blob.core.windows.net/a", &set).unwrap();
    server.fail_always(Fault::status(403));
    for error in [
        store.get(&key, ByteRange::All).unwrap_err(),
        store.put(&key, b"x").unwrap_err(),
        store.list("").unwrap_err(),
    ] {
        assert!(error.what.contains("403 Forbidden") && !error.what.contains("hush"), "{error}");
    }
    assert!(server.take_seen().iter().all(|seen| seen.target.contains("sig=hush")));
}
